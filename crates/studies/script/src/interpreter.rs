use crate::compile::{Action, Amount, Command};
use crate::scope::Scope;
use crate::shared::DrawnNumbers;
use crate::sql::Keep;
use crate::value::Value;
use crate::{Fault, Mix, ScriptError};
use engine::{EngineError, Results};
use probe::ProbeError;
use probe::load::{Start, Step, Workload};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use work::{Parameter, Request, Statement};

/// Runs the scripts of a mix for one connection, one transaction after the other.
///
/// ```text
/// begin, then advance until the End; after a request that wants results: answer, then advance.
/// ```
pub struct Interpreter {
    mix: Arc<Mix>,
    variables: Vec<Option<Value>>,
    random: Xoshiro256PlusPlus,
    /// Variables and generator as the transaction found them, if it may have to be repeated.
    before: Option<(Vec<Option<Value>>, Xoshiro256PlusPlus)>,
    /// Chooses scripts: a generator of its own, so that what scripts draw has no part in it.
    choice: Xoshiro256PlusPlus,
    script: usize,
    /// The next command.
    next: usize,
    /// The last statement sent.
    statement: usize,
    parameters: Vec<Parameter>,
    text: String,
    debug: Vec<String>,
    /// Numbers of the shared sequence that the transaction has taken.
    numbers: DrawnNumbers,
    /// Counters and what the transaction adds to them when it is committed.
    counted: Vec<(usize, i64)>,
    /// True during the measurement.
    is_measured: bool,
}

/// Spreads the numbers of clients over all seeds (2^64 divided by the golden ratio).
const CLIENT_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Interpreter {
    /// The interpreter of one connection; connections differ by their number, from 0.
    pub fn new(mix: Arc<Mix>, client_id: u32) -> Self {
        let seed = mix.seed ^ (u64::from(client_id) + 1).wrapping_mul(CLIENT_STEP);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut choice = random.clone();
        choice.long_jump();
        let mut variables = mix.initial.clone();
        if let Some(slot) = mix.client_id {
            variables[slot] = Some(Value::Integer(i64::from(client_id)));
        }
        let mut interpreter = Self {
            before: Some((variables.clone(), random.clone())),
            mix,
            variables,
            random,
            choice,
            script: 0,
            next: 0,
            statement: 0,
            parameters: Vec::new(),
            text: String::new(),
            debug: Vec::new(),
            numbers: DrawnNumbers::default(),
            counted: Vec::new(),
            is_measured: false,
        };
        interpreter.begin();
        interpreter
    }

    /// Disables restarts, for transactions that are tried once: [`repeat`](Self::repeat) must not
    /// be called. Remembering the start of a transaction costs time.
    #[must_use]
    pub fn without_restarts(self) -> Self {
        Self { before: None, ..self }
    }

    /// Begins a new transaction and gives the position of the script that it runs.
    pub fn begin(&mut self) -> usize {
        self.numbers.end(&self.mix.shared.sequence);
        self.counted.clear();
        self.script = self.mix.choose(&mut self.choice);
        if let Some((variables, random)) = &mut self.before {
            variables.clone_from(&self.variables);
            random.clone_from(&self.random);
        }
        self.next = 0;
        self.script
    }

    /// Begins the same transaction again, with the variables and the random numbers that it had: to
    /// repeat it after a deadlock or a serialization failure.
    pub fn repeat(&mut self) {
        if let Some((variables, random)) = &self.before {
            self.variables.clone_from(variables);
            self.random.clone_from(random);
        }
        self.numbers.repeat();
        self.counted.clear();
        self.next = 0;
    }

    /// Computes until the script wants something.
    ///
    /// # Errors
    /// When an expression fails. The transaction cannot go on.
    pub fn advance(&mut self) -> Result<Step<'_>, ScriptError> {
        match self.compute() {
            Ok(Some(step)) => Ok(step),
            Ok(None) => Ok(Step::Request(self.request())),
            Err(fault) => Err(self.error(fault)),
        }
    }

    /// Takes the results of the last request, if it wanted them: those of all its statements.
    ///
    /// # Errors
    /// When `\gset` did not get one row.
    pub fn answer(&mut self, results: &[Results]) -> Result<(), ScriptError> {
        let statements = &self.mix.scripts[self.script].body.statements;
        let Some(Keep { prefix, each }) =
            statements.get(self.statement).and_then(|statement| statement.keep.as_ref())
        else {
            return Ok(());
        };
        let last = results.last();
        let kept = if *each { results } else { last.map(std::slice::from_ref).unwrap_or_default() };
        let rows = last.map_or(0, |last| last.rows);
        if !*each && rows != 1 {
            return Err(self.error(Fault::Rows(rows)));
        }
        for result in kept.iter().filter(|result| result.rows > 0) {
            for (column, value) in result.columns.iter().zip(&result.last) {
                if let Some(slot) = self.mix.names.find_prefixed(prefix, column) {
                    let value =
                        value.as_deref().map_or(Value::Null, |text| Value::Text(text.into()));
                    self.variables[slot] = Some(value);
                }
            }
        }
        Ok(())
    }

    /// Returns the output of `debug()` since the last call; at most 1,000 values.
    pub fn take_debug(&mut self) -> Vec<String> {
        std::mem::take(&mut self.debug)
    }

    fn error(&self, fault: Fault) -> ScriptError {
        let script = &self.mix.scripts[self.script];
        let Command { line, column, .. } = script.body.commands[self.next - 1];
        ScriptError { script: script.name.clone(), line, column, fault }
    }

    /// Runs commands until the script wants something; `None`: the statement that has become
    /// `statement`.
    fn compute(&mut self) -> Result<Option<Step<'static>>, Fault> {
        while let Some(command) = self.mix.scripts[self.script].body.commands.get(self.next) {
            self.next += 1;
            let mut scope = Scope {
                variables: &self.variables,
                names: &self.mix.names,
                random: &mut self.random,
                debug: &mut self.debug,
                sequence: &self.mix.shared.sequence,
                numbers: &mut self.numbers,
            };
            match &command.action {
                Action::Ask(question) => {
                    self.statement = *question;
                    return Ok(None);
                }
                Action::Sleep { amount, unit_us } => {
                    return Ok(Some(Step::Sleep(self.sleep(*amount, *unit_us)?)));
                }
                Action::Set { slot, expression } => {
                    let value = scope.evaluate(expression)?;
                    self.variables[*slot] = Some(value);
                }
                Action::Count { counter, amount } => {
                    let amount = scope.evaluate(amount)?.to_integer()?;
                    self.counted.push((*counter, amount));
                }
                Action::Unless { condition, target } => {
                    if !scope.evaluate(condition)?.is_truthy() {
                        self.next = *target;
                    }
                }
                Action::Jump { target } => self.next = *target,
            }
        }
        self.commit();
        Ok(Some(Step::End))
    }

    /// The transaction was committed: its counts count, and its numbers have ended.
    fn commit(&mut self) {
        let shared = &self.mix.shared;
        for (counter, amount) in self.counted.drain(..) {
            shared.counters[counter].add(amount, self.is_measured);
        }
        self.numbers.end(&shared.sequence);
    }

    fn request(&mut self) -> Request<'_> {
        let statement = &self.mix.scripts[self.script].body.statements[self.statement];
        let results = statement.keep.is_some();
        let values = statement.slots.iter().map(|slot| self.variables[*slot].as_ref());
        self.parameters.clear();
        let statement = if let Some(number) = statement.prepared {
            self.parameters
                .extend(values.map(|value| value.map_or(Parameter::Null, Value::to_parameter)));
            Statement::Operation(number)
        } else {
            self.text.clear();
            self.text.push_str(&statement.texts[0]);
            for ((value, slot), text) in values.zip(&statement.slots).zip(&statement.texts[1..]) {
                // Writing to a string cannot fail.
                let _ = match value {
                    Some(value) => write!(self.text, "{value}"),
                    // Where the variable is not set, its name with the colon stays.
                    None => write!(self.text, ":{}", self.mix.names.name(*slot)),
                };
                self.text.push_str(text);
            }
            Statement::Text(&self.text)
        };
        Request::Execute { statement, parameters: &self.parameters, results }
    }

    fn sleep(&self, amount: Amount, unit_us: u64) -> Result<Duration, Fault> {
        let amount = match amount {
            Amount::Fixed(amount) => amount,
            Amount::Variable(slot) => {
                let value =
                    self.variables[slot].as_ref().ok_or_else(|| self.mix.names.not_set(slot))?;
                whole(value).ok_or_else(|| {
                    let name = self.mix.names.name(slot);
                    Fault::NotWhole { name: name.to_owned(), value: value.to_string() }
                })?
            }
        };
        // A time that has passed is over at once.
        Ok(Duration::from_micros(u64::try_from(amount).unwrap_or(0).saturating_mul(unit_us)))
    }
}

impl Workload for Interpreter {
    fn begin(&mut self) {
        self.is_measured = true;
    }

    fn start(&mut self, _: u64) -> Start {
        Start { kind: self.begin(), units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        Ok(self.advance()?)
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        Ok(self.answer(results)?)
    }

    fn restart(&mut self) {
        self.repeat();
    }

    fn is_result(&mut self, error: &EngineError) -> bool {
        if !matches!(error, EngineError::Violation { .. }) {
            return false;
        }
        let body = &self.mix.scripts[self.script].body;
        let Some(counter) = body.statements[self.statement].refused else { return false };
        // Nothing of the transaction stays but this.
        self.counted.clear();
        self.counted.push((counter, 1));
        self.next = body.commands.len();
        true
    }

    fn statement(&self) -> usize {
        self.mix.scripts[self.script].first + self.statement
    }
}

/// The whole number that a value, or its text, begins with.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Double(number) => Some(*number as i64),
        Value::Text(text) => {
            let text = text.trim_ascii_start();
            let sign = usize::from(text.starts_with(['+', '-']));
            let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
            text[..sign + digits].parse().ok()
        }
        Value::Null | Value::Bool(_) => None,
    }
}
