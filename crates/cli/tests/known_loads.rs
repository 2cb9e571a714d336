//! The time of sixteen sessions on busy processors, under loads whose waits are known: the parts
//! are what the load is made of, and they sum to the sessions' time.

use crate::common::Lab;
use crate::servers::{self, lab, newest, nothing_is_left, versions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Length of a transaction's sleep in `sleep.sql`, and while it holds a row in `lock.sql`.
const SLEEP_S: f64 = 0.05;
const HOLD_S: f64 = 0.01;

/// The scripts of the loads in the dialect of an engine, and its names of waits.
struct Dialect {
    target: String,
    sleep: &'static str,
    spin: &'static str,
    sleep_wait: &'static str,
}

/// Threads that keep every processor busy until this is dropped.
struct BusyLoops(Arc<AtomicBool>);

impl BusyLoops {
    fn on_every_processor() -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let goes_on = goes_on.clone();
            std::thread::spawn(move || {
                while goes_on.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(goes_on)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A trial of a load: what it did, and the seconds of its sessions' time by part.
#[derive(Debug)]
struct Trial {
    script: String,
    transactions: f64,
    session_s: f64,
    cpu_s: f64,
    queue_s: f64,
    sleep_s: f64,
    /// Standard error of `sleep_s` that comes from sampling; 0 where it is counted.
    sleep_error_s: f64,
    client_s: f64,
    lock_s: f64,
    all_s: f64,
}

fn trials(lab: &Lab, dialect: &Dialect) -> Vec<Trial> {
    let sum = |of: &str| {
        format!(
            "(SELECT coalesce(sum(resource_s + signal_s), 0) FROM waits w WHERE w.trial = t.id \
             AND {of})"
        )
    };
    let sums = [
        sum("wait_type = 'CPU_QUEUE'"),
        sum(&format!("wait_type = '{}'", dialect.sleep_wait)),
        format!(
            "(SELECT coalesce(max(error_s), 0) FROM waits w WHERE w.trial = t.id AND wait_type = \
             '{}')",
            dialect.sleep_wait
        ),
        sum("class = 'client'"),
        sum("class = 'lock'"),
        format!("cpu_s + {}", sum("1")),
    ];
    let sql = format!(
        "SELECT l.level, transactions, session_s, cpu_s, {} FROM trials t JOIN \
         configuration_levels l ON l.configuration = t.configuration WHERE l.factor = \
         'workload.script' ORDER BY 1",
        sums.join(", ")
    );
    let rows = lab.rows("t", &sql);
    let trial = |row: &String| {
        let mut parts = row.split('|');
        let script = parts.next().unwrap().to_owned();
        let figures: Vec<f64> = parts.map(|part| part.parse().unwrap()).collect();
        let [
            transactions,
            session_s,
            cpu_s,
            queue_s,
            sleep_s,
            sleep_error_s,
            client_s,
            lock_s,
            all_s,
        ] = figures[..]
        else {
            panic!("{row}");
        };
        Trial {
            script,
            transactions,
            session_s,
            cpu_s,
            queue_s,
            sleep_s,
            sleep_error_s,
            client_s,
            lock_s,
            all_s,
        }
    };
    rows.iter().map(trial).collect()
}

/// Compares a load's parts with those that it is known to have, whatever the machine's speed.
fn judge(trial: &Trial) {
    let within = |figure: f64, least: f64, most: f64, what: &str| {
        assert!((least..=most).contains(&figure), "{what}: {figure} s of {trial:#?}");
    };
    let all_s = trial.session_s;
    within(trial.all_s, 0.95 * all_s, 1.05 * all_s, "everything");
    match trial.script.as_str() {
        // A session sleeps once in a transaction; it is woken up late, but that is the run queue.
        // Samples err by what they say themselves. Counted waits share the run queue by their time,
        // so that most of it is taken from the sleep although it belongs to other waits.
        "sleep.sql" => {
            let asked_s = trial.transactions * SLEEP_S;
            let error_s = 3.0 * trial.sleep_error_s;
            let is_counted = trial.sleep_error_s <= 0.0;
            let least_s = 0.94 * asked_s - if is_counted { trial.queue_s } else { error_s };
            within(trial.sleep_s, least_s, 1.1 * asked_s + error_s, "sleep");
        }
        // One session holds the row, and the others wait for it but for what their clients take.
        "lock.sql" => {
            let asked_s = trial.transactions * HOLD_S;
            within(trial.sleep_s, 0.5 * asked_s, 2.0 * asked_s, "sleep with the row");
            let rest_s = trial.cpu_s + trial.queue_s + trial.sleep_s + trial.client_s;
            within(trial.lock_s, 0.8 * (all_s - rest_s), all_s * 15.0 / 16.0, "row lock");
        }
        // The client, one thread for all sessions, comes late where all processors are busy.
        "spin.sql" => {
            let work_s = trial.cpu_s + trial.queue_s;
            within(work_s + trial.client_s, 0.9 * all_s, 1.05 * all_s, "work");
            within(trial.client_s, 0.0, 0.5 * work_s, "client");
        }
        // A session has nothing to do until its client, one thread for all of them, comes to it.
        "ping.sql" => {
            within(trial.cpu_s + trial.queue_s + trial.client_s, 0.9 * all_s, 1.05 * all_s, "ping");
        }
        other => panic!("{other}"),
    }
}

fn loads_are_accounted_for(dialect: &Dialect) {
    let lab = lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\n{}\nsetup.sql = \"row.sql\"\n[workload]\nprobe = \
         \"script\"\nconnections = 16\nduration = \"2 s\"\nmax_tries = \
         1000\n[factors]\n\"workload.script\" = [\"sleep.sql\", \"lock.sql\", \"spin.sql\", \
         \"ping.sql\"]\n[repeats]\nblocks = 1\n",
        dialect.target
    ));
    let sleep = |seconds: f64| format!("{}({seconds});", dialect.sleep);
    let update = "UPDATE one_row SET n = n + 1 WHERE id = 1;";
    lab.write(
        "row.sql",
        "CREATE TABLE one_row (id int PRIMARY KEY, n int); INSERT INTO one_row VALUES (1, 0);",
    );
    lab.write("sleep.sql", &sleep(SLEEP_S));
    lab.write("lock.sql", &format!("BEGIN;\n{update}\n{}\nCOMMIT;\n", sleep(HOLD_S)));
    lab.write("spin.sql", dialect.spin);
    lab.write("ping.sql", "SELECT 1;");
    let busy = BusyLoops::on_every_processor();
    lab.run(0);
    drop(busy);
    let trials = trials(&lab, dialect);
    assert_eq!(trials.len(), 4);
    trials.iter().for_each(judge);
    nothing_is_left(&lab);
}

#[test]
fn known_loads_of_postgres_are_accounted_for() {
    let Some(versions) = versions() else { return };
    let newest = newest(&versions);
    loads_are_accounted_for(&Dialect {
        target: format!("engine = \"postgres\"\nversion = {}", newest.trim_matches(['[', ']'])),
        sleep: "SELECT pg_sleep",
        spin: "SELECT sum(g % 7) FROM generate_series(1, 50000) g;",
        sleep_wait: "Timeout:PgSleep",
    });
}

#[test]
fn known_loads_of_mariadb_are_accounted_for() {
    if servers::installed::mariadb_installations().is_empty() {
        return;
    }
    loads_are_accounted_for(&Dialect {
        target: "engine = \"mariadb\"".to_owned(),
        sleep: "DO SLEEP",
        spin: "SELECT benchmark(300000, 7 * 7 % 5);",
        sleep_wait: "wait/synch/cond/sql/Item_func_sleep::cond",
    });
}
