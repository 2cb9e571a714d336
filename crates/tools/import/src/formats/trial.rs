//! A trial of another tool, and the formats that it may have.

use engine::Engine;
use observations::{LevelRecord, Observations, Response};
use thiserror::Error;

/// The options that reading depends on.
pub struct Options<'a> {
    /// Names of factors.
    pub factors: &'a [String],
    /// Responses of which more is better.
    pub higher: &'a [String],
    /// Seconds between two snapshots.
    pub seconds: Option<f64>,
    /// The engines that know wait types.
    pub engines: &'static [&'static Engine],
}

/// A trial that another tool measured.
#[derive(Debug, Default)]
pub struct Trial {
    /// The levels of its factors; empty where the file does not have them.
    pub levels: Vec<LevelRecord>,
    /// The block, where the file has it.
    pub block: Option<u32>,
    /// The figures.
    pub observations: Observations,
    /// The format and the file.
    pub origin: String,
}

impl Trial {
    /// Names its configuration: by the label of the user, else as the file does, else by the file.
    pub fn label(&mut self, factor: &str, label: Option<&str>, stem: &str) {
        let level = |level: &str| LevelRecord { factor: factor.into(), level: level.into() };
        match label {
            Some(label) => self.levels = vec![level(label)],
            None if self.levels.is_empty() => self.levels = vec![level(stem)],
            None => {}
        }
    }
}

/// An error of reading a file.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The text has no known format.
    #[error(
        "unknown format; expected CSV, output or logs of pgbench, output of sysbench or HammerDB, \
         or JSON of fio or hyperfine"
    )]
    Unknown,
    /// It has a known format and lacks a figure.
    #[error("{0}")]
    Damaged(String),
    /// CSV that cannot be read.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// JSON that cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Observations with these responses.
pub fn observed(elapsed_s: f64, connections: u32, responses: Vec<Response>) -> Observations {
    Observations { elapsed_s, connections, responses, ..Observations::default() }
}
