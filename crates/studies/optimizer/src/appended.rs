//! Ascending keys: rows with new, rising values, which the statistics do not know yet.

use crate::ask::{Asker, Reading};
use crate::estimates::q_error;
use crate::facts::{APPENDED_ESTIMATED, APPENDED_ROWS};
use crate::settings::{APPENDED, dials};
use experiment::Configuration;
use observations::{Fact, Response};
use probe::ProbeError;

/// The optimizer's expectation of appended rows.
#[derive(Debug, Default)]
pub(crate) struct AppendError {
    /// Rows and estimates.
    pub facts: Vec<Fact>,
    /// The largest q-error; `None` where the engine has no estimates, or nothing was appended.
    pub worst: Option<Response>,
}

/// Columns with rising values: one with an index, and one without.
const COLUMNS: [&str; 2] = ["a", "c"];

/// Appends a share of the rows of the table dials behind its largest values, and asks the optimizer
/// for the rows of the new values.
///
/// # Errors
/// When the engine refuses.
pub fn append(
    asker: &mut Asker<'_>,
    configuration: &Configuration,
) -> Result<AppendError, ProbeError> {
    let share = configuration.get(APPENDED);
    let mut found = AppendError::default();
    let Some(set) = dials(configuration).filter(|_| share > 0.0) else { return Ok(found) };
    let (rows, largest) = (set.rows, set.distinct - 1);
    let appended = (share * rows as f64).round().max(1.0) as u64;
    let partner = if set.join_correlation.is_some() { ", partner" } else { "" };
    asker.run(&format!(
        "INSERT INTO dials (id, a, b, c, filler{partner}) SELECT id + {rows}, id + {largest}, b, \
         id + {largest}, filler{partner} FROM dials WHERE id <= {appended}"
    ))?;
    found.facts.push(APPENDED_ROWS.record(appended as f64));
    let mut worst = None;
    for column in COLUMNS {
        let newest = format!("SELECT count(*) FROM dials WHERE {column} > {largest}");
        let plan = asker.plan(&newest)?;
        let Some(estimated) = Reading::find(&plan, "dials").estimated else { continue };
        found.facts.push(APPENDED_ESTIMATED.record(column, estimated));
        let error = q_error(estimated, appended as f64);
        worst = Some(worst.map_or(error, |worst: f64| worst.max(error)));
    }
    found.worst = worst.map(|error| Response::lower("appended_q_error", "x", error));
    Ok(found)
}
