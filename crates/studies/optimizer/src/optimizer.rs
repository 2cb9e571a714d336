//! An engine's query optimizer as plain data: how its plans are asked for with their estimates, the
//! alternatives that a session can be made to use, and the cost formulas of its documentation.

use engine::Results;
use inspection::plans::{Plan, PlanError};

/// An engine's query optimizer. In texts, `{table}`, `{column}`, `{index}`, `{sample}` and
/// `{skipped}` stand for the names and figures that [`work::sql::statement::filled`] puts there.
pub struct Optimizer {
    /// The way to explain a statement with estimates.
    pub explain: Explain,
    /// Ways to run a statement and count the rows of each operator, of which the first that the
    /// server accepts is used; empty: the engine does not count them.
    pub analyze: &'static [Explain],
    /// Reads the plan of an answer to either.
    pub read: fn(&Results) -> Result<Plan, PlanError>,
    /// The ways to read a table that a session or a statement can be made to use.
    pub alternatives: &'static [Alternative],
    /// The ways that its plans have and that cannot be forced, a sentence each.
    pub unforced: &'static [&'static str],
    /// Statements after which a session cannot change tables; empty where the engine has none.
    pub read_only: &'static [&'static str],
    /// A query for the name of an index that begins with a column; one row or none.
    pub index: &'static str,
    /// The words behind ORDER BY that skip `{skipped}` rows and return the next one.
    pub row_at: &'static str,
    /// How statistics are gathered.
    pub statistics: Statistics,
    /// The documented cost formulas, where they say when a plan changes.
    pub formulas: Option<&'static dyn CostFormulas>,
    /// Hints that force alternatives more exactly than settings of a session do.
    pub hints: Option<&'static HintSet>,
    /// A way to explain statements on the first rows of a table; `None`: the engine has none.
    pub prefix: Option<&'static Prefix>,
}

/// Hints of an extension that only some servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintSet {
    /// Name of the extension.
    pub name: &'static str,
    /// A query for the statement after which a session heeds them; no text: the server has none.
    pub enabling: &'static str,
    /// The alternatives that they force, in place of those with the same names.
    pub alternatives: &'static [Alternative],
    /// The ways that its plans have and that cannot be forced then, a sentence each.
    pub unforced: &'static [&'static str],
}

/// Statements that show a session the first rows of a table in place of all of them. Nothing of it
/// stays, and no other session sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// Statements that begin it: the rows whose `{key}` is at most `{rows}`, with an index on
    /// `{column}`.
    pub begin: &'static [&'static str],
    /// Statements that end it.
    pub end: &'static [&'static str],
}

/// A way to have a session explain statements; the last result has the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explain {
    /// Statements before the one to explain.
    pub before: &'static [&'static str],
    /// The words that the explained statement then begins with.
    pub words: &'static str,
    /// Statements behind it.
    pub after: &'static [&'static str],
    /// True if the statement runs, because the engine chooses a part of its plan only then.
    pub runs: bool,
}

/// The words of most engines that return one row of a sorted query.
pub const LIMIT_OFFSET: &str = "LIMIT 1 OFFSET {skipped}";

/// A way to read a table that can be forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alternative {
    /// The name in experiment files: `scan`, `index`.
    pub name: &'static str,
    /// True if it reads all of the table.
    pub is_scan: bool,
    /// Settings of the session.
    pub session: &'static [&'static str],
    /// The words before the statement, with the `{alias}` of the table; empty where it needs none.
    pub begin: &'static str,
    /// The hint behind the name of the table; empty where a session is enough.
    pub hint: &'static str,
    /// The words at the end of the statement; empty where it needs none.
    pub end: &'static str,
    /// Beginnings of the engine's names of the operator that then reads the table; empty where any
    /// may.
    pub operators: &'static [&'static str],
    /// Beginnings of the names of operators that the plan then does not have.
    pub avoided: &'static [&'static str],
    /// Beginnings of the names of operators of which the plan then has one; empty where any plan
    /// may be.
    pub needed: &'static [&'static str],
}

/// How an engine gathers statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Statements that gather those of a table.
    pub gather: &'static [&'static str],
    /// Statements that set the size of the sample; empty where it is fixed.
    pub sample: &'static [&'static str],
    /// Statements that gather those of a table from rows that are chosen one by one, `{sample}`
    /// percent of them; empty where the engine samples in one way only.
    pub by_rows: &'static [&'static str],
    /// Statements that declare statistics of several columns (`{columns}`); empty where the engine
    /// has none.
    pub extended: &'static [&'static str],
}

/// The documented formulas of an engine's costs for one table, one predicate on an indexed column
/// and no parallelism.
pub trait CostFormulas: Sync {
    /// Name of the cost constant that moves the crossover: `random_page_cost`.
    fn constant(&self) -> &'static str;
    /// The query for the figures that the formulas need; one row.
    fn figures(&self) -> &'static str;
    /// The constant's value among these figures.
    fn value(&self, figures: &[Option<String>]) -> Option<f64>;
    /// Another value, on which a prediction is tested: the one for the other kind of storage.
    fn other_value(&self, value: f64) -> f64;
    /// The statement that gives the constant another value in a session.
    fn set(&self, value: f64) -> String;
    /// Rows of the predicate from which on a scan of the table is the cheapest plan, with this
    /// value of the constant; `None` where figures are missing, or a scan is never cheapest.
    fn crossover_rows(&self, figures: &[Option<String>], value: f64) -> Option<f64>;
}

impl Explain {
    /// Words before the statement, and nothing else.
    pub const fn words(words: &'static str) -> Self {
        Self { before: &[], words, after: &[], runs: false }
    }
}

impl Alternative {
    /// An alternative that settings of the session force.
    pub const fn by_session(name: &'static str, session: &'static [&'static str]) -> Self {
        Self { name, session, ..Self::NONE }
    }

    /// An alternative that words before the statement force.
    pub const fn by_begin(name: &'static str, begin: &'static str) -> Self {
        Self { name, begin, ..Self::NONE }
    }

    /// An alternative that a hint behind the name of the table forces.
    pub const fn by_hint(name: &'static str, hint: &'static str) -> Self {
        Self { name, hint, ..Self::NONE }
    }

    /// An alternative that words at the end of the statement force.
    pub const fn by_end(name: &'static str, end: &'static str) -> Self {
        Self { name, end, ..Self::NONE }
    }

    /// It reads all of the table, by one of these operators.
    pub const fn scanning(self, operators: &'static [&'static str]) -> Self {
        Self { operators, is_scan: true, ..self }
    }

    /// It reads the table by one of these operators.
    pub const fn reading(self, operators: &'static [&'static str]) -> Self {
        Self { operators, ..self }
    }

    /// An alternative whose plans lack these operators.
    pub const fn avoiding(self, avoided: &'static [&'static str]) -> Self {
        Self { avoided, ..self }
    }

    /// An alternative whose plans have one of these operators.
    pub const fn needing(self, needed: &'static [&'static str]) -> Self {
        Self { needed, ..self }
    }

    const NONE: Self = Self {
        name: "",
        is_scan: false,
        session: &[],
        begin: "",
        hint: "",
        end: "",
        operators: &[],
        avoided: &[],
        needed: &[],
    };

    /// Returns whether an operator that reads the table is one of the alternative.
    pub fn has(&self, operator: &str) -> bool {
        self.operators.is_empty()
            || self.operators.iter().any(|prefix| operator.starts_with(prefix))
    }

    /// Returns whether a plan lacks the operators that it avoids, by their names.
    pub fn is_avoided<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        !names.any(|name| self.avoided.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// Returns whether a plan has an operator that it needs, by their names.
    pub fn is_needed<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        self.needed.is_empty()
            || names.any(|name| self.needed.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// Returns whether a session is enough, so that it is one of any query.
    pub fn is_of_session(&self) -> bool {
        self.begin.is_empty() && self.hint.is_empty() && self.end.is_empty()
    }

    /// Returns whether it needs an index.
    pub fn needs_index(&self) -> bool {
        !self.is_scan && !self.operators.is_empty()
    }
}

impl Optimizer {
    /// The alternative with this name.
    pub fn alternative(&self, name: &str) -> Option<&'static Alternative> {
        self.alternatives.iter().find(|alternative| alternative.name == name)
    }
}
