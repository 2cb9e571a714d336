//! Advice on statements and indexes: the nouns. Advice is found by the tool `queries`.

use crate::statements::Table;
use serde::{Deserialize, Serialize};

/// A finding, with what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The kind.
    pub kind: AdviceKind,
    /// The place.
    pub database: String,
    /// The table by its number, if it is about one.
    pub table: Option<usize>,
    /// The index in it by its number, if it is about one.
    pub index: Option<usize>,
    /// Numbers of the statements that it is about.
    pub statements: Vec<usize>,
    /// The subject in a few words: the name of the index or table.
    pub subject: String,
    /// The counts and estimates that it rests on.
    pub evidence: String,
    /// The change to make, and its effect.
    pub change: String,
    /// The cost in writes and space, or a caution.
    pub price: String,
    /// The certainty.
    pub certainty: Certainty,
    /// A statement that does it, which `queries try` takes.
    pub ddl: Option<String>,
    /// The statement that a session runs before it.
    #[serde(default)]
    pub before_ddl: Option<String>,
    /// Time of its statements, and their share of the time of all.
    pub time: Option<TimeShare>,
    /// The planner's costs without and with the index.
    pub hypothetical: Option<Hypothetical>,
    /// Orders the advice of a kind: the largest first.
    #[serde(skip)]
    pub weight: f64,
}

/// Time in the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeShare {
    /// Seconds.
    pub seconds: f64,
    /// Part of the time of all statements, from 0 to 1.
    pub share: f64,
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

/// The kinds of advice, in the order in which advice is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceKind {
    /// The server stops soon unless something is done.
    Exhaustion,
    /// A session or a slot holds up the work of the rest.
    HeldUp,
    /// A statement reads a table whole to find a few rows.
    MissingIndex,
    /// An index cannot serve a condition as it is written.
    UnusableIndex,
    /// A condition looks for a text inside of texts.
    InfixSearch,
    /// A statement reads many rows to skip them.
    LargeOffset,
    /// A list of rows is read again for each row.
    RepeatedSubquery,
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
    /// Checks of a foreign key read a table whole.
    ForeignKeyWithoutIndex,
    /// Rows of a table have no name.
    NoPrimaryKey,
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
    /// A table is larger than its rows need.
    DeadRows,
    /// A replica is behind.
    Replication,
    /// A setting does not fit the server or its machine.
    Setting,
}

/// The certainty of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// By the server's counters and definitions alone.
    Counted,
    /// By an estimate: of the optimizer, or of Steelbench where the text says so.
    Estimated,
    /// The counters fit, and something else may be the reason.
    Possible,
}

impl AdviceKind {
    /// `missing index`
    pub fn label(self) -> &'static str {
        match self {
            Self::Exhaustion => "runs out",
            Self::HeldUp => "holds up others",
            Self::DeadRows => "dead rows",
            Self::Replication => "replication",
            Self::Setting => "setting",
            Self::MissingIndex => "missing index",
            Self::UnusableIndex => "index not usable",
            Self::InfixSearch => "search inside of texts",
            Self::LargeOffset => "rows read to skip them",
            Self::RepeatedSubquery => "subquery read for each row",
            Self::ForeignKeyWithoutIndex => "foreign key without index",
            Self::NoPrimaryKey => "no primary key",
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
    /// An advice without its words.
    pub fn new(kind: AdviceKind, certainty: Certainty) -> Self {
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
            before_ddl: None,
            time: None,
            hypothetical: None,
            weight: 0.0,
        }
    }

    /// The advice as one about a table, by its number.
    #[must_use]
    pub fn about_table(self, at: usize, table: &Table) -> Self {
        let (database, subject) = (table.database.clone(), table.label());
        Self { database, table: Some(at), subject, ..self }
    }
}
