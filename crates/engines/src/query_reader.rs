//! What a server counts of its statements and indexes, and the plans that it makes for them.

use crate::ServerError;
use queries::{Advice, Hypothetical, Snapshot};

/// Reads the statistics of a server's statements, tables and indexes. Changes nothing on it, and runs none of the statements.
pub trait QueryReader {
    /// What the server counts now.
    ///
    /// # Errors
    /// When the server is lost, or refuses so much that there is nothing to show.
    fn snapshot(&mut self) -> Result<Snapshot, ServerError>;
    /// Looks which statements sessions run now, for the values that they run with.
    ///
    /// # Errors
    /// When the server is lost.
    fn look(&mut self) -> Result<(), ServerError>;
    /// Has the server make plans for the statements, in their order. Why one has none is said of it.
    fn explain(&mut self, snapshot: &mut Snapshot);
    /// What the optimizer says of a statement if there were an index that is advised; `None` where it cannot be asked.
    fn hypothetical(&mut self, _snapshot: &Snapshot, _advice: &Advice) -> Option<Hypothetical> {
        None
    }
}

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// Statements for which plans are made.
    pub plans: usize,
    /// Databases whose tables and indexes are read.
    pub databases: usize,
}

/// Characters that are read of a statement's text.
pub(crate) const TEXT_MAX: usize = observations::statement::TEXT_MAX;

/// Stands in each statement of ours, by which we leave them out.
pub(crate) const MARK: &str = "steelbench_queries";

/// Why a statement that only commands has no plan.
pub(crate) const NO_PLAN: &str = "a command, which has no plan";
/// Why a statement beyond the limit has none.
pub(crate) const BEYOND_LIMIT: &str = "not asked for: see --plans";
