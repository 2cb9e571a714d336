//! Cost of a scan (S3b): CPU time as the sum of the costs of each page, row, aggregated column and
//! page from storage, fitted to the trials of the scan probe, with the error on held-out
//! configurations.

mod access;
mod fit;

use crate::aggregates::{AGG_AVG, AGG_COLUMNS, AGG_MAX, AGG_MIN, AGG_SUM, FILTERS, GROUP_COLUMNS};
use crate::probe::Scan;
use analysis::grid::Grid;
use analysis::response::distinct;
use analysis::settings::groups;
use analysis::{ConfigurationGroup, Estimate, Interval, Summary, estimate};
use fit::{Fit, Trial, identifiable};
use observations::{Direction, FactName, Observations, Role, UnmeasuredTable};
use probe::Probe;
use probe::data::{CPU_S, PAGE_BYTES, PAGES_DISK, PAGES_READ, TABLE_PAGES, TABLE_ROWS};
use serde::Serialize;

/// Roles of the settings that the terms account for: configurations that differ in these share a
/// model.
const ACCOUNTED: [Role; 4] = [Role::DataIdentity, Role::Operation, Role::Cache, Role::Measurement];

/// A term of the model.
struct Term {
    name: &'static str,
    /// The number of times that it occurs in one scan, from the facts of a trial.
    count: fn(&Observations) -> f64,
}

fn fact(observations: &Observations, fact: FactName) -> f64 {
    fact.read(observations).unwrap_or(0.0)
}

/// Returns the fact for each row.
fn by_rows(observations: &Observations, each: FactName) -> f64 {
    fact(observations, TABLE_ROWS) * fact(observations, each)
}

/// Pages of which fewer than this share of the table is read are read by chance: another program
/// took the memory.
const BY_CHANCE: f64 = 0.05;

/// Returns the fact if it is large enough not to be accidental: a trial that read a few pages does
/// not show their cost.
fn not_by_chance(observations: &Observations, read: FactName) -> f64 {
    let pages = fact(observations, read);
    if pages < BY_CHANCE * fact(observations, TABLE_PAGES) { 0.0 } else { pages }
}

/// Positions of the terms for pages, rows and pages that the engine reads, and of the first that
/// depends on the size of a table: without these a model still says something of a larger one.
const PAGE: usize = 0;
const ROW: usize = 1;
const READ: usize = 10;
const TERMS_OF_SIZE: usize = 12;

/// In order of precedence: if the counts of a later term are proportional to those of an earlier
/// one, the cost belongs to the earlier.
const TERMS: [Term; 15] = [
    Term { name: "page", count: |observations| fact(observations, TABLE_PAGES) },
    Term { name: "row", count: |observations| fact(observations, TABLE_ROWS) },
    // The first one costs more than further ones (S3b); MIN and MAX apart, which statistics may
    // answer.
    Term {
        name: "row, with any SUM or AVG",
        count: |observations| {
            fact(observations, TABLE_ROWS) * any(observations, &[AGG_SUM, AGG_AVG])
        },
    },
    Term { name: "row and SUM", count: |observations| by_rows(observations, AGG_SUM) },
    Term { name: "row and AVG", count: |observations| by_rows(observations, AGG_AVG) },
    Term {
        name: "row, with any MIN or MAX",
        count: |observations| {
            fact(observations, TABLE_ROWS) * any(observations, &[AGG_MIN, AGG_MAX])
        },
    },
    Term { name: "row and MIN", count: |observations| by_rows(observations, AGG_MIN) },
    Term { name: "row and MAX", count: |observations| by_rows(observations, AGG_MAX) },
    Term {
        name: "row and condition or group",
        count: |observations| by_rows(observations, FILTERS) + by_rows(observations, GROUP_COLUMNS),
    },
    Term {
        name: "page from storage",
        count: |observations| not_by_chance(observations, PAGES_DISK),
    },
    // From the operating system, also where that has it in memory: PostgreSQL keeps little of a
    // table that is larger than a quarter of shared_buffers.
    Term {
        name: "page not in the engine's cache",
        count: |observations| not_by_chance(observations, PAGES_READ),
    },
    // COUNT(*) can do without going from row to row.
    Term {
        name: "page, with any aggregated column",
        count: |observations| fact(observations, TABLE_PAGES) * any(observations, &[AGG_COLUMNS]),
    },
    Term {
        name: "page, for each doubling of the table above 16 MiB",
        count: |observations| fact(observations, TABLE_PAGES) * doublings(observations),
    },
    Term {
        name: "scattered row, with any aggregated column, for each such doubling",
        count: |observations| {
            rows_apart(observations) * any(observations, &[AGG_COLUMNS]) * doublings(observations)
        },
    },
    Term { name: "scan (fixed cost)", count: |_| 1.0 },
];

/// 1 where one of these facts is above 0.
fn any(observations: &Observations, facts: &[FactName]) -> f64 {
    f64::from(facts.iter().any(|name| fact(observations, *name) > 0.0))
}

/// Up to about this size a table fits the caches of a core. Its second-level TLB has 1,536 to 2,048
/// entries for pages of 4 KiB, its own cache has 1 to 2 MiB, and it has a part of the shared cache.
/// Of a larger table, a growing share comes from memory. On SQLite 3.54 with 8 KiB a page, COUNT(*)
/// took 0.016 us a page of 20 MiB, 0.023 of 40 MiB and 0.040 of 200 MiB.
const NEAR_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// Rows of this size or more lie apart: between the beginnings of two of them is a cache line that
/// is not read, so that what fetches lines ahead does not have the next one. In the same recording
/// the first SUM took 19 ns a row of 81 bytes in a table of 4 MiB and 24 ns in one of 40 MiB; of
/// 410 bytes 25 ns in 20 MiB and 65 ns in 200 MiB.
const APART_BYTES: f64 = 128.0;

/// Doublings of the table above the size that is near.
fn doublings(observations: &Observations) -> f64 {
    (table_bytes(observations) / NEAR_BYTES).log2().max(0.0)
}

fn table_bytes(observations: &Observations) -> f64 {
    fact(observations, TABLE_PAGES) * fact(observations, PAGE_BYTES)
}

/// Rows, where they lie apart.
fn rows_apart(observations: &Observations) -> f64 {
    let rows = fact(observations, TABLE_ROWS);
    if table_bytes(observations) < APART_BYTES * rows { 0.0 } else { rows }
}

/// Unit cost of a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostTerm {
    /// `page`: what it is a cost of.
    pub name: &'static str,
    /// Microseconds of processor time for one; not below 0.
    pub cost_us: f64,
    /// The 95 % t interval over blocks, cut off at 0; `None` with fewer than two blocks.
    pub interval: Option<Interval>,
}

/// A term's part of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostPart {
    /// Name of the term.
    pub name: &'static str,
    /// Milliseconds of the prediction.
    pub ms: f64,
}

/// A configuration beside what the model says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// Label of the configuration.
    pub label: String,
    /// Processor time of a scan in ms.
    pub measured: Estimate,
    /// The prediction by a model of the other configurations; `None` where these cannot determine
    /// all of its terms.
    pub predicted_ms: Option<f64>,
    /// The parts of its sum, without terms of zero cost.
    pub parts: Vec<CostPart>,
    /// The error of the prediction: 0.05 is 5 % too high.
    pub error: Option<f64>,
}

/// A model's prediction for a table that was not measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostPrediction {
    /// The table, and what is asked of it.
    pub table: UnmeasuredTable,
    /// CPU time of a scan in ms; `None` if the cost of one of its terms is not identifiable.
    pub ms: Option<f64>,
    /// The 95 % t interval over blocks of that: how well the costs are measured, not whether the
    /// model holds there.
    pub interval: Option<Interval>,
    /// Terms that it has and the model cannot tell.
    pub lacks: Vec<&'static str>,
    /// Fewest and most rows of a page that were measured, where the table's lie outside.
    pub outside: Option<(f64, f64)>,
    /// Bytes of the largest table that was measured, where this one is larger.
    pub larger_than_bytes: Option<f64>,
}

/// Configurations whose plan reads the table in another way, too few of them for a model of their
/// own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherAccess {
    /// The operator that reads it: `Index Only Scan`.
    pub access: String,
    /// Their labels.
    pub labels: Vec<String>,
}

/// The cost model of configurations that differ in what its terms count, and whose plans read the
/// table in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostModel {
    /// Levels of the other factors; empty when there is none.
    pub group: String,
    /// The operator that reads the table, where plans differ in it: `Seq Scan`. Scans by another
    /// one are other work.
    pub access: Option<String>,
    /// Configurations that have no model because of that.
    #[serde(rename = "apart")]
    pub excluded: Vec<OtherAccess>,
    /// Terms whose costs are identifiable.
    pub terms: Vec<CostTerm>,
    /// Terms that occur, and whose counts follow from those of other terms, so that these hold
    /// their cost; and those for which there are too few configurations.
    pub not_told: Vec<&'static str>,
    /// In the order of the file.
    pub rows: Vec<CostRow>,
    /// Median of the absolute errors of the predictions.
    pub error_median: Option<f64>,
    /// Position in `rows` of the largest.
    pub worst: Option<usize>,
    /// Tables that were not measured, in the order of the file.
    pub predictions: Vec<CostPrediction>,
}

/// The cost models of the scan probe's configurations: at least three that differ in what is
/// counted.
pub fn costs(summary: &Summary) -> Vec<CostModel> {
    let recording = summary.recording;
    let groups = groups(recording, Scan.declarations().name, |path: &str| {
        recording.roles.has(path, &ACCOUNTED)
    });
    groups.iter().flat_map(|group| Costs { summary }.models(group)).collect()
}

/// The models of a run.
struct Costs<'a> {
    summary: &'a Summary<'a>,
}

impl Costs<'_> {
    /// A model for each way in which the plans of a group's trials read the table.
    fn models(&self, group: &ConfigurationGroup) -> Vec<CostModel> {
        let trials: Vec<Trial> = group
            .configurations
            .iter()
            .flat_map(|configuration| trials(&self.summary.grid, *configuration))
            .collect();
        let ways = distinct(trials.iter().map(|trial| trial.access.as_str()));
        let (mut models, mut apart) = (Vec::new(), Vec::new());
        for access in &ways {
            let trials: Vec<&Trial> =
                trials.iter().filter(|trial| trial.access == *access).collect();
            match self.model(&trials) {
                Some(model) => models.push(CostModel {
                    group: group.label.clone(),
                    access: (ways.len() > 1).then(|| (*access).to_owned()),
                    ..model
                }),
                None => apart.push(OtherAccess {
                    access: (*access).to_owned(),
                    labels: distinct(trials.iter().map(|trial| self.label(trial.configuration))),
                }),
            }
        }
        if let Some(first) = models.first_mut() {
            first.excluded = apart;
        }
        models
    }

    fn label(&self, configuration: usize) -> String {
        self.summary.recording.configurations[configuration].label.clone()
    }

    /// The model of trials that read the table in the same way; `None` of too few configurations.
    fn model(&self, trials: &[&Trial]) -> Option<CostModel> {
        let measured = distinct(trials.iter().map(|trial| trial.configuration));
        let occurring: Vec<usize> = (0..TERMS.len())
            .filter(|term: &usize| trials.iter().any(|trial| trial.counts[*term] > 0.0))
            .collect();
        let mut fitted = identifiable(trials, &occurring);
        // Leave at least one degree of freedom; the terms that matter most are first.
        fitted.truncate(measured.len().saturating_sub(1));
        if measured.len() < 3 || fitted.len() < 2 {
            return None;
        }
        let fit = Fit::of_terms(trials, &fitted);
        let by_block = fit.by_block(trials);
        let term = |(at, term): (usize, &usize)| CostTerm {
            name: TERMS[*term].name,
            cost_us: fit.costs[at],
            interval: fit.interval(&by_block, |fit| fit.costs[at]),
        };
        let rows: Vec<CostRow> = measured
            .iter()
            .filter_map(|measurement| self.row(*measurement, trials, &fitted))
            .collect();
        let mut errors: Vec<f64> = rows.iter().filter_map(|row| Some(row.error?.abs())).collect();
        errors.sort_by(f64::total_cmp);
        let size = |row: &CostRow| row.error.map_or(0.0, f64::abs);
        let not_fitted = occurring.iter().filter(|term| !fitted.contains(term));
        Some(CostModel {
            group: String::new(),
            access: None,
            excluded: Vec::new(),
            terms: fitted.iter().enumerate().map(term).collect(),
            not_told: not_fitted.map(|term| TERMS[*term].name).collect(),
            error_median: estimate::median(&errors),
            worst: (!errors.is_empty())
                .then(|| (0..rows.len()).max_by(|a, b| size(&rows[*a]).total_cmp(&size(&rows[*b]))))
                .flatten(),
            predictions: self
                .summary
                .predict
                .iter()
                .map(|table| prediction(table, &fit, &by_block, trials))
                .collect(),
            rows,
        })
    }

    /// A configuration beside what a model of these terms says of it that is fitted to the others.
    fn row(&self, configuration: usize, trials: &[&Trial], terms: &[usize]) -> Option<CostRow> {
        let (trials, others): (Vec<&Trial>, Vec<&Trial>) =
            trials.iter().partition(|trial| trial.configuration == configuration);
        let costs_ms: Vec<f64> = trials.iter().map(|trial| trial.cost / 1e3).collect();
        let measured = Estimate::from_values(&costs_ms, "ms", Direction::LowerIsBetter)?;
        let of_terms = fit::left_out(&trials, &others, terms);
        let predicted_ms =
            of_terms.as_ref().map(|parts| parts.iter().map(|(_, us)| us / 1e3).sum());
        let parts = of_terms.into_iter().flatten().filter(|(_, us)| *us > 0.0);
        Some(CostRow {
            label: self.label(configuration),
            error: predicted_ms.map(|predicted: f64| predicted / measured.mean - 1.0),
            measured,
            predicted_ms,
            parts: parts
                .map(|(term, us)| CostPart { name: TERMS[term].name, ms: us / 1e3 })
                .collect(),
        })
    }
}

/// Predicts the cost of a table.
fn prediction(
    table: &UnmeasuredTable,
    fit: &Fit,
    by_block: &[Fit],
    trials: &[&Trial],
) -> CostPrediction {
    let pages = table.rows as f64 / table.rows_per_page;
    let columns = if table.aggregate == "count" { 0 } else { table.columns };
    let aggregates = [("sum", AGG_SUM), ("min", AGG_MIN), ("max", AGG_MAX), ("avg", AGG_AVG)];
    let aggregate = aggregates.iter().find(|(name, _)| *name == table.aggregate);
    let page_bytes = trials.first().map_or(0.0, |trial| trial.page_bytes);
    // The engine caches the same share as of the largest table. A cold table is read in full; if
    // the cost of reads is not identifiable, it is part of the cost of storage.
    let largest = trials.iter().max_by(|a, b| a.counts[PAGE].total_cmp(&b.counts[PAGE]));
    let read = match largest {
        _ if table.cold => f64::from(fit.terms.contains(&READ)),
        Some(trial) => trial.counts[READ] / trial.counts[PAGE],
        None => 0.0,
    };
    let facts = [
        (PAGES_READ, read * pages),
        (PAGE_BYTES, page_bytes),
        (TABLE_ROWS, table.rows as f64),
        (TABLE_PAGES, pages),
        (AGG_COLUMNS, columns as f64),
        (PAGES_DISK, if table.cold { pages } else { 0.0 }),
    ];
    let aggregate = aggregate.map(|(_, fact)| (*fact, columns as f64));
    let facts = facts.into_iter().chain(aggregate).map(|(fact, value)| fact.record(value));
    let observations = Observations { facts: facts.collect(), ..Observations::default() };
    let counts: Vec<f64> = TERMS.iter().map(|term| (term.count)(&observations)).collect();
    let lacks = (0..TERMS_OF_SIZE).filter(|term| counts[*term] > 0.0 && !fit.terms.contains(term));
    let lacks: Vec<&'static str> = lacks.map(|term| TERMS[term].name).collect();
    let measured = trials.iter().map(|trial| trial.counts[ROW] / trial.counts[PAGE]);
    let (low, high) = measured.fold((f64::MAX, 0.0_f64), |(low, high), measurement| {
        (low.min(measurement), high.max(measurement))
    });
    let inside = (low * 0.99..=high * 1.01).contains(&table.rows_per_page);
    let largest = largest.map_or(0.0, |trial| trial.counts[PAGE] * trial.page_bytes);
    CostPrediction {
        table: table.clone(),
        ms: lacks.is_empty().then(|| fit.predict(&counts) / 1e3),
        interval: fit
            .interval(by_block, |fit| fit.predict(&counts) / 1e3)
            .filter(|_| lacks.is_empty()),
        lacks,
        outside: (!inside).then_some((low, high)),
        larger_than_bytes: (pages * page_bytes > largest * 1.01).then_some(largest),
    }
}

/// The trials of a configuration that know what a scan counted; named queries do not.
fn trials(grid: &Grid<&Observations>, configuration: usize) -> Vec<Trial> {
    grid.cells[configuration]
        .iter()
        .filter(|(_, observations)| {
            !observations.timed_out() && AGG_COLUMNS.read(observations).is_some()
        })
        .filter_map(|(block, observations)| {
            let cost = 1e6 * CPU_S.read(observations).filter(|cpu_s| *cpu_s > 0.0)?;
            TABLE_PAGES.read(observations).filter(|pages| *pages > 0.0)?;
            Some(Trial {
                configuration,
                block: *block,
                access: observations
                    .plans
                    .first()
                    .map(|plan| access::access(&plan.text))
                    .unwrap_or_default(),
                page_bytes: fact(observations, PAGE_BYTES),
                counts: TERMS.iter().map(|term| (term.count)(observations)).collect(),
                cost,
            })
        })
        .collect()
}
