//! The insert load of studies S1: many connections insert rows into one clustered table.

mod keys;

use crate::load::{LoadPlan, Workload, drive};
use crate::{Probe, ProbeError, TrialContext};
use engines::{CacheState, Placement, Shape, Table, Transaction};
use experiment::{Configuration, Invalid, Kind, Setting};
use keys::{KeyOrder, Keys};
use observations::Observations;

/// The insert probe.
#[derive(Debug, Clone, Copy)]
pub struct Insert;

/// Enough for any table that fits on a disk, and far from overflow.
const ROWS_MAX: i64 = 1_000_000_000_000;

/// Rows of a transaction that loads the initial rows.
const INITIAL_ROWS_PER_TRANSACTION: u64 = 10_000;

const SETTINGS: &[Setting] = &[
    Setting {
        path: "workload.key",
        kind: Kind::Choice(&["random", "sequential"]),
        default: Some("random"),
        doc: "Clustering key of the rows: random (version 4 UUID) or sequential (each one larger than all before).",
    },
    Setting {
        path: "workload.shape",
        kind: Kind::Choice(Shape::NAMES),
        default: Some("mybigtable"),
        doc: "Columns of a row: the published MyBigTable (about 160 bytes), or a filler that gives each row a page of its own.",
    },
    Setting {
        path: "workload.connections",
        kind: Kind::Count { min: 1, max: 4096 },
        default: Some("16"),
        doc: "Number of connections, each on a thread of its own.",
    },
    Setting {
        path: "workload.rows",
        kind: Kind::Count { min: 1, max: ROWS_MAX },
        default: None,
        doc: "Rows to insert in the measured part, all connections together. Give this or workload.duration.",
    },
    Setting {
        path: "workload.duration",
        kind: Kind::Duration,
        default: None,
        doc: "Length of the measured part. Give this or workload.rows.",
    },
    Setting {
        path: "workload.rows_per_transaction",
        kind: Kind::Count { min: 1, max: 10_000_000 },
        default: Some("1000"),
        doc: "Rows that a connection inserts before it commits. A transaction's rows go to one data file.",
    },
    Setting {
        path: "workload.initial_rows",
        kind: Kind::Count { min: 0, max: ROWS_MAX },
        default: Some("0"),
        doc: "Rows that are in the table before anything is measured.",
    },
    Setting {
        path: "workload.warmup",
        kind: Kind::Duration,
        default: Some("0"),
        doc: "The load runs for this long before the measured part; its rows come on top.",
    },
    Setting {
        path: "workload.rate",
        kind: Kind::Rate,
        default: None,
        doc: "Open loop: transactions a second, all connections together, at random (Poisson) times; latency counts from the intended start. Without it each connection starts its next transaction at once (closed loop).",
    },
];

impl Probe for Insert {
    fn name(&self) -> &'static str {
        "insert"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn plan(&self, configuration: &Configuration) -> Vec<Invalid> {
        let mut invalid = Vec::new();
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
        context.instance.create_table(&Table { shape: load.shape })?;
        load.load_initial_rows(context)?;
        drive(context, &load.plan, |connection| load.connection(connection))
    }
}

/// The load of one configuration.
struct InsertLoad {
    plan: LoadPlan,
    shape: Shape,
    order: KeyOrder,
    placement: Placement,
    rows_per_transaction: u64,
    initial_rows: u64,
    seed: u64,
}

impl InsertLoad {
    fn of(configuration: &Configuration, seed: u64) -> Self {
        let count = |path| configuration.integer(path);
        let plan = LoadPlan {
            connections: count("workload.connections").unwrap_or(1) as u32,
            rate: configuration.number("workload.rate"),
            units: count("workload.rows"),
            duration_s: configuration.number("workload.duration"),
            warmup_s: configuration.number("workload.warmup").unwrap_or(0.0),
            cache: CacheState::from_name(configuration.text("target.cache")),
            interval_s: configuration.number("observe.interval").unwrap_or(1.0),
            unit: "row",
            rate_unit: "rows/s",
            seed,
        };
        Self {
            plan,
            shape: Shape::from_name(configuration.text("workload.shape")).unwrap_or(Shape::MyBigTable),
            order: KeyOrder::from_name(configuration.text("workload.key")),
            placement: Placement::over(count("target.data_files").unwrap_or(1) as u32),
            rows_per_transaction: count("workload.rows_per_transaction").unwrap_or(1000),
            initial_rows: count("workload.initial_rows").unwrap_or(0),
            seed,
        }
    }

    /// The rows of one connection: the total divided evenly, the first ones take the remainder.
    fn connection(&self, index: u32) -> InsertWorkload {
        let connections = u64::from(self.plan.connections);
        let share =
            self.plan.units.map(|rows| rows / connections + u64::from(u64::from(index) < rows % connections));
        let keys = Keys::new(self.order, self.placement, self.seed, u64::from(index), connections)
            .after(self.initial_rows, self.rows_per_transaction);
        InsertWorkload::new(keys, self.rows_per_transaction, share)
    }

    fn load_initial_rows(&self, context: &TrialContext<'_>) -> Result<(), ProbeError> {
        if self.initial_rows == 0 {
            return Ok(());
        }
        // Keys of their own: those of a connection that the load does not have.
        let seed = self.seed ^ u64::from(self.plan.connections).rotate_left(32);
        let keys = Keys::new(self.order, self.placement, seed, 0, 1).after(0, INITIAL_ROWS_PER_TRANSACTION);
        let mut rows = InsertWorkload::new(keys, INITIAL_ROWS_PER_TRANSACTION, Some(self.initial_rows));
        rows.begin();
        let mut session = context.instance.connect()?;
        while let Some(transaction) = rows.next() {
            session.transaction(&transaction)?;
        }
        session.flush(0, 1)?;
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
    /// Of these, rows still to insert; `None`: no end.
    left: Option<u64>,
}

impl InsertWorkload {
    fn new(keys: Keys, rows_per_transaction: u64, share: Option<u64>) -> Self {
        let room = share.unwrap_or(u64::MAX).min(rows_per_transaction) as usize;
        Self { keys, batch: Vec::with_capacity(room), rows_per_transaction, share, left: None }
    }
}

impl Workload for InsertWorkload {
    fn begin(&mut self) {
        self.left = self.share;
    }

    fn next(&mut self) -> Option<Transaction<'_>> {
        let rows = self.left.map_or(self.rows_per_transaction, |left| left.min(self.rows_per_transaction));
        if rows == 0 {
            return None;
        }
        self.left = self.left.map(|left| left - rows);
        let file = self.keys.fill(&mut self.batch, rows as usize);
        Some(Transaction::Insert { file, keys: &self.batch })
    }
}
