//! DuckDB: invalid libraries, settings without effect, conflicts, caches, keys, a full disk.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use engine::{
    Answer, CacheState, ConnectionSet, Done, Engine, EngineError, Folders, Footprint, Instance,
    Need, Permits, WaitType,
};
use experiment::{Configuration, Invalid, Value};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use testing::installed::{duckdb_libraries, folder};
use work::{
    Cancel, Column, DataType, DefaultValue, Fill, Key, Operation, Output, Request, Rows, Statement,
    Storage, Table, Values, Work,
};

fn engine() -> &'static Engine {
    testing::engine("duckdb")
}

fn configuration(library: Option<&str>, settings: &[(&str, Value)]) -> Configuration {
    let named = library.map(|path| ("target.library", Value::Text(path.into())));
    let settings = named.into_iter().chain(settings.iter().cloned());
    Configuration {
        settings: settings.map(|(path, value)| (path.to_owned(), value)).collect(),
        ..Configuration::default()
    }
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn prepare(configuration: &Configuration, folder: &Path) -> Result<Box<dyn Instance>, EngineError> {
    let place = Folders {
        directory: folder.into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    (engine().host)(place).prepare(configuration, 2, &Cancel::new())
}

/// A table with a key of this type.
fn table(key: DataType) -> Table {
    let columns = vec![
        Column::new("id", key),
        Column::new("made", DataType::Timestamp).default(DefaultValue::Now),
        Column::new("state", DataType::Char(3)).default(DefaultValue::Text("a'b")),
        Column::new("amount", DataType::Int).default(DefaultValue::Integer(2)),
    ];
    Table { name: "orders", columns, key: &["id"], storage: Storage::default() }
}

/// Returns the objections to the settings before a first trial.
fn objections(configuration: &Configuration) -> Vec<Invalid> {
    let need = Need { configuration, connections: 1, footprint: Footprint::default() };
    let place = Folders {
        directory: std::env::temp_dir(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    engine().preflight(&[need], &place, &Cancel::new().stop()).invalid
}

const INSERT: usize = 0;
const SUM: usize = 1;

fn work(key: DataType) -> Work {
    let operations = vec![
        Operation::Insert { table: 0, columns: vec!["id"] },
        Operation::scan(0, vec![Output::Count, Output::Sum("amount")]),
    ];
    Work { tables: vec![table(key)], operations, ..Work::default() }
}

/// A prepared database with these settings, and two connections.
fn live(
    configuration: &Configuration,
    key: DataType,
) -> (TempDir, Box<dyn Instance>, [Box<dyn ConnectionSet>; 2]) {
    let folder = folder();
    let instance = prepare(configuration, folder.path()).unwrap();
    instance.create(work(key)).unwrap();
    let connections = [instance.connect(1).unwrap(), instance.connect(1).unwrap()];
    (folder, instance, connections)
}

fn ask(connections: &mut dyn ConnectionSet, request: &Request<'_>) -> Result<Done, EngineError> {
    connections.send(0, request)?;
    let mut answers: Vec<Answer> = Vec::new();
    connections.wait(None, &mut answers)?;
    answers.remove(0).result
}

/// The last row of the last statement of a text.
fn sql(connections: &mut dyn ConnectionSet, text: &str) -> Result<Vec<String>, EngineError> {
    let request =
        Request::Execute { statement: Statement::Text(text), parameters: &[], results: true };
    let mut done = ask(connections, &request)?;
    let last = done.results.pop().map(|results| results.last).unwrap_or_default();
    Ok(last.into_iter().map(|cell| cell.unwrap_or_else(|| "NULL".into())).collect())
}

fn error<T>(result: Result<T, EngineError>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn without_a_library_the_error_says_what_was_tried_and_what_to_do() {
    let folder = folder();
    let missing = configuration(Some("libno-such-duckdb.so"), &[]);
    let error = error(prepare(&missing, folder.path()));
    for part in
        ["target.library", "libno-such-duckdb.so", "install libduckdb", "STEELBENCH_DUCKDB_LIB"]
    {
        assert!(error.contains(part), "{part}: {error}");
    }
    let path = configuration(Some("/nowhere/libduckdb.so"), &[]);
    let objections = (engine().validate)(&path, 1, &[]);
    assert!(
        objections[0].message.contains("file /nowhere/libduckdb.so does not exist"),
        "{objections:?}"
    );
    assert!(folder.path().read_dir().unwrap().next().is_none());
}

/// A library with only these lines of C.
fn library_of(folder: &Path, name: &str, lines: &str) -> Option<String> {
    let (source, library) =
        (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    std::fs::write(&source, lines).unwrap();
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("SKIPPED: no C compiler");
        return None;
    }
    Some(library.display().to_string())
}

#[test]
fn a_library_that_is_not_duckdb_or_too_old_or_lacks_a_function_is_named() {
    let folder = folder();
    let version =
        |text: &str| format!("const char *duckdb_library_version(void) {{ return \"{text}\"; }}\n");
    let other = "int nothing(void) { return 0; }\n".to_owned();
    for (name, lines, expected) in [
        ("other", other, "is not DuckDB"),
        ("old", version("v1.1.3"), "is DuckDB 1.1.3; 1.2 or later is required"),
        ("odd", version("v1.3.0"), "(DuckDB 1.3.0) lacks the function duckdb_"),
    ] {
        let Some(library) = library_of(folder.path(), name, &lines) else { return };
        let error = error(prepare(&configuration(Some(&library), &[]), folder.path()));
        assert!(error.contains(expected) && error.contains(&library), "{error}");
        let version =
            (engine().version)(&[&configuration(Some(&library), &[])], &Cancel::new().stop());
        assert_eq!(version.version, "none");
    }
}

#[test]
fn what_can_be_said_without_the_library_is_said_before_anything_runs() {
    let objections = |path: &str, value: Value| {
        let found = (engine().validate)(&configuration(None, &[(path, value)]), 1, &[]);
        found.into_iter().map(|invalid| invalid.message).collect::<Vec<_>>().join("; ")
    };
    assert!(objections("target.data_files", Value::Integer(4)).contains("one file"));
    assert!(objections("target.settings.threads", text("many")).contains("not a whole number"));
    assert!(
        objections("target.settings.threads", Value::Integer(0)).contains("not a whole number")
    );
    assert!(
        objections("target.settings.access_mode", text("read_only"))
            .contains("trials create and write")
    );
    assert!(objections("target.settings.a'b", Value::Integer(1)).contains("letters, digits"));
    assert_eq!(objections("target.settings.memory_limit", text("1GB")), "");
}

#[test]
fn settings_are_given_and_read_back_and_an_unknown_one_names_the_nearest() {
    for library in duckdb_libraries() {
        let settings = [
            ("target.settings.threads", Value::Integer(3)),
            ("target.settings.memory_limit", text("1GB")),
            ("target.settings.preserve_insertion_order", Value::Bool(false)),
            // One that each connection has for itself.
            ("target.settings.perfect_ht_threshold", Value::Integer(7)),
        ];
        let with_settings = configuration(library.as_deref(), &settings);
        let (_folder, instance, mut connections) = live(&with_settings, DataType::BigInt);
        for connection in &mut connections {
            let row = sql(
                connection.as_mut(),
                "SELECT current_setting('threads'), current_setting('perfect_ht_threshold'), \
                 current_setting('preserve_insertion_order')",
            );
            assert_eq!(row.unwrap(), ["3", "7", "false"]);
        }
        drop(connections);
        instance.remove().unwrap();
        let folder = folder();
        for (name, value, expected) in [
            ("target.settings.thread", Value::Integer(1), "did you mean `threads`?"),
            ("target.settings.memory_limit", text("much"), "memory_limit"),
            ("target.settings.force_compression", text("nosuch"), "force_compression"),
        ] {
            let wrong = configuration(library.as_deref(), &[(name, value)]);
            let error = error(prepare(&wrong, folder.path()));
            assert!(error.contains(expected), "{error}");
            assert!(folder.path().read_dir().unwrap().next().is_none(), "{name} left something");
            // The same before the first trial.
            let objections = objections(&wrong);
            assert!(
                objections.len() == 1
                    && objections[0].path == name
                    && objections[0].message.contains(expected),
                "{objections:?}"
            );
        }
        assert_eq!(objections(&with_settings), []);
    }
}

#[test]
fn a_conflict_between_two_writers_asks_for_the_transaction_to_be_repeated() {
    for library in duckdb_libraries() {
        let (_folder, instance, [mut first, mut other]) =
            live(&configuration(library.as_deref(), &[]), DataType::BigInt);
        let keys: Vec<Key> = (0..10).map(Key).collect();
        ask(first.as_mut(), &Request::Bulk { operation: INSERT, file: 0, keys: &keys }).unwrap();
        sql(first.as_mut(), "BEGIN; UPDATE orders SET amount = 3 WHERE id = 1").unwrap();
        sql(other.as_mut(), "BEGIN").unwrap();
        let conflict = sql(other.as_mut(), "UPDATE orders SET amount = 4 WHERE id = 1");
        assert!(matches!(conflict, Err(EngineError::Retry { .. })), "{conflict:?}");
        ask(other.as_mut(), &Request::ROLLBACK).unwrap();
        // Without a transaction it is not an error.
        ask(other.as_mut(), &Request::ROLLBACK).unwrap();
        sql(first.as_mut(), "COMMIT").unwrap();
        sql(other.as_mut(), "BEGIN; UPDATE orders SET amount = 4 WHERE id = 1; COMMIT").unwrap();
        assert_eq!(sql(first.as_mut(), "SELECT amount FROM orders WHERE id = 1").unwrap(), ["4"]);
        drop((first, other));
        instance.remove().unwrap();
    }
}

#[test]
fn keys_are_the_same_by_statement_and_by_bulk_load_and_defaults_are_filled_in() {
    for library in duckdb_libraries() {
        let (_folder, instance, [mut connection, other]) =
            live(&configuration(library.as_deref(), &[]), DataType::Uuid);
        let keys = |tails: std::ops::Range<u64>| -> Vec<Key> {
            tails.map(|tail| Key::random(tail, tail)).collect()
        };
        let first = keys(0..3000);
        ask(connection.as_mut(), &Request::Bulk { operation: INSERT, file: 0, keys: &first })
            .unwrap();
        let second = keys(3000..3010);
        ask(
            connection.as_mut(),
            &Request::Batch { operation: INSERT, file: 0, keys: &second, pipelined: false },
        )
        .unwrap();
        // The same keys by the other way are there already.
        for keys in [&first[7..8], &second[7..8]] {
            ask(
                connection.as_mut(),
                &Request::Batch { operation: INSERT, file: 0, keys, pipelined: false },
            )
            .unwrap_err();
            ask(connection.as_mut(), &Request::Bulk { operation: INSERT, file: 0, keys })
                .unwrap_err();
        }
        let row = sql(
            connection.as_mut(),
            "SELECT count(*), count(DISTINCT id), sum(amount), min(state), max(length(state)), \
             min(made) > now()::TIMESTAMP - INTERVAL 1 HOUR, min(CAST(id AS VARCHAR)) FROM orders",
        );
        let smallest = Key::random(0, 0).bytes().map(|byte| format!("{byte:02x}")).concat();
        let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &smallest[range]).join("-");
        assert_eq!(row.unwrap(), ["3010", "3010", "6020", "a'b", "3", "true", groups.as_str()]);
        drop((connection, other));
        instance.remove().unwrap();
    }
}

#[test]
fn a_cold_cache_has_nothing_of_the_file_and_of_duckdbs_own() {
    for library in duckdb_libraries() {
        let cold = configuration(library.as_deref(), &[("target.cache", text("cold"))]);
        let folder = tempfile::Builder::new()
            .prefix("duckdb")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let instance = prepare(&cold, folder.path()).unwrap();
        let numbers = |first: i64| Rows {
            count: 4096,
            columns: vec![Values::Integers((first..first + 4096).collect())],
        };
        let fill = Fill::new(0, vec!["id"], (0..100).map(move |batch| numbers(batch * 4096)));
        instance.create(Work { fills: vec![fill], ..work(DataType::BigInt) }).unwrap();
        let mut connections = instance.connect(1).unwrap();
        let report = instance.settle(CacheState::Cold).unwrap();
        assert!(report.verified && report.file_bytes > 1 << 20, "{report:?}");
        connections.begin();
        let scan = Request::Execute {
            statement: Statement::Operation(SUM),
            parameters: &[],
            results: true,
        };
        let done = ask(connections.as_mut(), &scan).unwrap();
        assert_eq!(done.results[0].last[0].as_deref(), Some("409600"));
        // A connection is still open after the measurement: making the file cold again is refused.
        let open = error(instance.settle(CacheState::Cold));
        assert!(open.contains("a connection is still open"), "{open}");
        connections.end();
        drop(connections);
        instance.remove().unwrap();
        assert!(folder.path().read_dir().unwrap().next().is_none());
    }
}

/// Rows that several connections load have the order in which they came, and all row groups but the
/// last are full.
#[test]
fn rows_keep_their_order_and_fill_row_groups_however_many_load_them() {
    const ROWS: i64 = 5 * 122_880 + 1_000;
    for library in duckdb_libraries() {
        for (threads, key) in [(1, DataType::BigInt), (2, DataType::BigInt), (3, DataType::Int)] {
            let threads = [("target.settings.threads", Value::Integer(threads))];
            let folder = folder();
            let instance =
                prepare(&configuration(library.as_deref(), &threads), folder.path()).unwrap();
            // Batches of a size that does not fit.
            let batch = |first: i64| Rows {
                count: 5_000.min(ROWS - first) as usize,
                columns: vec![Values::Integers((first..ROWS.min(first + 5_000)).collect())],
            };
            let fill = Fill::new(0, vec!["id"], (0..ROWS).step_by(5_000).map(batch));
            instance.create(Work { fills: vec![fill], ..work(key) }).unwrap();
            let mut connection = instance.connect(1).unwrap();
            let placed = "SELECT count(*), count(*) FILTER (id = rowid), sum(amount) FROM orders";
            let [all, twice] = [ROWS, 2 * ROWS].map(|rows| rows.to_string());
            assert_eq!(sql(connection.as_mut(), placed).unwrap(), [all.clone(), all, twice]);
            let groups = "SELECT count(*), count(*) FILTER (rows = 122880), min(rows) FROM \
                          (SELECT sum(count) AS rows FROM pragma_storage_info('orders') WHERE \
                          column_name = 'id' AND segment_type <> 'VALIDITY' GROUP BY row_group_id)";
            assert_eq!(sql(connection.as_mut(), groups).unwrap(), ["6", "5", "1000"]);
            drop(connection);
            instance.remove().unwrap();
        }
    }
}

/// Loaded rows are compressed and written before their transaction ends, and settings of the load
/// end with it.
#[test]
fn a_full_row_group_is_written_before_its_transaction_ends() {
    const GROUP: u128 = 122_880;
    for library in duckdb_libraries() {
        for groups in [None, Some(3)] {
            let setting = groups.map(|groups| {
                ("target.settings.write_buffer_row_group_count", Value::Integer(groups))
            });
            let single_thread = ("target.settings.threads", Value::Integer(1));
            let settings: Vec<_> = [single_thread].into_iter().chain(setting).collect();
            let folder = folder();
            let Ok(instance) =
                prepare(&configuration(library.as_deref(), &settings), folder.path())
            else {
                // Older versions know no such setting.
                assert!(groups.is_some());
                continue;
            };
            let file = folder.path().join("data.duckdb");
            let (sender, written) = std::sync::mpsc::channel();
            // The second group of the first transaction follows when the first one is there.
            let batches = (0..2 * GROUP).step_by(4096).map(move |first| {
                sender.send(file.metadata().unwrap().len()).unwrap();
                let mix = |row: u128| row.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                // No steps of the same size, which would take no room.
                let key = |row| mix(mix(row) ^ mix(row) >> 61);
                Rows {
                    count: 4096,
                    columns: vec![Values::Uuids((first..first + 4096).map(key).collect())],
                }
            });
            let fill = Fill::new(0, vec!["id"], batches);
            let mut work = Work { fills: vec![fill], ..work(DataType::Uuid) };
            work.tables[0].storage.key_after_fill = true;
            instance.create(work).unwrap();
            // 16 bytes of a key that nothing compresses; of blocks that are not full DuckDB makes
            // others.
            let early = written.iter().any(|bytes| u128::from(bytes) > GROUP * 12);
            assert_eq!(early, groups.is_none(), "{library:?}");
            let mut connection = instance.connect(1).unwrap();
            let settings = "SELECT string_agg(value, ' ' ORDER BY name) FROM duckdb_settings() \
                            WHERE name IN ('threads', 'write_buffer_row_group_count')";
            let now = sql(connection.as_mut(), settings).unwrap();
            assert!(now == ["1"] || now == [format!("1 {}", groups.unwrap_or(5))], "{now:?}");
            drop(connection);
            instance.remove().unwrap();
        }
    }
}

/// A small disk, where one may be mounted.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = folder();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "none"])
            .arg(folder.path())
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            println!("SKIPPED: no small disk can be mounted");
            return None;
        }
        Some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_in_mid_load_is_named_and_nothing_is_left() {
    for library in duckdb_libraries() {
        let Some(disk) = SmallDisk::mount() else { return };
        let instance = prepare(&configuration(library.as_deref(), &[]), disk.0.path()).unwrap();
        // Numbers that do not compress.
        let scattered = |batch: i64| {
            let keys = (batch * 4096..(batch + 1) * 4096)
                .map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
            Rows { count: 4096, columns: vec![Values::Integers(keys.collect())] }
        };
        let fill = Fill::new(0, vec!["id"], (0..1000).map(scattered));
        let full = instance.create(Work { fills: vec![fill], ..work(DataType::BigInt) });
        assert!(matches!(full, Err(EngineError::DiskFull { .. })), "{full:?}");
        instance.remove().unwrap();
        assert!(disk.0.path().read_dir().unwrap().next().is_none());
    }
}

#[test]
fn waits_are_told_and_the_worker_threads_too() {
    for library in duckdb_libraries() {
        let threads = [("target.settings.threads", Value::Integer(3))];
        let (_folder, instance, [mut first, other]) =
            live(&configuration(library.as_deref(), &threads), DataType::BigInt);
        let mut collector = instance.wait_collector().unwrap();
        collector.start().unwrap();
        first.begin();
        let heavy = "SELECT sum(hash(a.range + b.range)) FROM range(20000) a, range(5000) b";
        sql(first.as_mut(), heavy).unwrap();
        first.end();
        let collected = collector.stop().unwrap();
        for wait in &collected.waits {
            assert!(WaitType::find(engine().wait_types, &wait.wait_type).is_some(), "{wait:?}");
        }
        assert_eq!(collected.lost, Vec::<String>::new());
        drop((first, other));
        instance.remove().unwrap();
    }
}
