//! The script probe: transactions that the user has written, or pgbench's own.

use super::schema::{Generation, Step as SchemaStep, steps};
use super::{Interpreter, Mix, MixError, Next, Presets, Protocol, Source, parse_file_argument};
use crate::load::{LoadPlan, Step, Workload, drive};
use crate::{Probe, ProbeError, TrialContext};
use engines::{Results, Schema, SchemaKind, Setup};
use experiment::{Configuration, Declaration, Invalid, Kind};
use observations::Observations;
use std::sync::Arc;

/// The script probe.
#[derive(Debug, Clone, Copy)]
pub struct ScriptProbe;

/// Bytes of rows that a bulk load makes at once.
const COPY_BYTES: usize = 60 << 10;

const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "workload.script",
        Kind::TextList,
        None,
        "Script (or list of scripts) in pgbench's language; a weight can follow: \"mine.sql@3\". Paths count from the folder in which steelbench runs.",
    ),
    Declaration::new(
        "workload.builtin",
        Kind::TextList,
        None,
        "Built-in script (or list of them), as pgbench has them: tpcb-like, simple-update, select-only; a weight can follow.",
    ),
    Declaration::new(
        "workload.scale",
        Kind::Count { min: 1, max: 100_000 },
        Some("1"),
        "Size of pgbench's tables, in 100,000 accounts; `:scale` in scripts.",
    ),
    Declaration::new(
        "workload.initialize",
        Kind::Bool,
        None,
        "Whether pgbench's tables are created and filled for each trial; default: when a built-in script runs. Without it scripts find the tables that the database has.",
    ),
    Declaration::new(
        "workload.protocol",
        Kind::Choice(&["prepared", "simple"]),
        Some("prepared"),
        "How statements are sent: prepared once with variables as parameters, or as text each time.",
    ),
    Declaration::new(
        "workload.variables.*",
        Kind::Scalar,
        None,
        "Variables for scripts, as pgbench's --define.",
    ),
    Declaration::new(
        "workload.connections",
        Kind::Count { min: 1, max: 4096 },
        Some("16"),
        "Number of connections.",
    ),
    Declaration::new(
        "workload.threads",
        Kind::Count { min: 1, max: 1024 },
        Some("1"),
        "Threads of ours that drive the connections to a server.",
    ),
    Declaration::new(
        "workload.transactions",
        Kind::Count { min: 1, max: 1_000_000_000_000 },
        None,
        "Transactions in the measured part, all connections together. Give this or workload.duration.",
    ),
    Declaration::new(
        "workload.duration",
        Kind::PositiveDuration,
        None,
        "Length of the measured part. Give this or workload.transactions.",
    ),
    Declaration::new(
        "workload.warmup",
        Kind::Duration,
        Some("0"),
        "The load runs for this long before the measured part.",
    ),
    Declaration::new(
        "workload.rate",
        Kind::Rate,
        None,
        "Open loop: transactions a second, all connections together, at random (Poisson) times; latency counts from the intended start. Without it each connection starts its next transaction at once (closed loop).",
    ),
    Declaration::new(
        "workload.max_tries",
        Kind::Count { min: 1, max: 1_000_000 },
        Some("1"),
        "How often a transaction is tried that ends in a deadlock or a serialization failure, before it counts as failed.",
    ),
];

impl Probe for ScriptProbe {
    fn name(&self) -> &'static str {
        "script"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn plan(&self, configuration: &Configuration) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        let given = |path| configuration.value(path).is_some();
        let engine = engines::by_name(configuration.text("target.engine"));
        if engine.is_some_and(|engine| !engine.capabilities().has(SchemaKind::Statements)) {
            invalid.push(Invalid::new(
                "workload.probe",
                "scripts run on PostgreSQL; this engine has no SQL session for them",
            ));
        }
        match (given("workload.transactions"), given("workload.duration")) {
            (true, true) => invalid.push(Invalid::new(
                "workload.duration",
                "workload.transactions is given too; give one of them",
            )),
            (false, false) => invalid.push(Invalid::new(
                "workload.duration",
                "missing; say for how long (duration = \"10 s\") or how many transactions (transactions = \"100k\")",
            )),
            _ => {}
        }
        if let Err((path, message)) = mix(configuration, 0) {
            invalid.push(Invalid::new(path, message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let mix = mix(configuration, context.seed)
            .map_err(|(path, message)| ProbeError::Invalid(Invalid::new(path, message)))?;
        let mix = Arc::new(mix);
        let mut setup = if initializes(configuration) { setup(scale(configuration)) } else { Vec::new() };
        context.instance.create(Schema::Statements { setup: &mut setup, prepared: mix.statements() })?;
        let plan = LoadPlan {
            units: configuration.integer("workload.transactions"),
            kinds: mix.names().map(str::to_owned).collect(),
            ..LoadPlan::of(configuration, context.seed)
        };
        let tries = configuration.integer("workload.max_tries").unwrap_or(1);
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

fn scale(configuration: &Configuration) -> u32 {
    configuration.integer("workload.scale").unwrap_or(1) as u32
}

fn initializes(configuration: &Configuration) -> bool {
    match configuration.value("workload.initialize") {
        Some(_) => configuration.flag("workload.initialize"),
        None => !configuration.texts("workload.builtin").is_empty(),
    }
}

/// The scripts that a configuration names; an error with the setting that it is about.
fn mix(configuration: &Configuration, seed: u64) -> Result<Mix, (&'static str, String)> {
    let mut sources = Vec::new();
    for argument in configuration.texts("workload.builtin") {
        sources.push(Source::builtin(argument).map_err(|error| ("workload.builtin", error.to_string()))?);
    }
    for argument in configuration.texts("workload.script") {
        sources.push(file(argument).map_err(|message| ("workload.script", message))?);
    }
    if sources.is_empty() {
        return Err((
            "workload.script",
            "missing; name a script in pgbench's language, or a built-in one: builtin = \"tpcb-like\"".into(),
        ));
    }
    let protocol = match configuration.text("workload.protocol") {
        "simple" => Protocol::Simple,
        _ => Protocol::Prepared,
    };
    let variables = configuration.below("workload.variables.");
    let presets = Presets {
        scale: scale(configuration),
        seed,
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
    };
    Mix::parse(&sources, protocol, &presets).map_err(|error| {
        let path =
            if matches!(error, MixError::Variable(_)) { "workload.variables" } else { "workload.script" };
        (path, error.to_string())
    })
}

fn file(argument: &str) -> Result<Source, String> {
    let (path, weight) = parse_file_argument(argument).map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Source { name: path.to_owned(), text, weight })
}

/// How pgbench's tables are made.
fn setup(scale: u32) -> Vec<Setup> {
    let setup = |step| match step {
        SchemaStep::Run(sql) => Setup::Run(sql),
        SchemaStep::Copy { statement, mut rows } => Setup::Copy {
            statement: statement.to_owned(),
            rows: Box::new(move |buffer| rows.fill(buffer, COPY_BYTES)),
        },
    };
    steps(scale, Generation::Copy).into_iter().map(setup).collect()
}

/// The transactions of one connection.
struct ScriptWorkload {
    interpreter: Interpreter,
    /// Transactions of the measured part; `None`: until the time is over.
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
