//! Percentiles of too few values: they have no estimate, no interval and no comparison.

use crate::response_names;
use observations::{Observations, Percentile, number};
use serde::Serialize;
use std::fmt;

/// A percentile that some trials have too few values for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TooFew {
    /// The response.
    pub name: String,
    /// Values that each trial needs.
    pub needed: u64,
    /// Values of the trial with fewest.
    pub fewest: u64,
    /// The response with the highest percentile of the same values that every trial has enough
    /// values for.
    pub available: Option<String>,
}

impl TooFew {
    /// The response in these trials; `None` if it is not a percentile, or all have enough values.
    pub fn find(name: &str, trials: &[&Observations]) -> Option<Self> {
        let percentiles = recorded(name, trials);
        let lacking = percentiles.iter().find(|percentile| !percentile.is_available())?;
        let family = family(name);
        let names =
            response_names::names(trials).into_iter().filter(|other| self::family(other) == family);
        let available = names.filter_map(|other| {
            let all = recorded(other, trials);
            let is_available =
                all.len() >= percentiles.len() && all.iter().all(Percentile::is_available);
            is_available.then_some((other, all.first()?.percent))
        });
        let highest = available.max_by(|a, b| a.1.total_cmp(&b.1));
        Some(Self {
            name: name.to_owned(),
            needed: Percentile::needed(lacking.percent),
            fewest: percentiles.iter().map(|percentile| percentile.values).min()?,
            available: highest.map(|(name, _)| name.to_owned()),
        })
    }

    /// All responses that have too few values in some of these trials.
    pub fn all(trials: &[&Observations]) -> Vec<Self> {
        response_names::names(trials)
            .into_iter()
            .filter_map(|name| Self::find(name, trials))
            .collect()
    }
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [needed, fewest] = [self.needed, self.fewest].map(number::count);
        write!(f, "{} needs {needed} values in each trial (fewest: {fewest}); ", self.name)?;
        match &self.available {
            Some(available) => write!(f, "{available} is the highest percentile available"),
            None => f.write_str("no percentile is available"),
        }
    }
}

/// The percentile that a response is, in each trial that recorded it.
fn recorded(name: &str, trials: &[&Observations]) -> Vec<Percentile> {
    let responses = trials.iter().flat_map(|trial| &trial.responses);
    responses
        .filter(|response| response.name == name)
        .filter_map(|response| response.percentile)
        .collect()
}

/// The quantity of a percentile: `log.latency` of `log.latency_p99.9`.
fn family(name: &str) -> &str {
    name.rsplit_once("_p").map_or(name, |(family, _)| family)
}
