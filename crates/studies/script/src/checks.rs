//! Checks after a trial: queries whose answers must agree with what the scripts have counted.

use crate::expression::{Expression, parse_expression};
use crate::names::{Names, Slot, is_name};
use crate::scope::Scope;
use crate::shared::{DrawnNumbers, Sequence};
use crate::value::Value;
use crate::{Fault, Mix};
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{Event, Observations, SCRIPT_CHECKS};
use probe::{ProbeError, TrialContext, data};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use work::Statement;

settings! {
    /// Query of a check, which answers with one number. It runs before the load and after it.
    pub SQL: Option<String> = "workload.checks.*.sql", Kind::Text => @Trial;
    /// The number that the query must answer with after the load (default: `:before`): an
    /// expression with the variables of the scripts, their counters including the warm-up, and
    /// `:before`, the answer before the load. Another answer fails the trial.
    pub EQUALS: Option<String> = "workload.checks.*.equals", Kind::Text => @Trial;
}

const SECTION: &str = "workload.checks.";

/// A check of a configuration.
pub(crate) struct Check {
    name: String,
    sql: String,
    /// The expected answer, as written and compiled.
    equals: String,
    expected: Expression,
    names: Names,
    /// Values of variables from outside.
    values: Vec<(Slot, Value)>,
    /// The answer before the load.
    before: Option<Value>,
}

/// An answer that is not the expected one.
#[derive(Debug, thiserror::Error)]
#[error(
    "check `{name}`: the database says {found}, but {equals} is {expected}; the engine lost or \
     duplicated changes, another program changed the tables, or the scripts count otherwise"
)]
struct Violation {
    name: String,
    found: Value,
    equals: String,
    expected: Value,
}

/// An answer or an expectation that is not a number.
#[derive(Debug, thiserror::Error)]
#[error("check `{name}`: {message}")]
struct NotComparable {
    name: String,
    message: String,
}

/// The checks of a configuration; variables are those of its scripts.
///
/// # Errors
/// When one is incomplete, or its expression cannot be read.
pub(crate) fn from_settings(
    configuration: &Configuration,
    mix: &Mix,
    variables: &[(String, String)],
) -> Result<Vec<Check>, Invalid> {
    let mut names: Vec<&str> = configuration
        .below(SECTION)
        .filter_map(|(path, _)| path.rsplit_once('.').map(|(name, _)| name))
        .collect();
    names.dedup();
    let checks = names.into_iter().map(|name| {
        let path = format!("{SECTION}{name}");
        let [sql, equals] = ["sql", "equals"]
            .map(|key| configuration.value(&format!("{path}.{key}")).map(ToString::to_string));
        if !is_name(name) {
            return Err(Invalid::new(path, "use letters, digits and underscores in its name"));
        }
        let sql = sql.ok_or_else(|| Invalid::new(path, "missing: sql, its query"))?;
        let equals = equals.unwrap_or_else(|| ":before".to_owned());
        Check::parse(name, sql, equals, mix, variables)
    });
    checks.collect()
}

impl Check {
    fn parse(
        name: &str,
        sql: String,
        equals: String,
        mix: &Mix,
        variables: &[(String, String)],
    ) -> Result<Self, Invalid> {
        let mut names = Names::default();
        names.assign("before");
        for (counter, ..) in mix.counts() {
            names.assign(counter);
        }
        let values = variables
            .iter()
            .map(|(name, value)| (names.assign(name), Value::Text(value.as_str().into())))
            .collect();
        let path = format!("{SECTION}{name}.equals");
        let expected = parse_expression(&equals, 0, equals.len(), &mut names)
            .and_then(|expression| names.check().map(|()| expression).map_err(|(_, error)| error))
            .map_err(|error| Invalid::new(&path, error.in_script(&path, &equals).to_string()))?;
        Ok(Self { name: name.to_owned(), sql, equals, expected, names, values, before: None })
    }

    /// Asks before the load.
    ///
    /// # Errors
    /// When the engine refuses, or its answer is not one number.
    pub fn begin(&mut self, context: &TrialContext<'_>) -> Result<(), ProbeError> {
        self.before = Some(self.ask(context)?);
        Ok(())
    }

    /// Compares the answer after the load with the expected one.
    ///
    /// # Errors
    /// When it differs, or the engine refuses.
    fn end(&self, context: &TrialContext<'_>, mix: &Mix) -> Result<(), ProbeError> {
        let found = self.ask(context)?;
        let not_comparable = |fault: Fault| {
            let (name, message) = (self.name.clone(), format!("{}: {fault}", self.equals));
            ProbeError::study(NotComparable { name, message })
        };
        let expected = self.expected(mix).map_err(not_comparable)?;
        let numbers = |value: &Value| value.typed().unwrap_or(Value::Null).to_double();
        let agree = numbers(&found)
            .map_err(not_comparable)?
            .total_cmp(&numbers(&expected).map_err(not_comparable)?);
        if agree.is_eq() {
            return Ok(());
        }
        let (name, equals) = (self.name.clone(), self.equals.clone());
        Err(ProbeError::study(Violation { name, found, equals, expected }))
    }

    /// Returns what the expression comes to.
    fn expected(&self, mix: &Mix) -> Result<Value, Fault> {
        let mut variables = vec![None; self.names.len()];
        variables[0].clone_from(&self.before);
        for (slot, value) in &self.values {
            variables[*slot] = Some(value.clone());
        }
        // The same name in several scripts is one sum. Counters are assigned behind `before`.
        for (slot, variable) in variables.iter_mut().enumerate().skip(1) {
            let name = self.names.name(slot);
            let mut counts = mix.counts().filter(|(counter, ..)| *counter == name).peekable();
            if counts.peek().is_some() {
                *variable = Some(Value::Integer(counts.map(|(_, ever, _)| ever).sum()));
            }
        }
        Scope {
            variables: &variables,
            names: &self.names,
            random: &mut Xoshiro256PlusPlus::seed_from_u64(0),
            debug: &mut Vec::new(),
            sequence: &Sequence::default(),
            numbers: &mut DrawnNumbers::default(),
        }
        .evaluate(&self.expected)
    }

    fn ask(&self, context: &TrialContext<'_>) -> Result<Value, ProbeError> {
        let results = data::execute(context, Statement::Text(&self.sql))?;
        let cell = results
            .first()
            .filter(|result| result.rows == 1)
            .and_then(|result| result.last.first());
        let number = cell.and_then(|cell| {
            let value = Value::Text(cell.as_deref()?.into());
            value.typed().filter(|value| value.to_double().is_ok()).map(|_| value)
        });
        number.ok_or_else(|| {
            let message = format!("`{}` does not answer with one number", self.sql);
            ProbeError::study(NotComparable { name: self.name.clone(), message })
        })
    }
}

/// Compares all answers after the load.
///
/// # Errors
/// The first one that differs.
pub(crate) fn end(
    checks: &[Check],
    context: &TrialContext<'_>,
    mix: &Mix,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    if checks.is_empty() {
        return Ok(());
    }
    (context.progress)(Event::Step { text: "checking the tables".into() });
    checks.iter().try_for_each(|check| check.end(context, mix))?;
    observations.facts.push(SCRIPT_CHECKS.record(checks.len() as f64));
    Ok(())
}
