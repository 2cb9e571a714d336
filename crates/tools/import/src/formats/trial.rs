//! A trial of another tool, and the formats that it may have.

use engine::Engine;
use observations::{LevelRecord, Observations, Response, range};
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
    /// A figure that nothing can have measured.
    #[error("{0}: {1} is out of range; check the file")]
    Figure(String, f64),
    /// It has more rows of this name than are imported.
    #[error("more than {ROWS_MAX} {0}: import a part of the file")]
    TooMany(&'static str),
    /// CSV that cannot be read.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// JSON that cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Rows of an import: a trial takes a kilobyte or more.
pub const ROWS_MAX: usize = 100_000;

/// Refuses more rows of this name than [`ROWS_MAX`].
pub fn check_rows(count: usize, name: &'static str) -> Result<(), FormatError> {
    if count > ROWS_MAX { Err(FormatError::TooMany(name)) } else { Ok(()) }
}

/// Whole numbers that a figure of this size is exact for.
const COUNT_MAX: f64 = (1_u64 << 53) as f64;

/// A count that was read as a number.
pub fn count(name: &'static str, value: f64) -> Result<u64, FormatError> {
    if (0.0..=COUNT_MAX).contains(&value) {
        Ok(value as u64)
    } else {
        Err(FormatError::Figure(name.to_owned(), value))
    }
}

/// Observations with these responses, whose figures are in range.
pub fn observed(
    elapsed_s: f64,
    connections: f64,
    responses: Vec<Response>,
) -> Result<Observations, FormatError> {
    let figures = responses.iter().map(|response| (response.name.as_str(), response.value));
    let odd = figures.chain([("elapsed", elapsed_s)]).find(|(_, value)| !range::has(*value));
    if let Some((name, value)) = odd {
        return Err(FormatError::Figure(name.to_owned(), value));
    }
    let connections = count("connections", connections)?;
    let connections = u32::try_from(connections).unwrap_or(u32::MAX);
    Ok(Observations { elapsed_s, connections, responses, ..Observations::default() })
}
