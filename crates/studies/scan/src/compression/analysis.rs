//! Costs and savings of compression (S2c).
//!
//! Compares the levels of a compression factor with the reference level: size, CPU time and elapsed
//! time of loads, scans, lookups and updates, and the code that uses the CPU time. Computes the
//! disk bandwidth below which compression pays.

mod break_even;

use break_even::ProcessorTime;
pub use break_even::{BreakEven, Limit};

use analysis::compare::{Sample, Test, Values, corrected};
use analysis::decompose::{Decomposition, PartKind};
use analysis::estimate::mean;
use analysis::grid::{FactorLayout, Grid, Matched};
use analysis::response::distinct;
use analysis::{
    Access, Comparison, CostKind, Estimate, Interval, Summary, TableUse, WorkCost, wording,
};
use engine::CacheState;
use observations::{Direction, Observations, Recording, Role, Value};
use probe::data::{COMPRESSED, STORED_BYTES, processor_s};
use serde::Serialize;

/// A factor is one of compression when the last part of its name is one of these.
const FACTORS: [&str; 2] = ["compression", "force_compression"];

/// Roles of the settings that say what is stored and by whom: sizes are compared where they are the
/// same.
const STORED: [Role; 2] = [Role::Engine, Role::DataIdentity];

/// Functions that are named of a change.
const FUNCTIONS: usize = 3;

/// Costs and savings of a compression factor's levels on the same data.
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
    /// The name.
    pub column: String,
    /// The reference, then each other level with a size.
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
    /// Name of the figure: `size`, `processor time`, `time`.
    pub figure: &'static str,
    /// Value at the reference level.
    pub reference: Estimate,
    /// Value at the level.
    #[serde(rename = "own")]
    pub estimate: Estimate,
    /// A multiple of the reference; corrected over all rows (Holm).
    pub ratio: Comparison,
    /// For CPU time: the functions with the largest significant changes. Empty where trials were
    /// not profiled.
    pub functions: Vec<FunctionChange>,
}

/// Change of a function's CPU time, in the unit of its row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionChange {
    /// The name.
    pub function: String,
    /// The program, library or part of the kernel that it is in.
    pub module: String,
    /// The level's less the reference's.
    pub change: f64,
    /// The interval, as wide as that of a cause ([`Part::interval`]).
    pub interval: Option<Interval>,
}

/// Megabytes (10^6) that the tables take.
fn stored_mb(observations: &Observations) -> Option<f64> {
    Some(STORED_BYTES.read(observations)? / 1e6)
}

/// Returns the name of a cost.
fn name(kind: CostKind) -> &'static str {
    match kind {
        CostKind::Processor => "CPU time",
        CostKind::Kernel => "of it kernel threads",
        CostKind::Time => "time",
        CostKind::LockHeld => "row lock held",
    }
}

/// Returns costs and savings for each compression factor and each data set or engine.
pub fn compression(summary: &Summary) -> Vec<Compression> {
    let factors = &summary.recording.factors;
    let layouts = summary.layouts.iter().filter(|layout| {
        factors[layout.factor].name.rsplit('.').next().is_some_and(|last| FACTORS.contains(&last))
    });
    layouts.flat_map(|layout| Levels { summary }.compressions(layout)).collect()
}

/// Levels that a run tried.
struct Levels<'a> {
    summary: &'a Summary<'a>,
}

impl Levels<'_> {
    fn compressions(&self, layout: &FactorLayout) -> Vec<Compression> {
        let roles = &self.summary.recording.roles;
        let mut alike: Vec<(_, Vec<&Vec<Option<usize>>>)> = Vec::new();
        for group in layout.groups() {
            let first = group.iter().flatten().next();
            let key: Option<Vec<(&String, &Value)>> = first.map(|first| {
                let settings = self.summary.recording.configurations[*first].settings.iter();
                settings.filter(|(path, _)| roles.has(path, &STORED)).collect()
            });
            match alike.iter_mut().find(|(known, _)| *known == key) {
                Some((_, groups)) => groups.push(group),
                None => alike.push((key, vec![group])),
            }
        }
        let groups: Vec<Vec<&Vec<Option<usize>>>> =
            alike.into_iter().map(|(_, groups)| groups).collect();
        groups.iter().filter_map(|group| self.of_groups(layout, group, &groups)).collect()
    }

    /// Groups the combinations of the other factors' levels that store the same.
    fn of_groups(
        &self,
        layout: &FactorLayout,
        groups: &[&Vec<Option<usize>>],
        all: &[Vec<&Vec<Option<usize>>>],
    ) -> Option<Compression> {
        let factor = &self.summary.recording.factors[layout.factor];
        let telling = telling(self.summary.recording, layout.factor, all);
        let usable =
            self.summary.grid.filter(|grid| !grid.timed_out() && Decomposition::usable(grid));
        let (mut rows, mut break_even, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        for level in layout.others() {
            let name = factor.levels[level].as_str();
            let pairs: Vec<Pair> = groups
                .iter()
                .filter_map(|group| self.pair(layout, &usable, group, level, &telling))
                .collect();
            let with_size = |pair: &&Pair| pair.size(name).is_some();
            let loaded =
                pairs.iter().filter(|pair| pair.table.access == Access::Load).find(with_size);
            let sized = loaded.or_else(|| pairs.iter().find(with_size));
            rows.extend(
                sized
                    .and_then(|pair| pair.size(name))
                    .map(|row| CompressionRow { work: String::new(), ..row }),
            );
            if let Some([from, to]) = sized.map(Pair::first) {
                if stored.is_empty() {
                    stored.push((factor.levels[layout.reference].as_str(), from));
                }
                stored.push((name, to));
            }
            for pair in &pairs {
                rows.extend(pair.table.costs.iter().filter_map(|cost| pair.cost(name, cost)));
            }
            let scans = || pairs.iter().filter(|pair| pair.table.access == Access::Scan);
            let read = if scans().any(|pair| pair.is_cold) {
                scans().filter(|pair| pair.is_cold).collect::<Vec<_>>()
            } else {
                scans().collect()
            };
            break_even.extend(read.into_iter().filter_map(|pair| pair.break_even(name, sized?)));
        }
        let ratios = corrected(rows.iter().map(|row| Some(row.ratio.clone())).collect());
        for (row, ratio) in rows.iter_mut().zip(ratios.into_iter().flatten()) {
            row.ratio = ratio;
        }
        let first = groups.first()?.iter().flatten().next()?;
        (!rows.is_empty()).then(|| Compression {
            factor: factor.name.clone(),
            group: label(self.summary.recording, *first, |position| telling.contains(&position)),
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
        let record = &self.summary.recording.configurations[from];
        let table = self.summary.study(from)?.table?;
        let mut caches = self.summary.recording.roles.paths(&[Role::Cache]);
        let is_cold =
            |path: &str| record.get::<String>(path).as_deref() == Some(CacheState::Cold.name());
        Some(Pair {
            table,
            is_cold: caches.any(is_cold),
            work: label(self.summary.recording, from, |recording| {
                recording != layout.factor && !telling.contains(&recording)
            }),
            matched: usable.matched(from, to),
        })
    }
}

/// How columns are stored in trials of levels, in the order in which the first of them names them.
fn columns(levels: &[(&str, &Observations)]) -> Vec<StoredColumn> {
    fn compressed(observations: &Observations) -> impl Iterator<Item = (&str, &str, f64)> {
        COMPRESSED.members(observations).filter_map(|(name, bytes)| {
            let (column, method) = name.rsplit_once('.')?;
            Some((column, method, bytes))
        })
    }
    let names = levels
        .iter()
        .flat_map(|(_, observations)| compressed(observations))
        .map(|(column, ..)| column);
    distinct(names)
        .into_iter()
        .map(|column| StoredColumn {
            column: column.to_owned(),
            levels: levels
                .iter()
                .map(|(level, observations)| {
                    let columns = || compressed(observations).filter(|(name, ..)| *name == column);
                    StoredAs {
                        level: (*level).to_owned(),
                        methods: columns().map(|(_, method, _)| method.to_owned()).collect(),
                        bytes: columns().map(|(.., bytes)| bytes).sum(),
                    }
                })
                .collect(),
        })
        .collect()
}

/// Positions of the factors that have one level within each of these and not the same in all.
fn telling(recording: &Recording, factor: usize, all: &[Vec<&Vec<Option<usize>>>]) -> Vec<usize> {
    (0..recording.factors.len())
        .filter(|position| *position != factor)
        .filter(|position: &usize| {
            let each: Vec<_> = all
                .iter()
                .map(|groups| {
                    let position: usize = *position;

                    let configurations = groups.iter().flat_map(|group| group.iter().flatten());
                    distinct(configurations.map(|configuration| {
                        recording.configurations[*configuration]
                            .level(&recording.factors[position].name)
                    }))
                })
                .collect();
            each.iter().all(|levels_of| levels_of.len() == 1) && distinct(each).len() > 1
        })
        .collect()
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
    table: TableUse,
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
                blocks.iter().map(|block| block.iter().filter_map(|block| of(block)).collect());
            let blocks: Vec<Vec<f64>> = values.collect();
            let complete = !blocks.is_empty() && blocks.iter().all(|block| !block.is_empty());
            complete.then_some(Values { blocks, first, resolution: 0.0 })
        };
        let Matched { from, to, first, .. } = &self.matched;
        Some([side(from, first[0])?, side(to, first[1])?])
    }

    /// The row of the size of the tables.
    fn size(&self, level: &str) -> Option<CompressionRow> {
        self.row(level, "size", "MB", self.values(stored_mb)?)
    }

    /// The row of a cost of a unit of work.
    fn cost(&self, level: &str, cost: &WorkCost) -> Option<CompressionRow> {
        let row = self.row(level, name(cost.kind), cost.unit, self.values(cost.value)?)?;
        if cost.kind != CostKind::Processor {
            return Some(row);
        }
        let per_second = row.estimate.mean / mean(self.values(processor_s)?[1].blocks.concat());
        Some(CompressionRow { functions: self.functions(per_second), ..row })
    }

    /// A figure by its name and unit.
    fn row(
        &self,
        level: &str,
        figure: &'static str,
        unit: &str,
        [from, to]: [Values; 2],
    ) -> Option<CompressionRow> {
        let estimate = |side: &Values| {
            let means: Vec<f64> = side.blocks.iter().map(mean).collect();
            Estimate::from_amounts(&means, unit, Direction::LowerIsBetter)
        };
        let (reference, estimate) = (estimate(&from)?, estimate(&to)?);
        // More is "better" here: the ratio is that of the level to the reference.
        let ratio =
            Comparison::of_values(self.matched.paired, &from, &to, Direction::HigherIsBetter)?;
        let (level, work) = (level.to_owned(), self.work.clone());
        Some(CompressionRow {
            level,
            work,
            figure,
            reference,
            estimate,
            ratio,
            functions: Vec::new(),
        })
    }

    /// Functions with a significant change of CPU time; `per_second` converts seconds to the
    /// response's unit.
    fn functions(&self, per_second: f64) -> Vec<FunctionChange> {
        let code = Decomposition::from_trials(&self.matched).and_then(|trial| trial.code);
        code.into_iter()
            .flat_map(|code| code.parts)
            .filter_map(|part| match part.kind.clone() {
                PartKind::Function { function, module } if part.supported() => {
                    Some(FunctionChange {
                        function,
                        module,
                        change: part.change_s * per_second,
                        interval: part
                            .interval
                            .map(|interval| interval.map(|end| end * per_second)),
                    })
                }
                _ => None,
            })
            .take(FUNCTIONS)
            .collect()
    }

    /// The break-even of scans, with the sizes of a pair on the same data.
    fn break_even(&self, level: &str, sized: &Pair) -> Option<BreakEven> {
        let means = |values: &Values| values.blocks.iter().map(mean).collect::<Vec<f64>>();
        let [reference_mb, own_mb] = sized.values(stored_mb)?.map(|side| mean(means(&side)));
        let [from, to] = self.values(processor_s)?;
        let own_cpu_s = Estimate::from_amounts(&means(&to), "s", Direction::LowerIsBetter)?;
        let [before, after] = [&from, &to].map(|side| Sample::new(means(side), side.first));
        let Test { value, interval, .. } = Test::run(self.matched.paired, &before, &after, 0.0);
        let processor_time =
            ProcessorTime { seconds: own_cpu_s.mean, interval: own_cpu_s.interval };
        let more = ProcessorTime { seconds: value, interval };
        let read_mb = [reference_mb, own_mb];
        BreakEven::compare(level.to_owned(), self.work.clone(), read_mb, processor_time, more)
    }
}
