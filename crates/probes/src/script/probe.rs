//! The script probe: transactions that the user has written, or pgbench's own.

use super::{Interpreter, Mix, MixError, Next, Presets, Protocol, Source, parse_file_argument};
use crate::load::{CONNECTIONS, DURATION, LoadPlan, RATE, Step, THREADS, WARMUP, Workload, drive};
use crate::{Probe, ProbeError, Target, TrialContext, tables};
use engines::{Ability, Operation, Results, Work};
use experiment::common::PROBE;
use experiment::{Configuration, Declaration, Invalid, Kind, Value, declarations, settings};
use observations::Observations;
use std::sync::Arc;

/// The script probe.
#[derive(Debug, Clone, Copy)]
pub struct ScriptProbe;

settings! {
    /// Script (or list of scripts) in pgbench's language; a weight can follow: "mine.sql@3". Paths count from the folder
    /// in which steelbench runs.
    pub SCRIPT: Vec<String> = "workload.script", Kind::TextList;
    /// Built-in script (or list of them), as pgbench has them: tpcb-like, simple-update, select-only; a weight can
    /// follow.
    pub BUILTIN: Vec<String> = "workload.builtin", Kind::TextList;
    /// Size of pgbench's tables, in 100,000 accounts; `:scale` in scripts.
    pub SCALE: u32 = "workload.scale", Kind::Count { min: 1, max: 100_000 }, "1";
    /// Whether pgbench's tables are created and filled for each trial; default: when a built-in script runs. Without it
    /// scripts find the tables that the database has.
    pub INITIALIZE: Option<bool> = "workload.initialize", Kind::Bool;
    /// How statements are sent: prepared once with variables as parameters, or as text each time.
    pub PROTOCOL: Protocol = "workload.protocol", Protocol::KIND, "prepared";
    /// Variables for scripts, as pgbench's --define.
    pub VARIABLES: Option<Value> = "workload.variables.*", Kind::Scalar;
    /// Transactions in the measurement, all connections together. Give this or workload.duration.
    pub TRANSACTIONS: Option<u64> = "workload.transactions", Kind::Count { min: 1, max: 1_000_000_000_000 };
    /// How often a transaction is tried that ends in a deadlock or a serialization failure, before it counts as failed.
    pub MAX_TRIES: u64 = "workload.max_tries", Kind::Count { min: 1, max: 1_000_000 }, "1";
}

const SETTINGS: &[Declaration] = declarations![
    SCRIPT,
    BUILTIN,
    SCALE,
    INITIALIZE,
    PROTOCOL,
    VARIABLES,
    CONNECTIONS,
    THREADS,
    TRANSACTIONS,
    DURATION,
    WARMUP,
    RATE,
    MAX_TRIES,
];

impl Probe for ScriptProbe {
    fn name(&self) -> &'static str {
        "script"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        configuration.get(CONNECTIONS)
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        let mut object = |path: &str, message: &str| invalid.push(Invalid::new(path, message));
        if !target.capabilities.has(Ability::Statements) {
            object(PROBE.path(), "this engine runs no statements of the user's; scripts need a database");
        }
        match (configuration.get(TRANSACTIONS), configuration.get(DURATION)) {
            (Some(_), Some(_)) => {
                object(DURATION.path(), "workload.transactions is given too; give one of them");
            }
            (None, None) => object(
                DURATION.path(),
                "missing; say for how long (duration = \"10 s\") or how many transactions (transactions = \"100k\")",
            ),
            _ => {}
        }
        if let Err(error) = mix(configuration, 0) {
            invalid.push(error);
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let mix = Arc::new(mix(configuration, context.seed)?);
        let operations = mix.statements().iter().cloned().map(Operation::Text).collect();
        let mut work = Work { operations, ..Work::default() };
        if configuration.get(INITIALIZE).unwrap_or_else(|| !configuration.get(BUILTIN).is_empty()) {
            let scale = configuration.get(SCALE);
            (work.tables, work.fills) = (tables::pgbench(scale), tables::pgbench_rows(scale));
        }
        context.instance.create(work)?;
        let plan = LoadPlan {
            units: configuration.get(TRANSACTIONS),
            kinds: mix.names().map(str::to_owned).collect(),
            ..LoadPlan::of(context)
        };
        let tries = configuration.get(MAX_TRIES);
        drive(context, &plan, |connection| ScriptWorkload {
            interpreter: interpreter(mix.clone(), connection, tries),
            share: plan.share(connection),
            left: None,
            tries,
            tried: 0,
        })
    }
}

fn interpreter(mix: Arc<Mix>, connection: u32, tries: u64) -> Interpreter {
    let interpreter = Interpreter::new(mix, connection);
    if tries > 1 { interpreter } else { interpreter.without_restarts() }
}

/// The scripts that a configuration names; an error with the setting that it is about.
fn mix(configuration: &Configuration, seed: u64) -> Result<Mix, Invalid> {
    let mut sources = Vec::new();
    for argument in configuration.get(BUILTIN) {
        let source = Source::builtin(&argument);
        sources.push(source.map_err(|error| Invalid::new(BUILTIN.path(), error.to_string()))?);
    }
    for argument in configuration.get(SCRIPT) {
        sources.push(file(&argument).map_err(|message| Invalid::new(SCRIPT.path(), message))?);
    }
    if sources.is_empty() {
        return Err(Invalid::new(
            SCRIPT.path(),
            "missing; name a script in pgbench's language, or a built-in one: builtin = \"tpcb-like\"",
        ));
    }
    let variables = configuration.below("workload.variables.");
    let presets = Presets {
        scale: configuration.get(SCALE),
        seed,
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
    };
    Mix::parse(&sources, configuration.get(PROTOCOL), &presets).map_err(|error| {
        let of_variable = matches!(error, MixError::Variable(_));
        Invalid::new(if of_variable { "workload.variables" } else { SCRIPT.path() }, error.to_string())
    })
}

fn file(argument: &str) -> Result<Source, String> {
    let (path, weight) = parse_file_argument(argument).map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Source { name: path.to_owned(), text, weight })
}

/// The transactions of one connection.
struct ScriptWorkload {
    interpreter: Interpreter,
    /// Transactions of the measurement; `None`: until the time is over.
    share: Option<u64>,
    /// Of these, those still to do; `None`: no end.
    left: Option<u64>,
    /// How often a transaction is tried, and how often this one has been.
    tries: u64,
    tried: u64,
}

impl Workload for ScriptWorkload {
    fn begin(&mut self) {
        self.left = self.share;
    }

    fn start(&mut self) -> Option<usize> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        self.tried = 1;
        Some(self.interpreter.begin())
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        Ok(match self.interpreter.advance()? {
            Next::Request(request) => Step::Request(request),
            Next::Sleep(time) => Step::Sleep(time),
            Next::End => Step::End,
        })
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        Ok(self.interpreter.answer(results)?)
    }

    fn again(&mut self) -> bool {
        let again = self.tried < self.tries;
        self.tried += 1;
        if again {
            self.interpreter.restart();
        }
        again
    }
}
