//! Tests of what goes wrong on disk: each fault has its own error, and nothing recorded is lost.

use crate::{DeclaredRoles, Fault, Result, Store, StoreError, schema};
use observations::{FailureKind, Recording, Roles, TrialStatus, Value};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testing::sample;

#[path = "../tests/integrity/mod.rs"]
mod integrity;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.steelbench");
    (folder, path)
}

fn filled(path: &Path, trials: usize) -> (Store, i64) {
    let mut store = Store::create_or_open(path).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();
    (0..trials).for_each(|i| store.record_trial(run, &sample::trial(i)).unwrap());
    (store, run)
}

/// Both ways in must refuse with the same kind of error, must say what to do, and must not touch
/// the file.
fn refused(path: &Path, kind: fn(&Fault) -> bool) {
    let before = fs::read(path).ok();
    for attempt in [Store::open(path), Store::create_or_open(path)] {
        let error = attempt.map(|_| ()).unwrap_err();
        assert!(kind(&error.fault), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert_eq!(fs::read(path).ok(), before);
}

#[test]
fn a_missing_file_is_missing_only_for_readers() {
    let (_folder, path) = file();
    assert!(matches!(Store::open(&path), Err(StoreError { fault: Fault::Missing, .. })));
    assert!(!path.exists());
    Store::create_or_open(&path).unwrap();
    assert!(Store::open(&path).unwrap().runs().unwrap().is_empty());
}

#[test]
fn an_interrupted_creation_is_empty_and_can_be_resumed() {
    let (_folder, path) = file();
    fs::write(&path, b"").unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError { fault: Fault::Empty, .. })));
    let (store, run) = filled(&path, 2);
    assert_eq!(store.read(run).unwrap().trials.len(), 2);
}

#[test]
fn files_of_other_programs_are_refused_untouched() {
    let foreign = |fault: &Fault| matches!(fault, Fault::Foreign(_));
    let (folder, path) = file();
    for content in [&b"hello"[..], &[0; 4096], b"PK\x03\x04 a spreadsheet"] {
        fs::write(&path, content).unwrap();
        refused(&path, foreign);
    }
    for mark in ["PRAGMA application_id = 7", "CREATE TABLE theirs (x)", "PRAGMA user_version = 3"]
    {
        fs::remove_file(&path).unwrap();
        Connection::open(&path)
            .unwrap()
            .execute_batch(&format!("CREATE TABLE t (x); DROP TABLE t; {mark}"))
            .unwrap();
        refused(&path, foreign);
    }
    refused(folder.path(), foreign);
}

#[test]
fn a_newer_format_is_refused_and_named() {
    let (_folder, path) = file();
    let (store, _) = filled(&path, 1);
    store.connection.pragma_update(None, "user_version", schema::NEWEST + 1).unwrap();
    drop(store);
    refused(&path, |fault| matches!(fault, Fault::Newer(found) if *found == schema::NEWEST + 1));
    let message = Store::open(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("reads up to {};", schema::NEWEST)), "{message}");
}

#[test]
fn a_format_before_the_first_release_is_refused_and_named() {
    let (_folder, path) = file();
    let (store, _) = filled(&path, 1);
    store.connection.pragma_update(None, "user_version", schema::FIRST - 1).unwrap();
    drop(store);
    refused(&path, |fault| matches!(fault, Fault::Older(15)));
    let message = Store::open(&path).unwrap_err().to_string();
    assert!(message.contains("has format 15 from before version 0.1.0"), "{message}");
}

#[test]
fn a_truncated_file_is_damaged_wherever_it_was_cut() {
    let (_folder, path) = file();
    drop(filled(&path, 3));
    let whole = fs::read(&path).unwrap();
    for length in
        [1, 15, 16, 99, 511, 600, 4096, whole.len() / 2, whole.len() - 4096, whole.len() - 1]
    {
        fs::write(&path, &whole[..length]).unwrap();
        refused(&path, |fault: &Fault| matches!(fault, Fault::Damaged(_)));
    }
}

/// Any page overwritten with rubbish gives an error or leaves what is read right; never a panic.
#[test]
fn an_overwritten_page_is_noticed() {
    let (_folder, path) = file();
    let (store, run) = filled(&path, 5);
    let expected = store.read(run).unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut noticed = 0;
    for page in 1..whole.len() / 4096 {
        let mut content = whole.clone();
        content[page * 4096..(page + 1) * 4096].fill(0xA5);
        fs::write(&path, &content).unwrap();
        let read = Store::open(&path).and_then(|store| store.read(run));
        match read {
            Ok(recording) => assert_eq!(recording, expected, "page {page}"),
            Err(error) => {
                assert!(matches!(error.fault, Fault::Damaged(_)), "page {page}: {error:?}");
                noticed += 1;
            }
        }
        assert!(integrity::check_integrity(&path).is_err(), "page {page}");
    }
    assert!(noticed > 0);
}

#[test]
fn a_full_disk_loses_only_the_trial_in_flight() {
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 3);
    let pages: i64 =
        store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let mut trial = sample::trial(3);
    trial.hooks[0].output = "x".repeat(64 * 1024);
    // The limit cuts the transaction at every possible page, not only at the first.
    let mut refused = 0;
    for extra in 0..200 {
        store.connection.pragma_update(None, "max_page_count", pages + extra).unwrap();
        match store.record_trial(run, &trial) {
            Err(StoreError { fault: Fault::Full, .. }) => refused += 1,
            Ok(()) => break,
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(store.read(run).unwrap(), sample::recording(3));
    }
    assert!(refused > 10, "{refused}");
    integrity::check_integrity(store.path()).unwrap();
    let trials = store.read(run).unwrap().trials;
    assert_eq!((trials.len(), &trials[3]), (4, &trial));
}

#[test]
fn a_store_opened_for_reading_refuses_to_write() {
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 2);
    let mut reader = Store::open(&path).unwrap();
    assert!(matches!(
        reader.record_trial(run, &sample::trial(2)),
        Err(StoreError { fault: Fault::ReadOnly, .. })
    ));
    // A file that turns read-only under a writer, in a way that stops root too.
    store.connection.pragma_update(None, "query_only", true).unwrap();
    assert!(matches!(
        store.record_trial(run, &sample::trial(2)),
        Err(StoreError { fault: Fault::ReadOnly, .. })
    ));
    assert_eq!(reader.read(run).unwrap(), sample::recording(2));
    integrity::check_integrity(reader.path()).unwrap();
}

/// A file that SQLite itself may open for reading only (`mode=ro`), as on a read-only medium.
#[test]
fn intervals_of_statements_are_read_as_they_were_recorded() {
    use observations::{CountedStatement, QueryInterval};
    let statement = CountedStatement {
        digest: "-42".to_owned(),
        database: "shop".to_owned(),
        user: "anna".to_owned(),
        is_top: true,
        text: "SELECT $1".to_owned(),
        counters: [("calls".to_owned(), u64::MAX), ("rows".to_owned(), 0)].into(),
        plan_hash: Some("00ff".to_owned()),
        plan: Some("Sort\n  Seq Scan t".to_owned()),
        ..CountedStatement::default()
    };
    let without =
        CountedStatement { plan_hash: None, plan: None, text: String::new(), ..statement.clone() };
    let interval = QueryInterval {
        id: 1,
        address: "host=h".to_owned(),
        engine: "postgres".to_owned(),
        from_ms: 5,
        to_ms: 9,
        block_bytes: 8192,
        evictions: Some(3),
        notes: vec!["one".to_owned()],
        statements: vec![statement, without],
        ..QueryInterval::default()
    };
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 1);
    assert_eq!(store.record_queries(&interval).unwrap(), 1);
    assert_eq!(store.record_queries(&QueryInterval { from_ms: 1, ..interval.clone() }).unwrap(), 2);
    let all = store.query_intervals().unwrap();
    let starts: Vec<_> = all.iter().map(|interval| (interval.id, interval.from_ms)).collect();
    assert_eq!(starts, [(2, 1), (1, 5)]);
    assert_eq!(store.with_statements(all[1].clone()).unwrap(), interval);
    let texts: i64 = store
        .connection
        .query_row("SELECT count(*) FROM query_texts", [], |row| row.get(0))
        .unwrap();
    assert_eq!(texts, 2, "a text is kept once");
    assert_eq!(store.read(run).unwrap(), sample::recording(1), "runs are left alone");
    store
        .connection
        .execute_batch("UPDATE counted_statements SET counters = '{' WHERE interval = 1")
        .unwrap();
    assert!(matches!(store.with_statements(interval).unwrap_err().fault, Fault::Damaged(_)));
}

#[test]
fn a_read_only_file_refuses_in_mid_write() {
    let (_folder, path) = file();
    drop(filled(&path, 2));
    let mut store = Store::open(&path).unwrap();
    store.connection =
        Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    assert!(matches!(
        store.record_trial(1, &sample::trial(2)),
        Err(StoreError { fault: Fault::ReadOnly, .. })
    ));
    assert_eq!(store.read(1).unwrap(), sample::recording(2));
}

#[test]
fn an_older_format_is_brought_up_to_date_with_its_data() {
    for open in [|path: &Path| Store::open(path), |path: &Path| Store::create_or_open(path)]
        as [fn(&Path) -> Result<Store>; 2]
    {
        let (_folder, path) = file();
        let (store, run) = filled(&path, 4);
        // Takes back steps 17 to 20.
        let former = "ALTER TABLE trials DROP COLUMN failure; PRAGMA user_version = 16;
                      ALTER TABLE trials DROP COLUMN machine;
                      ALTER TABLE responses DROP COLUMN percent;
                      ALTER TABLE responses DROP COLUMN percent_of; DROP TABLE roles";
        store.connection.execute_batch(former).unwrap();
        drop(store);
        let old = fs::read(&path).unwrap();
        let mut store = open(&path).unwrap();
        // Reading leaves the file unchanged.
        let is_writer = store.record_trial(run, &sample::trial(4)).is_ok();
        assert_eq!(fs::read(&path).unwrap() == old, !is_writer);
        let trials = if is_writer { 5 } else { 4 };
        let mut expected = Recording { roles: Roles::default(), ..sample::recording(trials) };
        expected.trials.iter_mut().take(4).for_each(|trial| trial.machine = None);
        assert!(store.read(run).unwrap() == expected);
        integrity::check_integrity(store.path()).unwrap();
    }
}

/// A results file in mid transaction, as a killed run leaves it: with a journal that is to be
/// rolled back.
fn killed(path: &Path) {
    let (_folder, live) = file();
    let (store, _) = filled(&live, 3);
    let change = "PRAGMA cache_size = 2; BEGIN; UPDATE hooks SET output = hex(zeroblob(50000))";
    store.connection.execute_batch(change).unwrap();
    let journal = |path: &Path| path.with_extension("steelbench-journal");
    fs::copy(journal(&live), journal(path)).unwrap();
    fs::copy(&live, path).unwrap();
}

#[test]
fn looking_for_runs_beside_touches_no_file() {
    let (folder, path) = file();
    let (_store, run) = filled(&path, 2);
    let old = folder.path().join("old.steelbench");
    let (older, _) = filled(&old, 2);
    older.connection.pragma_update(None, "user_version", schema::FIRST - 1).unwrap();
    killed(&folder.path().join("killed.steelbench"));
    let state = || {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.map(|path| (fs::read(&path).unwrap(), path)).collect();
        files.sort();
        files
    };
    let before = state();
    assert_eq!(before.len(), 4);
    let found = crate::runs_beside(
        &path,
        "workload.key",
        &["other", "random"],
        &DeclaredRoles::new(|_| Roles::default()),
    );
    assert!(found.iter().all(|recorded| recorded.run.id == run) && !found.is_empty());
    assert!(
        crate::runs_beside(
            &path,
            "workload.key",
            &["other"],
            &DeclaredRoles::new(|_| Roles::default())
        )
        .is_empty()
    );
    assert!(state() == before);
    // Opening the file by its name rolls it back.
    let store = Store::open(folder.path().join("killed.steelbench")).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    assert_eq!(state().len(), 3);
}

/// Returns whether this process has a lock on a file (proc(5)): `2: POSIX ADVISORY READ 4711
/// fe:00:1234 ...`.
///
/// By several looks: one can miss a lock, or see it twice, while other processes take and release
/// theirs.
fn is_locked(path: &Path) -> bool {
    let (process, inode) = (format!(" {} ", std::process::id()), path.metadata().unwrap().ino());
    (0..20).any(|_: i32| {
        let all = fs::read_to_string("/proc/locks").unwrap();
        all.lines().any(|lock| lock.contains(&process) && lock.contains(&format!(":{inode} ")))
    })
}

#[test]
fn opening_a_file_again_keeps_the_lock_of_who_reads_it() {
    let (_folder, path) = file();
    let (store, run) = filled(&path, 2);
    let reading = store.connection.unchecked_transaction().unwrap();
    store.runs().unwrap();
    assert!(is_locked(&path));
    for open in [
        |path: &Path| Store::open(path),
        Store::open_untouched,
        |path: &Path| Store::create_or_open(path),
    ] {
        assert_eq!(open(&path).unwrap().read(run).unwrap(), sample::recording(2));
        assert!(is_locked(&path));
    }
    reading.commit().unwrap();
    assert!(!is_locked(&path));
}

#[test]
fn between_transactions_the_results_are_one_file() {
    let (folder, path) = file();
    let (store, run) = filled(&path, 3);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["results.steelbench"]);
    // A copy made while the run has the file open is complete.
    let copy = folder.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(Store::open(&copy).unwrap().read(run).unwrap(), store.read(run).unwrap());
}

#[test]
fn a_reader_sees_whole_trials_while_a_run_writes() {
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 1);
    let writer = std::thread::spawn(move || {
        (1..40).for_each(|i| store.record_trial(run, &sample::trial(i)).unwrap());
    });
    let mut count = 0;
    while count < 40 {
        let has_ended = writer.is_finished();
        let recording = Store::open(&path).unwrap().read(run).unwrap();
        let before = std::mem::replace(&mut count, recording.trials.len());
        assert!(before <= count && (count == 40 || !has_ended), "{before}, then {count} trials");
        assert_eq!(recording, sample::recording(count));
    }
    writer.join().unwrap();
}

/// Objects that would run when the file is read, or have our names, are refused before any use.
#[test]
fn what_others_have_put_into_the_schema_is_refused() {
    const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let as_view = |table: &str| {
        format!(
            "ALTER TABLE {table} RENAME TO theirs; CREATE VIEW {table} AS {ENDLESS} SELECT i AS \
             id FROM n"
        )
    };
    for (sql, what) in [
        (as_view("runs"), "differs from Steelbench's schema"),
        (as_view("trials"), "differs from Steelbench's schema"),
        (format!("CREATE VIEW mine AS {ENDLESS} SELECT * FROM n"), "the view mine"),
        (
            "DROP VIEW trial_waits; CREATE VIEW trial_waits AS SELECT 1".to_owned(),
            "the view trial_waits",
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON trials BEGIN SELECT RAISE(ABORT, 'x'); END"
                .to_owned(),
            "the trigger t",
        ),
        ("CREATE INDEX i ON trials (abs(id))".to_owned(), "the index i"),
        (
            "ALTER TABLE waits ADD COLUMN more BLOB AS (zeroblob(1000000000))".to_owned(),
            "the table waits",
        ),
    ] {
        let (_folder, path) = file();
        let (store, _) = filled(&path, 1);
        store.connection.execute_batch(&sql).unwrap();
        drop(store);
        refused(&path, |fault| matches!(fault, Fault::Altered(_)));
        let message = Store::open(&path).unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    }
    // Steelbench ignores tables that the user added.
    let (_folder, path) = file();
    let (store, run) = filled(&path, 1);
    store
        .connection
        .execute_batch("CREATE TABLE notes (text); CREATE INDEX by_text ON notes (text); ANALYZE")
        .unwrap();
    assert_eq!(Store::open(&path).unwrap().read(run).unwrap(), store.read(run).unwrap());
}

#[test]
fn a_reading_that_takes_too_long_is_stopped() {
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 1);
    store.reading_max = std::time::Duration::from_millis(50);
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let error = store
        .sql(|connection| connection.query_row(endless, [], |row| row.get::<_, i64>(0)))
        .unwrap_err();
    assert!(matches!(error.fault, Fault::Slow), "{error:?}");
    assert_eq!(store.read(run).unwrap(), sample::recording(1));
}

/// Opening a pipe would wait for its other end.
#[test]
fn a_pipe_is_refused() {
    let (_folder, path) = file();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    for attempt in [Store::open(&path), Store::create_or_open(&path)] {
        assert!(matches!(attempt.unwrap_err().fault, Fault::Foreign(_)));
    }
}

#[test]
fn observations_are_read_as_they_were_recorded_and_damaged_ones_are_refused() {
    use observations::{
        ActivityCell, ActivityPart, ActivityRecord, ServerActivity, TaskSession, WaitingTask,
    };
    let cell = ActivityCell {
        process: "client backend".to_owned(),
        for_client: true,
        wait_type: Some("Lock:tuple".to_owned()),
        class: Some(observations::WaitClass::Lock),
        idle: false,
        state: "active".to_owned(),
        query_id: Some(i64::MIN),
        application: String::new(),
        user: "anna".to_owned(),
        database: "orders".to_owned(),
        samples: 7,
        seconds: 0.07,
    };
    let task = WaitingTask {
        session: TaskSession { pid: 3, leader: Some(2), ..TaskSession::default() },
        wait_type: "Lock:tuple".to_owned(),
        waited_s: Some(1.5),
        resource: None,
        lock_mode: None,
        blocked_by: vec![TaskSession {
            prepared: Some("it's".to_owned()),
            ..TaskSession::default()
        }],
    };
    let part = ActivityPart {
        polls: 10,
        samples: vec![(None, None, 3), (Some("Lock:tuple".to_owned()), Some(-5), 7)],
    };
    let activity = ServerActivity {
        server: "PostgreSQL 18.6".to_owned(),
        elapsed_s: 0.1,
        cells: vec![cell],
        parts: vec![part],
        texts: [(i64::MIN, "SELECT ?".to_owned())].into(),
        tasks: Some(vec![task]),
        ..ServerActivity::default()
    };
    let record = ActivityRecord {
        id: 2,
        address: "host=h".to_owned(),
        activity,
        ..ActivityRecord::default()
    };
    let (_folder, path) = file();
    let (mut store, run) = filled(&path, 1);
    store.record_activity(&record).unwrap();
    assert_eq!(store.record_activity(&record).unwrap(), 2);
    assert_eq!((store.activities().unwrap(), store.activity(2).unwrap()), (vec![1, 2], record));
    assert_eq!(store.read(run).unwrap(), sample::recording(1), "runs are left alone");
    assert!(matches!(store.activity(3).unwrap_err().fault, Fault::NoActivity(3)));
    for damage in [
        "json_set(activity, '$.elapsed_s', 'x')",
        "json_insert(activity, '$.cells[1]', json_set(json_extract(activity, '$.cells[0]'), \
         '$.samples', 18446744073709551615))",
        "'{'",
    ] {
        store
            .connection
            .execute_batch(&format!(
                "UPDATE server_activities SET activity = {damage} WHERE id = 1"
            ))
            .unwrap();
        let fault = store.activity(1).unwrap_err().fault;
        assert!(matches!(fault, Fault::Damaged(_)), "{damage}: {fault:?}");
    }
}

/// Plants a secret in a text of each table.
#[test]
fn no_text_is_written_or_read_with_a_password() {
    let (secret, near) = ("S3c7et", "postgres://u:S3c7et@h/d");
    let mut plan = sample::plan();
    let text = || near.to_owned();
    (plan.run.question, plan.run.source) = (Some(text()), format!("mysql -p{secret}"));
    (plan.run.label, plan.run.response) = (Some(text()), Some(text()));
    plan.environments[0].engines.insert(
        "e".into(),
        observations::EngineVersion { version: text(), options: vec!["password=S3c7et".into()] },
    );
    plan.factors[1].levels = vec![text()];
    plan.configurations[0].label = text();
    plan.configurations[0].levels[1].level = text();
    let list = ["sqlcmd", "-P", secret].map(|word| Value::Text(word.to_owned()));
    let of_setting = [Value::Text(text()), Value::List(list[..1].to_vec()), Value::Text(text())];
    plan.configurations[0].settings.insert("a".into(), Value::List(of_setting.to_vec()));
    plan.configurations[0].settings.insert("b".into(), Value::List(list.to_vec()));
    plan.files[0].content = format!("CREATE USER u IDENTIFIED BY '{secret}'");
    let mut trial = sample::trial(0);
    trial.status = TrialStatus::Failed { cause: text(), kind: FailureKind::Futile };
    trial.hooks[0].command = format!("curl -u u:{secret} h");
    trial.hooks[0].output = text();
    let observations = trial.observations.as_mut().unwrap();
    observations.warnings[0].detail = text();
    observations.plans[0].text = text();
    let activity = observations::ServerActivity {
        server: text(),
        texts: [(1, format!("SET PASSWORD FOR u = '{secret}'"))].into(),
        ..observations::ServerActivity::default()
    };
    let activity = observations::ActivityRecord {
        address: text(),
        activity,
        ..observations::ActivityRecord::default()
    };
    let (_folder, path) = file();
    let mut store = Store::create_or_open(&path).unwrap();
    let run = store.begin_run(&plan).unwrap();
    store.record_trial(run, &trial).unwrap();
    store.record_activity(&activity).unwrap();
    let mut renamed = plan.clone();
    renamed.run.name = text();
    store.update_run(run, &renamed).unwrap();
    store.add_environment(run, &plan.environments[0]).unwrap();
    let recording = format!("{:?} {:?}", store.read(run).unwrap(), store.activity(1).unwrap());
    assert!(!recording.contains(secret) && recording.contains("u:******@h"), "{recording}");
    drop(store);
    let bytes = fs::read(&path).unwrap();
    let found = bytes.windows(secret.len()).position(|window| window == secret.as_bytes());
    let near = found.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(99)..at]));
    assert_eq!(near, None);
    // A version that did not know better has left one.
    let connection = Connection::open(&path).unwrap();
    for sql in [
        "UPDATE runs SET question = ?1",
        "UPDATE environments SET json = json_set(json, '$.host', ?1)",
        "UPDATE settings SET value = json_quote(?1)",
        "UPDATE server_activities SET activity = json_set(activity, '$.server', ?1)",
    ] {
        connection.execute(sql, ["postgres://u:S3c7et@h/d"]).unwrap();
    }
    let store = Store::open(&path).unwrap();
    let read = format!("{:?} {:?}", store.read(run).unwrap(), store.activity(1).unwrap());
    assert!(!read.contains(secret), "{read}");
}
