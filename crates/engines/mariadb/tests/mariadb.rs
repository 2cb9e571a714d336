//! MariaDB-specific behaviour, on real servers of every installed version.

use engine::{
    Answer, CacheState, ConnectionSet, EngineError, Folders, Host, Instance, Permits, Results,
};
use experiment::{Configuration, Value};
use mariadb::MARIADB;
use mariadb::client::{Client, Config};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testing::installed::{LONG, folder, is_alive, mariadb_installations, until};
use work::{
    Cancel, Column, DataType, DefaultValue, Fill, Key, Operation, Output, Parameter, Request, Rows,
    Statement, Storage, Table, Values, Work,
};

/// Long enough to stand out from other waits.
const HELD: Duration = Duration::from_millis(400);

fn configuration(settings: &[(&str, Value)]) -> Configuration {
    let settings =
        settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
    Configuration { settings, ..Configuration::default() }
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Runs a test on each version, with a host in a folder of its own and volumes `data` and `log` in
/// others.
fn on_each_version(test: impl Fn(&mut dyn Host, &Path, &[(&str, Value)])) {
    for installation in mariadb_installations() {
        let [folder, data, log] = [(); 3].map(|()| folder());
        let volume = |name: &str, folder: &TempDir| (name.to_owned(), folder.path().to_owned());
        let mut host = (MARIADB.host)(Folders {
            directory: folder.path().into(),
            volumes: vec![volume("data", &data), volume("log", &log)],
            permits: Permits::default(),
            cgroup_joins: Vec::new(),
        });
        let version = [
            ("target.bindir", text(installation.server.parent().unwrap().display().to_string())),
            ("target.version", text(installation.version.clone())),
        ];
        test(host.as_mut(), folder.path(), &version);
        drop(host);
        for folder in [&folder, &data, &log] {
            assert!(
                std::fs::read_dir(folder.path()).unwrap().next().is_none(),
                "something is left"
            );
        }
    }
}

const INSERT: usize = 0;
const UPDATE: usize = 1;
const COUNT: usize = 2;
const TYPES: usize = 3;
const END: usize = 4;

fn work() -> Work {
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("amount", DataType::Int).default(DefaultValue::Integer(2)),
    ];
    let types = "SELECT ? AS a, ? AS b, ? AS c, ? AS d, CAST(-3 AS int) AS e, CAST('2020-02-29 \
                 01:02:03' AS datetime) AS f, CAST('-26:01:00' AS time) AS g, \
                 18446744073709551615 AS h, 1.50 AS i";
    let mut texts: Vec<String> = types.split('?').map(str::to_owned).collect();
    texts[0] = "SELECT ".into();
    Work {
        tables: vec![Table {
            name: "orders",
            columns,
            key: &["id"],
            storage: Storage { spread: true, ..Storage::default() },
        }],
        operations: vec![
            Operation::Insert { table: 0, columns: vec!["id"] },
            Operation::Update { table: 0, column: "amount", add: 1, rows: work::Filter::Key },
            Operation::scan(0, vec![Output::Count, Output::Sum("amount")]),
            Operation::Text(work::UserStatement { texts }),
            Operation::Text(work::UserStatement { texts: vec!["END".into()] }),
        ],
        ..Work::default()
    }
}

/// The reported size is that of the table's files.
#[test]
fn the_size_of_a_table_is_that_of_its_file() {
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
    on_each_version(|host, folder, version| {
        let instance = host.prepare(&configuration(version), 1, &Cancel::new()).unwrap();
        let rows = |first: i64| Rows {
            count: 5_000,
            columns: vec![Values::Integers((first..first + 5_000).collect())],
        };
        let fill = Fill::new(0, vec!["id"], (0..10).map(move |batch| rows(5_000 * batch)));
        instance.create(Work { fills: vec![fill], ..work() }).unwrap();
        let stored = instance.parts().tables.unwrap().stored_bytes().unwrap().unwrap();
        let file =
            files(folder).into_iter().find(|path| path.ends_with("steelbench/orders.ibd")).unwrap();
        assert_eq!(stored, 512 * file.metadata().unwrap().blocks());
        assert!(stored > 50_000 * 12);
        instance.remove().unwrap();
    });
}

fn prepared(
    host: &mut dyn Host,
    settings: &[(&str, Value)],
) -> Result<Box<dyn Instance>, EngineError> {
    let instance = host.prepare(&configuration(settings), 4, &Cancel::new())?;
    instance.create(work())?;
    Ok(instance)
}

fn answer(set: &mut dyn ConnectionSet) -> Answer {
    let (mut answers, started) = (Vec::new(), Instant::now());
    while answers.is_empty() {
        assert!(started.elapsed() < LONG, "no answer");
        set.wait(None, &mut answers).unwrap();
    }
    answers.remove(0)
}

fn ask(
    set: &mut dyn ConnectionSet,
    connection: usize,
    request: &Request<'_>,
) -> Result<Vec<Results>, EngineError> {
    set.send(connection, request).unwrap();
    answer(set).result.map(|done| done.results)
}

fn run(
    set: &mut dyn ConnectionSet,
    connection: usize,
    sql: &str,
) -> Result<Vec<Results>, EngineError> {
    ask(
        set,
        connection,
        &Request::Execute { statement: Statement::Text(sql), parameters: &[], results: true },
    )
}

/// Lets a request be sent and its connection wait for a lock.
fn wait_for_nothing(set: &mut dyn ConnectionSet) {
    let (mut answers, started) = (Vec::new(), Instant::now());
    while started.elapsed() < HELD {
        set.wait(Some(HELD.as_nanos() as u64), &mut answers).unwrap();
        assert!(answers.is_empty(), "{answers:?}");
    }
}

/// Runs a request while another connection waits for it; both answers arrive.
fn run_beside(set: &mut dyn ConnectionSet, connection: usize, sql: &str) {
    let statement = Statement::Text(sql);
    set.send(connection, &Request::Execute { statement, parameters: &[], results: false }).unwrap();
    let (mut answers, started) = (Vec::new(), Instant::now());
    while answers.len() < 2 {
        assert!(started.elapsed() < LONG, "no answers");
        set.wait(None, &mut answers).unwrap();
    }
    for answer in answers {
        answer.result.unwrap();
    }
}

/// Rows of the table, and the sum of its amounts.
fn count(set: &mut dyn ConnectionSet) -> Vec<Option<String>> {
    let statement = Statement::Operation(COUNT);
    let results =
        ask(set, 0, &Request::Execute { statement, parameters: &[], results: true }).unwrap();
    results.into_iter().next().unwrap().last
}

fn shown(rows: &str, amounts: &str) -> Vec<Option<String>> {
    [rows, amounts].map(|text| Some(text.to_owned())).into()
}

fn keys(numbers: impl Iterator<Item = u128>) -> Vec<Key> {
    numbers.map(Key).collect()
}

fn insert(keys: &[Key], pipelined: bool) -> Request<'_> {
    Request::Batch { operation: INSERT, file: 0, keys, pipelined }
}

fn bulk(keys: &[Key]) -> Request<'_> {
    Request::Bulk { operation: INSERT, file: 0, keys }
}

fn update(key: &[Key]) -> Request<'_> {
    Request::Batch { operation: UPDATE, file: 0, keys: key, pipelined: false }
}

fn socket(directory: &Path) -> PathBuf {
    let folder = directory.join("socket");
    std::fs::read_link(&folder).unwrap_or(folder).join("server.sock")
}

fn superuser(directory: &Path) -> Client {
    Client::connect(&Config::unix(&socket(directory), "root")).unwrap()
}

fn pid(directory: &Path) -> i32 {
    std::fs::read_to_string(directory.join("data/server.pid")).unwrap().trim().parse().unwrap()
}

#[test]
fn a_transaction_is_all_or_nothing_however_it_is_sent() {
    on_each_version(|host, _, version| {
        let instance = prepared(host, version).unwrap();
        let mut set = instance.connect(2).unwrap();
        let set = set.as_mut();
        ask(set, 0, &bulk(&keys(0..25_000))).unwrap();
        assert_eq!(count(set), shown("25000", "50000"));
        // The last key is there already.
        let double = keys((30_000..30_005).chain([7]));
        ask(set, 0, &insert(&double, true)).unwrap_err();
        let long = keys((40_000..65_000).chain([8]));
        ask(set, 1, &bulk(&long)).unwrap_err();
        ask(set, 1, &Request::ROLLBACK).unwrap();
        assert_eq!(count(set), shown("25000", "50000"));
        // Both connections still commit as instructed.
        ask(set, 0, &insert(&keys(30_000..30_005), true)).unwrap();
        ask(set, 0, &insert(&keys(30_005..30_006), false)).unwrap();
        ask(set, 1, &insert(&keys(30_006..30_008), false)).unwrap();
        ask(set, 0, &Request::ROLLBACK).unwrap();
        assert_eq!(count(set), shown("25008", "50016"));
        // As pgbench's built-in scripts end theirs, prepared and as text.
        for (key, end) in [(70_000, Statement::Operation(END)), (70_001, Statement::Text("END"))] {
            run(set, 0, "BEGIN").unwrap();
            run(set, 0, &format!("INSERT INTO orders (id) VALUES ({key})")).unwrap();
            ask(set, 0, &Request::Execute { statement: end, parameters: &[], results: false })
                .unwrap();
            ask(set, 0, &Request::ROLLBACK).unwrap();
        }
        assert_eq!(count(set), shown("25010", "50020"));
        instance.remove().unwrap();
    });
}

#[test]
fn values_of_every_type_come_as_the_text_that_the_server_would_have_sent() {
    on_each_version(|host, _, version| {
        let instance = prepared(host, version).unwrap();
        let mut set = instance.connect(1).unwrap();
        let parameters = [
            Parameter::Null,
            Parameter::Integer(-7),
            Parameter::Double(0.25),
            Parameter::Text("a'b\\ä".into()),
        ];
        let statement = Statement::Operation(TYPES);
        let request = Request::Execute { statement, parameters: &parameters, results: true };
        let expected = [
            None,
            Some("-7"),
            Some("0.25"),
            Some("a'b\\ä"),
            Some("-3"),
            Some("2020-02-29 01:02:03"),
            Some("-26:01:00"),
            Some("18446744073709551615"),
            Some("1.50"),
        ];
        // The second time the server leaves out the description of the columns.
        for _ in 0..2 {
            let results = ask(set.as_mut(), 0, &request).unwrap();
            let got: Vec<Option<&str>> = results[0].last.iter().map(Option::as_deref).collect();
            assert_eq!(got, expected);
            assert_eq!((results[0].rows, results[0].columns.join("")), (1, "abcdefghi".into()));
        }
        let both = run(set.as_mut(), 0, "SELECT 1 AS x; SELECT 2 AS y UNION SELECT 3").unwrap();
        let rows: Vec<u64> = both.iter().map(|results| results.rows).collect();
        assert_eq!((rows, both[1].last[0].as_deref()), (vec![1, 2], Some("3")));
        drop(set);
        instance.remove().unwrap();
    });
}

#[test]
fn a_deadlock_asks_for_the_transaction_again_and_a_row_lock_is_a_wait() {
    on_each_version(|host, _, version| {
        let instance = prepared(host, version).unwrap();
        let mut connections = instance.connect(2).unwrap();
        let set = connections.as_mut();
        ask(set, 0, &bulk(&keys(0..10))).unwrap();
        set.publish().unwrap();
        // The server counts this time only when the next statements arrive: it is not part of the
        // measurement.
        std::thread::sleep(2 * HELD);
        let mut collector = instance.wait_collector().unwrap();
        collector.start().unwrap();
        let (first, second) = (keys(1..2), keys(2..3));
        run(set, 0, "BEGIN").unwrap();
        ask(set, 0, &update(&first)).unwrap();
        set.send(1, &update(&first)).unwrap();
        wait_for_nothing(set);
        run_beside(set, 0, "COMMIT");
        set.publish().unwrap();
        let collected = collector.stop().unwrap();
        let wait_s = |name: &str| -> f64 {
            let waits = collected.waits.iter().filter(|wait| wait.wait_type == name);
            waits.map(observations::Wait::wait_s).sum()
        };
        let (held_s, time) = (HELD.as_secs_f64(), collected.time.unwrap());
        let row_lock_s = wait_s("ROW_LOCK");
        let most_s = time.session_s / 2.0;
        assert!(row_lock_s >= held_s * 0.9 && row_lock_s <= most_s, "{row_lock_s} of {most_s} s");
        // The other session was idle for that time.
        assert!(wait_s("idle") >= held_s * 0.9 && time.cpu_s > 0.0, "{:?}", collected.waits);
        let all = time.cpu_s + collected.waits.iter().map(observations::Wait::wait_s).sum::<f64>();
        assert!(
            all <= time.session_s * 1.05 && all >= time.session_s * 0.95,
            "{all} of {} s",
            time.session_s
        );
        assert!(collected.lost.is_empty() && collected.server_cpu_s >= 0.0, "{:?}", collected.lost);

        for (connection, key) in [(0, &first), (1, &second)] {
            run(set, connection, "BEGIN").unwrap();
            ask(set, connection, &update(key)).unwrap();
        }
        set.send(0, &update(&second)).unwrap();
        wait_for_nothing(set);
        set.send(1, &update(&first)).unwrap();
        let mut answers = Vec::new();
        while answers.len() < 2 {
            set.wait(None, &mut answers).unwrap();
        }
        let failed: Vec<&Answer> = answers.iter().filter(|answer| answer.result.is_err()).collect();
        assert!(
            matches!(failed[..], [Answer { result: Err(EngineError::Retry { .. }), .. }]),
            "{answers:?}"
        );
        ask(set, 0, &Request::ROLLBACK).unwrap();
        ask(set, 1, &Request::ROLLBACK).unwrap();
        assert_eq!(count(set), shown("10", "22"));
        drop(connections);
        instance.remove().unwrap();
    });
}

#[test]
fn variables_are_set_as_cheaply_as_the_server_lets_us_and_read_back() {
    on_each_version(|host, directory, version| {
        let with = |host: &mut dyn Host, settings: &[(&str, Value)]| {
            let reset = [("target.reset", Value::List(Vec::new()))];
            prepared(host, &[version, &reset, settings].concat())
        };
        let flush =
            |value| ("target.settings.innodb_flush_log_at_trx_commit", Value::Integer(value));
        with(host, &[flush(2)]).unwrap().remove().unwrap();
        let first = pid(directory);
        let value = |sql: &str| superuser(directory).cell(sql).unwrap().unwrap();
        assert_eq!(value("SELECT @@innodb_flush_log_at_trx_commit"), "2");
        with(host, &[flush(0)]).unwrap().remove().unwrap();
        assert_eq!(
            (value("SELECT @@innodb_flush_log_at_trx_commit"), pid(directory)),
            ("0".into(), first)
        );
        // Fixed at start, and back to the default.
        let doublewrite = ("target.settings.innodb-doublewrite", Value::Bool(false));
        with(host, &[doublewrite, ("target.settings.innodb_buffer_pool_size", text("64M"))])
            .unwrap()
            .remove()
            .unwrap();
        assert_eq!(value("SELECT @@innodb_flush_log_at_trx_commit"), "1");
        assert_eq!(
            value("SELECT @@innodb_buffer_pool_size + @@innodb_doublewrite"),
            (64 << 20).to_string()
        );
        assert!(!is_alive(first));
        let page = ("target.settings.innodb_page_size", text("8k"));
        with(host, &[page]).unwrap().remove().unwrap();
        assert_eq!(value("SELECT @@innodb_page_size"), "8192");
        let ignored = with(host, &[("target.settings.max_allowed_packet", Value::Integer(1500))]);
        assert!(matches!(ignored.map(drop), Err(EngineError::SettingIgnored { .. })));
        let unknown = with(host, &[("target.settings.sync_binlogs", Value::Integer(1))])
            .map(drop)
            .unwrap_err();
        assert!(unknown.to_string().contains("sync_binlogs"), "{unknown}");
    });
}

#[test]
fn data_files_and_logs_lie_on_their_volumes_and_caches_are_as_the_file_says() {
    on_each_version(|host, directory, version| {
        let settings = [
            ("target.volume", text("data")),
            ("target.data_files", Value::Integer(2)),
            ("target.log_volume", text("log")),
            ("target.settings.log_bin", Value::Bool(true)),
        ];
        let instance = prepared(host, &[version, &settings].concat()).unwrap();
        let mut set = instance.connect(1).unwrap();
        ask(set.as_mut(), 0, &bulk(&keys(0..20_000))).unwrap();
        drop(set);
        let mut server = superuser(directory);
        let paths = "SELECT group_concat(filename) FROM information_schema.innodb_sys_tablespaces \
                     WHERE name LIKE 'steelbench/orders%'";
        let paths = server.cell(paths).unwrap().unwrap();
        assert!(paths.contains("/data-0/steelbench/orders#P#p0.ibd"), "{paths}");
        assert!(paths.contains("/data-1/steelbench/orders#P#p1.ibd"), "{paths}");
        let log = server.cell("SELECT @@log_bin_basename").unwrap().unwrap();
        let log = Path::new(&log).parent().unwrap();
        assert!(log.join("ib_logfile0").is_file() && !directory.join("data/ib_logfile0").exists());
        // It watches the server that there is when the load begins: a cold one is another process
        // than before.
        let mut collector = instance.wait_collector().unwrap();
        for cache in [CacheState::Hot, CacheState::Cold] {
            let report = instance.settle(cache).unwrap();
            assert!(report.verified && report.file_bytes > 1 << 19, "{cache:?}: {report:?}");
        }
        let mut set = instance.connect(1).unwrap();
        collector.start().unwrap();
        assert_eq!(count(set.as_mut()), shown("20000", "40000"));
        set.publish().unwrap();
        assert!(collector.stop().unwrap().time.unwrap().cpu_s > 0.0);
        drop(set);
        instance.remove().unwrap();
    });
}

#[test]
fn after_a_final_checkpoint_no_page_of_the_tables_is_left_to_be_written() {
    on_each_version(|host, directory, version| {
        for is_checkpointed in [false, true] {
            let settings = [
                ("target.final_checkpoint", Value::Bool(is_checkpointed)),
                ("target.data_files", Value::Integer(2)),
            ];
            let instance = prepared(host, &[version, &settings].concat()).unwrap();
            let mut set = instance.connect(1).unwrap();
            ask(set.as_mut(), 0, &bulk(&keys(0..5000))).unwrap();
            set.flush(0, 1).unwrap();
            let unwritten = "SELECT count(*) FROM information_schema.innodb_buffer_page WHERE \
                             table_name LIKE '%orders%' AND oldest_modification > 1";
            let unwritten = superuser(directory).cell(unwritten).unwrap().unwrap();
            assert_eq!(unwritten == "0", is_checkpointed, "{unwritten}");
            drop(set);
            instance.remove().unwrap();
        }
    });
}

#[test]
fn by_url_a_database_of_others_is_not_touched_and_a_password_stays_out_of_the_file() {
    on_each_version(|host, directory, version| {
        let private = prepared(host, version).unwrap();
        private.remove().unwrap();
        let mut server = superuser(directory);
        let user = "CREATE USER me@localhost IDENTIFIED VIA mysql_native_password USING \
                    PASSWORD('secret'); GRANT ALL ON steelbench.* TO me@localhost";
        server.run(user).unwrap();
        let socket = socket(directory);
        let url = |user: &str| format!("mariadb://{user}@localhost/?socket={}", socket.display());
        let refused = Client::connect(&Config::parse(&url("me:wrong")).unwrap()).unwrap_err();
        assert!(
            refused.code() == Some(1045) && !refused.to_string().contains("wrong"),
            "{refused}"
        );
        let mut me = Client::connect(&Config::parse(&url("me:secret")).unwrap()).unwrap();
        assert_eq!(me.cell("SELECT current_user()").unwrap().as_deref(), Some("me@localhost"));
        let objections =
            (MARIADB.validate)(&configuration(&[("target.url", text(url("me:secret")))]), 1, &[]);
        assert!(
            objections
                .iter()
                .any(|objection| objection.to_string().contains("a password in the file"))
        );

        let elsewhere = folder();
        let by_url = |settings: &[(&str, Value)]| {
            let mut host = (MARIADB.host)(Folders {
                directory: elsewhere.path().into(),
                volumes: Vec::new(),
                permits: Permits::default(),
                cgroup_joins: Vec::new(),
            });
            prepared(host.as_mut(), &[&[("target.url", text(url("root")))], settings].concat())
        };
        let lock_timeout = ("target.settings.innodb_lock_wait_timeout", Value::Integer(3));
        let instance = by_url(&[lock_timeout]).unwrap();
        let mut set = instance.connect(1).unwrap();
        let timeout = run(set.as_mut(), 0, "SELECT @@innodb_lock_wait_timeout").unwrap();
        assert_eq!(timeout[0].last[0].as_deref(), Some("3"));
        let other = ("target.settings.innodb_flush_log_at_trx_commit", Value::Integer(0));
        drop(set);
        instance.remove().unwrap();
        assert!(
            by_url(&[other])
                .map(drop)
                .unwrap_err()
                .to_string()
                .contains("sessions can set session variables only")
        );
        let version = (MARIADB.version)(
            &[&configuration(&[("target.url", text(url("root")))])],
            &Cancel::new().stop(),
        );
        assert!(version.version.contains("MariaDB"), "{version:?}");

        server.run("CREATE DATABASE steelbench; CREATE TABLE steelbench.mine (a int)").unwrap();
        let error = by_url(&[]).map(drop).unwrap_err().to_string();
        assert!(error.contains("Steelbench did not create"), "{error}");
        server.run("SELECT * FROM steelbench.mine; DROP DATABASE steelbench").unwrap();
    });
}

#[test]
fn a_server_dies_with_its_host_and_what_a_killed_run_left_is_reclaimed() {
    on_each_version(|host, directory, version| {
        let instance = prepared(host, version).unwrap();
        let pid = pid(directory);
        MARIADB.recovery.unwrap().reclaim(directory).unwrap();
        assert!(until(|| !is_alive(pid)));
        drop(instance);
    });
}
