//! Background actions beside a load of updates, on the installed engines.

use crate::common::SmallDisk;
use background::BackgroundDisturbance;
use background::facts::{
    ACTION_S, AFTER, BACKUP_MB, BEFORE, CAUGHT_UP_S, COMPARED, CONSISTENT_S, COUNTED, CPU, DATA_MB,
    DIFFERENCES, DURING, FIRST_QUERY_S, OUTLASTED, ROWS, SESSION, WAITS_AFTER, WAITS_BEFORE,
    WAITS_DURING, WAITS_UNDIVIDED,
};
use engine::{Folders, Permits};
use experiment::Value;
use observations::{Observations, Wait, WaitClass};
use order_entry::OrderEntry;
use probe::{Disturbance, Disturbed, Probe, ProbeError, Target, TrialContext};
use std::path::Path;
use testing::trials::{Installed, installed, text};
use update::Update;
use work::Cancel;

type Setting = (&'static str, Value);

/// Rows of the tables of pgbench: accounts, a branch and its tellers.
const ROWS_OF_TABLES: f64 = 100_011.0;

/// An open loop of this many seconds on the accounts of pgbench, with an action after 0.3 s.
fn load(seconds: f64, action: &str, more: &[Setting]) -> Vec<Setting> {
    let own = [
        ("workload.probe", text("update")),
        ("workload.data", text("pgbench")),
        ("workload.scale", Value::Float(1.0)),
        ("workload.connections", Value::Integer(2)),
        ("workload.rate", Value::Float(100.0)),
        ("workload.duration", Value::Float(seconds)),
        ("background.action", text(action)),
        ("background.start", Value::Float(0.3)),
    ];
    own.into_iter().chain(more.iter().cloned()).collect()
}

/// The engine with this name, if it is installed.
fn engine(name: &str) -> Option<Installed> {
    installed().into_iter().find(|own| own.engine.name() == name)
}

/// SQLite without syncs, which take long on a busy machine.
fn sqlite() -> Installed {
    let mut own = engine("sqlite").unwrap();
    own.settings.push(("target.settings.synchronous", text("off")));
    own
}

/// The objections to a configuration, each with its path.
fn objections(own: &Installed, given: &[Setting]) -> Vec<String> {
    objections_of(&Update, own, given)
}

fn objections_of(probe: &'static dyn Probe, own: &Installed, given: &[Setting]) -> Vec<String> {
    let configuration = own.configuration(given);
    let owners = Disturbed { engine: own.engine, probe };
    let all = BackgroundDisturbance.plan(&configuration, owners);
    all.into_iter().map(|own| own.to_string()).collect()
}

/// Runs a trial. Its backups are in the second folder.
fn run_in(
    own: &Installed,
    given: &[Setting],
    folders: [&Path; 2],
) -> Result<Observations, ProbeError> {
    run_probe(&Update, own, given, folders)
}

fn run_probe(
    probe: &'static dyn Probe,
    own: &Installed,
    given: &[Setting],
    folders: [&Path; 2],
) -> Result<Observations, ProbeError> {
    assert_eq!(objections_of(probe, own, given), Vec::<String>::new());
    let configuration = own.configuration(given);
    let mut host = own.engine.host(Folders {
        directory: folders[0].into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    });
    let cancel = Cancel::new();
    let connections = probe.connections(&configuration);
    let instance = host.prepare(&configuration, connections, &cancel).unwrap();
    let target = Target::for_engine(own.engine, &configuration);
    assert_eq!(probe.plan(&configuration, &target), []);
    let seen = probe.run(&TrialContext {
        generation: probe::generation::Generation::Here,
        configuration: &configuration,
        instance: instance.as_ref(),
        target,
        storage: &[("default".into(), folders[1].into())],
        disturbances: &[&BackgroundDisturbance],
        seed: 7,
        cancel: &cancel,
        progress: &|_| {},
    });
    instance.remove().unwrap();
    seen
}

fn run(own: &Installed, given: &[Setting]) -> Observations {
    let folder = testing::installed::folder();
    let seen = run_in(own, given, [folder.path(), folder.path()]);
    let left = folder.path().join("background");
    assert!(!left.exists(), "{}", left.display());
    seen.unwrap_or_else(|error| panic!("{}: {error}", own.name))
}

/// The error of a trial.
fn failure(own: &Installed, given: &[Setting], folders: [&Path; 2]) -> String {
    run_in(own, given, folders).map(drop).unwrap_err().to_string()
}

/// Asserts that a backup was restored to equal tables, and that the load was seen around it.
fn assert_restored(seen: &Observations, name: &str) {
    let differences: Vec<_> = DIFFERENCES.members(seen).collect();
    assert_eq!(differences, [], "{name}");
    assert!(COMPARED.read(seen).unwrap() >= 1.0, "{name}: {:?}", seen.facts);
    assert_eq!(ROWS.read(seen), Some(ROWS_OF_TABLES), "{name}");
    let [first, consistent] = [FIRST_QUERY_S, CONSISTENT_S].map(|own| own.read(seen).unwrap());
    assert!(0.0 < first && first <= consistent, "{name}: {first} {consistent}");
    // Data of 100,000 accounts: of 100 B at least each, or compressed in columns.
    let [data_mb, backup_mb] = [DATA_MB, BACKUP_MB].map(|own| own.read(seen).unwrap());
    let least_mb = if name.starts_with("duckdb") { 0.1 } else { 9.0 };
    assert!(data_mb > least_mb && backup_mb > 0.01, "{name}: {data_mb} {backup_mb}");
    let took_s = ACTION_S.read(seen).unwrap();
    let due = |family: observations::FactFamily| family.read("due", seen).unwrap_or(0.0);
    if OUTLASTED.read(seen).is_none() {
        let during_s = DURING.read("duration_s", seen).unwrap();
        assert!((during_s - took_s).abs() < 1e-6, "{name}: {during_s} {took_s}");
        let sum = due(BEFORE) + due(DURING) + due(AFTER);
        assert!((sum - seen.load.sends_intended as f64).abs() < 0.5, "{name}: {sum}");
    }
    assert!(due(BEFORE) > 5.0, "{name}");
    assert_divided(seen, name);
}

/// Asserts that the phases have all of the load's session time, CPU time and waits.
fn assert_divided(seen: &Observations, name: &str) {
    let families = [WAITS_BEFORE, WAITS_DURING, WAITS_AFTER];
    let sum = |member: &str| -> f64 {
        families.into_iter().filter_map(|family| family.read(member, seen)).sum()
    };
    let near = |one: f64, other: f64| (one - other).abs() < 0.01 * other.abs() + 1e-4;
    assert!(WAITS_BEFORE.read(SESSION, seen).is_some(), "{name}: {:?}", seen.facts);
    assert!(near(sum(SESSION), seen.time.session_s), "{name}: {} {:?}", sum(SESSION), seen.time);
    assert!(near(sum(CPU), seen.time.cpu_s), "{name}: {} {:?}", sum(CPU), seen.time);
    for class in WaitClass::ALL {
        let whole_s: f64 =
            seen.waits.iter().filter(|own| own.class == class).map(Wait::wait_s).sum();
        let parts_s = sum(class.name()) + WAITS_UNDIVIDED.read(class.name(), seen).unwrap_or(0.0);
        assert!(near(parts_s, whole_s), "{name}: {class}: {parts_s} {whole_s}");
    }
}

/// A session holds the table that the load writes: both connections wait for it and for little
/// else, and only in that phase.
#[test]
fn waits_for_a_planted_lock_are_in_the_phase_of_the_action() {
    let Some(own) = engine("postgres") else { return println!("SKIPPED: no PostgreSQL") };
    let line = "psql -q -c 'BEGIN; LOCK TABLE pgbench_accounts; SELECT pg_sleep(1)' > /dev/null";
    let seen = run(&own, &load(2.0, "command", &[("background.command", text(line))]));
    assert_divided(&seen, "postgres");
    let share = |family: observations::FactFamily| {
        family.read("lock", &seen).unwrap_or(0.0) / family.read(SESSION, &seen).unwrap()
    };
    let (before, during) = (share(WAITS_BEFORE), share(WAITS_DURING));
    assert!(during > 0.5 && before < 0.5 * during, "{before} {during}");
}

#[test]
fn a_disturbed_order_entry_counts_new_orders_by_phase() {
    let sqlite = sqlite();
    let given = |pace| {
        [
            ("workload.probe", text("order-entry")),
            ("workload.reduced_by", Value::Integer(100)),
            ("workload.connections", Value::Integer(4)),
            ("workload.pace", Value::Float(pace)),
            ("workload.duration", Value::Float(1.5)),
            ("target.data_files", Value::Integer(1)),
            ("target.settings.journal_mode", text("wal")),
            ("background.action", text("backup")),
            ("background.start", Value::Float(0.5)),
        ]
    };
    let refused = objections_of(&OrderEntry, &sqlite, &given(0.0)).concat();
    assert!(refused.starts_with("workload.pace: a disturbance needs terminals"), "{refused}");
    let folder = testing::installed::folder();
    let seen = run_probe(&OrderEntry, &sqlite, &given(0.005), [folder.path(); 2]).unwrap();
    assert_divided(&seen, "order entry");
    assert_eq!(DIFFERENCES.members(&seen).count(), 0, "{:?}", seen.facts);
    assert_eq!(COMPARED.read(&seen), Some(9.0));
    let by_phase: f64 = [BEFORE, DURING, AFTER]
        .into_iter()
        .filter_map(|own| Some(own.read(COUNTED, &seen)? * own.read("duration_s", &seen)? / 60.0))
        .sum();
    let timed = seen.latencies.iter().find(|own| own.name == "transaction: new-order").unwrap();
    // Transactions that end after the schedule are in no phase: one of each connection at most.
    let all = timed.histogram.len() as f64;
    assert!(all > 20.0 && (all - 4.0..all + 0.5).contains(&by_phase), "{by_phase} of {all}");
}

#[test]
fn sqlite_backups_are_restored_and_a_limited_one_takes_its_time() {
    let sqlite = sqlite();
    let wal = ("target.settings.journal_mode", text("wal"));
    let rate = ("background.rate_limit", Value::Float(20e6));
    let seen = run(&sqlite, &load(2.0, "backup", &[wal.clone(), rate]));
    assert_restored(&seen, "backup-api");
    // The rate is an upper limit on any machine.
    let [took_s, mb] = [ACTION_S, DATA_MB].map(|own| own.read(&seen).unwrap());
    assert!(took_s >= 0.95 * mb / 20.0, "{took_s} s for {mb} MB");
    assert!((seen.response("action_rate").unwrap() - mb / took_s).abs() < 1e-9);
    let tool = ("background.tool", text("vacuum-into"));
    let seen = run(&sqlite, &load(1.0, "backup", &[wal, tool]));
    assert_restored(&seen, "vacuum-into");
    assert_eq!(CAUGHT_UP_S.read(&seen), None);
    // Without a write-ahead log the backup begins again when the load writes.
    let files = ("target.data_files", Value::Integer(1));
    let journal = ("target.settings.journal_mode", text("delete"));
    let seen = run(&sqlite, &load(1.5, "backup", &[files, journal]));
    assert_restored(&seen, "journal");
}

#[test]
fn other_actions_run_beside_a_load() {
    let sqlite = sqlite();
    let seen = run(&sqlite, &load(0.6, "none", &[]));
    assert_eq!((ACTION_S.read(&seen), AFTER.read("due", &seen)), (None, None));
    // Without an action its phase is the rest of the measurement.
    assert!((0.25..0.6).contains(&DURING.read("duration_s", &seen).unwrap()));
    for action in ["analyze", "index-build"] {
        let seen = run(&sqlite, &load(1.0, action, &[]));
        assert!(ACTION_S.read(&seen).unwrap() > 0.0, "{action}");
    }
    let bytes = ("background.bytes", Value::Integer(2 << 20));
    let rate = ("background.rate_limit", Value::Float(10e6));
    let seen = run(&sqlite, &load(1.0, "copy", &[bytes, rate]));
    assert_eq!(DATA_MB.read(&seen), Some(2.097_152));
    assert!(ACTION_S.read(&seen).unwrap() >= 0.2);
    let command = ("background.command", text("sleep 0.2; test -d \"$FOLDER\""));
    let seen = run(&sqlite, &load(1.0, "command", &[command]));
    assert!(ACTION_S.read(&seen).unwrap() >= 0.2);
}

#[test]
fn a_failed_action_fails_the_trial_with_its_cause() {
    let sqlite = sqlite();
    let folder = testing::installed::folder();
    let paths = [folder.path(), folder.path()];
    let command = ("background.command", text("echo planted >&2; exit 3"));
    let error = failure(&sqlite, &load(10.0, "command", &[command]), paths);
    assert!(error.contains("exit status: 3): planted"), "{error}");
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let Some(_disk) = SmallDisk::mount(small.clone(), "size=4m") else { return };
    for tool in ["backup-api", "vacuum-into"] {
        let given = load(10.0, "backup", &[("background.tool", text(tool))]);
        let error = failure(&sqlite, &given, [folder.path(), &small]);
        assert!(error.contains("the disk is full"), "{tool}: {error}");
    }
}

#[test]
fn actions_that_cannot_be_measured_are_refused_with_the_cause() {
    let sqlite = sqlite();
    let closed: Vec<Setting> =
        load(1.0, "backup", &[]).into_iter().filter(|(path, _)| *path != "workload.rate").collect();
    let refused = objections(&sqlite, &closed);
    assert!(refused[0].starts_with("workload.rate: missing: a disturbance needs"), "{refused:?}");
    let one = |value: Setting| objections(&sqlite, &load(1.0, "backup", &[value])).concat();
    for (setting, expected) in [
        (("background.tool", text("pg_dump")), "not a backup tool of sqlite; it has: backup-api"),
        (("background.workers", Value::Integer(2)), "backup-api works in one process here"),
        (("background.compression", text("gzip")), "backup-api does not compress by gzip"),
        (("background.start", Value::Float(2.0)), "begins after the measurement"),
        (("background.buffers", Value::Integer(9)), "backup-api writes its files itself"),
    ] {
        let refused = one(setting);
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    let tool = ("background.tool", text("vacuum-into"));
    let rate = ("background.rate_limit", Value::Float(1e6));
    let refused = objections(&sqlite, &load(1.0, "backup", &[tool, rate])).concat();
    assert!(refused.contains("vacuum-into has no rate limit"), "{refused}");
    let refused = objections(&sqlite, &load(1.0, "vacuum", &[])).concat();
    assert!(refused.contains("sqlite has no action vacuum"), "{refused}");
    let refused = objections(&sqlite, &load(1.0, "command", &[])).concat();
    assert!(refused.contains("background.command: missing"), "{refused}");
    let only = vec![("background.workers", Value::Integer(2))];
    assert!(objections(&sqlite, &only).concat().contains("needs background.action"));
}

fn sql_server(url: &str) -> Installed {
    Installed {
        name: "sqlserver".into(),
        engine: testing::engine("sqlserver"),
        settings: vec![("target.url", text(url))],
    }
}

#[test]
fn files_of_a_server_are_refused_where_they_cannot_be() {
    let own = sql_server("mssql://sa@127.0.0.1/master");
    for (setting, expected) in [
        (("background.compression", text("gzip")), "does not compress by gzip; it has: none, nat"),
        (("background.volume", text("fast")), "use background.server_folder"),
        (("background.transfer_size", Value::Integer(65_537)), "not a multiple of 64 KiB"),
        (("background.workers", Value::Integer(65)), "has at most 64 files"),
        (("background.rate_limit", Value::Float(1e6)), "no backup tool of this engine has one"),
    ] {
        let refused = objections(&own, &load(1.0, "backup", &[setting])).concat();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

/// The flow of a trial on the stand-in, whose rows are compared by their number.
#[test]
fn sql_server_backups_are_restored_beside_a_load() {
    let Some(url) = testing::installed::sql_server_stand_in(&[]) else { return };
    let more = [
        ("workload.data", text("synthetic")),
        ("workload.rows", Value::Integer(500)),
        ("workload.rate", Value::Float(20.0)),
        ("workload.connections", Value::Integer(1)),
        ("background.compression", text("native")),
        ("background.workers", Value::Integer(2)),
    ];
    let seen = run(&sql_server(&url), &load(1.0, "backup", &more));
    assert_eq!(DIFFERENCES.members(&seen).collect::<Vec<_>>(), []);
    assert_eq!((COMPARED.read(&seen), ROWS.read(&seen)), (Some(1.0), Some(500.0)));
    assert!(BACKUP_MB.read(&seen) < DATA_MB.read(&seen));
    let [first, consistent] = [FIRST_QUERY_S, CONSISTENT_S].map(|own| own.read(&seen).unwrap());
    assert!(0.0 < first && first <= consistent && CAUGHT_UP_S.read(&seen).is_none());
}

#[test]
fn postgres_backups_are_restored_and_a_standby_catches_up() {
    let Some(postgres) = engine("postgres") else { return println!("SKIPPED: no PostgreSQL") };
    let one = |tool: &str, more: &[Setting]| {
        let own: Vec<Setting> =
            [("background.tool", text(tool))].into_iter().chain(more.iter().cloned()).collect();
        let seen = run(&postgres, &load(1.5, "backup", &own));
        assert_restored(&seen, tool);
        seen
    };
    let rate = ("background.rate_limit", Value::Float(20e6));
    let seen = one("pg_basebackup", &[rate]);
    assert!(CAUGHT_UP_S.read(&seen).unwrap() >= CONSISTENT_S.read(&seen).unwrap());
    // The limit is one of the data directory, from which the server leaves some files out.
    let [took_s, mb] = [ACTION_S, BACKUP_MB].map(|own| own.read(&seen).unwrap());
    assert!(took_s >= 0.5 * mb / 20.0, "{took_s} s for {mb} MB");
    let gzip = ("background.compression", text("gzip"));
    let seen = one("pg_basebackup", std::slice::from_ref(&gzip));
    assert!(BACKUP_MB.read(&seen) < DATA_MB.read(&seen));
    assert!(background::facts::CPU_S.read(&seen).unwrap() > 0.0);
    let workers = ("background.workers", Value::Integer(2));
    let seen = one("pg_dump", &[gzip, workers]);
    assert_eq!(CAUGHT_UP_S.read(&seen), None);
    for action in ["vacuum", "index-build"] {
        let seen = run(&postgres, &load(1.0, action, &[]));
        assert!(ACTION_S.read(&seen).unwrap() > 0.0, "{action}");
    }
    let url = ("target.url", text("postgres://user@host/database"));
    let refused = objections(&postgres, &load(1.0, "backup", &[url])).concat();
    assert!(refused.contains("private servers; remove target.url"), "{refused}");
}

/// Versions of pgBackRest of distributions know the version of PostgreSQL beside them.
#[test]
fn pgbackrest_backups_are_restored_and_a_standby_catches_up() {
    let all = testing::installed::installations();
    let Some(debian) = all.into_iter().find(|own| own.version.major == 15) else {
        return println!("SKIPPED: no PostgreSQL 15");
    };
    let postgres = Installed {
        name: format!("postgres {}", debian.version),
        engine: &postgres::Postgres,
        settings: vec![
            ("target.bindir", text(debian.bindir.to_string_lossy())),
            ("target.version", text(debian.version.to_string())),
            ("target.settings.fsync", Value::Bool(false)),
        ],
    };
    let own = [
        ("background.tool", text("pgbackrest")),
        ("background.compression", text("gzip")),
        ("background.workers", Value::Integer(2)),
    ];
    let given = load(1.5, "backup", &own);
    if objections(&postgres, &given).concat().contains("Debian: pgbackrest") {
        return println!("SKIPPED: no pgBackRest");
    }
    let seen = run(&postgres, &given);
    assert_restored(&seen, "pgbackrest");
    assert!(CAUGHT_UP_S.read(&seen).unwrap() >= CONSISTENT_S.read(&seen).unwrap());
    assert!(BACKUP_MB.read(&seen) < DATA_MB.read(&seen));
}

#[test]
fn mariadb_dumps_are_restored() {
    let Some(mariadb) = engine("mariadb") else { return println!("SKIPPED: no MariaDB") };
    for compression in ["none", "zstd"] {
        let own = ("background.compression", text(compression));
        let seen = run(&mariadb, &load(1.5, "backup", &[own]));
        assert_restored(&seen, compression);
    }
    let seen = run(&mariadb, &load(1.0, "index-build", &[]));
    assert!(ACTION_S.read(&seen).unwrap() > 0.0);
    let tool = ("background.tool", text("pg_dump"));
    let refused = objections(&mariadb, &load(1.0, "backup", &[tool])).concat();
    assert!(refused.contains("it has: mariadb-dump, mariadb-backup"), "{refused}");
}

#[test]
fn rows_are_loaded_beside_a_load_at_their_rate() {
    for name in ["postgres", "mariadb"] {
        let Some(own) = engine(name) else { continue };
        let given = [
            ("background.bytes", Value::Integer(4 << 20)),
            ("background.rate_limit", Value::Float(8e6)),
        ];
        let seen = run(&own, &load(1.5, "bulk-load", &given));
        // The last batch of rows is not waited for.
        let [took_s, mb] = [ACTION_S, DATA_MB].map(|own| own.read(&seen).unwrap());
        assert!((4.0..4.3).contains(&mb) && took_s > 0.4 * mb / 8.0, "{name}: {took_s} s, {mb} MB");
        assert!(seen.work.transactions > 50, "{name}");
    }
    let refused = objections(&sqlite(), &load(1.0, "bulk-load", &[])).concat();
    assert!(refused.contains("sqlite cannot fill a table while a load works"), "{refused}");
}

#[test]
fn mariadb_backups_are_prepared_and_restored_as_a_server() {
    let Some(mut mariadb) = engine("mariadb") else { return println!("SKIPPED: no MariaDB") };
    if testing::mariadb_client::program("mariadb-backup").is_none() {
        return println!("SKIPPED: no mariadb-backup");
    }
    mariadb.settings.push(("target.settings.innodb_log_file_size", text("16M")));
    let rate_mb = 40.0;
    for (compression, workers, is_limited) in
        [("none", 2, false), ("none", 1, true), ("zstd", 1, false)]
    {
        let mut own = vec![
            ("background.tool", text("mariadb-backup")),
            ("background.compression", text(compression)),
            ("background.workers", Value::Integer(workers)),
        ];
        let rate = ("background.rate_limit", Value::Float(rate_mb * 1e6));
        own.extend(is_limited.then_some(rate));
        let seen = run(&mariadb, &load(1.5, "backup", &own));
        assert_restored(&seen, compression);
        let [took_s, mb] = [ACTION_S, BACKUP_MB].map(|own| own.read(&seen).unwrap());
        // The rate is an upper limit on any machine.
        assert!(!is_limited || took_s >= 0.95 * mb / rate_mb, "{took_s} s for {mb} MB");
        assert!(background::facts::CPU_S.read(&seen).unwrap() > 0.0);
    }
}

#[test]
fn duckdb_exports_are_imported_to_the_same_rows() {
    let Some(duckdb) = testing::trials::duckdb() else { return };
    for compression in ["none", "zstd"] {
        let own = ("background.compression", text(compression));
        let seen = run(&duckdb, &load(1.0, "backup", &[own]));
        assert_restored(&seen, &format!("duckdb {compression}"));
        assert_eq!(CAUGHT_UP_S.read(&seen), None);
    }
}

/// Both share a link of 4 MB/s: what the copy sends takes its time on any machine.
#[test]
fn a_copy_over_the_link_takes_its_share_of_the_bandwidth() {
    let link = ("network.bandwidth", Value::Float(4e6));
    let over = ("background.over_link", Value::Bool(true));
    for name in ["postgres", "mariadb"] {
        let Some(own) = engine(name) else { continue };
        let prerequisites = own.engine.prerequisites().unwrap();
        if let Some(why) = prerequisites.missing(&own.configuration(std::slice::from_ref(&link))) {
            println!("SKIPPED, cannot be here: {why}");
            return;
        }
        let bytes = ("background.bytes", Value::Integer(2 << 20));
        let given = [link.clone(), over.clone(), bytes];
        let seen = run(&own, &load(1.5, "copy", &given));
        let [took_s, mb] = [ACTION_S, DATA_MB].map(|own| own.read(&seen).unwrap());
        assert_eq!(mb, 2.097_152);
        // The bucket is full in the beginning.
        assert!(took_s >= (mb - 0.1) / 4.0, "{name}: {took_s} s for {mb} MB");
        assert!(seen.work.transactions > 50, "{name}");
    }
    let refused = objections(&sqlite(), &load(1.0, "copy", &[over])).concat();
    assert!(refused.contains("needs the link of network.bandwidth"), "{refused}");
}
