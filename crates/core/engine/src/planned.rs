//! The plans of a load's statements: what is asked of an engine after the measurement, and what it
//! says.

use observations::statement::first_word;
use std::time::{Duration, Instant};
use work::{Parameter, UserStatement};

/// Time for all statements of a trial together: what is not explained until then has no plan.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Milliseconds that a server may take to plan one statement.
pub const STATEMENT_MS_MAX: u64 = 5_000;

/// A statement that is to be explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The statement.
    pub statement: UserStatement,
    /// Values of its parameters as the load sends them; `None`: they are not known.
    pub values: Option<Vec<Parameter>>,
}

impl Asked {
    /// How many parameters it has.
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
    /// What it expects the statement to cost, in the engine's own unit.
    pub cost: Option<f64>,
}

/// Has one statement after the other explained, none of them without a plan, and as long as there
/// is time.
pub fn each(
    asked: &[Asked],
    mut explain: impl FnMut(&Asked) -> Result<Planned, String>,
) -> Vec<Result<Planned, String>> {
    let started = Instant::now();
    let one = |own: &Asked| {
        let verb =
            first_word(own.statement.texts.first().map_or("", String::as_str)).to_ascii_uppercase();
        if !plans::VERBS.contains(&verb.as_str()) {
            return Err(format!("{verb} has no plan"));
        }
        if started.elapsed() > TIME_MAX {
            let seconds = TIME_MAX.as_secs();
            return Err(format!(
                "to explain the statements before it took longer than {seconds} s"
            ));
        }
        explain(own)
    };
    asked.iter().map(one).collect()
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
    use super::{Asked, Planned, each};
    use work::UserStatement;

    #[test]
    fn only_statements_with_plans_are_sent() {
        let asked = |text: &str| Asked {
            statement: UserStatement { texts: vec![text.into()] },
            values: None,
        };
        let mut sent = Vec::new();
        let all = each(&[asked("VACUUM t"), asked("select 1"), asked("(SELECT 2)")], |own| {
            sent.push(own.statement.texts[0].clone());
            Ok(Planned::default())
        });
        assert_eq!(sent, ["select 1", "(SELECT 2)"]);
        assert_eq!(all[0], Err("VACUUM has no plan".to_owned()));
        assert!(all[1].is_ok() && all[2].is_ok());
    }
}
