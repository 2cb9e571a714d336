//! The smallest engine that passes the contract: a map in memory. Copy it to
//! `crates/engines/NAME/src/lib.rs` to begin a new engine, and replace what a comment begins with
//! `Yours`.

use engine::{
    Ability, ConnectionSet, Done, Engine, EngineError, Host, Instance, Parts, Results, Session,
    SetOfOne, Tables,
};
use experiment::Configuration;
use observations::EngineVersion;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use work::{
    Cancel, Filter, Key, Operation, Output, Parameter, Request, Statement, Stop, Values, Work,
};

/// The engine, registered once, in `testing::ENGINES`. Its name is the value of `target.engine`.
pub const SKELETON: Engine = Engine {
    // Yours, if it has any: `settings! { const SETTINGS = []; pub CACHE_SIZE: u64 =
    // "target.cache_size", ...; }`, then `SETTINGS`.
    settings: &[],
    // Yours: embedded engines work in the load's threads; servers are reached through crate
    // `transport`.
    abilities: &[Ability::Embedded, Ability::Tables, Ability::NestedLoops],
    // Yours: `validate` finds what cannot work before anything runs.
    ..Engine::new("skeleton", version, |_| Box::new(Skeleton))
};

fn version(_: &[&Configuration], _: &Stop) -> EngineVersion {
    EngineVersion { version: "1".into(), options: Vec::new() }
}

struct Skeleton;

impl Host for Skeleton {
    /// Yours: start the server, or take the one that runs, and bring it into the same state for
    /// each trial.
    fn prepare(
        &mut self,
        _: &Configuration,
        _: u32,
        _: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(Memory::default()))
    }
}

type Rows = BTreeMap<i64, i64>;

/// Yours: what one trial works on. Dropping it removes what it created.
#[derive(Default)]
struct Memory {
    rows: Arc<Mutex<Rows>>,
    sample: OnceLock<Arc<[i64]>>,
    operations: OnceLock<Arc<Vec<Operation>>>,
}

impl Instance for Memory {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let operations = self.operations.get().cloned().unwrap_or_default();
        let sample = self.sample.get().cloned().unwrap_or_default();
        Ok(Box::new(SetOfOne::new(Connection { rows: self.rows.clone(), sample, operations })))
    }

    fn space_bytes(&self) -> Option<u64> {
        Some(self.rows.lock().map_or(0, |rows| rows.len() as u64 * 16))
    }

    fn parts(&self) -> Parts<'_> {
        Parts { tables: Some(self), ..Parts::default() }
    }

    // Yours: `settle` makes and verifies the state of the caches, `wait_collector` gives waits as
    // the engine counts them or as they are sampled, `remove` reports what cannot be removed.
}

impl Tables for Memory {
    /// Yours: create and fill the tables, and have the [`engine::Dialect`] compile the operations
    /// into statements. Here there is one table with a key and a column, and a sample of its
    /// keys.
    fn create(&self, work: Work) -> Result<(), EngineError> {
        let batches = work.fills.into_iter().flat_map(|fill| fill.batches);
        let first = |rows: work::Rows| match rows.columns.into_iter().next() {
            Some(Values::Integers(keys)) => keys,
            _ => Vec::new(),
        };
        self.sample.get_or_init(|| batches.flat_map(first).collect());
        self.operations.get_or_init(|| Arc::new(work.operations));
        Ok(())
    }
}

/// Yours: one connection of a load thread. Of a server it is a `transport::Wire` instead.
struct Connection {
    rows: Arc<Mutex<Rows>>,
    sample: Arc<[i64]>,
    operations: Arc<Vec<Operation>>,
}

impl Session for Connection {
    /// The hot path: nothing is compiled, allocated or logged here by a real engine.
    fn run(&mut self, request: &Request<'_>) -> Result<Done, EngineError> {
        let mut rows = self.rows.lock().map_err(|_| failed("a session panicked"))?;
        match *request {
            Request::Batch { operation, keys, .. } | Request::Bulk { operation, keys, .. } => {
                let before = rows.clone();
                for key in keys {
                    if let Err(error) = apply(&mut rows, &self.operations[operation], *key) {
                        *rows = before;
                        return Err(error);
                    }
                }
                Ok(Done::default())
            }
            Request::Execute { statement: Statement::Operation(operation), parameters, .. } => {
                let numbers: Vec<i64> = parameters.iter().filter_map(integer).collect();
                let results = match &self.operations[operation] {
                    Operation::LookupEach { outputs, .. } => aggregate(
                        outputs,
                        &self
                            .sample
                            .iter()
                            .filter_map(|key| rows.get_key_value(key))
                            .collect::<Vec<_>>(),
                    ),
                    operation => select(&rows, operation, &numbers),
                };
                Ok(Done { results: vec![results], retries: 0 })
            }
            Request::Execute { statement: Statement::Rollback, .. } => Ok(Done::default()),
            Request::Execute { .. } => Err(failed("it has no statements")),
        }
    }
}

fn failed(message: &str) -> EngineError {
    EngineError::failed("running an operation", message)
}

fn integer(parameter: &Parameter) -> Option<i64> {
    if let Parameter::Integer(number) = parameter { Some(*number) } else { None }
}

fn apply(rows: &mut Rows, operation: &Operation, key: Key) -> Result<(), EngineError> {
    let key = key.integer();
    match operation {
        Operation::Insert { .. } if rows.contains_key(&key) => {
            Err(failed("the key is there already"))
        }
        Operation::Insert { .. } => {
            rows.insert(key, 2);
            Ok(())
        }
        Operation::Update { add, .. } => {
            if let Some(amount) = rows.get_mut(&key) {
                *amount += add;
            }
            Ok(())
        }
        Operation::Delete { .. } => {
            rows.remove(&key);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn select(rows: &Rows, operation: &Operation, parameters: &[i64]) -> Results {
    let Operation::Select { outputs, rows: filter, .. } = operation else {
        return Results::default();
    };
    let matches_filter = |(key, amount): &(&i64, &i64)| match filter {
        Filter::All => true,
        Filter::Key => parameters[0] == **key,
        Filter::KeyRange => (parameters[0]..=parameters[1]).contains(*key),
        Filter::Below(_, bound) => *amount < bound,
    };
    aggregate(outputs, &rows.iter().filter(matches_filter).collect::<Vec<_>>())
}

fn aggregate(outputs: &[Output], found: &[(&i64, &i64)]) -> Results {
    let sum: i64 = found.iter().map(|(_, amount)| **amount).sum();
    let last = outputs.iter().map(|output| match output {
        Output::Column(_) => found.last().map(|(_, amount)| amount.to_string()),
        Output::Count => Some(found.len().to_string()),
        Output::Sum(_) => Some(sum.to_string()),
        Output::Min(_) => found.iter().map(|(key, _)| **key).min().map(|key| key.to_string()),
        Output::Max(_) => found.iter().map(|(key, _)| **key).max().map(|key| key.to_string()),
        Output::Avg(_) => Some((sum as f64 / found.len() as f64).to_string()),
    });
    let columns = vec![String::new(); outputs.len()];
    Results { columns, rows: 1, last: last.collect(), ..Results::default() }
}
