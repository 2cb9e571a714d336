//! The insert load of studies S1: many connections insert rows into one clustered table.

use crate::key_order::{KeyOrder, Keys};
use crate::placement::Placement;
use engine::{Ability, EngineError, Footprint, Tables};
use experiment::{Configuration, Example, Invalid, Kind, choice, settings};
use observations::Observations;
use probe::load::{
    CONNECTIONS, DURATION, GENERATORS, LoadPlan, RATE, Start, Step, THREADS, WARMUP, Workload,
    drive,
};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use work::{Operation, Parameter, Request, Statement, Table, Work};

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

/// The number of times that a transaction is tried before it counts as failed.
const TRIES_MAX: u64 = 100;

choice! {
    /// Columns of a row.
    pub enum Shape {
        /// [`datasets::my_big_table`]
        MyBigTable = "mybigtable",
        /// [`datasets::one_row_per_page`]
        OneRowPerPage = "one-row-per-page",
    }
}

choice! {
    /// The method of inserting rows.
    pub enum InsertMethod {
        /// A prepared statement for each row; the next one is sent when the answer has come.
        Statements = "statements",
        /// A prepared statement for each row, all of a transaction sent before the first answer.
        Pipelined = "pipelined",
        /// The engine's bulk load.
        Copy = "copy",
        /// A loop in a stored procedure makes keys, inserts and commits: the client does nothing.
        Procedure = "procedure",
    }
}

settings! {
    const SETTINGS = [
        CONNECTIONS, THREADS, GENERATORS, DURATION.with_example(Example::OfKind), WARMUP, RATE,
    ];
    /// Clustering key of the rows: random (version 4 UUID) or sequential (each one larger than all
    /// before).
    pub KEY: KeyOrder = "workload.key", KeyOrder::KIND, "random";
    /// Columns of a row: the published MyBigTable (about 160 bytes), or a filler so that each row
    /// fills a page.
    pub SHAPE: Shape = "workload.shape", Shape::KIND, "mybigtable";
    /// How rows are inserted: a prepared statement for each row, one by one (statements) or sent
    /// ahead for a whole transaction (pipelined); the engine's bulk load (copy); or a loop in a
    /// stored procedure, without client cost (procedure).
    pub METHOD: InsertMethod = "workload.method", InsertMethod::KIND, "statements";
    /// Rows inserted in the measurement by all connections. Give this or workload.duration.
    pub ROWS: Option<u64> =
        "workload.rows", Kind::Count { min: 1, max: ROWS_MAX } => Measurement, Value "\"100k\"";
    /// Rows per commit of a connection. A transaction's rows go to one data file.
    pub ROWS_PER_TRANSACTION: u64 =
        "workload.rows_per_transaction", Kind::Count { min: 1, max: 10_000_000 }, "1000";
    /// Rows in the table before the measurement.
    pub INITIAL_ROWS: u64 = "workload.initial_rows", Kind::Count { min: 0, max: ROWS_MAX }, "0";
}

impl Probe for Insert {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("insert", SETTINGS) }
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        let rows = configuration.get(INITIAL_ROWS) + configuration.get(ROWS).unwrap_or(0);
        let row_bytes = work(configuration).tables.iter().map(Table::row_bytes).sum::<u64>() * rows;
        Footprint { row_bytes, ..Footprint::default() }
    }

    fn tables(&self, configuration: &Configuration) -> Vec<Table> {
        work(configuration).tables
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, ROWS);
        invalid.extend(target.without(Ability::Tables, "this engine has no tables to insert into"));
        let mut object = |path: &str, message: String| invalid.push(Invalid::new(path, message));
        let needed = match configuration.get(METHOD) {
            InsertMethod::Copy => Some((Ability::BulkLoad, "bulk load")),
            InsertMethod::Procedure => Some((Ability::Procedures, "stored procedures")),
            InsertMethod::Statements | InsertMethod::Pipelined => None,
        };
        if let Some((_, what)) = needed.filter(|(ability, _)| !target.abilities.contains(ability)) {
            object(METHOD.path(), format!("this engine has no {what}; use \"statements\""));
        }
        let connections = configuration.get(CONNECTIONS);
        if configuration.get(ROWS).is_some_and(|rows| rows < u64::from(connections)) {
            object(
                ROWS.path(),
                format!("fewer rows than the {connections} connections that insert them"),
            );
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let method = configuration.get(METHOD);
        let rows_per_transaction = configuration.get(ROWS_PER_TRANSACTION);
        let plan = LoadPlan {
            units_each: rows_of_request(method, rows_per_transaction),
            unit: "row",
            rate_unit: "rows/s",
            timed: if method == InsertMethod::Procedure { "call" } else { "transaction" },
            tries_max: TRIES_MAX,
            ..LoadPlan::from_context(context, ROWS)
        };
        let tables = context.instance.parts().tables;
        let placement = Placement::over(tables.map_or(1, Tables::data_files));
        let keys = |seed, index, connections| {
            Keys::new(configuration.get(KEY), placement, seed, index, connections)
        };
        let initial_rows = configuration.get(INITIAL_ROWS);
        context.instance.create(work(configuration))?;
        if initial_rows > 0 && !context.is_part() {
            // Keys of their own: those of a connection that the load does not have.
            let seed = context.seed ^ u64::from(plan.connections).rotate_left(32);
            load_initial_rows(context, keys(seed, 0, 1), initial_rows)?;
        }
        drive(context, &plan, &|index| {
            let keys = keys(plan.seed, u64::from(index), u64::from(plan.connections));
            let keys = keys.after(initial_rows, rows_per_transaction);
            let share = plan.share(index);
            Box::new(InsertWorkload::new(keys, rows_per_transaction, share, method))
        })
    }
}

/// Positions of the operations.
const INSERT: usize = 0;
const INSERT_LOOP: usize = 1;

/// The table and what is done to it.
fn work(configuration: &Configuration) -> Work {
    let table = match configuration.get(SHAPE) {
        Shape::MyBigTable => datasets::my_big_table(),
        Shape::OneRowPerPage => datasets::one_row_per_page(),
    };
    let mut operations = vec![Operation::Insert { table: 0, columns: table.key.to_vec() }];
    if configuration.get(METHOD) == InsertMethod::Procedure {
        operations.push(Operation::InsertLoop { table: 0 });
    }
    Work { tables: vec![table], operations, ..Work::default() }
}

fn load_initial_rows(
    context: &TrialContext<'_>,
    keys: Keys,
    mut left: u64,
) -> Result<(), ProbeError> {
    // The procedure generates sequential keys in the database, so it also inserts the first rows.
    let method = match context.configuration.get(METHOD) {
        InsertMethod::Procedure if keys.are_sequential() => InsertMethod::Procedure,
        _ => InsertMethod::Copy,
    };
    let keys = keys.after(0, INITIAL_ROWS_PER_TRANSACTION);
    let mut rows = InsertWorkload::new(keys, INITIAL_ROWS_PER_TRANSACTION, left, method);
    let (mut connection_set, mut answers) = (context.instance.connect(1)?, Vec::new());
    while left > 0 {
        left -= rows.start(left).units;
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
    Ok(connection_set.flush(0, 1)?)
}

/// Rows of a request: a transaction's, or those of several that one call makes.
fn rows_of_request(method: InsertMethod, rows_per_transaction: u64) -> u64 {
    let calls = if method == InsertMethod::Procedure {
        ROWS_PER_CALL.div_ceil(rows_per_transaction)
    } else {
        1
    };
    rows_per_transaction * calls
}

/// The transactions of one connection.
struct InsertWorkload {
    keys: Keys,
    batch: Vec<work::Key>,
    rows_per_transaction: u64,
    /// Rows of a request at most.
    rows_max: u64,
    method: InsertMethod,
    /// Parameters of the stored procedure.
    call: [Parameter; 3],
    /// The file of the transaction that has begun, and whether it has been asked for.
    file: u32,
    is_sent: bool,
}

impl InsertWorkload {
    /// `share`: rows that it inserts in all.
    fn new(keys: Keys, rows_per_transaction: u64, share: u64, method: InsertMethod) -> Self {
        Self {
            keys,
            batch: Vec::with_capacity(share.min(rows_per_transaction) as usize),
            rows_per_transaction,
            rows_max: rows_of_request(method, rows_per_transaction),
            method,
            call: [const { Parameter::Integer(0) }; 3],
            file: 0,
            is_sent: false,
        }
    }

    fn request(&self) -> Request<'_> {
        let (file, keys) = (self.file, self.batch.as_slice());
        match self.method {
            InsertMethod::Procedure => Request::Execute {
                statement: Statement::Operation(INSERT_LOOP),
                parameters: &self.call,
                results: false,
            },
            InsertMethod::Copy => Request::Bulk { operation: INSERT, file, keys },
            InsertMethod::Statements => {
                Request::Batch { operation: INSERT, file, keys, pipelined: false }
            }
            InsertMethod::Pipelined => {
                Request::Batch { operation: INSERT, file, keys, pipelined: true }
            }
        }
    }
}

impl Workload for InsertWorkload {
    fn start(&mut self, most: u64) -> Start {
        let rows = most.min(self.rows_max);
        self.is_sent = false;
        if self.method == InsertMethod::Procedure {
            let [total, batch] =
                [rows, self.rows_per_transaction].map(|rows| Parameter::Integer(rows as i64));
            self.call = [total, batch, Parameter::Bool(self.keys.are_sequential())];
        } else {
            self.file = self.keys.fill(&mut self.batch, rows as usize);
        }
        Start { kind: 0, units: rows, transactions: rows.div_ceil(self.rows_per_transaction) }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if std::mem::replace(&mut self.is_sent, true) {
            return Ok(Step::End);
        }
        Ok(Step::Request(self.request()))
    }

    fn restart(&mut self) {
        self.is_sent = false;
    }
}
