//! SQL Server as a target, on a server that speaks T-SQL: a stand-in, or the one that
//! `STEELBENCH_MSSQL_URL` names.

use engine::{Answer, ConnectionSet, EngineError, Folders, Instance, Need, Permits, Results};
use experiment::{Configuration, Value};
use observations::WaitClass;
use std::process::Command;
use std::time::Instant;
use testing::installed::{LONG, sql_server, sql_server_stand_in};
use work::{
    Cancel, Column, DataType, DefaultValue, Fill, Key, Operation, Output, Parameter, Request, Rows,
    Statement, Storage, Table, Texts, Values, Work,
};

/// The login and host of the stand-in.
const STAND_IN: &str = "sa:S3c@127.0.0.1";

const INSERT: usize = 0;
const SCAN: usize = 1;
const LOOP: usize = 2;

/// An instance with an empty table.
fn instance(url: &str, settings: &[(&str, Value)], data_type: DataType) -> Box<dyn Instance> {
    prepare(url, settings, data_type).unwrap()
}

pub fn configuration(url: &str, settings: &[(&str, Value)]) -> Configuration {
    let url = [("target.url", Value::Text(url.to_owned()))];
    let settings =
        url.iter().chain(settings).map(|(path, value)| ((*path).to_owned(), value.clone()));
    Configuration { settings: settings.collect(), ..Configuration::default() }
}

pub fn folders() -> Folders {
    Folders {
        directory: std::env::temp_dir(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    }
}

pub fn prepare(
    url: &str,
    settings: &[(&str, Value)],
    data_type: DataType,
) -> Result<Box<dyn Instance>, EngineError> {
    let engine = testing::engine("sqlserver");
    let instance =
        (engine.host)(folders()).prepare(&configuration(url, settings), 4, &Cancel::new())?;
    let columns = vec![
        Column::new("id", data_type),
        Column::new("amount", DataType::Int).default(DefaultValue::Integer(2)),
    ];
    let table = Table { name: "orders", columns, key: &["id"], storage: Storage::default() };
    let operations = vec![
        Operation::Insert { table: 0, columns: vec!["id"] },
        Operation::scan(0, vec![Output::Count, Output::Sum("amount")]),
        Operation::InsertLoop { table: 0 },
    ];
    instance.create(Work { tables: vec![table], operations, ..Work::default() })?;
    Ok(instance)
}

/// Waits for `count` answers.
fn answers(set: &mut dyn ConnectionSet, count: usize) -> Vec<Answer> {
    let (mut answers, started) = (Vec::new(), Instant::now());
    while answers.len() < count {
        assert!(started.elapsed() < LONG, "no answer");
        set.wait(None, &mut answers).unwrap();
    }
    answers
}

pub fn ask(
    set: &mut dyn ConnectionSet,
    number: usize,
    request: &Request<'_>,
) -> Result<Vec<Results>, EngineError> {
    set.send(number, request).unwrap();
    answers(set, 1).remove(0).result.map(|done| done.results)
}

pub fn text(sql: &str) -> Request<'_> {
    Request::Execute { statement: Statement::Text(sql), parameters: &[], results: true }
}

fn scanned(set: &mut dyn ConnectionSet) -> Vec<Option<String>> {
    let scan =
        Request::Execute { statement: Statement::Operation(SCAN), parameters: &[], results: true };
    ask(set, 0, &scan).unwrap().remove(0).last
}

fn numbers(count: &str, sum: &str) -> Vec<Option<String>> {
    vec![Some(count.to_owned()), Some(sum.to_owned())]
}

fn keys(numbers: std::ops::Range<u64>) -> Vec<Key> {
    numbers.map(|number| Key::random(number << 16, number)).collect()
}

#[test]
fn rows_are_inserted_by_statements_in_batches_in_bulk_and_by_a_procedure() {
    let Some(url) = sql_server() else { return };
    for data_type in [DataType::Uuid, DataType::BigInt] {
        let instance = instance(&url, &[], data_type);
        let mut set = instance.connect(2).unwrap();
        let set = set.as_mut();
        let some = [keys(0..10), keys(10..20), keys(20..30)];
        ask(
            set,
            0,
            &Request::Batch { operation: INSERT, file: 0, keys: &some[0], pipelined: false },
        )
        .unwrap();
        ask(
            set,
            1,
            &Request::Batch { operation: INSERT, file: 0, keys: &some[1], pipelined: true },
        )
        .unwrap();
        ask(set, 0, &Request::Bulk { operation: INSERT, file: 0, keys: &some[2] }).unwrap();
        assert_eq!(scanned(set), numbers("30", "60"), "{data_type:?}");
        // The emulator has no transactions in procedures.
        let is_stand_in = url.contains(STAND_IN);
        let rows = if is_stand_in { 30 } else { 44 };
        for sequential in [false, true].into_iter().filter(|_| !is_stand_in) {
            let [total, batch] = [7, 3].map(Parameter::Integer);
            let parameters = [total, batch, Parameter::Bool(sequential)];
            let statement = Statement::Operation(LOOP);
            ask(set, 1, &Request::Execute { statement, parameters: &parameters, results: false })
                .unwrap();
        }
        let all = numbers(&rows.to_string(), &(2 * rows).to_string());
        assert_eq!(scanned(set), all, "{data_type:?}");
        if data_type == DataType::Uuid && is_stand_in {
            // To the emulator all UUIDs are equal: they are no key there.
            instance.remove().unwrap();
            continue;
        }
        // A key that is there: nothing of the transaction stays.
        let mut double = keys(100..105);
        double.push(some[0][3]);
        for pipelined in [false, true] {
            let again = Request::Batch { operation: INSERT, file: 0, keys: &double, pipelined };
            ask(set, 0, &again).unwrap_err();
            ask(set, 0, &Request::ROLLBACK).unwrap();
            assert_eq!(scanned(set), all, "{data_type:?}, pipelined: {pipelined}");
        }
        instance.remove().unwrap();
    }
}

/// Each of two sessions waits for a table of the other: the server ends one, whose transaction can
/// be tried again.
#[test]
fn a_deadlock_is_to_be_tried_again() {
    let Some(url) = sql_server() else { return };
    let instance = instance(&url, &[], DataType::BigInt);
    let mut set = instance.connect(2).unwrap();
    let set = set.as_mut();
    ask(set, 0, &text("CREATE TABLE others (id bigint NOT NULL PRIMARY KEY, amount int NOT NULL)"))
        .unwrap();
    ask(set, 0, &text("INSERT INTO others (id, amount) VALUES (1, 0)")).unwrap();
    ask(set, 0, &text("INSERT INTO orders (id) VALUES (1), (2)")).unwrap();
    let updates = ["orders", "others"]
        .map(|table| format!("UPDATE {table} SET amount = amount + 1 WHERE id = 1"));
    for (number, update) in updates.iter().enumerate() {
        ask(set, number, &text("begin")).unwrap();
        ask(set, number, &text(update)).unwrap();
    }
    set.send(0, &text(&updates[1])).unwrap();
    set.send(1, &text(&updates[0])).unwrap();
    let ended = answers(set, 2);
    let is_retry = |answer: &&Answer| matches!(answer.result, Err(EngineError::Retry { .. }));
    let victim = ended.iter().find(is_retry).unwrap_or_else(|| panic!("{ended:?}"));
    assert_eq!(ended.iter().filter(|answer| answer.result.is_ok()).count(), 1, "{ended:?}");
    ask(set, victim.connection, &Request::ROLLBACK).unwrap();
    ask(set, 1 - victim.connection, &text("end")).unwrap();
    assert_eq!(
        scanned(set),
        numbers("2", "5"),
        "one transaction with an update of each table is committed"
    );
    instance.remove().unwrap();
}

#[test]
fn many_connections_on_one_thread_work_at_the_same_time() {
    let Some(url) = sql_server() else { return };
    let instance = instance(&url, &[], DataType::Uuid);
    let mut collector = instance.wait_collector().unwrap();
    let mut set = instance.connect(16).unwrap();
    collector.start().unwrap();
    for number in 0..16 {
        set.send(number, &text("SELECT CAST(@@SPID AS int) AS session_id")).unwrap();
    }
    let sessions = answers(set.as_mut(), 16)
        .into_iter()
        .map(|answer| answer.result.unwrap().results.remove(0).last);
    assert_eq!(sessions.collect::<std::collections::BTreeSet<_>>().len(), 16);
    let collected = collector.stop().unwrap();
    let session_s = collected.time.unwrap().session_s;
    let idle_s: f64 = collected
        .waits
        .iter()
        .filter(|wait| wait.class == WaitClass::Client)
        .map(observations::Wait::wait_s)
        .sum();
    assert!(idle_s > 0.0 && idle_s < session_s, "{idle_s} of {session_s} s");
    drop(set);
    instance.remove().unwrap();
}

#[test]
fn the_layout_is_made_and_what_does_not_take_is_told() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let value = |text: &str| Value::Text(text.into());
    let settings = [
        ("target.data_files", Value::Integer(8)),
        ("target.data_path", Value::List(vec![value("/data/a"), value("/data/b")])),
        ("target.data_size", Value::Integer(512 << 20)),
        ("target.log_size", Value::Integer(64 << 20)),
        ("target.filegroup", value("own")),
        ("target.recovery", value("simple")),
        ("target.page_verify", value("torn-page-detection")),
        ("target.delayed_durability", value("forced")),
        ("target.read_committed_snapshot", Value::Bool(true)),
        ("target.snapshot_isolation", Value::Bool(true)),
    ];
    instance(&url, &settings, DataType::Uuid).remove().unwrap();
    // A file of 2 TiB is cut off to 1 by this server.
    let too_large = [("target.data_size", Value::Integer(2 << 40))];
    let error = prepare(&url, &too_large, DataType::Uuid).err().unwrap();
    assert!(
        matches!(&error,
            EngineError::SettingIgnored { setting, .. } if setting == "target.data_size"),
        "{error}"
    );
    instance(&url, &[], DataType::Uuid).remove().unwrap();
}

/// Hints of the optimizer's alternatives change no result. The stand-in takes documented ones only.
#[test]
fn hints_are_documented_ones_and_select_the_same_rows() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let instance = instance(&url, &[], DataType::BigInt);
    let mut set = instance.connect(1).unwrap();
    let insert = "INSERT INTO orders (id, amount) VALUES (1, 7), (2, 8), (3, 9)";
    ask(set.as_mut(), 0, &text(insert)).unwrap();
    let rules = optimizer::for_engine("sqlserver").unwrap();
    for alternative in rules.alternatives {
        let hint = work::sql::statement::filled(alternative.hint, &[("index", "[pk_orders]")]);
        let sql = format!(
            "SELECT sum(d.amount) AS n FROM orders AS d{hint} WHERE d.id <= 2{}",
            alternative.end
        );
        let found = ask(set.as_mut(), 0, &text(&sql)).unwrap().remove(0).last;
        assert_eq!(found, [Some("15".to_owned())], "{sql}");
    }
    for wrong in [" WITH (FORCESEEK, FORCESCAN)", " WITH (FORCESEAK)", " WITH (INDEX(a b))"] {
        let sql = format!("SELECT sum(d.amount) AS n FROM orders AS d{wrong} WHERE d.id <= 2");
        assert!(ask(set.as_mut(), 0, &text(&sql)).is_err(), "{sql}");
    }
    drop(set);
    instance.remove().unwrap();
}

#[test]
fn another_ones_database_is_not_touched() {
    let Some(url) = sql_server_stand_in(&["steelbench"]) else { return };
    let engine = testing::engine("sqlserver");
    for _ in 0..2 {
        let error = prepare(&url, &[], DataType::Uuid).err().unwrap().to_string();
        assert!(error.contains("Steelbench did not create it"), "{error}");
        let configuration = configuration(&url, &[]);
        let need = Need {
            configuration: &configuration,
            connections: 4,
            footprint: engine::Footprint::default(),
        };
        let found = engine.preflight(&[need], &folders(), &Cancel::new().stop());
        assert!(found.missing.iter().any(|what| what.contains("did not create")), "{found:?}");
    }
}

#[test]
fn an_unknown_setting_of_the_server_is_found_before_the_first_trial() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let configuration =
        configuration(&url, &[("target.settings.max_degree_of_paralelism", Value::Integer(1))]);
    let need = Need {
        configuration: &configuration,
        connections: 4,
        footprint: engine::Footprint::default(),
    };
    let engine = testing::engine("sqlserver");
    let found = engine.preflight(&[need], &folders(), &Cancel::new().stop());
    assert!(found.invalid[0].message.contains("max_degree_of_parallelism"), "{found:?}");
    assert!(found.missing.is_empty(), "{found:?}");
}

/// Reads the rows of a table by python-tds, and adds one by its bulk copy.
const PYTHON: &str = r#"
import datetime, decimal, sys, uuid
import pytds
from pytds import tds_types as types
from pytds.tds_base import Column

server = dict(port=int(sys.argv[1]), database="steelbench", user="sa", password="S3c",
              autocommit=True)
with pytds.connect("127.0.0.1", **server) as connection:
    cursor = connection.cursor()
    # The emulator has days right, but counts them from another one when it sends them.
    texts = "CAST(day AS varchar(30)) AS day, CAST(moment AS varchar(30)) AS moment"
    cursor.execute(f"SELECT id, amount, price, {texts}, name, tag FROM typed ORDER BY id")
    for row in cursor.fetchall():
        print("|".join(map(str, row)).replace(".0000000", ""))
    columns = [
        Column("id", type=types.BigIntType()),
        Column("amount", type=types.IntType()),
        Column("price", type=types.DecimalType(precision=15, scale=2)),
        Column("day", type=types.DateType()),
        Column("name", type=types.NVarCharType(size=20)),
        Column("tag", type=types.UniqueIdentifierType()),
    ]
    tag = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    row = (77, -5, decimal.Decimal("-0.07"), datetime.date(2024, 2, 29), "O'Hara", tag)
    cursor.copy_to(data=[row], table_or_view="typed", columns=columns)
"#;

/// Another client reads the rows that our driver loads as intended, and vice versa.
#[test]
fn another_client_reads_our_rows_and_we_read_its() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    if !Command::new("python3")
        .args(["-c", "import pytds"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("SKIPPED: python3 with python-tds is not installed");
        return;
    }
    let engine = testing::engine("sqlserver");
    let instance =
        (engine.host)(folders()).prepare(&configuration(&url, &[]), 1, &Cancel::new()).unwrap();
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("amount", DataType::Int),
        Column::new("price", DataType::Decimal),
        Column::new("day", DataType::Date),
        Column::new("moment", DataType::Timestamp).default(DefaultValue::Now),
        Column::new("name", DataType::Varchar(20)),
        Column::new("tag", DataType::Uuid),
    ];
    let names = columns.iter().map(|column| column.name).collect::<Vec<_>>();
    let table = Table { name: "typed", columns, key: &["id"], storage: Storage::default() };
    let texts: Texts = ["it's", "", "a b"].into_iter().collect();
    let rows = Rows {
        count: 3,
        columns: vec![
            Values::Integers(vec![1, 2, i64::MAX]),
            Values::Integers(vec![0, -1, i64::from(i32::MIN)]),
            Values::Decimals(vec![5, -1234, 1_234_567_890_123]),
            Values::Dates(vec![0, -719_162, 11_016]),
            // Midnights: the emulator has no digits of seconds, so that it takes other times for
            // shorter ones.
            Values::Timestamps(vec![0, 951_782_400, -86_400]),
            Values::Texts(texts),
            Values::Uuids(vec![0, u128::MAX, 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff]),
        ],
    };
    let line = |row: usize| {
        let values = rows.columns.iter().map(|values| {
            let mut text = String::new();
            values.write(row, &mut text).unwrap();
            text
        });
        values.collect::<Vec<_>>().join("|")
    };
    let expected: Vec<String> = (0..rows.count).map(line).collect();
    let fills = vec![Fill::new(0, names, std::iter::once(rows.clone()))];
    instance.create(Work { tables: vec![table], fills, ..Work::default() }).unwrap();
    let port = url.rsplit_once(':').unwrap().1.split('/').next().unwrap();
    let read = Command::new("python3").args(["-c", PYTHON, port]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();
    assert_eq!(read.lines().collect::<Vec<_>>(), expected);
    let mut set = instance.connect(1).unwrap();
    let sql =
        "SELECT amount, price, CAST(day AS varchar(10)) AS day, name, tag FROM typed WHERE id = 77";
    let ours = ask(set.as_mut(), 0, &text(sql)).unwrap().remove(0).last;
    let ours: Vec<&str> = ours.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
    assert_eq!(
        ours,
        ["-5", "-0.07", "2024-02-29", "O'Hara", "00112233-4455-6677-8899-aabbccddeeff"]
    );
    drop(set);
    instance.remove().unwrap();
}
