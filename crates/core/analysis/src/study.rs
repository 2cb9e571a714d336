//! A study's part in the analysis of its runs. The binary passes the studies; the analysis names
//! none.

use crate::settings::probe;
use crate::{DeviceFigures, Finding, Summary, Way};
use observations::{ConfigurationRecord, Observations, Roles};

/// A study as the analysis needs it.
#[derive(Clone, Copy)]
pub struct Study {
    /// Name of its probe in recordings.
    pub probe: &'static str,
    /// Findings of its own. Those on other responses come last, the rest precede those on factors.
    pub findings: Option<fn(&Summary) -> Vec<Finding>>,
    /// How its trials use storage, where they do so themselves and no engine does.
    pub storage: Option<StorageUse>,
    /// How a unit of its work uses a table, where its trials work on one.
    pub table: Option<TableUse>,
    /// Names of the parts of its load, where these are recorded one by one.
    pub parts: PartNames,
    /// True if its sections draw the response in place of the default chart.
    pub draws_response: bool,
    /// True if the plans of its trials are statement plans.
    pub explains_statements: bool,
}

impl Study {
    /// A study whose runs have what every run has.
    pub const fn new(probe: &'static str) -> Self {
        Self {
            probe,
            findings: None,
            storage: None,
            table: None,
            parts: PartNames::SCRIPTS,
            draws_response: false,
            explains_statements: true,
        }
    }
}

/// Names of the parts of a load in reports: of scripts, kinds of transactions, queries.
#[derive(Debug, Clone, Copy)]
pub struct PartNames {
    /// Heading of their section.
    pub heading: &'static str,
    /// One of them: `script`.
    pub part: &'static str,
    /// Its work, which it does many times: `transactions`.
    pub work: &'static str,
    /// Unit of the rate of that: `tps`.
    pub rate: &'static str,
}

impl PartNames {
    /// Those of scripts.
    pub const SCRIPTS: Self =
        Self { heading: "Scripts", part: "script", work: "transactions", rate: "tps" };
}

/// How the trials of a study use storage.
#[derive(Clone, Copy)]
pub struct StorageUse {
    /// Returns the storage measurement of a configuration that can serve as a ceiling; `None` for
    /// mixed directions, several streams, loads with deliberate idle time, and I/O that the page
    /// cache may serve.
    pub test: fn(&Roles, &ConfigurationRecord) -> Option<StorageTest>,
    /// Bytes that a trial read and wrote; `None` where they are not known.
    pub bytes: fn(&ConfigurationRecord, &Observations) -> Option<(u64, u64)>,
    /// Returns the load's own figures, next to the device counters.
    pub figures: fn(&[&Observations]) -> DeviceFigures,
}

/// A configuration's measurement of storage.
pub struct StorageTest {
    /// Reads or writes.
    pub way: Way,
    /// True for random I/O, the pattern of databases; else sequential.
    pub random: bool,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// The one volume that the load goes to.
    pub volume: String,
    /// Name of the response with I/Os a second.
    pub rate: &'static str,
    /// Name of the response with the I/Os in flight.
    pub depth: &'static str,
}

/// The use of a table by a unit of work.
#[derive(Clone, Copy)]
pub struct TableUse {
    /// The part of the table that it touches.
    pub access: Access,
    /// Costs of its work, for studies that compare the same work on different tables.
    pub costs: &'static [WorkCost],
}

/// The part of a table that a unit of work touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It fills the table.
    Load,
    /// It reads all rows.
    Scan,
    /// It reads or writes single rows.
    Rows,
}

/// A figure of a unit of work; less is better.
#[derive(Clone, Copy)]
pub struct WorkCost {
    /// Kind of the cost.
    pub kind: CostKind,
    /// Unit as printed.
    pub unit: &'static str,
    /// Its value in a trial.
    pub value: fn(&Observations) -> Option<f64>,
}

/// A cost per unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostKind {
    /// Processor time of sessions, their workers and the kernel's threads.
    Processor,
    /// The part of it that the kernel's threads took.
    Kernel,
    /// Time.
    Time,
    /// Time for which a row is locked.
    LockHeld,
}

impl Summary<'_> {
    /// The study whose probe a configuration has; `None` of one that the binary does not have.
    pub fn study(&self, configuration: usize) -> Option<&'static Study> {
        study_of(self.studies, &self.recording.configurations[configuration])
    }

    /// How the trials of a configuration use storage, where they do so themselves.
    pub fn storage_use(&self, configuration: usize) -> Option<&'static StorageUse> {
        self.study(configuration)?.storage.as_ref()
    }

    /// Names of the parts of the load of a configuration.
    pub fn part_names(&self, configuration: usize) -> PartNames {
        self.study(configuration).map_or(PartNames::SCRIPTS, |study| study.parts)
    }

    /// Returns whether a study's sections draw the response of completed trials.
    pub fn study_draws_response(&self) -> bool {
        let mut drawn = (0..self.configurations.len())
            .filter(|own: &usize| self.study(*own).is_some_and(|study| study.draws_response));
        drawn.any(|own| !self.grid.trials(own).is_empty())
    }
}

/// The study whose probe a configuration has.
pub fn study_of(
    studies: &'static [&'static Study],
    configuration: &ConfigurationRecord,
) -> Option<&'static Study> {
    let name = probe(configuration)?;
    studies.iter().copied().find(|study| study.probe == name)
}
