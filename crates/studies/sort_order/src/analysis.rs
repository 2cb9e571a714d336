//! Sort orders of a table in a column store (S2f): what each takes and costs, and how good the
//! advice and the predictions were.

use crate::order::{
    COLUMN_BYTES, PLACE_IN_ORDER, PREDICTED_BYTES, PREDICTED_BYTES_HIGH, PREDICTED_BYTES_LOW,
    PREDICTED_COLUMN_BYTES, PREDICTED_GROUPS, PREDICTED_GROUPS_ALL, ROW_GROUPS, ROW_GROUPS_SKIPPED,
};
use crate::probe::SortOrder;
use crate::settings::ORDER;
use analysis::estimate::{mean, median};
use analysis::response;
use analysis::settings::groups;
use analysis::{Comparison, Estimate, Interval, Summary};
use observations::{FactName, Observations};
use probe::Probe;
use serde::Serialize;

/// Configurations of the sort-order probe that differ in the order only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SortOrders {
    /// Levels of the other factors; empty when there is none.
    pub group: String,
    /// In the order of the file.
    pub rows: Vec<SortOrderRow>,
    /// Position in `rows` of the rows as generated (`none`), which the others are compared with.
    pub generated: Option<usize>,
    /// Position of the order that takes least; of several the first one.
    pub smallest: usize,
    /// Position of the best advice (`advise`, `advise:1`), and its place by size, from 1.
    pub advised: Option<(usize, usize)>,
    /// Median of the absolute errors of the predictions.
    pub error_median: Option<f64>,
    /// Position of the largest.
    pub worst: Option<usize>,
    /// Spearman's rank correlation of predicted and measured sizes: 1 when the predictions put the
    /// orders as they turned out. `None` of fewer than three orders, and where all have the
    /// same size.
    pub rank_correlation: Option<f64>,
}

/// Size and cost of one order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SortOrderRow {
    /// The level: `none`, `advise:2`, `l_shipdate,l_returnflag`.
    pub order: String,
    /// The columns by which rows were sorted.
    pub columns: Vec<String>,
    /// Compressed columns together, in MB (10^6 bytes).
    pub size: Estimate,
    /// The size that was predicted, in MB: an estimate from some row groups.
    pub predicted_mb: Option<f64>,
    /// The 95 % interval.
    pub predicted_interval: Option<Interval>,
    /// Row groups that the prediction looked at, of how many.
    pub predicted_groups: Option<(u64, u64)>,
    /// The error of the prediction: 0.05 is 5 % too high.
    pub error: Option<f64>,
    /// The reduction in size as a multiple of the rows as generated.
    pub size_gain: Option<Comparison>,
    /// Seconds to load the sorted rows.
    pub load: Option<Estimate>,
    /// Processor time of a scan of all columns for each row; `None` where it is not known.
    pub cpu: Option<Estimate>,
    /// The reduction of that as a multiple of the rows as generated.
    pub cpu_gain: Option<Comparison>,
    /// CPU time of a scan with the filter.
    pub filtered_cpu: Option<Estimate>,
    /// Row groups that the filter needs not read, of how many; `None` without a filter.
    pub skipped: Option<(f64, f64)>,
    /// Size of each column, in the order of the table.
    pub by_column: Vec<ColumnBytes>,
}

/// Size of a column in an order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnBytes {
    /// The name.
    pub column: String,
    /// Mean bytes over trials.
    pub bytes: f64,
    /// The bytes that were predicted.
    pub predicted: Option<f64>,
}

/// Returns the results of the sort-order probe, a group for each set of other levels; none with
/// fewer than two orders.
pub fn sort_orders(summary: &Summary) -> Vec<SortOrders> {
    let groups =
        groups(summary.recording, SortOrder.declarations().name, |path| path == ORDER.path());
    let orders = Orders { summary };
    groups
        .into_iter()
        .filter_map(|group| orders.of_group(group.label, &group.configurations))
        .collect()
}

/// The orders of a run.
struct Orders<'a> {
    summary: &'a Summary<'a>,
}

impl Orders<'_> {
    fn of_group(&self, group: String, configurations: &[usize]) -> Option<SortOrders> {
        let order = |index: usize| {
            self.summary.recording.configurations[index]
                .get::<String>(ORDER.path())
                .unwrap_or_default()
        };
        let baseline =
            configurations.iter().copied().find(|configuration| order(*configuration) == "none");
        let rows: Vec<SortOrderRow> = configurations
            .iter()
            .filter_map(|configuration| {
                self.order_row(*configuration, order(*configuration), baseline)
            })
            .collect();
        if rows.len() < 2 {
            return None;
        }
        let mean = |at: &usize| rows[*at].size.mean;
        let smallest = (0..rows.len()).min_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        let advised =
            rows.iter().position(|row| matches!(row.order.as_str(), "advise" | "advise:1"));
        let error = |at: &usize| rows[*at].error.map_or(0.0, f64::abs);
        let errors: Vec<f64> = rows.iter().filter_map(|row| Some(row.error?.abs())).collect();
        let both: Vec<(f64, f64)> =
            rows.iter().filter_map(|row| Some((row.predicted_mb?, row.size.mean))).collect();
        Some(SortOrders {
            group,
            generated: rows.iter().position(|row| row.order == "none"),
            smallest,
            advised: advised.map(|position| {
                (
                    position,
                    1 + rows.iter().filter(|row| row.size.mean < rows[position].size.mean).count(),
                )
            }),
            error_median: median(&errors),
            worst: (0..rows.len())
                .filter(|at| rows[*at].error.is_some())
                .max_by(|a, b| error(a).total_cmp(&error(b))),
            rank_correlation: rank_correlation(&both),
            rows,
        })
    }

    fn order_row(
        &self,
        index: usize,
        order: String,
        baseline: Option<usize>,
    ) -> Option<SortOrderRow> {
        let trials = self.summary.grid.trials(index);
        let estimate = |name: &str| response::estimate(name, &trials);
        let gain = |name: &str| {
            let choice = response::find(name, &trials)?;
            self.summary
                .grid
                .figures(&choice)
                .compare(baseline.filter(|none| *none != index)?, index)
        };
        let fact = |fact: FactName| mean_of(&trials, |trial| fact.read(trial));
        let size = estimate("size")?;
        let predicted_mb = fact(PREDICTED_BYTES).map(|bytes| bytes / 1e6);
        let ends = fact(PREDICTED_BYTES_LOW).zip(fact(PREDICTED_BYTES_HIGH));
        let groups = fact(PREDICTED_GROUPS).zip(fact(PREDICTED_GROUPS_ALL));
        Some(SortOrderRow {
            order,
            columns: columns(trials.first()?),
            predicted_mb,
            predicted_interval: ends
                .map(|(low, high)| Interval { low: low / 1e6, high: high / 1e6 }),
            predicted_groups: groups.map(|(some, all)| (some as u64, all as u64)),
            error: predicted_mb
                .filter(|_| size.mean > 0.0)
                .map(|predicted| predicted / size.mean - 1.0),
            size,
            size_gain: gain("size"),
            load: estimate("load"),
            cpu: estimate("cpu_per_row"),
            cpu_gain: gain("cpu_per_row"),
            filtered_cpu: estimate("filtered_cpu_per_row"),
            skipped: estimate("row_groups_read")
                .and_then(|_| fact(ROW_GROUPS_SKIPPED).zip(fact(ROW_GROUPS))),
            by_column: by_column(&trials),
        })
    }
}

fn mean_of(trials: &[&Observations], value: impl Fn(&Observations) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = trials.iter().filter_map(|trial| value(trial)).collect();
    (!values.is_empty()).then(|| mean(&values))
}

/// The columns of a trial's order.
fn columns(observations: &Observations) -> Vec<String> {
    let places = PLACE_IN_ORDER.members(observations);
    let mut columns: Vec<(u64, String)> =
        places.map(|(name, place)| (place as u64, name.to_owned())).collect();
    columns.sort();
    columns.into_iter().map(|(_, name)| name).collect()
}

fn by_column(trials: &[&Observations]) -> Vec<ColumnBytes> {
    let names = trials.first().into_iter().flat_map(|trial| COLUMN_BYTES.members(trial));
    names
        .filter_map(|(name, _)| {
            Some(ColumnBytes {
                column: name.to_owned(),
                bytes: mean_of(trials, |trial| COLUMN_BYTES.read(name, trial))?,
                predicted: mean_of(trials, |trial| PREDICTED_COLUMN_BYTES.read(name, trial)),
            })
        })
        .collect()
}

/// Spearman's rank correlation, equal values having their mean rank: Pearson's correlation of the
/// ranks.
fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |value: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let ranks = pairs.iter().map(value).map(|amount| {
            let below = pairs.iter().filter(|pair| value(pair) < amount).count() as f64;
            let equal =
                pairs.iter().filter(|pair| value(pair).total_cmp(&amount).is_eq()).count() as f64;
            below + f64::midpoint(equal, 1.0)
        });
        ranks.collect()
    };
    let (x, y) = (ranks(|pair| pair.0), ranks(|pair| pair.1));
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let products = |a: &[f64], b: &[f64], mean_a: f64, mean_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let spread = (products(&x, &x, mean_x, mean_x) * products(&y, &y, mean_y, mean_y)).sqrt();
    (pairs.len() >= 3 && spread > 0.0).then(|| products(&x, &y, mean_x, mean_y) / spread)
}

#[cfg(test)]
mod tests {
    use super::rank_correlation;

    /// scipy.stats.spearmanr gives 0.8 for the first and 0.9486832980505138 for the second.
    #[test]
    fn rank_correlations_are_spearmans() {
        let of = |predicted: &[f64], measured: &[f64]| {
            let pairs: Vec<(f64, f64)> =
                predicted.iter().copied().zip(measured.iter().copied()).collect();
            rank_correlation(&pairs)
        };
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
        assert!(close(of(&[1.0, 2.0, 3.0, 4.0], &[10.0, 30.0, 20.0, 40.0]), 0.8));
        assert!(close(
            of(&[1.0, 2.0, 2.0, 4.0], &[10.0, 20.0, 30.0, 40.0]),
            0.948_683_298_050_513_8
        ));
        assert!(close(of(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0));
        assert_eq!(of(&[1.0, 1.0, 1.0], &[3.0, 2.0, 1.0]), None);
        assert_eq!(of(&[1.0, 2.0], &[1.0, 2.0]), None);
    }
}
