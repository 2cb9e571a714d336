//! The plans of a load's statements, which an engine explains after the measurement.

use observations::Fact;
use std::fmt::Display;
use std::time::{Duration, Instant};
use work::sql::statement::{VERBS, first_word};
use work::{Parameter, UserStatement};

/// Time for all statements of a trial together: what is not explained until then has no plan.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Milliseconds that a server may take to plan one statement.
pub const STATEMENT_MS_MAX: u64 = 5_000;

/// A statement that is to be explained.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// The statement.
    pub statement: UserStatement,
    /// Values of its parameters as the load sends them; `None`: they are not known.
    pub values: Option<Vec<Parameter>>,
}

impl PlanRequest {
    /// Returns the number of its parameters.
    pub fn parameters(&self) -> usize {
        self.statement.texts.len().saturating_sub(1)
    }
}

/// The plan of a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Planned {
    /// As the engine prints it, without what the optimizer estimated and without the constants
    /// that the load has filled in: the same plan has the same text in every trial.
    pub text: String,
    /// Rows that the optimizer expects of the whole statement.
    pub rows: Option<f64>,
    /// Estimated cost of the statement, in the engine's unit.
    pub cost: Option<f64>,
}

impl Planned {
    /// Returns the plan of this answer: itself, where the engine returns no document.
    ///
    /// # Errors
    /// When the document has no plan.
    pub fn read(self, reader: Option<PlanReader>, has_constants: bool) -> Result<Self, NoPlan> {
        match reader {
            Some(read) => read(&self.text, has_constants),
            None => Ok(self),
        }
    }
}

/// Reads the document that an engine returns as a plan; constants are hidden where they come from
/// the load.
pub type PlanReader = fn(document: &str, has_constants: bool) -> Result<Planned, NoPlan>;

/// An engine's description of an operation before it runs; unknown parts are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explained {
    /// The plan.
    pub plan: Option<Planned>,
    /// The engine's analysis of one run as printed, if requested.
    pub analysis: Option<String>,
    /// Pages of the table, without those of its indexes.
    pub pages: Option<u64>,
    /// Bytes of a page.
    pub page_bytes: Option<u64>,
    /// The engine's counters of that run: `vm_steps`.
    pub counters: Vec<Fact>,
}

/// Why a statement has no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// Engines plan no statements of this kind.
    #[error("{verb} has no plan")]
    Verb {
        /// The first word.
        verb: String,
    },
    /// A statement that is a command.
    #[error("utility statement, no plan")]
    Command,
    /// The statements before took all the time.
    #[error("explaining earlier statements took longer than {} s", TIME_MAX.as_secs())]
    Late,
    /// The time for all plans is over.
    #[error("time limit for plans reached")]
    NoTime,
    /// Only the beginning of its text is known.
    #[error("text too long: only the first {characters} characters were read")]
    Truncated {
        /// Characters that were read.
        characters: usize,
    },
    /// The user limits the number of plans.
    #[error("beyond the limit of --plans")]
    NotRequested,
    /// The role may not read what the statement reads.
    #[error("{message}")]
    Denied {
        /// The words of the server.
        message: String,
    },
    /// The values are not known before it runs.
    #[error("its parameter values are known only while it runs")]
    ValuesUnknown,
    /// The values are unknown, and the engine plans for values only.
    #[error("cannot be planned without parameter values, which are known only while it runs")]
    ValuesNeeded,
    /// The values are results of other statements.
    #[error("its values come from results of other statements")]
    FromResults,
    /// The first of its statements would be explained, and the second one run.
    #[error("several statements in one request")]
    Several,
    /// The engine gave fewer answers than there were statements.
    #[error("not available from the engine")]
    NoAnswer,
    /// The server answered without a plan.
    #[error("the server returned no plan")]
    Empty,
    /// The engine runs it without steps.
    #[error("{engine} reports no steps for it")]
    NoSteps {
        /// Name of the engine.
        engine: &'static str,
    },
    /// A server that runs statements although a session has asked it to explain them.
    #[error("{command} has no effect on this server: it would run the statements")]
    WouldRun {
        /// The command that was ignored.
        command: &'static str,
    },
    /// The server's statistics name no plan of it.
    #[error("the server reports no plan for it")]
    Unnamed,
    /// The server has evicted its plan.
    #[error("its plan is no longer cached, or this login cannot see it")]
    Evicted,
    /// The engine refuses, or its answer cannot be read.
    #[error("{message}")]
    Refused {
        /// The message.
        message: String,
    },
}

impl NoPlan {
    /// Takes over the message of an engine, or of the reader of its plans.
    pub fn refused(message: impl Display) -> Self {
        Self::Refused { message: message.to_string() }
    }
}

/// Explains one statement after the other while there is time; each returns a plan or a reason.
pub fn each(
    plan_requests: &[PlanRequest],
    mut explain: impl FnMut(&PlanRequest) -> Result<Planned, NoPlan>,
) -> Vec<Result<Planned, NoPlan>> {
    let started = Instant::now();
    plan_requests
        .iter()
        .map(|plan_request| {
            let verb = first_word(plan_request.statement.texts.first().map_or("", String::as_str))
                .to_ascii_uppercase();
            if !VERBS.contains(&verb.as_str()) {
                return Err(NoPlan::Verb { verb });
            }
            if started.elapsed() > TIME_MAX {
                return Err(NoPlan::Late);
            }
            explain(plan_request)
        })
        .collect()
}

/// A step of a plan, as SQLite lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanStep {
    /// The number.
    pub id: i64,
    /// The number of the step that it belongs to; 0: none.
    pub parent: i64,
    /// The action: `SEARCH orders USING INDEX i (customer_id=?)`.
    pub detail: String,
}

/// A line for each step, indented below the one that it belongs to.
pub fn indented(steps: &[PlanStep]) -> String {
    let (mut lines, mut depths) = (Vec::new(), vec![(0, 0_usize)]);
    for PlanStep { id, parent, detail } in steps {
        let depth = depths.iter().find(|(known, _)| known == parent).map_or(0, |(_, depth)| *depth);
        depths.push((*id, depth + 1));
        lines.push("  ".repeat(depth) + detail);
    }
    lines.join("\n")
}

/// A value as every engine's SQL has it, texts in quotes.
pub fn literal(value: &Parameter, quote: impl Fn(&str) -> String) -> String {
    match value {
        Parameter::Null => "NULL".to_owned(),
        Parameter::Bool(value) => value.to_string(),
        Parameter::Integer(value) => value.to_string(),
        Parameter::Double(value) => value.to_string(),
        Parameter::Text(text) => quote(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{NoPlan, PlanRequest, Planned, each};
    use work::UserStatement;

    #[test]
    fn only_statements_with_plans_are_sent() {
        let request = |text: &str| PlanRequest {
            statement: UserStatement { texts: vec![text.into()] },
            values: None,
        };
        let mut sent = Vec::new();
        let all =
            each(&[request("VACUUM t"), request("select 1"), request("(SELECT 2)")], |request| {
                sent.push(request.statement.texts[0].clone());
                Ok(Planned::default())
            });
        assert_eq!(sent, ["select 1", "(SELECT 2)"]);
        assert_eq!(all[0], Err(NoPlan::Verb { verb: "VACUUM".to_owned() }));
        assert!(all[1].is_ok() && all[2].is_ok());
    }
}
