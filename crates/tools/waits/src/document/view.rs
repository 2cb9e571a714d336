//! The part of a document that is shown.

use report::table::ROWS_MAX;
use report::text::one_line;

/// Findings of a kind on a screen.
pub const FINDINGS: usize = 3;
/// Rows of a table of statements or clients that is to be read at once.
const ROWS: usize = 15;
/// Characters of a statement that is to be read at once.
const STATEMENT_MAX: usize = 120;

/// The parts that are shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct ActivityView {
    /// Also who waits without being blocked by anybody.
    pub tasks: bool,
    /// Also the whole texts of statements.
    pub statements: bool,
    /// Nothing is cut: the reader is a file, or a program.
    pub whole: bool,
}

impl ActivityView {
    /// Rows of a table.
    pub fn rows(self) -> usize {
        if self.whole { ROWS_MAX } else { ROWS }
    }

    /// A statement in one line, cut where it is long and is to be read at once.
    pub fn statement(self, text: &str) -> String {
        one_line(text, if self.whole { usize::MAX } else { STATEMENT_MAX })
    }
}
