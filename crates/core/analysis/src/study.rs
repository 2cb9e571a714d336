//! What a study tells the analysis of runs with its probe. The binary hands the studies down: the
//! analysis knows none by name.

use crate::settings::probe;
use crate::{DeviceFigures, Finding, Summary, Way};
use observations::{ConfigurationRecord, Observations, Roles};

/// A study as the analysis needs it.
#[derive(Clone, Copy)]
pub struct Study {
    /// Name of its probe in recordings.
    pub probe: &'static str,
    /// Findings of its own, which precede those on factors.
    pub findings: Option<fn(&Summary) -> Vec<Finding>>,
    /// How its trials use storage, where they do so themselves and no engine does.
    pub storage: Option<StorageUse>,
    /// How a unit of its work uses a table, where its trials work on one.
    pub table: Option<TableUse>,
    /// Whether its sections draw the response, in place of the chart of other runs.
    pub draws_response: bool,
    /// Whether the plans in its trials are plans of statements.
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
            draws_response: false,
            explains_statements: true,
        }
    }
}

/// How the trials of a study use storage.
#[derive(Clone, Copy)]
pub struct StorageUse {
    /// What a configuration measures of storage that can serve as a ceiling; `None` of mixed
    /// directions, several streams, loads that leave the device idle on purpose, and of I/O that
    /// the page cache may serve.
    pub test: fn(&Roles, &ConfigurationRecord) -> Option<StorageTest>,
    /// Bytes that a trial read and wrote; `None` where they are not known.
    pub bytes: fn(&ConfigurationRecord, &Observations) -> Option<(u64, u64)>,
    /// What the load itself did, beside the counters of the devices.
    pub figures: fn(&[&Observations]) -> DeviceFigures,
}

/// What a configuration measures of storage.
pub struct StorageTest {
    /// Reads or writes.
    pub way: Way,
    /// Whether it is random, which databases are; else sequential.
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

/// How a unit of work uses a table.
#[derive(Clone, Copy)]
pub struct TableUse {
    /// Which part of the table it touches.
    pub access: Access,
    /// What it costs, for studies that compare the same work on other tables.
    pub costs: &'static [WorkCost],
}

/// Which part of a table a unit of work touches.
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
    /// What it is a figure of.
    pub kind: CostKind,
    /// Unit as printed.
    pub unit: &'static str,
    /// Its value in a trial.
    pub value: fn(&Observations) -> Option<f64>,
}

/// What a unit of work costs.
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

    /// Whether the sections of a study draw the response of trials that were done.
    pub fn study_draws_response(&self) -> bool {
        let drawn = |own: &usize| self.study(*own).is_some_and(|study| study.draws_response);
        let mut drawn = (0..self.configurations.len()).filter(drawn);
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
