//! What compression costs and saves (S2c): the levels of a factor of compression against the one
//! that the others are compared with: size, and processor time and time of loads, scans, lookups
//! and updates; where the processor time goes; and the disk below which compression pays.

mod break_even;

pub use break_even::{BreakEven, Pays};

use crate::compare::{self, Sample, Test, Values};
use crate::decompose::{Decomposition, Part, PartKind};
use crate::estimate::mean;
use crate::grid::{FactorLayout, Grid, Matched};
use crate::settings::has_probe;
use crate::{Comparison, Estimate, Interval, Summary, wording};
use observations::{Direction, FactFamily, Observations, Recording, Value};
use serde::Serialize;

/// A factor is one of compression when the last part of its name is one of these.
const FACTORS: [&str; 2] = ["compression", "force_compression"];

/// Settings that say what is stored and by whom: sizes are compared where they are the same.
const STORED: [&str; 9] = [
    "target.engine",
    "target.version",
    "target.library",
    "workload.data",
    "workload.scale",
    "workload.rows",
    "workload.columns",
    "workload.rows_per_page",
    "workload.data_seed",
];

/// Bytes of a column by the method that it is compressed by.
const COMPRESSED: FactFamily = FactFamily::new("compressed.", "B");

/// Functions that are named of a change.
const FUNCTIONS: usize = 3;

/// What the levels of a factor of compression cost and save on the same data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compression {
    /// Name of the factor.
    pub factor: String,
    /// Levels of the other factors that tell this data or engine from others; empty when there is
    /// none.
    pub group: String,
    /// The level that the others are compared with.
    pub reference: String,
    /// By level, sizes first.
    pub rows: Vec<CompressionRow>,
    /// By column, where the engine tells: how it is stored.
    pub columns: Vec<StoredColumn>,
    /// By level: the disk on which a scan is as fast compressed as not.
    pub break_even: Vec<BreakEven>,
}

/// How a column is stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredColumn {
    /// Its name.
    pub column: String,
    /// Of the reference, then of each other level with a size.
    pub levels: Vec<StoredAs>,
}

/// How a column is stored in a level, as the first of its trials found it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredAs {
    /// The level.
    pub level: String,
    /// The methods that its segments are compressed by, the one with most bytes first; none where
    /// the level has no such column.
    pub methods: Vec<String>,
    /// Bytes: an estimate, as where a segment lies in its block tells it.
    pub bytes: f64,
}

/// A figure of a level beside that of the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompressionRow {
    /// The level.
    pub level: String,
    /// Levels of the other factors: `work=cold scan`; empty of sizes, and when there is none.
    pub work: String,
    /// What it is: `size`, `processor time`, `time`.
    pub figure: &'static str,
    /// Of the reference.
    pub reference: Estimate,
    /// Of the level.
    pub own: Estimate,
    /// How many times as much as the reference; corrected over all rows (Holm).
    pub ratio: Comparison,
    /// Of processor time: the functions that changed most, of those whose change is supported.
    /// None where trials were not profiled.
    pub functions: Vec<FunctionChange>,
}

/// What a function takes more or less of a processor, in the unit of its row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionChange {
    /// Its name.
    pub function: String,
    /// The program, library or part of the kernel that it is in.
    pub module: String,
    /// The level's less the reference's.
    pub change: f64,
    /// Its interval, as wide as that of a cause ([`Part::interval`]).
    pub interval: Option<Interval>,
}

/// What is compared of a trial.
struct Figure {
    name: &'static str,
    unit: &'static str,
    of: fn(&Observations) -> Option<f64>,
}

const SIZE: Figure = Figure {
    name: "size",
    unit: "MB",
    of: |seen| seen.fact("stored_bytes").map(|bytes| bytes / 1e6),
};

/// The figures of each probe. The facts that they are made of are those of a unit of work.
const FIGURES: [(&str, &[Figure]); 4] = [
    (
        "bulk-load",
        &[
            Figure { name: CPU, unit: "us/row", of: |seen| Some(1e6 * cpu_s(seen)?) },
            Figure { name: KERNEL, unit: "us/row", of: |seen| Some(1e6 * kernel_s(seen)?) },
            Figure { name: "time", unit: "s", of: |seen| seen.response("load") },
        ],
    ),
    (
        "scan",
        &[
            Figure { name: CPU, unit: "us/row", of: |seen| Some(1e6 * cpu_s(seen)? / rows(seen)?) },
            Figure {
                name: KERNEL,
                unit: "us/row",
                of: |seen| Some(1e6 * kernel_s(seen)? / rows(seen)?),
            },
            Figure { name: "time", unit: "ms", of: |seen| seen.response("scan") },
        ],
    ),
    (
        "lookup",
        &[
            Figure { name: CPU, unit: "us/lookup", of: |seen| Some(1e6 * cpu_s(seen)?) },
            Figure { name: KERNEL, unit: "us/lookup", of: |seen| Some(1e6 * kernel_s(seen)?) },
            Figure { name: "time", unit: "us/lookup", of: session_us },
        ],
    ),
    (
        "update",
        &[
            Figure { name: CPU, unit: "us/update", of: |seen| Some(1e6 * cpu_s(seen)?) },
            Figure { name: KERNEL, unit: "us/update", of: |seen| Some(1e6 * kernel_s(seen)?) },
            Figure { name: "time", unit: "us/update", of: session_us },
            Figure { name: "row lock held", unit: "ms", of: |seen| seen.response("lock_held") },
        ],
    ),
];
const CPU: &str = "processor time";
const KERNEL: &str = "of it the kernel's threads";

/// Processor seconds of a unit of work: sessions, their workers, and where it was counted the
/// kernel's threads.
fn cpu_s(seen: &Observations) -> Option<f64> {
    Some(seen.fact("cpu_s")? + kernel_s(seen).unwrap_or(0.0))
}

fn kernel_s(seen: &Observations) -> Option<f64> {
    seen.fact("kernel_cpu_s")
}

fn rows(seen: &Observations) -> Option<f64> {
    seen.fact("table_rows").filter(|rows| *rows > 0.0)
}

/// Microseconds of session time for each unit of work.
fn session_us(seen: &Observations) -> Option<f64> {
    let amount = Some(seen.work.amount as f64).filter(|amount| *amount > 0.0)?;
    Some(1e6 * seen.elapsed_s * f64::from(seen.connections) / amount)
}

impl Summary<'_> {
    /// What compression costs and saves, for each factor of compression and each data set or engine
    /// that it was tried on.
    pub fn compression(&self) -> Vec<Compression> {
        let is_one =
            |name: &str| name.rsplit('.').next().is_some_and(|last| FACTORS.contains(&last));
        let factors =
            self.layouts.iter().filter(|own| is_one(&self.recording.factors[own.factor].name));
        factors.flat_map(|layout| self.compressions(layout)).collect()
    }

    fn compressions(&self, layout: &FactorLayout) -> Vec<Compression> {
        let stored = |group: &Vec<Option<usize>>| -> Option<Vec<Option<&Value>>> {
            let settings =
                &self.recording.configurations[group.iter().flatten().copied().next()?].settings;
            Some(STORED.iter().map(|path| settings.get(*path)).collect())
        };
        let mut alike: Vec<(_, Vec<&Vec<Option<usize>>>)> = Vec::new();
        for group in layout.groups() {
            let key = stored(group);
            match alike.iter_mut().find(|(known, _)| *known == key) {
                Some((_, groups)) => groups.push(group),
                None => alike.push((key, vec![group])),
            }
        }
        let groups: Vec<Vec<&Vec<Option<usize>>>> =
            alike.into_iter().map(|(_, groups)| groups).collect();
        groups.iter().filter_map(|own| self.of_groups(layout, own, &groups)).collect()
    }

    /// Of combinations of the other factors' levels in which the same is stored.
    fn of_groups(
        &self,
        layout: &FactorLayout,
        groups: &[&Vec<Option<usize>>],
        all: &[Vec<&Vec<Option<usize>>>],
    ) -> Option<Compression> {
        let factor = &self.recording.factors[layout.factor];
        let telling = telling(self.recording, layout.factor, all);
        let usable = self.grid.filter(|seen| !seen.timed_out() && Decomposition::usable(seen));
        let (mut rows, mut break_even, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        for level in layout.others() {
            let name = factor.levels[level].as_str();
            let pairs: Vec<Pair> = groups
                .iter()
                .filter_map(|own| self.pair(layout, &usable, own, level, &telling))
                .collect();
            let with_size = |pair: &&Pair| pair.row(name, &SIZE).is_some();
            let loaded = pairs.iter().filter(|pair| pair.probe == "bulk-load").find(with_size);
            let sized = loaded.or_else(|| pairs.iter().find(with_size));
            rows.extend(
                sized
                    .and_then(|pair| pair.row(name, &SIZE))
                    .map(|row| CompressionRow { work: String::new(), ..row }),
            );
            if let Some([from, to]) = sized.map(Pair::first) {
                if stored.is_empty() {
                    stored.push((factor.levels[layout.reference].as_str(), from));
                }
                stored.push((name, to));
            }
            for pair in &pairs {
                let figures = FIGURES.iter().filter(|(probe, _)| *probe == pair.probe);
                rows.extend(
                    figures.flat_map(|(_, all)| *all).filter_map(|figure| pair.row(name, figure)),
                );
            }
            let scans = || pairs.iter().filter(|pair| pair.probe == "scan");
            let is_cold = |pair: &&Pair| pair.is_cold;
            let read = if scans().any(|pair| pair.is_cold) {
                scans().filter(is_cold).collect::<Vec<_>>()
            } else {
                scans().collect()
            };
            break_even.extend(read.into_iter().filter_map(|pair| pair.break_even(name, sized?)));
        }
        let ratios = compare::corrected(rows.iter().map(|row| Some(row.ratio.clone())).collect());
        for (row, ratio) in rows.iter_mut().zip(ratios.into_iter().flatten()) {
            row.ratio = ratio;
        }
        let first = groups.first()?.iter().flatten().next()?;
        (!rows.is_empty()).then(|| Compression {
            factor: factor.name.clone(),
            group: label(self.recording, *first, |position| telling.contains(&position)),
            reference: factor.levels[layout.reference].clone(),
            rows,
            columns: columns(&stored),
            break_even,
        })
    }

    /// A level beside the reference where the other factors have the same levels.
    fn pair<'a>(
        &self,
        layout: &FactorLayout,
        usable: &Grid<&'a Observations>,
        group: &[Option<usize>],
        level: usize,
        telling: &[usize],
    ) -> Option<Pair<'a>> {
        let (from, to) = (group[layout.reference]?, group[level]?);
        let record = &self.recording.configurations[from];
        let (probe, _) = FIGURES.iter().find(|(probe, _)| has_probe(record, probe))?;
        Some(Pair {
            probe,
            is_cold: record.get::<String>("target.cache").as_deref() == Some("cold"),
            work: label(self.recording, from, |own| {
                own != layout.factor && !telling.contains(&own)
            }),
            matched: usable.matched(from, to),
        })
    }
}

/// How columns are stored in trials of levels, in the order in which the first of them names them.
fn columns(levels: &[(&str, &Observations)]) -> Vec<StoredColumn> {
    fn compressed(seen: &Observations) -> impl Iterator<Item = (&str, &str, f64)> {
        COMPRESSED.members(seen).filter_map(|(name, bytes)| {
            let (column, method) = name.rsplit_once('.')?;
            Some((column, method, bytes))
        })
    }
    let names = levels.iter().flat_map(|(_, seen)| compressed(seen)).map(|(column, ..)| column);
    let stored = |column: &str| {
        let of_level = |(level, seen): &(&str, &Observations)| {
            let own = || compressed(seen).filter(|(name, ..)| *name == column);
            StoredAs {
                level: (*level).to_owned(),
                methods: own().map(|(_, method, _)| method.to_owned()).collect(),
                bytes: own().map(|(.., bytes)| bytes).sum(),
            }
        };
        StoredColumn { column: column.to_owned(), levels: levels.iter().map(of_level).collect() }
    };
    crate::response::distinct(names).into_iter().map(stored).collect()
}

/// Positions of the factors that have one level within each of these and not the same in all.
fn telling(recording: &Recording, factor: usize, all: &[Vec<&Vec<Option<usize>>>]) -> Vec<usize> {
    let level = |own: usize, position: usize| {
        recording.configurations[own].level(&recording.factors[position].name)
    };
    let levels = |groups: &Vec<&Vec<Option<usize>>>, position: usize| {
        let configurations = groups.iter().flat_map(|group| group.iter().flatten());
        crate::response::distinct(configurations.map(|own| level(*own, position)))
    };
    let tells = |position: &usize| {
        let each: Vec<_> = all.iter().map(|groups| levels(groups, *position)).collect();
        each.iter().all(|own| own.len() == 1) && crate::response::distinct(each).len() > 1
    };
    (0..recording.factors.len()).filter(|position| *position != factor).filter(tells).collect()
}

/// The levels that a configuration has of some factors: `work=cold scan`.
fn label(recording: &Recording, configuration: usize, of: impl Fn(usize) -> bool) -> String {
    let factors = recording.factors.iter().enumerate();
    let several = factors.filter(|(position, factor)| of(*position) && factor.levels.len() > 1);
    let levels = several.filter_map(|(_, factor)| {
        let level = recording.configurations[configuration].level(&factor.name)?;
        Some(format!("{}={level}", wording::short_name(&factor.name)))
    });
    levels.collect::<Vec<_>>().join(" ")
}

/// The trials of a level beside those of the reference, which differ in nothing else.
struct Pair<'a> {
    probe: &'static str,
    is_cold: bool,
    work: String,
    matched: Matched<&'a Observations>,
}

impl<'a> Pair<'a> {
    /// A trial of each side.
    fn first(&self) -> [&'a Observations; 2] {
        [&self.matched.from, &self.matched.to].map(|blocks| blocks[0][0])
    }

    /// The values of both sides by block (or set-up); `None` where a side has none.
    fn values(&self, of: fn(&Observations) -> Option<f64>) -> Option<[Values; 2]> {
        let side = |blocks: &[Vec<&Observations>], first| {
            let values =
                blocks.iter().map(|block| block.iter().filter_map(|seen| of(seen)).collect());
            let blocks: Vec<Vec<f64>> = values.collect();
            let complete = !blocks.is_empty() && blocks.iter().all(|block| !block.is_empty());
            complete.then_some(Values { blocks, first, resolution: 0.0 })
        };
        let Matched { from, to, first, .. } = &self.matched;
        Some([side(from, first[0])?, side(to, first[1])?])
    }

    fn row(&self, level: &str, figure: &Figure) -> Option<CompressionRow> {
        let [from, to] = self.values(figure.of)?;
        let estimate = |side: &Values| {
            let means: Vec<f64> = side.blocks.iter().map(mean).collect();
            Estimate::of(&means, figure.unit, Direction::LowerIsBetter)
        };
        let (reference, own) = (estimate(&from)?, estimate(&to)?);
        // More is "better" here: the ratio is that of the level to the reference.
        let ratio =
            Comparison::of_values(self.matched.paired, &from, &to, Direction::HigherIsBetter)?;
        let per_second = || Some(own.mean / mean(self.values(cpu_s)?[1].blocks.concat()));
        let per_second = (figure.name == CPU).then(per_second).flatten();
        let functions = per_second.map(|unit| self.functions(unit)).unwrap_or_default();
        let (level, work) = (level.to_owned(), self.work.clone());
        Some(CompressionRow { level, work, figure: figure.name, reference, own, ratio, functions })
    }

    /// With so many of its unit for a second of processor time for a unit of work.
    fn functions(&self, per_second: f64) -> Vec<FunctionChange> {
        let code = Decomposition::of(&self.matched).and_then(|own| own.code);
        let named = |part: Part| match part.kind.clone() {
            PartKind::Function { function, module } if part.supported() => Some(FunctionChange {
                function,
                module,
                change: part.change_s * per_second,
                interval: part.interval.map(|own| own.map(|end| end * per_second)),
            }),
            _ => None,
        };
        code.into_iter().flat_map(|code| code.parts).filter_map(named).take(FUNCTIONS).collect()
    }

    /// Of scans, with the sizes of a pair on the same data.
    fn break_even(&self, level: &str, sized: &Pair) -> Option<BreakEven> {
        let means = |values: &Values| values.blocks.iter().map(mean).collect::<Vec<f64>>();
        let [reference_mb, own_mb] = sized.values(SIZE.of)?.map(|side| mean(means(&side)));
        let [from, to] = self.values(cpu_s)?;
        let own_cpu_s = Estimate::of(&means(&to), "s", Direction::LowerIsBetter)?;
        let [before, after] = [&from, &to].map(|side| Sample::new(means(side), side.first));
        let Test { value, interval, .. } = Test::of(self.matched.paired, &before, &after, 0.0);
        let own = (own_cpu_s.mean, own_cpu_s.interval);
        let place = (level.to_owned(), self.work.clone());
        BreakEven::of(place, [reference_mb, own_mb], own, (value, interval))
    }
}
