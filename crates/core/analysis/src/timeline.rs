//! A figure over the time of one trial, for the eye: does it rise, fall or stall?

use crate::grid::Grid;
use crate::{ConfigurationRow, ResponseChoice, Standing, Summary};
use observations::{Observations, Series, order};
use serde::Serialize;

/// Course of one trial over time; a mean of several trials would hide stalls at different times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Label of the configuration.
    pub configuration: String,
    /// The block of the trial whose response is the (lower) median of its configuration.
    pub block: u32,
    /// The trial's first series: throughput, where the probe has it.
    pub series: Series,
}

impl Timeline {
    /// Intervals of the measurement: what is before second 0 is warm-up.
    pub fn measured(&self) -> &[f64] {
        &self.series.values[self.warm_up().min(self.series.values.len())..]
    }

    /// Number of intervals before the measurement.
    pub fn warm_up(&self) -> usize {
        (-self.series.start_s / self.series.interval_s).round().max(0.0) as usize
    }
}

impl Summary<'_> {
    /// A trial of the baseline (else the first configuration) and one of the best, where that was
    /// recorded.
    pub fn timelines(&self) -> Vec<Timeline> {
        let (rows, Some(response)) = (&self.configurations, &self.response) else {
            return Vec::new();
        };
        let first = rows.iter().find(|row| row.baseline).or_else(|| rows.first());
        let best = rows.iter().find(|row| row.standing == Standing::Best);
        let best = best.filter(|best| first.is_none_or(|first| first.index != best.index));
        first
            .into_iter()
            .chain(best)
            .filter_map(|row| timeline(row, &self.grid, response))
            .collect()
    }
}

fn timeline(
    row: &ConfigurationRow,
    grid: &Grid<&Observations>,
    response: &ResponseChoice,
) -> Option<Timeline> {
    let trials = grid.cells[row.index].iter().filter_map(|(block, observations)| {
        let series = observations.series.first();
        let series =
            series.filter(|series| series.interval_s > 0.0 && series.start_s.is_finite())?;
        Some((response.value(observations)?, *block, series.clone()))
    });
    let mut trials: Vec<(f64, u32, Series)> = trials.collect();
    order::smallest_first(&mut trials, &|row| row.0);
    let middle = trials.len().checked_sub(1)? / 2;
    let (_, block, series) = trials.swap_remove(middle);
    Some(Timeline { configuration: row.label.clone(), block, series })
}
