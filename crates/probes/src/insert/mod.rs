//! The insert load of studies S1: many connections insert rows into one clustered table.

mod keys;

use crate::load::{LoadPlan, Step, Workload, drive};
use crate::{Probe, ProbeError, TrialContext};
use engines::{EngineError, InsertMethod, Placement, Request, Schema, SchemaKind, Shape};
use experiment::{Configuration, Declaration, Invalid, Kind};
use keys::{KeyOrder, Keys};
use observations::Observations;

/// The insert probe.
#[derive(Debug, Clone, Copy)]
pub struct Insert;

/// Enough for any table that fits on a disk, and far from overflow.
const ROWS_MAX: i64 = 1_000_000_000_000;

/// Rows of a transaction that loads the initial rows.
const INITIAL_ROWS_PER_TRANSACTION: u64 = 10_000;

/// Rows that one call of the stored procedure inserts, at least: enough for the call to cost
/// nothing beside them, and few enough for a request to stop to be noticed soon.
const ROWS_PER_CALL: u64 = 10_000;

/// How often a transaction is tried before it counts as failed.
const TRIES_MAX: u32 = 100;

const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "workload.key",
        Kind::Choice(&["random", "sequential"]),
        Some("random"),
        "Clustering key of the rows: random (version 4 UUID) or sequential (each one larger than all before).",
    ),
    Declaration::new(
        "workload.shape",
        Kind::Choice(Shape::NAMES),
        Some("mybigtable"),
        "Columns of a row: the published MyBigTable (about 160 bytes), or a filler that gives each row a page of its own.",
    ),
    Declaration::new(
        "workload.connections",
        Kind::Count { min: 1, max: 4096 },
        Some("16"),
        "Number of connections. To an embedded engine each has a thread of its own.",
    ),
    Declaration::new(
        "workload.threads",
        Kind::Count { min: 1, max: 1024 },
        Some("1"),
        "Threads of ours that drive the connections to a server.",
    ),
    Declaration::new(
        "workload.method",
        Kind::Choice(InsertMethod::NAMES),
        Some("statements"),
        "How rows are inserted: a prepared statement for each row, one by one (statements) or all of a transaction sent ahead (pipelined); the engine's bulk load (copy); or a loop in a stored procedure, which costs the client nothing (procedure).",
    ),
    Declaration::new(
        "workload.rows",
        Kind::Count { min: 1, max: ROWS_MAX },
        None,
        "Rows to insert in the measured part, all connections together. Give this or workload.duration.",
    ),
    Declaration::new(
        "workload.duration",
        Kind::Duration,
        None,
        "Length of the measured part. Give this or workload.rows.",
    ),
    Declaration::new(
        "workload.rows_per_transaction",
        Kind::Count { min: 1, max: 10_000_000 },
        Some("1000"),
        "Rows that a connection inserts before it commits. A transaction's rows go to one data file.",
    ),
    Declaration::new(
        "workload.initial_rows",
        Kind::Count { min: 0, max: ROWS_MAX },
        Some("0"),
        "Rows that are in the table before anything is measured.",
    ),
    Declaration::new(
        "workload.warmup",
        Kind::Duration,
        Some("0"),
        "The load runs for this long before the measured part; its rows come on top.",
    ),
    Declaration::new(
        "workload.rate",
        Kind::Rate,
        None,
        "Open loop: transactions a second, all connections together, at random (Poisson) times; latency counts from the intended start. Without it each connection starts its next transaction at once (closed loop).",
    ),
];

impl Probe for Insert {
    fn name(&self) -> &'static str {
        "insert"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn plan(&self, configuration: &Configuration) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        let engine = engines::by_name(configuration.text("target.engine"));
        if engine.is_some_and(|engine| !engine.capabilities().has(SchemaKind::Table)) {
            invalid.push(Invalid::new("workload.probe", "this engine has no tables to insert into"));
        }
        let (rows, duration) =
            (configuration.integer("workload.rows"), configuration.number("workload.duration"));
        match (rows, duration) {
            (Some(_), Some(_)) => invalid.push(Invalid::new(
                "workload.duration",
                "workload.rows is given too; give one of them",
            )),
            (None, None) => invalid.push(Invalid::new(
                "workload.rows",
                "missing; say how many rows to insert (rows = \"320k\") or for how long (duration = \"10 s\")",
            )),
            (None, Some(seconds)) if seconds <= 0.0 => {
                invalid.push(Invalid::new("workload.duration", "must be longer than 0"));
            }
            _ => {}
        }
        let connections = configuration.integer("workload.connections").unwrap_or(1);
        if rows.is_some_and(|rows| rows < connections) {
            invalid.push(Invalid::new(
                "workload.rows",
                format!("fewer rows than the {connections} connections that insert them"),
            ));
        }
        let cold = configuration.text("target.cache") == "cold";
        if cold && configuration.number("workload.warmup").unwrap_or(0.0) > 0.0 {
            invalid.push(Invalid::new(
                "workload.warmup",
                "a warm-up fills the caches of the engine, which contradicts target.cache = \"cold\"",
            ));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let load = InsertLoad::of(context.configuration, context.seed);
        context.instance.create(Schema::Table { shape: load.shape })?;
        load.load_initial_rows(context)?;
        drive(context, &load.plan, |connection| load.connection(connection))
    }
}

/// The load of one configuration.
struct InsertLoad {
    plan: LoadPlan,
    shape: Shape,
    method: InsertMethod,
    order: KeyOrder,
    placement: Placement,
    rows_per_transaction: u64,
    initial_rows: u64,
    seed: u64,
}

impl InsertLoad {
    fn of(configuration: &Configuration, seed: u64) -> Self {
        let count = |path| configuration.integer(path);
        let method = InsertMethod::from_name(configuration.text("workload.method"));
        let plan = LoadPlan {
            units: count("workload.rows"),
            unit: "row",
            rate_unit: "rows/s",
            counts_transactions: false,
            timed: if method == InsertMethod::Procedure { "call" } else { "transaction" },
            ..LoadPlan::of(configuration, seed)
        };
        Self {
            plan,
            method,
            shape: Shape::from_name(configuration.text("workload.shape")).unwrap_or(Shape::MyBigTable),
            order: KeyOrder::from_name(configuration.text("workload.key")),
            placement: Placement::over(count("target.data_files").unwrap_or(1) as u32),
            rows_per_transaction: count("workload.rows_per_transaction").unwrap_or(1000),
            initial_rows: count("workload.initial_rows").unwrap_or(0),
            seed,
        }
    }

    /// The transactions of one connection.
    fn connection(&self, index: u32) -> InsertWorkload {
        let (connections, share) = (u64::from(self.plan.connections), self.plan.share(index));
        let keys = Keys::new(self.order, self.placement, self.seed, u64::from(index), connections)
            .after(self.initial_rows, self.rows_per_transaction);
        InsertWorkload::new(keys, self.rows_per_transaction, share).with_method(self.method)
    }

    fn load_initial_rows(&self, context: &TrialContext<'_>) -> Result<(), ProbeError> {
        if self.initial_rows == 0 {
            return Ok(());
        }
        // Keys of their own: those of a connection that the load does not have.
        let seed = self.seed ^ u64::from(self.plan.connections).rotate_left(32);
        let keys = Keys::new(self.order, self.placement, seed, 0, 1).after(0, INITIAL_ROWS_PER_TRANSACTION);
        // Who makes the keys that count up goes on from them.
        let method = match self.method {
            InsertMethod::Procedure if keys.are_sequential() => InsertMethod::Procedure,
            _ => InsertMethod::Copy,
        };
        let mut rows = InsertWorkload::new(keys, INITIAL_ROWS_PER_TRANSACTION, Some(self.initial_rows))
            .with_method(method);
        rows.begin();
        let (mut connection_set, mut answers) = (context.instance.connect(1)?, Vec::new());
        while rows.start().is_some() {
            connection_set.send(0, &rows.request())?;
            while answers.is_empty() {
                if context.cancel.is_cancelled() {
                    return Err(EngineError::Cancelled.into());
                }
                connection_set.wait(None, &mut answers)?;
            }
            for answer in answers.drain(..) {
                answer.result?;
            }
        }
        connection_set.flush(0, 1)?;
        Ok(())
    }
}

/// The transactions of one connection.
struct InsertWorkload {
    keys: Keys,
    batch: Vec<engines::Key>,
    rows_per_transaction: u64,
    /// Rows to insert in the measured part; `None`: until the time is over.
    share: Option<u64>,
    method: InsertMethod,
    /// The transaction that has begun: its file and rows, and whether it has been asked for.
    file: u32,
    rows: u64,
    asked: bool,
    tries: u32,
    /// Of these, rows still to insert; `None`: no end.
    left: Option<u64>,
}

impl InsertWorkload {
    fn new(keys: Keys, rows_per_transaction: u64, share: Option<u64>) -> Self {
        let room = share.unwrap_or(u64::MAX).min(rows_per_transaction) as usize;
        Self {
            keys,
            batch: Vec::with_capacity(room),
            rows_per_transaction,
            share,
            method: InsertMethod::Statements,
            file: 0,
            rows: 0,
            asked: false,
            tries: 0,
            left: None,
        }
    }

    fn with_method(self, method: InsertMethod) -> Self {
        Self { method, ..self }
    }

    /// Rows of the next request: a transaction's, or those of several that one call makes.
    fn next_rows(&self) -> u64 {
        let most = match self.method {
            InsertMethod::Procedure => {
                self.rows_per_transaction * ROWS_PER_CALL.div_ceil(self.rows_per_transaction)
            }
            _ => self.rows_per_transaction,
        };
        self.left.map_or(most, |left| left.min(most))
    }

    fn request(&self) -> Request<'_> {
        match self.method {
            InsertMethod::Procedure => Request::InsertLoop {
                rows: self.rows_per_transaction,
                total: self.rows,
                sequential: self.keys.are_sequential(),
            },
            method => Request::Insert { file: self.file, keys: &self.batch, method },
        }
    }
}

impl Workload for InsertWorkload {
    fn begin(&mut self) {
        self.left = self.share;
    }

    fn start(&mut self) -> Option<usize> {
        self.rows = self.next_rows();
        if self.rows == 0 {
            return None;
        }
        self.left = self.left.map(|left| left - self.rows);
        if self.method != InsertMethod::Procedure {
            self.file = self.keys.fill(&mut self.batch, self.rows as usize);
        }
        (self.asked, self.tries) = (false, 0);
        Some(0)
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if self.asked {
            return Ok(Step::End);
        }
        self.asked = true;
        Ok(Step::Request(self.request()))
    }

    fn again(&mut self) -> bool {
        self.tries += 1;
        self.asked = false;
        self.tries < TRIES_MAX
    }
}
