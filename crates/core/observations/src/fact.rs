use crate::{Fact, Observations};

/// A fact as its study declares it: the probe records it and the analysis reads it by the same
/// constant.
///
/// ```
/// use observations::{FactName, Observations};
///
/// const TABLE_PAGES: FactName = FactName::new("table_pages", "");
/// let seen = Observations { facts: vec![TABLE_PAGES.record(128.0)], ..Observations::default() };
/// assert_eq!(TABLE_PAGES.read(&seen), Some(128.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactName {
    name: &'static str,
    unit: &'static str,
}

impl FactName {
    /// Declares a fact; the unit is empty for a plain count.
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit }
    }

    /// The name in recordings.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The fact with this value.
    pub fn record(self, value: f64) -> Fact {
        Fact { name: self.name.into(), unit: self.unit.into(), value }
    }

    /// The value in a trial; `None` where the trial does not have it.
    pub fn read(self, observations: &Observations) -> Option<f64> {
        observations.fact(self.name)
    }
}

/// Milliseconds until all connections of a load that runs named statements were made.
pub const INITIAL_CONNECTION_TIME: FactName = FactName::new("initial_connection_time", "ms");

/// The share of the transactions that a script's weight says: `script_share.NAME`.
pub const SCRIPT_SHARES: FactFamily = FactFamily::new("script_share.", "");
/// The sum of a counter of a script over the transactions of the measurement:
/// `count.SCRIPT: NAME`.
pub const SCRIPT_COUNTS: FactFamily = FactFamily::new("count.", "");
/// Checks of the tables after the trial, all of which held.
pub const SCRIPT_CHECKS: FactName = FactName::new("checks_held", "");

/// Facts of which a trial has one for each column, operator or method: their names begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactFamily {
    prefix: &'static str,
    unit: &'static str,
}

impl FactFamily {
    /// Declares facts whose names begin with `prefix`.
    pub const fn new(prefix: &'static str, unit: &'static str) -> Self {
        Self { prefix, unit }
    }

    /// Returns the prefix of the names in recordings.
    pub const fn prefix(self) -> &'static str {
        self.prefix
    }

    /// The fact of one member with this value.
    pub fn record(self, member: &str, value: f64) -> Fact {
        Fact { name: format!("{}{member}", self.prefix), unit: self.unit.into(), value }
    }

    /// The value of one member in a trial.
    pub fn read(self, member: &str, observations: &Observations) -> Option<f64> {
        observations
            .facts
            .iter()
            .find(|fact| fact.name.strip_prefix(self.prefix) == Some(member))
            .map(|fact| fact.value)
    }

    /// The members that a trial has, with their values, in the order of the recording.
    pub fn members(self, observations: &Observations) -> impl Iterator<Item = (&str, f64)> {
        observations
            .facts
            .iter()
            .filter_map(move |fact| Some((fact.name.strip_prefix(self.prefix)?, fact.value)))
    }
}
