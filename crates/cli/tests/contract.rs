//! The contract of every engine with tables. A new engine joins [`targets`] and must pass.

use crate::{registry, skeleton};
use engine::{
    Ability, Answer, ConnectionSet, Engine, EngineError, Folders, Host, Instance, Permits,
    PlanRequest, Results, WaitType,
};
use experiment::{Configuration, Value};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testing::installed::{
    LONG, duckdb_libraries, folder, installations, is_alive, mariadb_installations, private,
    sql_server, until,
};
use testing::mariadb_client as by_hand;
use work::{
    Cancel, CancelReason, Column, DataType, DefaultValue, Fill, Filter, Key, Operation, Output,
    Parameter, Request, Rows, Statement, Storage, Table, Texts, UserStatement, Values, Work,
};

/// An engine and how it is asked for.
struct Target {
    name: String,
    engine: &'static Engine,
    configuration: Configuration,
}

/// Every engine of the registry that has tables and whose figures are measured, PostgreSQL, DuckDB
/// and MariaDB in each version that is installed, a stand-in of SQL Server, and the skeleton. Where
/// `STEELBENCH_MSSQL_URL` names a SQL Server, that one alone.
fn targets() -> Vec<Target> {
    let target = |name: &str, engine: &'static Engine, settings: Vec<(&str, Value)>| Target {
        name: name.into(),
        engine,
        configuration: Configuration {
            settings: settings.into_iter().map(|(path, value)| (path.to_owned(), value)).collect(),
            ..Configuration::default()
        },
    };
    let mut targets = vec![target("skeleton", &skeleton::SKELETON, Vec::new())];
    for engine in registry::REGISTRY.engines.iter().copied() {
        let abilities = engine.abilities;
        if !abilities.contains(&Ability::Tables) || abilities.contains(&Ability::Synthetic) {
            continue;
        }
        match engine.name {
            "postgres" => targets.extend(installations().into_iter().map(|installation| {
                let settings = vec![
                    ("target.bindir", Value::Text(installation.bindir.display().to_string())),
                    ("target.version", Value::Text(installation.version.to_string())),
                    ("target.settings.fsync", Value::Bool(false)),
                ];
                target(&format!("postgres {}", installation.version), engine, settings)
            })),
            "duckdb" => targets.extend(duckdb_libraries().into_iter().map(|library| {
                let named = library
                    .iter()
                    .map(|path| ("target.library", Value::Text(path.clone())))
                    .collect();
                target(&format!("duckdb {}", library.unwrap_or_default()), engine, named)
            })),
            "mariadb" => {
                targets.extend(mariadb_installations().into_iter().map(|installation| {
                    let folder = installation.server.parent().unwrap().display().to_string();
                    let settings = vec![
                        ("target.bindir", Value::Text(folder)),
                        ("target.version", Value::Text(installation.version.clone())),
                        ("target.settings.innodb_flush_log_at_trx_commit", Value::Integer(0)),
                    ];
                    target(&format!("mariadb {}", installation.version), engine, settings)
                }));
                targets.extend(by_hand::Server::shared_mysql().map(|server| {
                    target("mysql", engine, vec![("target.url", Value::Text(server.url("root")))])
                }));
            }
            "sqlserver" => targets.extend(sql_server().map(|url| {
                let settings = vec![("target.url", Value::Text(url))];
                target(if is_live() { "sqlserver" } else { STAND_IN }, engine, settings)
            })),
            name => targets.push(target(name, engine, Vec::new())),
        }
    }
    targets.retain(|target| !is_live() || target.name == "sqlserver");
    targets
}

impl Target {
    fn is_by_url(&self) -> bool {
        self.configuration.value("target.url").is_some()
    }
}

/// A run at a time works on a server by URL.
static TURN: Mutex<()> = Mutex::new(());

/// The emulator of SQL Server: it describes times wrongly, and does not hear of a cancelled
/// statement until it is over.
const STAND_IN: &str = "sqlserver, stand-in";

fn is_live() -> bool {
    std::env::var_os("STEELBENCH_MSSQL_URL").is_some()
}

/// A host in a folder of its own.
fn host(engine: &Engine) -> (TempDir, Box<dyn Host>) {
    let folder = folder();
    let place = Folders {
        directory: folder.path().into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let host = (engine.host)(place);
    (folder, host)
}

/// Positions of the operations in [`work`].
const INSERT: usize = 0;
const LOOKUP: usize = 1;
const RANGE: usize = 2;
const SCAN: usize = 3;
const UPDATE: usize = 4;
const DELETE: usize = 5;
const BELOW: usize = 6;
const LOOKUP_EACH: usize = 7;

const ROWS: u128 = 1000;

fn work() -> Work {
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("amount", DataType::Int).default(DefaultValue::Integer(2)),
    ];
    let scan = |outputs, rows| Operation::Select { table: 0, outputs, rows, group_by: Vec::new() };
    let operations = vec![
        Operation::Insert { table: 0, columns: vec!["id"] },
        Operation::lookup(0, &["amount"]),
        scan(vec![Output::Count], Filter::KeyRange),
        Operation::scan(
            0,
            vec![Output::Count, Output::Sum("amount"), Output::Max("id"), Output::Avg("amount")],
        ),
        Operation::Update { table: 0, column: "amount", add: 5, rows: Filter::Key },
        Operation::Delete { table: 0, rows: Filter::Key },
        scan(vec![Output::Count], Filter::Below("amount", 3)),
        Operation::LookupEach {
            sample: 1,
            table: 0,
            outputs: vec![
                Output::Count,
                Output::Sum("amount"),
                Output::Min("id"),
                Output::Max("id"),
            ],
        },
    ];
    let table = Table { name: "orders", columns, key: &["id"], storage: Storage::default() };
    let sample = Table {
        name: "order_sample",
        columns: vec![Column::new("order_id", DataType::BigInt)],
        key: &[],
        storage: Storage::default(),
    };
    let sampled = Rows { count: 4, columns: vec![Values::Integers(vec![3, 700, 51, 2_000_000])] };
    let fill = Fill::new(1, vec!["order_id"], [sampled].into_iter());
    Work { tables: vec![table, sample], operations, fills: vec![fill], ..Work::default() }
}

/// A table with a column of each type, its rows in two batches, and questions about them.
fn typed_work() -> Work {
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("code", DataType::Uuid),
        Column::new("day", DataType::Date),
        Column::new("seen", DataType::Timestamp),
        Column::new("price", DataType::Decimal),
        Column::new("remark", DataType::Varchar(30)),
        Column::new("kind", DataType::Char(3)),
        Column::new("filler", DataType::PageFiller { rows: 20 }).default(DefaultValue::Filler),
    ];
    let batch = |first: i64| {
        let ids: Vec<i64> = (first..first + 500).collect();
        let remarks: Texts = ids.iter().map(|id| format!("a\tb\\{id}'\n")).collect();
        let columns = vec![
            Values::Integers(ids.clone()),
            Values::Uuids(ids.iter().map(|id| Key::random(*id as u64 * 65_536, 7).0).collect()),
            Values::Dates(ids.iter().map(|id| *id as i32).collect()),
            Values::Timestamps(ids.clone()),
            Values::Decimals(ids.iter().map(|id| id - 100).collect()),
            Values::Texts(remarks),
            Values::SameText("xy"),
        ];
        Rows { count: ids.len(), columns }
    };
    let ask = |sql: &str| Operation::Text(UserStatement { texts: vec![sql.into()] });
    let remarks = "SELECT count(*) FROM typed WHERE remark = 'a' || chr(9) || 'b' || chr(92) || \
                   id || chr(39) || chr(10)";
    let names = vec!["id", "code", "day", "seen", "price", "remark", "kind"];
    Work {
        tables: vec![Table { name: "typed", columns, key: &["id"], storage: Storage::default() }],
        fills: vec![Fill::new(0, names, [batch(0), batch(500)].into_iter())],
        operations: vec![
            Operation::scan(
                0,
                vec![Output::Count, Output::Sum("price"), Output::Min("price"), Output::Max("id")],
            ),
            ask("SELECT count(DISTINCT code) FROM typed WHERE kind = 'xy ' OR length(kind) = 2"),
            ask("SELECT count(*) FROM typed WHERE day <= '1970-01-31' AND seen < '1970-01-01 \
                 00:00:10'"),
            ask(remarks),
        ],
        ..Work::default()
    }
}

fn keys(numbers: std::ops::Range<u128>) -> Vec<Key> {
    numbers.map(Key).collect()
}

/// Sends a request and waits for its answer.
fn ask(
    connections: &mut dyn ConnectionSet,
    request: &Request<'_>,
) -> Result<Vec<Results>, EngineError> {
    connections.send(0, request)?;
    let (mut answers, started): (Vec<Answer>, _) = (Vec::new(), Instant::now());
    while answers.is_empty() {
        assert!(started.elapsed() < LONG, "no answer");
        connections.wait(None, &mut answers)?;
    }
    answers.remove(0).result.map(|done| done.results)
}

/// The last row of an operation's results.
fn row(connections: &mut dyn ConnectionSet, operation: usize, parameters: &[i64]) -> Vec<f64> {
    let parameters: Vec<Parameter> =
        parameters.iter().map(|number| Parameter::Integer(*number)).collect();
    let statement = Statement::Operation(operation);
    let request = Request::Execute { statement, parameters: &parameters, results: true };
    let results = ask(connections, &request).unwrap();
    results[0].last.iter().map(|cell| cell.as_deref().unwrap().parse().unwrap()).collect()
}

fn batch(operation: usize, keys: &[Key]) -> Request<'_> {
    Request::Batch { operation, file: 0, keys, pipelined: false }
}

/// A prepared target with the rows, and a connection.
fn loaded(
    host: &mut dyn Host,
    target: &Target,
    cancel: &Cancel,
) -> (Box<dyn Instance>, Box<dyn ConnectionSet>) {
    let instance = host.prepare(&target.configuration, 2, cancel).unwrap();
    let mut work = work();
    if !joins_by_nested_loops(target) {
        let refused = instance.create(work);
        assert!(matches!(refused, Err(EngineError::Unsupported { .. })), "{}", target.name);
        work = self::work();
        work.operations.truncate(LOOKUP_EACH);
    }
    instance.create(work).unwrap();
    let mut connections = instance.connect(1).unwrap();
    let bulk = keys(0..ROWS);
    ask(connections.as_mut(), &Request::Bulk { operation: INSERT, file: 0, keys: &bulk }).unwrap();
    (instance, connections)
}

fn joins_by_nested_loops(target: &Target) -> bool {
    target.engine.abilities.contains(&Ability::NestedLoops)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn runs_every_operation(target: &Target) {
    let (_folder, mut host) = host(target.engine);
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    let set = connections.as_mut();
    assert_eq!(row(set, SCAN, &[]), [1000.0, 2000.0, 999.0, 2.0], "{}", target.name);
    assert_eq!(row(set, LOOKUP, &[17]), [2.0]);
    assert_eq!(row(set, RANGE, &[10, 19]), [10.0]);
    if joins_by_nested_loops(target) {
        assert_eq!(row(set, LOOKUP_EACH, &[]), [3.0, 6.0, 3.0, 700.0], "{}", target.name);
    }
    ask(set, &batch(UPDATE, &keys(0..10))).unwrap();
    assert_eq!((row(set, LOOKUP, &[9]), row(set, LOOKUP, &[10])), (vec![7.0], vec![2.0]));
    assert_eq!(row(set, BELOW, &[]), [990.0]);
    ask(set, &batch(DELETE, &keys(990..1000))).unwrap();
    assert_eq!(row(set, SCAN, &[])[..3], [990.0, 2030.0, 989.0]);
    ask(set, &Request::Batch { operation: LOOKUP, file: 0, keys: &keys(0..50), pipelined: true })
        .unwrap();
    drop(connections);
    instance.remove().unwrap();
}

fn fills_tables_with_every_type_of_value(target: &Target) {
    if !target.engine.abilities.contains(&Ability::Statements) || target.name == STAND_IN {
        return;
    }
    let (_folder, mut host) = host(target.engine);
    let instance = host.prepare(&target.configuration, 1, &Cancel::new()).unwrap();
    let mut work = typed_work();
    for operation in &mut work.operations {
        if let Operation::Text(text) = operation {
            text.texts[0] = match target.engine.name {
                // What others call chr.
                "sqlite" => text.texts[0].replace("chr(", "char("),
                // There `||` is OR, and MySQL has no chr.
                "mariadb" if text.texts[0].contains("||") => {
                    let text = text.texts[0].replace("chr(", "char(");
                    text.replace("= 'a' ||", "= concat('a',").replace(" ||", ",") + ")"
                }
                "sqlserver" => {
                    let text = text.texts[0].replace("chr(", "char(").replace("length(", "len(");
                    if text.contains("||") {
                        text.replace("= 'a' ||", "= concat('a',").replace(" ||", ",") + ")"
                    } else {
                        text
                    }
                }
                _ => continue,
            };
        }
    }
    let table = work.tables[0].clone();
    instance.create(work).unwrap();
    let mut connections = instance.connect(1).unwrap();
    let set = connections.as_mut();
    // The sum of -1.00 to 8.99 in hundredths.
    let (scanned, expected) = (row(set, 0, &[]), [1000.0, 3995.0, -1.0, 999.0]);
    let close = scanned.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-6);
    assert!(close, "{}: {scanned:?}", target.name);
    for (operation, rows) in [(1, 1000.0), (2, 10.0), (3, 1000.0)] {
        assert_eq!(row(set, operation, &[]), [rows], "{}: question {operation}", target.name);
    }
    drop(connections);
    // In an engine with pages of rows, each page has about `rows_per_page` rows.
    let explained = instance.explain(0, &table, true).unwrap();
    let plan = explained.plan.map(|plan| plan.read(target.engine.plan_reader, false).unwrap());
    let text = plan.map(|plan| plan.text).unwrap_or_default();
    assert!(target.name == STAND_IN || !text.is_empty(), "{}", target.name);
    assert!(
        !has_pages(target) || explained.pages.is_none_or(|pages| (45..=55).contains(&pages)),
        "{}: {:?}",
        target.name,
        explained.pages
    );
    instance.remove().unwrap();
}

/// Returns whether it keeps whole rows in pages.
fn has_pages(target: &Target) -> bool {
    ["sqlite", "postgres", "mariadb", "sqlserver"].contains(&target.engine.name)
}

fn refuses_more_rows_than_fit_a_page(target: &Target) {
    let (_folder, mut host) = host(target.engine);
    let instance = host.prepare(&target.configuration, 1, &Cancel::new()).unwrap();
    let mut work = typed_work();
    work.tables[0].columns[7].data_type = DataType::PageFiller { rows: 2000 };
    if let Err(error) = instance.create(work) {
        assert!(
            error.to_string().contains("2000 rows with 8 columns do not fit"),
            "{}: {error}",
            target.name
        );
    } else {
        // Without pages every width will do.
        assert!(!has_pages(target), "{}", target.name);
    }
    instance.remove().unwrap();
}

fn answers_with_an_error_and_goes_on(target: &Target) {
    let (_folder, mut host) = host(target.engine);
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    let set = connections.as_mut();
    // New keys first, then one that is there: all of the transaction is rolled back.
    let mut double = keys(2000..2010);
    double.push(Key(3));
    ask(set, &batch(INSERT, &double)).unwrap_err();
    ask(set, &Request::ROLLBACK).unwrap();
    assert_eq!(row(set, SCAN, &[])[0], 1000.0, "{}", target.name);
    if target.engine.abilities.contains(&Ability::Statements) {
        let wrong = Statement::Text("SELECT nothing FROM nowhere");
        let error =
            ask(set, &Request::Execute { statement: wrong, parameters: &[], results: false });
        assert!(error.unwrap_err().to_string().contains("nowhere"), "{}", target.name);
        assert_eq!(row(set, SCAN, &[])[0], 1000.0);
    }
    drop(connections);
    instance.remove().unwrap();
}

/// Not by changing anything, whatever the statement would do.
fn tells_the_plans_of_statements(target: &Target) {
    if !target.engine.abilities.contains(&Ability::Statements) {
        return;
    }
    let (_folder, mut host) = host(target.engine);
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    let request = |texts: &[&str], values: Option<Vec<Parameter>>| {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        PlanRequest { statement: UserStatement { texts }, values }
    };
    let by_id = |id| {
        request(
            &["SELECT count(*) FROM orders WHERE id = ", ""],
            Some(vec![Parameter::Integer(id)]),
        )
    };
    let all = [
        by_id(7),
        by_id(8),
        request(&["DELETE FROM orders WHERE id > 0"], Some(Vec::new())),
        request(&["SELECT a FROM nowhere"], Some(Vec::new())),
        request(&["CREATE TABLE made (a INTEGER)"], Some(Vec::new())),
    ];
    let answers = instance.plans(&all).unwrap().into_iter();
    let plans: Vec<_> = answers.map(|plan| plan?.read(target.engine.plan_reader, true)).collect();
    let refusal = plans.first().and_then(|plan| plan.as_ref().err());
    if let Some(why) = refusal {
        // The emulator of SQL Server would run what is to be explained.
        let why = why.to_string();
        assert!(why.contains("has no effect on this server"), "{}: {why}", target.name);
        assert!(plans.iter().all(Result::is_err), "{}: {plans:?}", target.name);
    } else if !plans.is_empty() {
        // The scripted engine and the skeleton tell none.
        let [Ok(first), Ok(second), Ok(delete), Err(nowhere), Err(create)] = &plans[..] else {
            panic!("{}: {plans:?}", target.name)
        };
        assert_eq!(first.text, second.text, "{}: values are no part of a plan", target.name);
        assert!(
            first.text.contains("orders") && delete.text.contains("orders"),
            "{}: {plans:?}",
            target.name
        );
        assert!(!first.text.contains('7'), "{}: {first:?}", target.name);
        assert!(nowhere.to_string().contains("nowhere"), "{}: {nowhere}", target.name);
        assert_eq!(create.to_string(), "CREATE has no plan", "{}", target.name);
    }
    let is_ours =
        ["sqlite", "postgres", "mariadb", "duckdb", "sqlserver"].contains(&target.engine.name);
    assert_eq!(plans.is_empty(), !is_ours, "{}", target.name);
    assert_eq!(row(connections.as_mut(), SCAN, &[])[0], 1000.0, "{}", target.name);
    drop(connections);
    instance.remove().unwrap();
}

fn ends_when_it_is_asked_to(target: &Target) {
    if !target.engine.abilities.contains(&Ability::Statements) || target.name == STAND_IN {
        return;
    }
    let (_folder, mut host) = host(target.engine);
    let cancel = Cancel::new();
    let (instance, mut connections) = loaded(host.as_mut(), target, &cancel);
    let endless = "SELECT count(*) FROM orders a, orders b, orders c, orders d WHERE a.id + b.id \
                   + c.id + d.id < 0";
    let request =
        Request::Execute { statement: Statement::Text(endless), parameters: &[], results: false };
    let started = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            cancel.cancel(CancelReason::Interrupt);
        });
        // An embedded engine works within `send`, another one answers or not: the load looks at the
        // token.
        let mut answers = Vec::new();
        connections.send(0, &request).unwrap();
        while answers.is_empty() && !cancel.is_cancelled() {
            connections.wait(None, &mut answers).unwrap();
        }
    });
    drop(connections);
    instance.remove().unwrap();
    assert!(started.elapsed() < LONG, "{}", target.name);
}

fn observes_waits_and_space_and_leaves_nothing(target: &Target) {
    let (folder, mut host) = host(target.engine);
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    let mut collector = instance.wait_collector();
    if let Some(collector) = &mut collector {
        collector.start().unwrap();
    }
    connections.begin();
    ask(connections.as_mut(), &batch(INSERT, &keys(5000..6000))).unwrap();
    connections.flush(0, 1).unwrap();
    connections.end();
    connections.publish().unwrap();
    let collected = collector.map(|mut collector| collector.stop().unwrap());
    drop(connections);
    for wait in collected.iter().flat_map(|collected| &collected.waits) {
        assert!(wait.resource_s >= 0.0 && wait.signal_s >= 0.0, "{}: {wait:?}", target.name);
        let known = WaitType::find(target.engine.wait_types, &wait.wait_type);
        assert!(known.is_some(), "{}: {} has no meaning", target.name, wait.wait_type);
    }
    // The files of a server by URL are not seen.
    let is_by_url = target.is_by_url();
    assert!(instance.space_bytes().map_or(is_by_url, |bytes| bytes > 0), "{}", target.name);
    let version = (target.engine.version)(&[&target.configuration], &Cancel::new().stop());
    assert!(!version.version.is_empty());
    instance.remove().unwrap();
    let (server, made) = (server(folder.path()), identity(folder.path()));
    host.rest(&Cancel::new()).unwrap();
    assert!(server.is_none_or(|pid| !is_alive(pid)), "{} runs beside others", target.name);
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    assert_eq!(row(connections.as_mut(), SCAN, &[])[0], 1000.0, "{}", target.name);
    assert!(server.is_none() || made == identity(folder.path()), "{} is recreated", target.name);
    drop(connections);
    instance.remove().unwrap();
    drop(host);
    assert!(is_empty(folder.path()), "{} leaves files", target.name);
}

/// The first process of the private server that a host keeps in this folder.
fn server(folder: &Path) -> Option<i32> {
    let of_mariadb = std::fs::read_to_string(folder.join("data/server.pid")).ok();
    let pid = private(folder).map(|(pid, _)| pid);
    pid.or_else(|| of_mariadb?.trim().parse().ok())
}

/// Inode of the data directory, which differs when the directory is recreated.
fn identity(folder: &Path) -> Option<u64> {
    Some(folder.join("data").metadata().ok()?.ino())
}

fn works_beside_another_one(target: &Target) {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (_folder, mut host) = host(target.engine);
                let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
                assert_eq!(row(connections.as_mut(), SCAN, &[])[0], 1000.0);
                drop(connections);
                instance.remove().unwrap();
            });
        }
    });
}

fn prepares_the_next_target_after_one_was_dropped_or_killed(target: &Target) {
    let (folder, mut host) = host(target.engine);
    let (instance, connections) = loaded(host.as_mut(), target, &Cancel::new());
    if let Some(pid) = server(folder.path()) {
        // SAFETY: a plain system call; the process is the private server of this host.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
        let mut connections = connections;
        // Its sessions notice a moment later.
        let is_lost = until(|| ask(connections.as_mut(), &batch(LOOKUP, &keys(0..1))).is_err());
        assert!(is_lost, "{}", target.name);
        drop(connections);
        // What it says of a server that is gone is not the question here.
        let _ = instance.remove();
    } else {
        drop(connections);
        drop(instance);
    }
    let (instance, mut connections) = loaded(host.as_mut(), target, &Cancel::new());
    assert_eq!(row(connections.as_mut(), SCAN, &[])[0], 1000.0, "{}", target.name);
    drop(connections);
    instance.remove().unwrap();
}

macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            for target in targets() {
                let _turn =
                    target.is_by_url().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
                super::$name(&target);
            }
        })*
    };
}

mod every_engine {
    use super::{PoisonError, TURN, targets};

    contract!(
        runs_every_operation,
        fills_tables_with_every_type_of_value,
        refuses_more_rows_than_fit_a_page,
        answers_with_an_error_and_goes_on,
        tells_the_plans_of_statements,
        ends_when_it_is_asked_to,
        observes_waits_and_space_and_leaves_nothing,
        works_beside_another_one,
        prepares_the_next_target_after_one_was_dropped_or_killed,
    );
}
