//! Waits of real servers, of every version that is installed.

mod events;

use engine::{Collection, EngineError, LiveObserver, ObserveOptions, WaitCollector};
use observations::{Wait, WaitClass, WaitSource, WaitingTask};
use postgres::client::{Canceller, Client};
use postgres::server::PrivateServer;
use postgres::waits::{ACTIVITY, FLUSH_OWN_COUNTERS, PROFILE, PostgresCollector, sampler};
use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use testing::installed::{folder, installations, options, running};
use work::Cancel;

/// Long enough for a hundred samples and more; nothing asserted depends on it.
const WINDOW: Duration = Duration::from_millis(1500);

/// A session that does one thing until it is stopped.
struct Session {
    pid: i32,
    canceller: Canceller,
    thread: JoinHandle<()>,
}

impl Session {
    fn doing(cluster: &PrivateServer, sql: &str) -> Self {
        let mut client = cluster.connect().unwrap();
        let (pid, canceller, sql) = (client.backend_pid(), client.canceller(), sql.to_owned());
        let thread = std::thread::spawn(move || {
            // It ends by being cancelled, or when what it waits for comes.
            let _ = client.batch(&sql);
        });
        Self { pid, canceller, thread }
    }

    fn end(self) {
        while !self.thread.is_finished() {
            let _ = self.canceller.cancel();
            std::thread::sleep(Duration::from_millis(10));
        }
        self.thread.join().unwrap();
    }
}

/// Runs a test on a server of each version.
fn on_each_server(test: impl Fn(&mut PrivateServer)) {
    for installation in installations() {
        let folder = folder();
        let mut options = options(&installation, folder.path());
        options.connections = 20;
        let mut cluster = running(options);
        test(&mut cluster);
        cluster.remove().unwrap();
    }
}

#[track_caller]
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < testing::installed::LONG, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_doing(client: &mut Client, pid: i32, what: &str) -> bool {
    let sql = "SELECT concat_ws(':', state, wait_event) FROM pg_stat_activity WHERE pid = $1";
    let rows = client.query(sql, &[Some(&pid.to_string())]).unwrap();
    rows.first().and_then(|row| row.get(0).map(str::to_owned)).as_deref() == Some(what)
}

fn live() -> ObserveOptions {
    ObserveOptions { statements: true, ..ObserveOptions::default() }
}

fn observer(url: &str) -> Box<dyn LiveObserver> {
    engine::server::by_url(testing::ENGINES, url)
        .unwrap()
        .observe(live(), &Cancel::new().stop())
        .unwrap()
}

/// Runs a collector over these sessions during an action.
fn collect(
    cluster: &PrivateServer,
    pids: Vec<i32>,
    during: impl FnOnce(),
) -> Result<Collection, EngineError> {
    let (options, sessions) = (ObserveOptions::default(), Arc::new(Mutex::new(pids)));
    let mut collector = PostgresCollector::new(cluster.config(), options, sessions, Cancel::new());
    collector.start()?;
    during();
    collector.stop()
}

fn seconds(waits: &[Wait], wait_type: &str) -> f64 {
    waits.iter().filter(|wait| wait.wait_type == wait_type).map(Wait::wait_s).sum()
}

#[track_caller]
fn near(figure: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (figure - expected).abs() <= tolerance * expected,
        "{what}: {figure} is not about {expected}"
    );
}

#[test]
fn who_waits_for_a_row_is_told_with_the_row_and_its_holder() {
    on_each_server(|cluster| {
        let mut holder = cluster.connect().unwrap();
        holder
            .batch("CREATE TABLE \"odd name\" (a int); INSERT INTO \"odd name\" VALUES (1), (2)")
            .unwrap();
        holder.batch("BEGIN; UPDATE \"odd name\" SET a = 3 WHERE a = 2").unwrap();
        let update = "UPDATE \"odd name\" SET a = 4 WHERE a = 2";
        let mut observer = observer(&cluster.config().to_string());
        let find =
            |tasks: &[WaitingTask], pid| tasks.iter().find(|task| task.session.pid == pid).cloned();
        let mut admin = cluster.connect().unwrap();
        let first = Session::doing(cluster, update);
        wait_until("the first waits", || is_doing(&mut admin, first.pid, "active:transactionid"));
        let second = Session::doing(cluster, update);
        wait_until("the second waits", || is_doing(&mut admin, second.pid, "active:tuple"));
        std::thread::sleep(WINDOW);
        let (activity, tasks) = (observer.window().unwrap(), observer.tasks().unwrap().unwrap());
        let (a, b) = (find(&tasks, first.pid).unwrap(), find(&tasks, second.pid).unwrap());
        assert_eq!(a.wait_type, "Lock:transactionid");
        assert_eq!(
            a.blocked_by.iter().map(|blocked_by| blocked_by.pid).collect::<Vec<_>>(),
            [holder.backend_pid()]
        );
        assert_eq!(a.blocked_by[0].state, "idle in transaction");
        let row = "row 2 of page 0 of public.\"odd name\"";
        assert!(
            a.resource.as_ref().unwrap().starts_with(&format!("{row}, changed by transaction ")),
            "{a:?}"
        );
        assert_eq!((b.wait_type.as_str(), b.resource.as_deref()), ("Lock:tuple", Some(row)));
        assert_eq!(b.lock_mode.as_deref(), Some("ExclusiveLock"));
        // The second queues behind the first, and the holder is in the way of both.
        assert!(b.blocked_by.iter().any(|blocker| blocker.pid == first.pid), "{b:?}");
        assert!(a.waited_s.unwrap() >= WINDOW.as_secs_f64() && b.waited_s.unwrap() > 0.0);
        assert_eq!(a.session.statement, "UPDATE \"odd name\" SET a = ? WHERE a = ?");
        // Both waited all the time, and nothing but that was waited for.
        for wait in ["Lock:transactionid", "Lock:tuple"] {
            near(seconds(&activity.waits, wait), activity.elapsed_s, 0.1, wait);
            assert!(activity.meanings.contains_key(wait));
        }
        holder.batch("ROLLBACK").unwrap();
        second.end();
        first.end();
        assert!(observer.tasks().unwrap().unwrap().iter().all(|task| task.resource.is_none()));
    });
}

/// Returns a session's blockers, as `pid state`.
fn blockers(observer: &mut dyn LiveObserver, pid: i32) -> Vec<String> {
    let tasks = observer.tasks().unwrap().unwrap();
    let task = tasks.iter().find(|task| task.session.pid == pid);
    let blockers = task.iter().flat_map(|task| &task.blocked_by);
    blockers
        .map(|blocker| {
            format!("{} {}", blocker.pid, blocker.prepared.as_deref().unwrap_or(&blocker.state))
        })
        .collect()
}

fn waits_for_a_lock(admin: &mut Client, pid: i32) -> bool {
    let sql = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid = $1";
    !admin.query(sql, &[Some(&pid.to_string())]).unwrap().is_empty()
}

#[test]
fn a_queue_behind_ddl_and_a_parallel_query_has_its_blockers_once_each() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE TABLE p AS SELECT generate_series(1, 10000) a; ANALYZE p").unwrap();
        let parallel = "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET \
                        parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SELECT \
                        count(*) FROM p WHERE pg_sleep(600) IS NOT NULL";
        let scan = Session::doing(cluster, parallel);
        let workers = "SELECT count(*) FROM pg_stat_activity WHERE leader_pid = $1";
        let mut workers_of = |pid: i32| {
            let rows = admin.query(workers, &[Some(&pid.to_string())]).unwrap();
            rows.first().unwrap().get(0).unwrap().to_owned()
        };
        wait_until("it has workers", || workers_of(scan.pid) == "2");
        let ddl = Session::doing(cluster, "ALTER TABLE p ADD COLUMN b int");
        wait_until("the table is waited for", || waits_for_a_lock(&mut admin, ddl.pid));
        let reader = Session::doing(cluster, "SELECT 1 FROM p LIMIT 1");
        wait_until("readers queue", || waits_for_a_lock(&mut admin, reader.pid));
        let mut observer = observer(&cluster.config().to_string());
        assert_eq!(blockers(&mut *observer, ddl.pid), [format!("{} active", scan.pid)]);
        assert_eq!(blockers(&mut *observer, reader.pid), [format!("{} active", ddl.pid)]);
        scan.end();
        [ddl, reader].into_iter().for_each(Session::end);
    });
}

#[test]
fn prepared_transactions_and_advisory_locks_that_block_are_named() {
    on_each_server(|cluster| {
        let settings = [("max_prepared_transactions".to_owned(), "5".to_owned())];
        cluster.apply(&settings.into(), &Cancel::new()).unwrap();
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").unwrap();
        // The first is in nobody's way, though it has a lock on the table too.
        admin.batch("BEGIN; SELECT 1 FROM t; PREPARE TRANSACTION 'reader'").unwrap();
        admin
            .batch("BEGIN; LOCK TABLE t IN SHARE MODE; PREPARE TRANSACTION 'it''s a lock'")
            .unwrap();
        let insert = Session::doing(cluster, "INSERT INTO t VALUES (2)");
        wait_until("it waits", || waits_for_a_lock(&mut admin, insert.pid));
        let mut holder = cluster.connect().unwrap();
        holder.batch("SELECT pg_advisory_lock(42)").unwrap();
        let advised = Session::doing(cluster, "SELECT pg_advisory_lock(42)");
        wait_until("it waits too", || waits_for_a_lock(&mut admin, advised.pid));
        let mut observer = observer(&cluster.config().to_string());
        assert_eq!(blockers(&mut *observer, insert.pid), ["0 it's a lock"]);
        let tasks = observer.tasks().unwrap().unwrap();
        let task = tasks.iter().find(|task| task.session.pid == insert.pid).unwrap();
        let prepared = &task.blocked_by[0];
        assert!(prepared.transaction_s.unwrap() > 0.0 && !prepared.user.is_empty(), "{prepared:?}");
        assert_eq!(
            blockers(&mut *observer, advised.pid),
            [format!("{} idle", holder.backend_pid())]
        );
        // A row that a prepared transaction has changed.
        admin.batch("ROLLBACK PREPARED 'it''s a lock'").unwrap();
        insert.end();
        admin.batch("BEGIN; UPDATE t SET a = 3; PREPARE TRANSACTION 'row'").unwrap();
        let update = Session::doing(cluster, "UPDATE t SET a = 4");
        wait_until("it waits for the row", || waits_for_a_lock(&mut admin, update.pid));
        assert_eq!(blockers(&mut *observer, update.pid), ["0 row"]);
        admin.batch("ROLLBACK PREPARED 'row'").unwrap();
        admin.batch("ROLLBACK PREPARED 'reader'").unwrap();
        holder.batch("SELECT pg_advisory_unlock(42)").unwrap();
        [update, advised].into_iter().for_each(Session::end);
    });
}

#[test]
fn what_was_seen_until_the_server_was_lost_is_kept() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        let sleeper = Session::doing(cluster, "SELECT pg_sleep(600)");
        wait_until("a session sleeps", || is_doing(&mut admin, sleeper.pid, "active:PgSleep"));
        let mut observer = observer(&cluster.config().to_string());
        std::thread::sleep(WINDOW);
        assert!(!observer.is_lost());
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name \
                   = 'steelbench observer'";
        admin.batch(end).unwrap();
        wait_until("it is noticed", || observer.is_lost());
        let activity = observer.window().unwrap();
        let why = activity.ended.as_deref().unwrap();
        assert!(why.contains("terminating connection due to administrator command"), "{why}");
        assert!(activity.elapsed_s >= 0.9 * WINDOW.as_secs_f64(), "{activity:?}");
        near(seconds(&activity.waits, "Timeout:PgSleep"), activity.elapsed_s, 0.1, "sleep");
        assert!(
            activity.lost.iter().any(|sentence| sentence.contains("the connection was lost")),
            "{activity:?}"
        );
        assert!(!activity.time_is_exact && activity.tasks.is_none());
        // The error is reported once; there is nothing more.
        observer.window().unwrap_err();
        observer.tasks().unwrap_err();
        sleeper.end();
    });
}

#[test]
fn samples_by_part_of_the_interval_are_the_samples() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        let sleepers =
            [(); 3].map(|()| Session::doing(cluster, "SELECT pg_sleep(600) /* 'secret' */"));
        for sleeper in &sleepers {
            wait_until("a session sleeps", || is_doing(&mut admin, sleeper.pid, "active:PgSleep"));
        }
        let mut observer = observer(&cluster.config().to_string());
        std::thread::sleep(2 * WINDOW);
        let activity = observer.window().unwrap();
        assert!(activity.parts.len() >= 3, "{:?}", activity.parts);
        assert_eq!(
            activity.parts.iter().map(|part| part.polls).sum::<u64>(),
            activity.sampling.polls
        );
        for part in activity.parts.iter().filter(|part| part.polls > 0) {
            let sleeping =
                part.samples.iter().filter(|(wait, ..)| wait.as_deref() == Some("Timeout:PgSleep"));
            assert_eq!(sleeping.map(|(_, _, count)| count).sum::<u64>(), 3 * part.polls);
        }
        assert!(
            activity.texts.values().all(|text| !text.contains("600") && !text.contains("secret")),
            "{activity:?}"
        );
        sleepers.into_iter().for_each(Session::end);
    });
}

#[test]
fn the_time_of_a_known_mix_of_sessions_adds_up() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        let idle = cluster.connect().unwrap();
        let sleepers = [(); 2].map(|()| Session::doing(cluster, "SELECT pg_sleep(600)"));
        let worker = Session::doing(cluster, "DO 'BEGIN LOOP END LOOP; END'");
        for sleeper in &sleepers {
            wait_until("a session sleeps", || is_doing(&mut admin, sleeper.pid, "active:PgSleep"));
        }
        let mut pids: Vec<i32> = sleepers.iter().map(|sleeper| sleeper.pid).collect();
        pids.extend([idle.backend_pid(), worker.pid]);
        let collected = collect(cluster, pids, || std::thread::sleep(WINDOW)).unwrap();
        let time = collected.time.unwrap();
        let session_share_s = time.session_s / 4.0;
        assert!(session_share_s >= WINDOW.as_secs_f64());
        near(seconds(&collected.waits, "Timeout:PgSleep"), 2.0 * session_share_s, 0.05, "sleep");
        near(seconds(&collected.waits, "Client:ClientRead"), session_share_s, 0.05, "idle");
        near(time.cpu_s + seconds(&collected.waits, "CPU_QUEUE"), session_share_s, 0.05, "work");
        assert!(
            time.cpu_user_s.unwrap() <= time.cpu_s && time.cpu_s <= session_share_s * 1.01,
            "{time:?}"
        );
        let all = time.cpu_s + collected.waits.iter().map(Wait::wait_s).sum::<f64>();
        near(all, time.session_s, 0.05, "everything");
        sleepers.into_iter().chain([worker]).for_each(Session::end);
    });
}

#[test]
fn committing_sessions_wait_for_the_log_and_the_server_counts_it() {
    on_each_server(|cluster| {
        cluster.connect().unwrap().batch("CREATE TABLE t (a int)").unwrap();
        let mut sessions: Vec<Client> = (0..8).map(|_| cluster.connect().unwrap()).collect();
        let pids = sessions.iter().map(Client::backend_pid).collect();
        for session in &mut sessions {
            session.batch(FLUSH_OWN_COUNTERS).unwrap();
        }
        let mut commits = 0;
        let collected = collect(cluster, pids, || {
            let workers: Vec<JoinHandle<u64>> = sessions
                .into_iter()
                .map(|mut session| {
                    std::thread::spawn(move || {
                        let (start, mut commits) = (Instant::now(), 0);
                        while start.elapsed() < WINDOW {
                            session.batch("INSERT INTO t VALUES (1)").unwrap();
                            commits += 1;
                        }
                        session.batch(FLUSH_OWN_COUNTERS).unwrap();
                        commits
                    })
                })
                .collect();
            commits = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        })
        .unwrap();
        let log = collected.waits.iter().filter(|wait| wait.class == WaitClass::Log);
        assert!(log.map(Wait::wait_s).sum::<f64>() > 0.0, "{:?}", collected.waits);
        // Each commit has at least two records: the row's and its own. Sessions that commit
        // together sync once, and each session at most once.
        let count = |name: &str| {
            collected
                .operations
                .iter()
                .filter(|operation| operation.name == name)
                .map(|operation| operation.count)
                .sum::<u64>()
        };
        let syncs = count("WAL sync") + count("IO client backend wal fsync");
        assert!(count("WAL record") >= 2 * commits, "{commits} {:?}", collected.operations);
        assert!(syncs > 0 && syncs <= commits + 100, "{syncs} of {commits}");
        let timed = |operation: &&observations::Operation| {
            operation.name == "WAL sync" || operation.name.ends_with("wal fsync")
        };
        assert!(collected.operations.iter().filter(timed).all(|operation| operation.wall_s > 0.0));
    });
}

/// A session's log wait is the server's own figure, not an estimate: `pg_stat_wal` on 15,
/// `pg_stat_io` on 18. Background processes are kept from syncing during the test.
#[test]
fn the_sync_of_the_log_is_the_servers_own_figure() {
    on_each_server(|cluster| {
        let version = cluster.connect().unwrap().server_version() / 10_000;
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE TABLE t (a int)").unwrap();
        for setting in ["wal_writer_delay = '10s'", "autovacuum = off", "checkpoint_timeout = '1h'"]
        {
            admin.batch(&format!("ALTER SYSTEM SET {setting}")).unwrap();
        }
        admin.batch("SELECT pg_reload_conf()").unwrap();
        let (view, time) = if version < 18 {
            ("pg_stat_wal", "SELECT wal_sync_time FROM pg_stat_wal")
        } else {
            (
                "pg_stat_io",
                "SELECT sum(fsync_time) FROM pg_stat_io WHERE object = 'wal' AND backend_type = \
                 'client backend'",
            )
        };
        let mut session = cluster.connect().unwrap();
        // The table and the settings are in the log before anything is watched.
        session.batch("INSERT INTO t VALUES (0)").unwrap();
        for client in [&mut admin, &mut session] {
            client.batch(FLUSH_OWN_COUNTERS).unwrap();
        }
        let mut timed_s = || admin.cell(time).unwrap().unwrap().parse::<f64>().unwrap() / 1e3;
        let before_s = timed_s();
        let collected = collect(cluster, vec![session.backend_pid()], || {
            let start = Instant::now();
            while start.elapsed() < WINDOW {
                session.batch("INSERT INTO t VALUES (1)").unwrap();
            }
            session.batch(FLUSH_OWN_COUNTERS).unwrap();
        })
        .unwrap();
        let server_s = timed_s() - before_s;
        let sync =
            collected.waits.iter().find(|wait| wait.wait_type.eq_ignore_ascii_case("IO:WALSync"));
        let Some(sync) = sync else {
            assert!(server_s < 0.1 * WINDOW.as_secs_f64(), "{server_s} s of syncing were not seen");
            println!("SKIPPED: syncing takes no time on this file system");
            return;
        };
        near(sync.wait_s(), server_s, 0.01, "seconds of syncing");
        let counter = WaitSource::Server { counter: view.into(), error_s: None };
        assert_eq!(sync.source, counter, "{version}");
        assert!(sync.count.unwrap() > 0);
        // The others are sampled, and say on how many samples they rest.
        let others =
            collected.waits.iter().filter(|wait| matches!(wait.source, WaitSource::Sampled { .. }));
        others.for_each(|wait| {
            assert!(
                wait.source.samples().unwrap() > 0 && wait.source.error_s().unwrap() > 0.0,
                "{wait:?}"
            );
        });
    });
}

#[test]
fn a_role_without_rights_is_told_what_it_does_not_see() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE ROLE plain LOGIN").unwrap();
        let show = |admin: &mut Client, setting: &str| {
            let rows = admin.query(&format!("SHOW {setting}"), &[]).unwrap();
            rows.first().unwrap().get(0).unwrap().to_owned()
        };
        let (folder, port) =
            (show(&mut admin, "unix_socket_directories"), show(&mut admin, "port"));
        let plain =
            format!("host='{}' port={port} user=plain dbname=postgres", folder.trim_matches('"'));
        let sleeper = Session::doing(cluster, "SELECT pg_sleep(600)");
        wait_until("a session sleeps", || is_doing(&mut admin, sleeper.pid, "active:PgSleep"));
        let see = || {
            let mut observer = observer(&plain);
            std::thread::sleep(Duration::from_millis(300));
            let activity = observer.window().unwrap();
            let lost = activity.lost.iter().any(|sentence| sentence.contains("GRANT pg_monitor"));
            (seconds(&activity.waits, "Timeout:PgSleep") > 0.0, lost)
        };
        assert_eq!(see(), (false, true));
        admin.batch("GRANT pg_monitor TO plain").unwrap();
        assert_eq!(see(), (true, false));
        sleeper.end();
    });
}

#[test]
fn the_profile_of_pg_wait_sampling_says_the_same_as_samples() {
    let compared = Cell::new(false);
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        let available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_wait_sampling'";
        if admin.query(available, &[]).unwrap().is_empty() {
            return;
        }
        let preload = [("shared_preload_libraries".to_owned(), "pg_wait_sampling".to_owned())];
        cluster.apply(&preload.into(), &Cancel::new()).unwrap();
        let mut admin = cluster.connect().unwrap();
        admin.batch("CREATE EXTENSION pg_wait_sampling").unwrap();
        let sleeper = Session::doing(cluster, "SELECT pg_sleep(600)");
        let worker = Session::doing(cluster, "DO 'BEGIN LOOP END LOOP; END'");
        wait_until("a session sleeps", || is_doing(&mut admin, sleeper.pid, "active:PgSleep"));
        for (use_profile, source) in [(true, PROFILE), (false, ACTIVITY)] {
            let sampler =
                sampler(&cluster.config(), ObserveOptions { use_profile, ..live() }).unwrap();
            std::thread::sleep(WINDOW);
            let window = sampler.window().unwrap();
            assert_eq!(window.source, source);
            let of = |pid, waiting| {
                let samples = window
                    .samples
                    .iter()
                    .filter(|(sample, _)| sample.pid == pid && sample.wait.is_some() == waiting);
                samples.map(|(_, count)| *count as f64).sum::<f64>() * window.sample_s()
            };
            near(of(sleeper.pid, true), window.elapsed.as_secs_f64(), 0.1, source);
            near(of(worker.pid, false), window.elapsed.as_secs_f64(), 0.1, source);
            assert!(of(worker.pid, true) < 0.1 * WINDOW.as_secs_f64());
        }
        sleeper.end();
        worker.end();
        compared.set(true);
    });
    if !compared.get() {
        println!("SKIPPED: pg_wait_sampling is not installed for any server");
    }
}

#[test]
fn samples_are_taken_at_their_rate_or_said_to_be_missed_and_observers_do_not_see_observers() {
    on_each_server(|cluster| {
        let mut other = observer(&cluster.config().to_string());
        let sampler = sampler(&cluster.config(), ObserveOptions { hz: 200.0, ..live() }).unwrap();
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(700));
            let window = sampler.window().unwrap();
            let due = window.elapsed.as_secs_f64() * 200.0;
            assert!(
                ((window.polls + window.missed) as f64 - due).abs() <= 2.0,
                "{window:?} of {due}"
            );
            assert!(window.processes.values().all(|process| !process.for_client()), "{window:?}");
        }
        let activity = other.window().unwrap();
        assert!(activity.cells.iter().all(|cell| !cell.for_client), "{:?}", activity.cells);
        assert!(activity.processes.iter().any(|process| process.process == "checkpointer"));
    });
}

#[test]
fn counters_that_were_reset_and_servers_that_went_away_are_errors() {
    on_each_server(|cluster| {
        let mut admin = cluster.connect().unwrap();
        let reset = collect(cluster, vec![admin.backend_pid()], || {
            admin.batch("SELECT pg_stat_reset_shared('wal')").unwrap();
        });
        let message = reset.unwrap_err().to_string();
        assert!(message.contains("pg_stat_wal were reset during the measurement"), "{message}");
        let gone = collect(cluster, vec![admin.backend_pid()], || {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \
                       application_name = 'steelbench observer'";
            admin.batch(end).unwrap();
        });
        let message = gone.unwrap_err().to_string();
        assert!(
            message.contains("terminating connection due to administrator command"),
            "{message}"
        );
    });
}
