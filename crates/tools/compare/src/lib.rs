//! `steelbench compare` and `steelbench history`: configurations of a run, two runs or several a
//! side, and many runs of one experiment; and the stability of the repeats of a run.
//!
//! - [`head_to_head`]: the page of two configurations of a run; `command`
//! - `runs`: runs against each other, with limits; `document`: its page
//! - `history`: runs over time; `history_document`: its page; `history_command`
//! - [`stability`]: spread, drift and regimes of repeats; `document`: its page
//!
//! Gates are in `analysis`: the quick command `time` has them too. A binary gives its other tools
//! [`COMPARISONS`].

mod command;
mod document;
pub mod head_to_head;
mod history;
mod history_command;
mod history_document;
pub mod runs;
pub mod stability;

pub use command::Compare;
pub use history::history;
pub use history_command::History;

use command_line::{Comparisons, Failure, Responses, RunDocument};
use observations::Recording;
use report::Document;

report::sections! {
    /// The stability of runs with five blocks or more.
    pub const SECTIONS = |summary| {
        Repeats stability: stability::stability(summary).as_ref() => stability::document::section;
    }
}

/// The stability of a run.
pub const STABILITY: RunDocument =
    RunDocument { document: stability::document::document, json: stability::document::json };

/// Comparisons for the pages of other tools.
pub const COMPARISONS: Comparisons = Comparisons {
    runs: compare_runs,
    configurations: |recording, cells, [from, to]| {
        let compared = analysis::compare_over(recording, cells)?;
        Some(head_to_head::document(&compared, from, to))
    },
};

fn compare_runs(
    from: &[Recording],
    to: &[Recording],
    which: Responses,
) -> Result<Document, Failure> {
    let compared = runs::compare_sides(from, to, which).map_err(Failure::usage)?;
    Ok(document::runs(&compared, None))
}
