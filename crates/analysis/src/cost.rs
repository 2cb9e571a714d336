//! What a scan costs (S3b): processor time as the sum of what each page, each row, each aggregated column and each page
//! from storage costs, fitted to the trials of the scan probe, with how far the fit is off where it has not looked.

mod fit;

use crate::grid::Grid;
use crate::response::distinct;
use crate::settings::groups;
use crate::{Estimate, Interval, Summary};
use fit::{Fit, Trial, told_apart};
use observations::{Direction, Observations};
use serde::Serialize;

/// Settings that the terms account for: configurations that differ in these share a model.
const ACCOUNTED: &[&str] = &[
    "target.cache",
    "workload.aggregated_columns",
    "workload.aggregates",
    "workload.columns",
    "workload.data",
    "workload.data_seed",
    "workload.duration",
    "workload.filter",
    "workload.group_by",
    "workload.rows",
    "workload.rows_per_page",
    "workload.scale",
    "workload.scans",
];

/// A term of the model.
struct Term {
    name: &'static str,
    /// How often it occurs in one scan, from the facts of a trial.
    count: fn(&Observations) -> f64,
}

fn fact(seen: &Observations, name: &str) -> f64 {
    seen.fact(name).unwrap_or(0.0)
}

/// That fact for each row.
fn by_rows(seen: &Observations, name: &str) -> f64 {
    fact(seen, "table_rows") * fact(seen, name)
}

/// In the order in which they are told apart: what a later one counts in proportion to an earlier one belongs to the earlier.
const TERMS: [Term; 10] = [
    Term { name: "page", count: |seen| fact(seen, "table_pages") },
    Term { name: "row", count: |seen| fact(seen, "table_rows") },
    Term {
        name: "row, with any aggregated column",
        count: |seen| fact(seen, "table_rows") * f64::from(fact(seen, "agg_columns") > 0.0),
    },
    Term { name: "row and SUM", count: |seen| by_rows(seen, "agg_sum") },
    Term { name: "row and MIN", count: |seen| by_rows(seen, "agg_min") },
    Term { name: "row and MAX", count: |seen| by_rows(seen, "agg_max") },
    Term { name: "row and AVG", count: |seen| by_rows(seen, "agg_avg") },
    Term {
        name: "row and condition or group",
        count: |seen| by_rows(seen, "filters") + by_rows(seen, "group_columns"),
    },
    Term { name: "page from storage", count: |seen| fact(seen, "pages_disk") },
    // COUNT(*) can do without going from row to row.
    Term {
        name: "page, with any aggregated column",
        count: |seen| fact(seen, "table_pages") * f64::from(fact(seen, "agg_columns") > 0.0),
    },
];

/// What one of a term costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostTerm {
    /// `page`: what it is a cost of.
    pub name: &'static str,
    /// Microseconds of processor time for one; not below 0.
    pub cost_us: f64,
    /// Its 95 % t interval over blocks, cut off at 0; `None` with fewer than two blocks.
    pub interval: Option<Interval>,
}

/// A configuration beside what the model says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// Label of the configuration.
    pub label: String,
    /// Processor time of a scan in ms.
    pub measured: Estimate,
    /// The same by a model of the other configurations; `None` where these cannot tell all of its terms.
    pub predicted_ms: Option<f64>,
    /// How far the prediction is off: 0.05 is 5 % too high.
    pub error: Option<f64>,
}

/// The cost model of configurations that differ in what its terms count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostModel {
    /// Levels of the other factors; empty when there is none.
    pub group: String,
    /// Terms that could be told apart.
    pub terms: Vec<CostTerm>,
    /// Terms that occur, and whose counts follow from those of other terms, so that these hold their cost.
    pub not_told: Vec<&'static str>,
    /// In the order of the file.
    pub rows: Vec<CostRow>,
    /// Median of the absolute errors of the predictions.
    pub error_median: Option<f64>,
    /// Position in `rows` of the largest.
    pub worst: Option<usize>,
}

impl Summary<'_> {
    /// The cost models of the scan probe's configurations: at least three that differ in what is counted.
    pub fn costs(&self) -> Vec<CostModel> {
        let groups = groups(self.recording, "scan", ACCOUNTED).into_iter();
        let label = |configuration: usize| self.recording.configurations[configuration].label.clone();
        groups.filter_map(|group| model(&self.grid, group.label, &group.configurations, &label)).collect()
    }
}

fn model(
    grid: &Grid<&Observations>,
    group: String,
    configurations: &[usize],
    label: &dyn Fn(usize) -> String,
) -> Option<CostModel> {
    let trials: Vec<Trial> = configurations.iter().flat_map(|own| trials(grid, *own)).collect();
    let measured = distinct(trials.iter().map(|trial| trial.configuration));
    let all: Vec<&Trial> = trials.iter().collect();
    let occurs = |term: &usize| trials.iter().any(|trial| trial.counts[*term] > 0.0);
    let occurring: Vec<usize> = (0..TERMS.len()).filter(occurs).collect();
    let told = told_apart(&all, &occurring);
    if measured.len() < 3 || told.len() < 2 || told.len() >= measured.len() {
        return None;
    }
    let fit = Fit::of(&all, &told);
    let intervals = fit.intervals(&all);
    let terms = told.iter().zip(&fit.costs).zip(intervals);
    let row = |configuration: &usize| {
        let (own, others): (Vec<&Trial>, Vec<&Trial>) =
            trials.iter().partition(|trial| trial.configuration == *configuration);
        let costs_ms: Vec<f64> = own.iter().map(|trial| trial.cost / 1e3).collect();
        let measured = Estimate::of(&costs_ms, "ms", Direction::LowerIsBetter)?;
        let predicted_ms = fit::left_out(&own, &others, &told).map(|us| us / 1e3);
        let error = predicted_ms.map(|predicted| predicted / measured.mean - 1.0);
        Some(CostRow { label: label(*configuration), measured, predicted_ms, error })
    };
    let rows: Vec<CostRow> = measured.iter().filter_map(row).collect();
    let mut errors: Vec<f64> = rows.iter().filter_map(|row| Some(row.error?.abs())).collect();
    errors.sort_by(f64::total_cmp);
    let size = |row: &CostRow| row.error.map_or(0.0, f64::abs);
    Some(CostModel {
        group,
        terms: terms
            .map(|((term, cost_us), interval)| CostTerm {
                name: TERMS[*term].name,
                cost_us: *cost_us,
                interval,
            })
            .collect(),
        not_told: occurring
            .iter()
            .filter(|term| !told.contains(term))
            .map(|term| TERMS[*term].name)
            .collect(),
        error_median: crate::estimate::median(&errors),
        worst: (!errors.is_empty())
            .then(|| (0..rows.len()).max_by(|a, b| size(&rows[*a]).total_cmp(&size(&rows[*b]))))
            .flatten(),
        rows,
    })
}

/// The trials of a configuration that know what a scan counted; named queries do not.
fn trials(grid: &Grid<&Observations>, configuration: usize) -> Vec<Trial> {
    let usable = |seen: &&Observations| !seen.timed_out() && seen.fact("agg_columns").is_some();
    let trial = |(block, seen): &(u32, &Observations)| {
        let cost = 1e6 * seen.fact("cpu_s").filter(|cpu_s| *cpu_s > 0.0)?;
        seen.fact("table_pages").filter(|pages| *pages > 0.0)?;
        Some(Trial {
            configuration,
            block: *block,
            counts: TERMS.iter().map(|term| (term.count)(seen)).collect(),
            cost,
        })
    };
    grid.cells[configuration].iter().filter(|(_, seen)| usable(seen)).filter_map(trial).collect()
}
