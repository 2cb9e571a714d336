//! `steelbench compare` and `steelbench history`: configurations of a run, two runs or several a
//! side, and many runs of one experiment.
//!
//! - `runs`: runs against each other, with limits; `document`: its page; `command`
//! - `history`: runs over time; `history_document`: its page; `history_command`
//!
//! Two configurations of a run, and a gate on them, are in `analysis`: the pages of `serve` and the
//! quick command `time` have them too. A binary gives its other tools [`compare_runs`].

mod command;
mod document;
mod history;
mod history_command;
mod history_document;
pub mod runs;

pub use command::Compare;
pub use history::history;
pub use history_command::History;

use command_line::{Failure, Responses};
use observations::Recording;
use report::Document;

/// Compares the first side's runs with the second's, for a page.
///
/// # Errors
/// As [`runs::compare_sides`].
pub fn compare_runs(
    from: &[Recording],
    to: &[Recording],
    which: Responses,
) -> Result<Document, Failure> {
    let compared = runs::compare_sides(from, to, which).map_err(Failure::usage)?;
    Ok(document::runs(&compared, None))
}
