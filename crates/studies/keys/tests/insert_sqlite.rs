//! The insert probe on the real embedded engine: what it reports is what is in the files.

use engine::{EngineError, Folders, Instance};
use experiment::{Configuration, Invalid, Value};
use keys::insert::Insert;
use observations::{Observations, WaitClass};
use probe::{Probe as _, ProbeError, Target, TrialContext};
use rusqlite::Connection;
use sqlite::SQLITE;
use std::path::Path;
use work::{Cancel, CancelReason};

fn configuration(workload: &[(&str, Value)]) -> Configuration {
    let mut settings: std::collections::BTreeMap<String, Value> = [
        ("target.data_files", Value::Integer(3)),
        ("target.busy_timeout", Value::Float(60.0)),
        ("target.final_checkpoint", Value::Bool(true)),
        ("target.settings.journal_mode", Value::Text("wal".into())),
        ("workload.connections", Value::Integer(4)),
        ("workload.rows", Value::Integer(10_007)),
        ("workload.rows_per_transaction", Value::Integer(100)),
        ("observe.interval", Value::Float(0.05)),
    ]
    .map(|(path, value)| (path.into(), value))
    .into();
    settings.extend(workload.iter().map(|(path, value)| ((*path).to_string(), value.clone())));
    settings.retain(|_, value| *value != Value::Text(String::new()));
    Configuration { settings, ..Configuration::default() }
}

fn absent() -> Value {
    Value::Text(String::new())
}

fn prepare(
    configuration: &Configuration,
    directory: &Path,
    cancel: &Cancel,
) -> Result<Box<dyn Instance>, EngineError> {
    let place = Folders {
        directory: directory.into(),
        volumes: Vec::new(),
        permits: engine::Permits::default(),
        cgroup_joins: Vec::new(),
    };
    (SQLITE.host)(place).prepare(configuration, Insert.connections(configuration), cancel)
}

fn planned(configuration: &Configuration) -> Vec<Invalid> {
    Insert.plan(configuration, &Target::for_engine(&SQLITE, configuration))
}

fn trial(
    configuration: &Configuration,
    instance: &dyn Instance,
    cancel: &Cancel,
) -> Result<Observations, ProbeError> {
    assert_eq!(
        (
            Insert.plan(configuration, &Target::for_engine(&SQLITE, configuration)),
            (SQLITE.validate)(configuration, Insert.connections(configuration), &[])
        ),
        (Vec::new(), Vec::new())
    );
    Insert.run(&TrialContext {
        disturbances: &[],
        generation: probe::generation::Generation::Here,
        storage: &[],
        configuration,
        instance,
        target: Target::for_engine(&SQLITE, configuration),
        seed: 42,
        cancel,
        progress: &|_| {},
    })
}

/// Runs a trial and hands the directory with the files to a check before they are removed.
fn measured(settings: &[(&str, Value)], check: impl FnOnce(&Path, &Observations)) {
    let (directory, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let configuration = configuration(settings);
    let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
    let observations = trial(&configuration, instance.as_ref(), &cancel).unwrap();
    check(directory.path(), &observations);
    instance.remove().unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "files remain");
}

fn count(directory: &Path, file: u32, what: &str, table: &str) -> i64 {
    let connection = Connection::open(directory.join(format!("data-{file}.db"))).unwrap();
    let intact: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(intact, "ok");
    connection.query_row(&format!("SELECT {what} FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn rows(directory: &Path, files: u32) -> Vec<i64> {
    (0..files).map(|file| count(directory, file, "count(DISTINCT c1)", "MyBigTable")).collect()
}

#[test]
fn every_reported_row_is_in_the_files() {
    for (open, waits, interval_s) in
        [("separate", true, 0.05), ("attached", true, 3600.0), ("separate", false, 3600.0)]
    {
        let settings = [
            ("target.open", Value::Text(open.into())),
            ("observe.waits", Value::Bool(waits)),
            ("observe.interval", Value::Float(interval_s)),
        ];
        measured(&settings, |directory, observations| {
            let rows = rows(directory, 3);
            assert_eq!(rows.iter().sum::<i64>(), 10_007, "{open}");
            assert!(rows.iter().all(|rows| *rows > 2_000), "{rows:?}");
            assert_eq!(
                (observations.work.amount, observations.work.unit.as_str()),
                (10_007, "row")
            );
            // 2,502 or 2,501 rows a connection in transactions of 100 rows.
            assert_eq!(observations.work.transactions, 4 * 26);
            assert_eq!(observations.latencies[0].histogram.len(), 4 * 26);
            let series = &observations.series[0];
            let rest_s = |before: usize| observations.elapsed_s - before as f64 * interval_s;
            let rates = series.values.iter().enumerate();
            let from_series: f64 = rates.map(|(i, rate)| rate * rest_s(i).min(interval_s)).sum();
            // A last interval that is too short for a rate has no place in a series; one of an hour
            // is always there.
            let lacks_last = (0.0..0.1 * interval_s).contains(&rest_s(series.values.len()));
            assert!(from_series < 10_008.0, "{from_series} rows in the series");
            assert!(lacks_last || from_series > 10_006.0, "the series loses rows: {from_series}");
            assert!(!lacks_last || interval_s < 1.0);
            assert_eq!(observations.operations.is_empty(), !waits);
        });
    }
}

#[test]
fn the_row_is_the_published_one() {
    measured(&[], |directory, _| {
        let connection = Connection::open(directory.join("data-0.db")).unwrap();
        let row: (Vec<u8>, String, i64, i64, i64) = connection
            .query_row("SELECT c1, c3, c4, c5, c6 FROM MyBigTable LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .unwrap();
        assert_eq!((row.0.len(), row.1.len(), row.1.trim_end()), (16, 111, "a"));
        assert_eq!((row.2, row.3, row.4), (1, 2, 42));
        let now: i64 = connection
            .query_row("SELECT max(abs(unixepoch() - unixepoch(c2))) FROM MyBigTable", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(now < 600, "c2 is {now} s away from now");
    });
}

#[test]
fn one_row_per_page_is_one_row_per_page() {
    for page_size in [512, 4096, 65_536] {
        let settings = [
            ("workload.shape", Value::Text("one-row-per-page".into())),
            ("workload.key", Value::Text("sequential".into())),
            ("workload.rows", Value::Integer(300)),
            ("workload.rows_per_transaction", Value::Integer(10)),
            ("target.settings.page_size", Value::Integer(page_size)),
            ("target.data_files", Value::Integer(2)),
        ];
        measured(&settings, |directory, _| {
            let mut leaves = 0;
            for file in 0..2 {
                let sql = "count(*) FROM dbstat WHERE name = 'onerowperpage' AND pagetype = \
                           'leaf' AND ncell = 1 AND 0 < (SELECT count(*)";
                leaves += count(directory, file, sql, "OneRowPerPage)");
                assert_eq!(
                    count(directory, file, "count(*)", "dbstat WHERE pagetype = 'overflow'"),
                    0
                );
            }
            assert_eq!(leaves, 300, "page size {page_size}");
        });
    }
}

#[test]
fn files_grow_in_the_declared_pieces_and_the_first_one_is_there_before_the_load() {
    for journal_mode in ["wal", "delete"] {
        let growth = 4 << 20;
        let (directory, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
        let configuration = configuration(&[
            ("target.file_growth", Value::Integer(growth)),
            ("target.settings.journal_mode", Value::Text(journal_mode.into())),
            ("workload.connections", Value::Integer(1)),
            ("workload.rows", Value::Integer(80_000)),
        ]);
        let sizes = || {
            (0..3).map(|file| {
                directory.path().join(format!("data-{file}.db")).metadata().unwrap().len()
            })
        };
        let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
        instance
            .create(work::Work { tables: vec![datasets::my_big_table()], ..work::Work::default() })
            .unwrap();
        assert!(
            sizes().all(|size| size == growth as u64),
            "{journal_mode}: {:?}",
            sizes().collect::<Vec<_>>()
        );
        instance.remove().unwrap();
        let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
        trial(&configuration, instance.as_ref(), &cancel).unwrap();
        // 80,000 rows of about 160 bytes in 3 files are more than one piece each.
        assert!(
            sizes().all(|size| size > growth as u64 && size % growth as u64 == 0),
            "{journal_mode}"
        );
    }
}

#[test]
fn initial_rows_and_warm_up_come_on_top_of_the_measured_rows() {
    for (key, rows_wanted) in [("random", None), ("sequential", None), ("random", Some(3_003))] {
        let settings = [
            ("workload.key", Value::Text(key.into())),
            ("workload.initial_rows", Value::Integer(5_000)),
            ("workload.warmup", Value::Float(0.15)),
            ("workload.rows", rows_wanted.map_or(absent(), Value::Integer)),
            ("workload.duration", if rows_wanted.is_some() { absent() } else { Value::Float(0.3) }),
        ];
        measured(&settings, |directory, observations| {
            let in_files: i64 = rows(directory, 3).iter().sum();
            let series = &observations.series[0];
            assert!(series.start_s < 0.0, "the warm-up is not marked");
            let warmup = (-series.start_s / series.interval_s).round() as usize;
            // Interval by interval, of which the last is cut short.
            let length =
                |number: usize| (0.15 - number as f64 * series.interval_s).min(series.interval_s);
            let rates = series.values[..warmup].iter().enumerate();
            let warmed: f64 = rates.map(|(number, rate)| rate * length(number)).sum();
            let on_top = (in_files - 5_000 - observations.work.amount as i64) as f64;
            // What was still under way when the warm-up was over is in no interval: a transaction
            // each.
            assert!(
                on_top > 0.0 && (-0.5..1_000.0).contains(&(on_top - warmed)),
                "{key}: {on_top}, {warmed}"
            );
            match rows_wanted {
                Some(rows) => assert_eq!(observations.work.amount as i64, rows),
                None => assert!(observations.elapsed_s >= 0.29, "{}", observations.elapsed_s),
            }
        });
    }
}

#[test]
fn the_time_of_the_sessions_is_accounted_for() {
    let settings = [
        ("target.data_files", Value::Integer(1)),
        ("target.settings.synchronous", Value::Text("full".into())),
        ("workload.rows", Value::Integer(40_000)),
    ];
    measured(&settings, |_, observations| {
        let waits = |is_class: fn(WaitClass) -> bool| -> f64 {
            observations
                .waits
                .iter()
                .filter(|wait| is_class(wait.class))
                .map(observations::Wait::wait_s)
                .sum()
        };
        let accounted = observations.time.cpu_s + waits(|_| true);
        let share = accounted / observations.time.session_s;
        assert!(
            (0.9..1.02).contains(&share),
            "{share} of the time is accounted for: {observations:#?}"
        );
        // Four connections and one writer lock: some waited for it, and each commit was synced.
        let names: Vec<&str> =
            observations.waits.iter().map(|wait| wait.wait_type.as_str()).collect();
        assert!(names.contains(&"WRITER_LOCK"), "{names:?}");
        let syncs =
            observations.operations.iter().find(|operation| operation.name == "WAL_SYNC").unwrap();
        assert!(syncs.count >= observations.work.transactions, "{syncs:?}");
        assert!(waits(|class| class == WaitClass::Lock) > 0.0);
    });
}

#[test]
fn an_open_loop_keeps_its_rate_and_counts_latency_from_the_intended_start() {
    let settings = [
        ("workload.rate", Value::Float(200.0)),
        ("workload.rows_per_transaction", Value::Integer(1)),
        ("workload.rows", absent()),
        ("workload.duration", Value::Float(1.0)),
    ];
    measured(&settings, |_, observations| {
        // 200 expected; 5 deviations of a Poisson count are 71.
        let transactions = observations.work.transactions;
        assert!((129..271).contains(&transactions), "{transactions}");
        assert_eq!(observations.load.sends_intended, transactions);
        let idle = observations.waits.iter().find(|wait| wait.wait_type == "ARRIVAL").unwrap();
        assert!(idle.class == WaitClass::Client && idle.resource_s > 0.0, "{idle:?}");
        let [latency, service] =
            [0, 1].map(|index| observations.latencies[index].histogram.min_mean_max_ns().1);
        assert!(latency >= service, "latency {latency} ns is less than service {service} ns");
    });
}

#[test]
fn cache_states_are_made_and_verified() {
    for (state, share) in [("cold", 0.0..=0.05), ("hot", 1.0..=2.0)] {
        let (directory, cancel) = (tempfile::tempdir_in(".").unwrap(), Cancel::new());
        let configuration = configuration(&[
            ("workload.initial_rows", Value::Integer(60_000)),
            ("workload.rows", Value::Integer(4)),
            ("target.cache", Value::Text(state.into())),
        ]);
        let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
        let observations = trial(&configuration, instance.as_ref(), &cancel).unwrap();
        assert_eq!(observations.warnings, [], "{state} was not reached");
        let report = instance.settle(engine::CacheState::from_name(state).unwrap()).unwrap();
        let resident = report.resident_bytes.unwrap() as f64 / report.file_bytes as f64;
        assert!(report.verified && share.contains(&resident), "{state}: {resident} resident");
    }
}

#[test]
fn a_setting_that_sqlite_ignores_is_an_error() {
    let (directory, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    // Not a power of two: SQLite keeps its default without a word.
    let configuration = configuration(&[("target.settings.page_size", Value::Integer(1000))]);
    let error = prepare(&configuration, directory.path(), &cancel).err().unwrap();
    assert!(matches!(error, EngineError::SettingIgnored { .. }), "{error}");
    assert!(error.to_string().contains("target.settings.page_size = 1000"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "files remain");
}

#[test]
fn nonsense_is_rejected_before_anything_runs() {
    let wrong = [
        ("target.settings.jurnal_mode", Value::Text("wal".into()), "did you mean `journal_mode`?"),
        ("target.settings.journal_mode", Value::Text("wall".into()), "did you mean `wal`?"),
        ("target.settings.synchronous", Value::Bool(true), "expected off, normal, full, extra"),
        ("target.settings.cache_size", Value::Text("big".into()), "not a whole number"),
        ("target.settings.locking_mode", Value::Text("exclusive".into()), "connections = 1"),
    ];
    for (path, value, expected) in wrong {
        let invalid = (SQLITE.validate)(&configuration(&[(path, value)]), 4, &[]);
        assert!(invalid.len() == 1 && invalid[0].message.contains(expected), "{path}: {invalid:?}");
        assert_eq!(invalid[0].path, path);
    }
    let both = planned(&configuration(&[("workload.duration", Value::Float(1.0))]));
    assert!(both[0].message.contains("give one of them"), "{both:?}");
    let neither = planned(&configuration(&[("workload.rows", absent())]));
    assert!(neither[0].message.contains("missing"), "{neither:?}");
}

#[test]
fn a_cancelled_trial_ends_and_leaves_no_files() {
    let (directory, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let configuration = configuration(&[
        ("workload.rows", Value::Integer(1_000_000_000)),
        ("workload.rows_per_transaction", Value::Integer(10_000_000)),
    ]);
    let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            cancel.cancel(CancelReason::TrialTime);
        });
        trial(&configuration, instance.as_ref(), &cancel)
    });
    assert!(matches!(result, Err(ProbeError::Engine(EngineError::Cancelled))), "{result:?}");
    instance.remove().unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_lock_that_is_never_released_fails_the_trial_with_the_cause() {
    let (directory, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let configuration = configuration(&[
        ("target.data_files", Value::Integer(1)),
        ("target.busy_timeout", Value::Float(0.05)),
        ("workload.rows", absent()),
        ("workload.duration", Value::Float(30.0)),
    ]);
    let instance = prepare(&configuration, directory.path(), &cancel).unwrap();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            let other = Connection::open(directory.path().join("data-0.db")).unwrap();
            other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(500));
        });
        trial(&configuration, instance.as_ref(), &cancel).err().unwrap()
    });
    assert!(error.to_string().contains("target.busy_timeout = 0.05 s"), "{error}");
}
