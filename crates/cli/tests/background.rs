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
use keys::update::Update;
use observations::{Observations, Wait, WaitClass};
use order_entry::OrderEntry;
use probe::{Disturbance, Disturbed, Probe, ProbeError, Target, TrialContext};
use std::path::Path;
use testing::trials::{TestEngine, installed, text};
use work::Cancel;

type Setting = (&'static str, Value);

/// Rows of the tables of pgbench: accounts, a branch and its tellers.
const ROWS_OF_TABLES: f64 = 100_011.0;

/// An open loop of this many seconds on the accounts of pgbench, with an action after 0.3 s.
fn load(seconds: f64, action: &str, more: &[Setting]) -> Vec<Setting> {
    let settings = [
        ("workload.probe", text("update")),
        ("workload.data", text("pgbench")),
        ("workload.scale", Value::Float(1.0)),
        ("workload.connections", Value::Integer(2)),
        ("workload.rate", Value::Float(100.0)),
        ("workload.duration", Value::Float(seconds)),
        ("background.action", text(action)),
        ("background.start", Value::Float(0.3)),
    ];
    settings.into_iter().chain(more.iter().cloned()).collect()
}

/// The engine with this name, if it is installed.
fn engine(name: &str) -> Option<TestEngine> {
    installed().into_iter().find(|installation| installation.engine.name == name)
}

/// SQLite without syncs, which take long on a busy machine.
fn sqlite() -> TestEngine {
    let mut engine = engine("sqlite").unwrap();
    engine.settings.push(("target.settings.synchronous", text("off")));
    engine
}

/// The objections to a configuration, each with its path.
fn objections(installation: &TestEngine, settings: &[Setting]) -> Vec<String> {
    objections_of(&Update, installation, settings)
}

fn objections_of(
    probe: &'static dyn Probe,
    installation: &TestEngine,
    settings: &[Setting],
) -> Vec<String> {
    let configuration = installation.configuration(settings);
    let owners = Disturbed { engine: installation.engine, probe };
    let all = BackgroundDisturbance.plan(&configuration, owners);
    all.into_iter().map(|objection| objection.to_string()).collect()
}

/// Runs a trial. Its backups are in the second folder.
fn run_in(
    installation: &TestEngine,
    settings: &[Setting],
    folders: [&Path; 2],
) -> Result<Observations, ProbeError> {
    run_probe(&Update, installation, settings, folders)
}

fn run_probe(
    probe: &'static dyn Probe,
    installation: &TestEngine,
    settings: &[Setting],
    folders: [&Path; 2],
) -> Result<Observations, ProbeError> {
    assert_eq!(objections_of(probe, installation, settings), Vec::<String>::new());
    let configuration = installation.configuration(settings);
    let mut host = (installation.engine.host)(Folders {
        directory: folders[0].into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    });
    let cancel = Cancel::new();
    let connections = probe.connections(&configuration);
    let instance = host.prepare(&configuration, connections, &cancel).unwrap();
    let target = Target::for_engine(installation.engine, &configuration);
    assert_eq!(probe.plan(&configuration, &target), []);
    let observations = probe.run(&TrialContext {
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
    observations
}

fn run(installation: &TestEngine, settings: &[Setting]) -> Observations {
    let folder = testing::installed::folder();
    let observations = run_in(installation, settings, [folder.path(), folder.path()]);
    let left = folder.path().join("background");
    assert!(!left.exists(), "{}", left.display());
    observations.unwrap_or_else(|error| panic!("{}: {error}", installation.name))
}

/// The error of a trial.
fn failure(installation: &TestEngine, settings: &[Setting], folders: [&Path; 2]) -> String {
    run_in(installation, settings, folders).map(drop).unwrap_err().to_string()
}

/// Asserts that a backup was restored to equal tables, and that the load was seen around it.
fn assert_restored(observations: &Observations, name: &str) {
    let differences: Vec<_> = DIFFERENCES.members(observations).collect();
    assert_eq!(differences, [], "{name}");
    assert!(COMPARED.read(observations).unwrap() >= 1.0, "{name}: {:?}", observations.facts);
    assert_eq!(ROWS.read(observations), Some(ROWS_OF_TABLES), "{name}");
    let [first, consistent] =
        [FIRST_QUERY_S, CONSISTENT_S].map(|fact| fact.read(observations).unwrap());
    assert!(0.0 < first && first <= consistent, "{name}: {first} {consistent}");
    // Data of 100,000 accounts: of 100 B at least each, or compressed in columns.
    let [data_mb, backup_mb] = [DATA_MB, BACKUP_MB].map(|fact| fact.read(observations).unwrap());
    let least_mb = if name.starts_with("duckdb") { 0.1 } else { 9.0 };
    assert!(data_mb > least_mb && backup_mb > 0.01, "{name}: {data_mb} {backup_mb}");
    let took_s = ACTION_S.read(observations).unwrap();
    let due = |family: observations::FactFamily| family.read("due", observations).unwrap_or(0.0);
    if OUTLASTED.read(observations).is_none() {
        let during_s = DURING.read("duration_s", observations).unwrap();
        assert!((during_s - took_s).abs() < 1e-6, "{name}: {during_s} {took_s}");
        let sum = due(BEFORE) + due(DURING) + due(AFTER);
        assert!((sum - observations.load.sends_intended as f64).abs() < 0.5, "{name}: {sum}");
    }
    assert!(due(BEFORE) > 5.0, "{name}");
    assert_divided(observations, name);
}

/// Asserts that the phases have all of the load's session time, CPU time and waits.
fn assert_divided(observations: &Observations, name: &str) {
    let families = [WAITS_BEFORE, WAITS_DURING, WAITS_AFTER];
    let sum = |member: &str| -> f64 {
        families.into_iter().filter_map(|family| family.read(member, observations)).sum()
    };
    let near = |value: f64, other: f64| (value - other).abs() < 0.01 * other.abs() + 1e-4;
    assert!(WAITS_BEFORE.read(SESSION, observations).is_some(), "{name}: {:?}", observations.facts);
    assert!(
        near(sum(SESSION), observations.time.session_s),
        "{name}: {} {:?}",
        sum(SESSION),
        observations.time
    );
    assert!(
        near(sum(CPU), observations.time.cpu_s),
        "{name}: {} {:?}",
        sum(CPU),
        observations.time
    );
    for class in WaitClass::ALL {
        let whole_s: f64 =
            observations.waits.iter().filter(|wait| wait.class == class).map(Wait::wait_s).sum();
        let parts_s =
            sum(class.name()) + WAITS_UNDIVIDED.read(class.name(), observations).unwrap_or(0.0);
        assert!(near(parts_s, whole_s), "{name}: {class}: {parts_s} {whole_s}");
    }
}

/// A session holds the table that the load writes: both connections wait for it and for little
/// else, and only in that phase.
#[test]
fn waits_for_a_planted_lock_are_in_the_phase_of_the_action() {
    let Some(engine) = engine("postgres") else { return println!("SKIPPED: no PostgreSQL") };
    let line = "psql -q -c 'BEGIN; LOCK TABLE pgbench_accounts; SELECT pg_sleep(1)' > /dev/null";
    let observations = run(&engine, &load(2.0, "command", &[("background.command", text(line))]));
    assert_divided(&observations, "postgres");
    let share = |family: observations::FactFamily| {
        family.read("lock", &observations).unwrap_or(0.0)
            / family.read(SESSION, &observations).unwrap()
    };
    let (before, during) = (share(WAITS_BEFORE), share(WAITS_DURING));
    assert!(during > 0.5 && before < 0.5 * during, "{before} {during}");
}

#[test]
fn a_disturbed_order_entry_counts_new_orders_by_phase() {
    let sqlite = sqlite();
    let settings_at = |pace| {
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
    let refused = objections_of(&OrderEntry, &sqlite, &settings_at(0.0)).concat();
    assert!(refused.starts_with("workload.pace: a disturbance needs terminals"), "{refused}");
    let folder = testing::installed::folder();
    let run_probe =
        run_probe(&OrderEntry, &sqlite, &settings_at(0.005), [folder.path(); 2]).unwrap();
    assert_divided(&run_probe, "order entry");
    assert_eq!(DIFFERENCES.members(&run_probe).count(), 0, "{:?}", run_probe.facts);
    assert_eq!(COMPARED.read(&run_probe), Some(9.0));
    let by_phase: f64 = [BEFORE, DURING, AFTER]
        .into_iter()
        .filter_map(|phase| {
            Some(phase.read(COUNTED, &run_probe)? * phase.read("duration_s", &run_probe)? / 60.0)
        })
        .sum();
    let timed = run_probe
        .latencies
        .iter()
        .find(|latency| latency.name == "transaction: new-order")
        .unwrap();
    // Transactions that end after the schedule are in no phase: one of each connection at most.
    let all = timed.histogram.len() as f64;
    assert!(all > 20.0 && (all - 4.0..all + 0.5).contains(&by_phase), "{by_phase} of {all}");
}

#[test]
fn sqlite_backups_are_restored_and_a_limited_one_takes_its_time() {
    let sqlite = sqlite();
    let wal = ("target.settings.journal_mode", text("wal"));
    let rate = ("background.rate_limit", Value::Float(20e6));
    let observations = run(&sqlite, &load(2.0, "backup", &[wal.clone(), rate]));
    assert_restored(&observations, "backup-api");
    // The rate is an upper limit on any machine.
    let [took_s, mb] = [ACTION_S, DATA_MB].map(|fact| fact.read(&observations).unwrap());
    assert!(took_s >= 0.95 * mb / 20.0, "{took_s} s for {mb} MB");
    assert!((observations.response("action_rate").unwrap() - mb / took_s).abs() < 1e-9);
    let tool = ("background.tool", text("vacuum-into"));
    let observations = run(&sqlite, &load(1.0, "backup", &[wal, tool]));
    assert_restored(&observations, "vacuum-into");
    assert_eq!(CAUGHT_UP_S.read(&observations), None);
    // Without a write-ahead log the backup begins again when the load writes.
    let files = ("target.data_files", Value::Integer(1));
    let journal = ("target.settings.journal_mode", text("delete"));
    let observations = run(&sqlite, &load(1.5, "backup", &[files, journal]));
    assert_restored(&observations, "journal");
}

#[test]
fn other_actions_run_beside_a_load() {
    let sqlite = sqlite();
    let observations = run(&sqlite, &load(0.6, "none", &[]));
    assert_eq!((ACTION_S.read(&observations), AFTER.read("due", &observations)), (None, None));
    // Without an action its phase is the rest of the measurement.
    assert!((0.25..0.6).contains(&DURING.read("duration_s", &observations).unwrap()));
    for action in ["analyze", "index-build"] {
        let observations = run(&sqlite, &load(1.0, action, &[]));
        assert!(ACTION_S.read(&observations).unwrap() > 0.0, "{action}");
    }
    let bytes = ("background.bytes", Value::Integer(2 << 20));
    let rate = ("background.rate_limit", Value::Float(10e6));
    let observations = run(&sqlite, &load(1.0, "copy", &[bytes, rate]));
    assert_eq!(DATA_MB.read(&observations), Some(2.097_152));
    assert!(ACTION_S.read(&observations).unwrap() >= 0.2);
    let command = ("background.command", text("sleep 0.2; test -d \"$FOLDER\""));
    let observations = run(&sqlite, &load(1.0, "command", &[command]));
    assert!(ACTION_S.read(&observations).unwrap() >= 0.2);
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
        let settings = load(10.0, "backup", &[("background.tool", text(tool))]);
        let error = failure(&sqlite, &settings, [folder.path(), &small]);
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
    let refusal = |value: Setting| objections(&sqlite, &load(1.0, "backup", &[value])).concat();
    for (setting, expected) in [
        (("background.tool", text("pg_dump")), "not a backup tool of sqlite; it has: backup-api"),
        (("background.workers", Value::Integer(2)), "backup-api works in one process here"),
        (("background.compression", text("gzip")), "backup-api does not compress by gzip"),
        (("background.start", Value::Float(2.0)), "begins after the measurement"),
        (("background.buffers", Value::Integer(9)), "backup-api writes its files itself"),
    ] {
        let refused = refusal(setting);
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

fn sql_server(url: &str) -> TestEngine {
    TestEngine {
        name: "sqlserver".into(),
        engine: testing::engine("sqlserver"),
        settings: vec![("target.url", text(url))],
    }
}

#[test]
fn files_of_a_server_are_refused_where_they_cannot_be() {
    let sql_server = sql_server("mssql://sa@127.0.0.1/master");
    for (setting, expected) in [
        (("background.compression", text("gzip")), "does not compress by gzip; it has: none, nat"),
        (("background.volume", text("fast")), "use background.server_folder"),
        (("background.transfer_size", Value::Integer(65_537)), "not a multiple of 64 KiB"),
        (("background.workers", Value::Integer(65)), "has at most 64 files"),
        (("background.rate_limit", Value::Float(1e6)), "no backup tool of this engine has one"),
    ] {
        let refused = objections(&sql_server, &load(1.0, "backup", &[setting])).concat();
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
    let observations = run(&sql_server(&url), &load(1.0, "backup", &more));
    assert_eq!(DIFFERENCES.members(&observations).collect::<Vec<_>>(), []);
    assert_eq!((COMPARED.read(&observations), ROWS.read(&observations)), (Some(1.0), Some(500.0)));
    assert!(BACKUP_MB.read(&observations) < DATA_MB.read(&observations));
    let [first, consistent] =
        [FIRST_QUERY_S, CONSISTENT_S].map(|fact| fact.read(&observations).unwrap());
    assert!(0.0 < first && first <= consistent && CAUGHT_UP_S.read(&observations).is_none());
}

#[test]
fn postgres_backups_are_restored_and_a_standby_catches_up() {
    let Some(postgres) = engine("postgres") else { return println!("SKIPPED: no PostgreSQL") };
    let backed_up = |tool: &str, more: &[Setting]| {
        let settings: Vec<Setting> =
            [("background.tool", text(tool))].into_iter().chain(more.iter().cloned()).collect();
        let observations = run(&postgres, &load(1.5, "backup", &settings));
        assert_restored(&observations, tool);
        observations
    };
    let rate = ("background.rate_limit", Value::Float(20e6));
    let observations = backed_up("pg_basebackup", &[rate]);
    assert!(CAUGHT_UP_S.read(&observations).unwrap() >= CONSISTENT_S.read(&observations).unwrap());
    // The limit is one of the data directory, from which the server leaves some files out.
    let [took_s, mb] = [ACTION_S, BACKUP_MB].map(|fact| fact.read(&observations).unwrap());
    assert!(took_s >= 0.5 * mb / 20.0, "{took_s} s for {mb} MB");
    let gzip = ("background.compression", text("gzip"));
    let observations = backed_up("pg_basebackup", std::slice::from_ref(&gzip));
    assert!(BACKUP_MB.read(&observations) < DATA_MB.read(&observations));
    assert!(background::facts::CPU_S.read(&observations).unwrap() > 0.0);
    let workers = ("background.workers", Value::Integer(2));
    let observations = backed_up("pg_dump", &[gzip, workers]);
    assert_eq!(CAUGHT_UP_S.read(&observations), None);
    for action in ["vacuum", "index-build"] {
        let observations = run(&postgres, &load(1.0, action, &[]));
        assert!(ACTION_S.read(&observations).unwrap() > 0.0, "{action}");
    }
    let url = ("target.url", text("postgres://user@host/database"));
    let refused = objections(&postgres, &load(1.0, "backup", &[url])).concat();
    assert!(refused.contains("private servers; remove target.url"), "{refused}");
}

/// Versions of pgBackRest of distributions know the version of PostgreSQL beside them.
#[test]
fn pgbackrest_backups_are_restored_and_a_standby_catches_up() {
    let all = testing::installed::installations();
    let Some(debian) = all.into_iter().find(|installation| installation.version.major == 15) else {
        return println!("SKIPPED: no PostgreSQL 15");
    };
    let postgres = TestEngine {
        name: format!("postgres {}", debian.version),
        engine: &postgres::POSTGRES,
        settings: vec![
            ("target.bindir", text(debian.bindir.to_string_lossy())),
            ("target.version", text(debian.version.to_string())),
            ("target.settings.fsync", Value::Bool(false)),
        ],
    };
    let settings = [
        ("background.tool", text("pgbackrest")),
        ("background.compression", text("gzip")),
        ("background.workers", Value::Integer(2)),
    ];
    let settings = load(1.5, "backup", &settings);
    if objections(&postgres, &settings).concat().contains("Debian: pgbackrest") {
        return println!("SKIPPED: no pgBackRest");
    }
    let observations = run(&postgres, &settings);
    assert_restored(&observations, "pgbackrest");
    assert!(CAUGHT_UP_S.read(&observations).unwrap() >= CONSISTENT_S.read(&observations).unwrap());
    assert!(BACKUP_MB.read(&observations) < DATA_MB.read(&observations));
}

#[test]
fn mariadb_dumps_are_restored() {
    let Some(mariadb) = engine("mariadb") else { return println!("SKIPPED: no MariaDB") };
    for compression in ["none", "zstd"] {
        let setting = ("background.compression", text(compression));
        let observations = run(&mariadb, &load(1.5, "backup", &[setting]));
        assert_restored(&observations, compression);
    }
    let observations = run(&mariadb, &load(1.0, "index-build", &[]));
    assert!(ACTION_S.read(&observations).unwrap() > 0.0);
    let tool = ("background.tool", text("pg_dump"));
    let refused = objections(&mariadb, &load(1.0, "backup", &[tool])).concat();
    assert!(refused.contains("it has: mariadb-dump, mariadb-backup"), "{refused}");
}

#[test]
fn rows_are_loaded_beside_a_load_at_their_rate() {
    for name in ["postgres", "mariadb"] {
        let Some(engine) = engine(name) else { continue };
        let settings = [
            ("background.bytes", Value::Integer(4 << 20)),
            ("background.rate_limit", Value::Float(8e6)),
        ];
        let observations = run(&engine, &load(1.5, "bulk-load", &settings));
        // The last batch of rows is not waited for.
        let [took_s, mb] = [ACTION_S, DATA_MB].map(|fact| fact.read(&observations).unwrap());
        assert!((4.0..4.3).contains(&mb) && took_s > 0.4 * mb / 8.0, "{name}: {took_s} s, {mb} MB");
        assert!(observations.work.transactions > 50, "{name}");
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
        let mut settings = vec![
            ("background.tool", text("mariadb-backup")),
            ("background.compression", text(compression)),
            ("background.workers", Value::Integer(workers)),
        ];
        let rate = ("background.rate_limit", Value::Float(rate_mb * 1e6));
        settings.extend(is_limited.then_some(rate));
        let observations = run(&mariadb, &load(1.5, "backup", &settings));
        assert_restored(&observations, compression);
        let [took_s, mb] = [ACTION_S, BACKUP_MB].map(|fact| fact.read(&observations).unwrap());
        // The rate is an upper limit on any machine.
        assert!(!is_limited || took_s >= 0.95 * mb / rate_mb, "{took_s} s for {mb} MB");
        assert!(background::facts::CPU_S.read(&observations).unwrap() > 0.0);
    }
}

#[test]
fn duckdb_exports_are_imported_to_the_same_rows() {
    let Some(duckdb) = testing::trials::duckdb() else { return };
    for compression in ["none", "zstd"] {
        let setting = ("background.compression", text(compression));
        let observations = run(&duckdb, &load(1.0, "backup", &[setting]));
        assert_restored(&observations, &format!("duckdb {compression}"));
        assert_eq!(CAUGHT_UP_S.read(&observations), None);
    }
}

/// Both share a link of 4 MB/s: what the copy sends takes its time on any machine.
#[test]
fn a_copy_over_the_link_takes_its_share_of_the_bandwidth() {
    let link = ("network.bandwidth", Value::Float(4e6));
    let over = ("background.over_link", Value::Bool(true));
    for name in ["postgres", "mariadb"] {
        let Some(engine) = engine(name) else { continue };
        let prerequisites = engine.engine.prerequisites.unwrap();
        if let Some(why) = prerequisites.missing(&engine.configuration(std::slice::from_ref(&link)))
        {
            println!("SKIPPED, cannot be here: {why}");
            return;
        }
        let bytes = ("background.bytes", Value::Integer(2 << 20));
        let links = [link.clone(), over.clone(), bytes];
        let observations = run(&engine, &load(1.5, "copy", &links));
        let [took_s, mb] = [ACTION_S, DATA_MB].map(|fact| fact.read(&observations).unwrap());
        assert_eq!(mb, 2.097_152);
        // The bucket is full in the beginning.
        assert!(took_s >= (mb - 0.1) / 4.0, "{name}: {took_s} s for {mb} MB");
        assert!(observations.work.transactions > 50, "{name}");
    }
    let refused = objections(&sqlite(), &load(1.0, "copy", &[over])).concat();
    assert!(refused.contains("needs the link of network.bandwidth"), "{refused}");
}
