//! What to look at, each with what it rests on, what it would change, what it costs, and how sure
//! it is. Nothing is said without a count of the server, an estimate of its optimizer, or a rule
//! that its documentation has.

mod indexes;
mod missing;
mod redundant;
mod repeated;
mod statements;

use crate::{IndexUse, Snapshot};
use observations::number::plural;
use serde::{Deserialize, Serialize};

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What it is.
    pub kind: AdviceKind,
    /// Where.
    pub database: String,
    /// The table by its number, if it is about one.
    pub table: Option<usize>,
    /// The index in it by its number, if it is about one.
    pub index: Option<usize>,
    /// Numbers of the statements that it is about.
    pub statements: Vec<usize>,
    /// What it is about, in a few words: the name of the index or table.
    pub subject: String,
    /// What was counted or estimated.
    pub evidence: String,
    /// What to do, and what that changes.
    pub change: String,
    /// What it costs in writes and space, or what to be careful with.
    pub price: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// A statement that does it, which `queries try` takes.
    pub ddl: Option<String>,
    /// What the planner says of the index if it were there.
    pub hypothetical: Option<Hypothetical>,
    /// By which advice of a kind is put in order.
    #[serde(skip)]
    pub(crate) weight: f64,
}

/// The optimizer's cost of a statement without an index that is only thought of and with it, in its
/// own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hypothetical {
    /// Without it.
    pub cost_without: f64,
    /// With it.
    pub cost_with: f64,
}

/// What an advice is about, in the order in which advice is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceKind {
    /// A statement reads a table whole to find a few rows.
    MissingIndex,
    /// A statement writes temporary files.
    Spill,
    /// A statement is run for each row of another.
    RepeatedStatement,
    /// An index that a failed build has left.
    InvalidIndex,
    /// Another index does what it does.
    RedundantIndex,
    /// Nothing reads an index.
    UnusedIndex,
    /// An index is written much more often than read.
    RarelyUsedIndex,
    /// The optimizer expects other numbers of rows than come.
    EstimateOff,
    /// The optimizer's statistics are older than the data.
    StaleStatistics,
    /// A statement's times differ much.
    VaryingTimes,
    /// A statement has several plans.
    SeveralPlans,
    /// An index is much larger than its entries need.
    BloatedIndex,
}

/// How sure an advice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// By the server's counters and definitions alone.
    Counted,
    /// By an estimate: of the optimizer, or of ours where the text says so.
    Estimated,
    /// The counters fit, and something else may be the reason.
    Possible,
}

impl AdviceKind {
    /// `missing index`
    pub fn label(self) -> &'static str {
        match self {
            Self::MissingIndex => "missing index",
            Self::Spill => "spill to disk",
            Self::RepeatedStatement => "repeated statement (N+1)",
            Self::InvalidIndex => "invalid index",
            Self::RedundantIndex => "redundant index",
            Self::UnusedIndex => "unused index",
            Self::RarelyUsedIndex => "rarely used index",
            Self::EstimateOff => "estimate off",
            Self::StaleStatistics => "statistics older than the data",
            Self::VaryingTimes => "varying times",
            Self::SeveralPlans => "several plans",
            Self::BloatedIndex => "bloated index",
        }
    }
}

impl Certainty {
    /// `counted`
    pub fn label(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Estimated => "estimated",
            Self::Possible => "possible",
        }
    }
}

impl Advice {
    fn new(kind: AdviceKind, certainty: Certainty) -> Self {
        Self {
            kind,
            certainty,
            database: String::new(),
            table: None,
            index: None,
            statements: Vec::new(),
            subject: String::new(),
            evidence: String::new(),
            change: String::new(),
            price: String::new(),
            ddl: None,
            hypothetical: None,
            weight: 0.0,
        }
    }
}

/// All that there is to say, by kind, the weightiest of a kind first.
pub(crate) fn advice(snapshot: &Snapshot, uses: &[IndexUse]) -> Vec<Advice> {
    let redundant = redundant::redundant(snapshot, uses);
    let mut all = indexes::of_use(snapshot, uses, |table, index| {
        redundant.iter().any(|one| (one.table, one.index) == (Some(table), Some(index)))
    });
    all.extend(redundant.iter().cloned());
    all.extend(indexes::of_state(snapshot));
    all.extend(missing::missing(snapshot));
    all.extend(repeated::repeated(snapshot));
    all.extend(statements::of_statements(snapshot));
    all.extend(statements::of_tables(snapshot));
    all.sort_by(|a, b| {
        a.kind.cmp(&b.kind).then(b.weight.total_cmp(&a.weight)).then(a.subject.cmp(&b.subject))
    });
    all
}

/// `1 run`, `2,000 runs`
fn runs(calls: u64) -> String {
    plural(usize::try_from(calls).unwrap_or(usize::MAX), "run")
}

/// Numbers that are listed.
const NUMBERS: usize = 12;

/// Statements by their numbers as people read them, from 1: `statement 3`, `statements 1, 4`.
fn numbers(statements: &[usize]) -> String {
    let shown: Vec<String> =
        statements.iter().take(NUMBERS).map(|at| (at + 1).to_string()).collect();
    let more = match statements.len().saturating_sub(NUMBERS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("statement{} {}{more}", if statements.len() == 1 { "" } else { "s" }, shown.join(", "))
}
