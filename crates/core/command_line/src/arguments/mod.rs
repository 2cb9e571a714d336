//! Options that several commands have, and the readers of their values.

mod gate;
mod mariadb;
mod psql;
mod quick;

pub use gate::GateOptions;
pub use mariadb::MariaDb;
pub use psql::Psql;
pub use quick::{Quick, doubling};

use clap::Args;
use experiment::{FromValue, Invalid, Setting};

/// A recorded run.
#[derive(Debug, Args)]
pub struct Recorded {
    /// Name of an experiment, or path of a results file [default: the newest in results/]
    pub name: Option<String>,
    /// Number of the run, or of the observation of a server [default: the latest]
    #[arg(long)]
    pub run: Option<i64>,
}

/// The part of a recording over time that lies between two times as a whole.
#[derive(Debug, Default, Args)]
pub struct Between {
    /// Only records that began at this time or later: `2026-11-23 02:40`, UTC
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<i64>,
    /// Only records that ended at this time or before
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Option<i64>,
}

impl Between {
    /// Returns true for what lies in it as a whole.
    pub fn covers(&self, from_ms: i64, to_ms: i64) -> bool {
        self.from.is_none_or(|from| from_ms >= from) && self.to.is_none_or(|to| to_ms <= to)
    }

    /// Returns true when it leaves anything out.
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// The value of an option that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The value of a setting.
    #[error(transparent)]
    Setting(#[from] Invalid),
    /// A number.
    #[error("not a number above 0 and up to {0}")]
    NotPositive(u32),
    /// A time.
    #[error("not a time such as `2026-11-23 02:40` or `2026-11-23`, UTC")]
    NotTime,
    /// A name with a value.
    #[error("expected NAME=VALUE")]
    NotPair,
}

/// The options that name a server contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerNameError {
    /// As an option and as an argument.
    #[error("the database is given twice; name it once")]
    DatabaseTwice,
    /// This part of a URL.
    #[error("the {0} conflicts with a URL: put it into the URL")]
    BesideUrl(&'static str),
    /// Options of MariaDB's client.
    #[error("-P, -u, -D and -S conflict with a URL: put them into the URL")]
    MariaDbBesideUrl,
    /// Options of two clients.
    #[error("-P, -u, -D and -S are for MariaDB, -p, -U and -d for PostgreSQL: use either")]
    TwoClients,
}

/// Reads the value of an option as that of the setting that it stands for.
pub fn setting<T: FromValue>(
    setting: Setting<T>,
) -> impl Fn(&str) -> Result<T::Present, ArgumentError> + Clone {
    move |text| Ok(setting.read(text)?)
}

/// Reads a number above 0 that is not larger than `MAX`.
///
/// # Errors
/// When the text is something else.
pub fn positive<const MAX: u32>(text: &str) -> Result<f64, ArgumentError> {
    let number = text.parse().ok().filter(|number| *number > 0.0 && *number <= f64::from(MAX));
    number.ok_or(ArgumentError::NotPositive(MAX))
}

/// Reads NAME=VALUE.
///
/// # Errors
/// When there is no `=`.
pub fn pair(text: &str) -> Result<(String, String), ArgumentError> {
    let (name, value) = text.split_once('=').ok_or(ArgumentError::NotPair)?;
    Ok((name.to_owned(), value.to_owned()))
}

fn time(text: &str) -> Result<i64, ArgumentError> {
    report::from_utc(text).ok_or(ArgumentError::NotTime)
}
