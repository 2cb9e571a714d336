//! Statements, what the server counted of them, and their plans.

use crate::plans::{self, Operator, Plan};
use crate::statements::Counter;
use report::text::joined;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use work::sql::statement::{VERBS, first_word, number};

/// A statement without its constants, as the server tells statements apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Statement {
    /// The server's number of it.
    pub digest: String,
    /// Where it runs.
    pub database: String,
    /// The user who runs it; empty where the server does not tell users apart.
    pub user: String,
    /// True when clients send it, and not a function that they call.
    pub is_top: bool,
    /// The text as the server keeps it; empty where we may not see it.
    pub text: String,
    /// The server's counters.
    pub counters: BTreeMap<Counter, u64>,
    /// The rows of the server's view that counted it; empty in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<CountedRow>,
    /// The spread of its times.
    pub spread: Option<Spread>,
    /// The percentiles of its times, where each run is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
    /// True when the figures come from a store of the server that drops runs by their age.
    #[serde(default)]
    pub is_stored: bool,
    /// Of an interval: its counters were reset in between, so that some runs are missing.
    pub is_partial: bool,
    /// Plans that are known of it.
    pub plans: Vec<StatementPlan>,
    /// Why there is no re-explained plan.
    pub not_explained: Option<String>,
    /// True when the role may not explain it.
    #[serde(default)]
    pub is_denied: bool,
    /// The text with values that it was seen to run with. It is shown and written nowhere.
    #[serde(skip)]
    pub sample: Option<String>,
}

/// A row of the server's view of statements. Names cannot tell rows apart: a database that was
/// dropped has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRow {
    /// The server's key of it, as far as digest and `is_top` do not have it.
    pub id: String,
    /// When its counters began, ms since 1970 UTC; `None`: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// The counters; empty where it is the only row of the statement, whose counters are its.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<Counter, u64>,
}

/// The spread of the times of a statement's runs, ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The shortest; of an interval not known.
    pub min_ms: Option<f64>,
    /// The longest; of an interval not known.
    pub max_ms: Option<f64>,
    /// Standard deviation.
    pub stddev_ms: Option<f64>,
}

/// The smallest times that a share of the runs does not exceed, ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Of half of them.
    pub p50_ms: f64,
    /// Of 95 %.
    pub p95_ms: f64,
    /// Of 99 %.
    pub p99_ms: f64,
}

/// A plan of a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementPlan {
    /// The origin.
    pub origin: Origin,
    /// Of how many runs; 0 where that is not known, or it was re-explained.
    pub runs: u64,
    /// Mean time of these runs, where the server knows it.
    #[serde(default)]
    pub mean_ms: Option<f64>,
    /// The plan.
    pub plan: Plan,
    /// Of a run that was logged: the statement with its values. It is shown and written nowhere.
    #[serde(skip)]
    pub sample: Option<String>,
    /// The plan as the engine wrote it. It is written to files of plans only.
    #[serde(skip)]
    pub text: Option<PlanText>,
}

/// A plan in its engine's format, with its constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanText {
    /// The end of the name of its file: `sqlplan`, `json`, `txt`.
    pub extension: &'static str,
    /// It.
    pub text: String,
}

/// The origin of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Re-explained, for any values.
    Generic,
    /// Re-explained, for values that it was seen to run with.
    Sample,
    /// Kept by the server since it was compiled: the plan that runs use.
    #[serde(rename = "kept")]
    Cached,
    /// Kept by a store of the server: a plan that runs have used.
    Stored,
    /// Recorded in the server's log when it ran.
    Logged,
}

impl Origin {
    /// `made anew now, for any values`
    pub fn label(self) -> &'static str {
        match self {
            Self::Generic => "re-explained for any values",
            Self::Sample => "re-explained for observed values",
            Self::Cached => "from the server's plan cache",
            Self::Stored => "from the Query Store",
            Self::Logged => "logged at execution",
        }
    }
}

impl Statement {
    /// A counter, where the server has it.
    pub fn get(&self, counter: Counter) -> Option<u64> {
        self.counters.get(&counter).copied()
    }

    /// A counter by run; `None` also where it never ran.
    pub fn by_call(&self, counter: Counter) -> Option<f64> {
        let calls = self.get(Counter::Calls).filter(|calls| *calls > 0)?;
        Some(self.get(counter)? as f64 / calls as f64)
    }

    /// Runs; 0 also where they are not counted.
    pub fn calls(&self) -> u64 {
        self.get(Counter::Calls).unwrap_or(0)
    }

    /// Time of its runs, s; 0 also where it is not counted.
    pub fn time_s(&self) -> f64 {
        self.get(Counter::TimeNs).unwrap_or(0) as f64 / 1e9
    }

    /// The operators of all plans.
    pub fn operators(&self) -> impl Iterator<Item = &Operator> {
        let operators = self.plans.iter().flat_map(|plan| plan.plan.operators());
        operators.map(|(_, operator)| operator)
    }

    /// Mean time of a run, ms.
    pub fn mean_ms(&self) -> Option<f64> {
        self.by_call(Counter::TimeNs).map(|ns| ns / 1e6)
    }

    /// Pages of tables and indexes that a run looks at, in the cache or not.
    pub fn blocks_by_call(&self) -> Option<f64> {
        Some(self.by_call(Counter::SharedHitBlocks)? + self.by_call(Counter::SharedReadBlocks)?)
    }

    /// Returns true when it has a plan: it reads or changes rows.
    pub fn can_be_explained(&self) -> bool {
        let verb = first_word(&self.text);
        VERBS.iter().any(|known| known.eq_ignore_ascii_case(verb))
    }

    /// Returns true when it only reads, by its text.
    pub fn is_query(&self) -> bool {
        first_word(&self.text).eq_ignore_ascii_case("select")
    }
}

impl StatementPlan {
    /// A statement of which no run is known.
    pub fn new(origin: Origin, plan: Plan) -> Self {
        Self { origin, runs: 0, mean_ms: None, plan, sample: None, text: None }
    }

    /// The plan with the text that it was read from.
    #[must_use]
    pub fn with_text(self, extension: &'static str, text: String) -> Self {
        Self { text: Some(PlanText { extension, text }), ..self }
    }

    /// The operators and what they work on, one a line, indented below the one that reads it,
    /// without figures: plans with one shape are the same plan.
    pub fn shape(&self) -> String {
        let lines = self.plan.operators().into_iter().map(|(depth, operator)| {
            let object = operator.objects.first().map(plans::Object::label).unwrap_or_default();
            format!("{}{} {object}", "  ".repeat(depth), operator.name).trim_end().to_owned()
        });
        joined(lines, "\n")
    }

    /// A short number of its shape.
    pub fn hash(&self) -> String {
        format!("{:016x}", number(&self.shape()))
    }
}
