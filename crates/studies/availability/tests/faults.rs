//! Faults of private pairs of servers, with known answers.

use availability::failover::Failover;
use availability::failover::facts::{
    ACKNOWLEDGED, DUPLICATES, ERRORS, LOST, PROMOTION, SILENT, UNEXPECTED, UNKNOWN,
};
use experiment::Value;
use observations::Observations;
use testing::trials::{Bench, TestEngine, installed, text};

/// PostgreSQL, where it is installed; the search says so where it is not.
fn postgres() -> Option<TestEngine> {
    installed().into_iter().find(|installation| installation.name.starts_with("postgres"))
}

/// MariaDB with a small log, which a replica copies.
fn mariadb() -> Option<TestEngine> {
    let found =
        installed().into_iter().find(|installation| installation.name.starts_with("mariadb"));
    found.map(|mut installation| {
        installation.settings.push(("target.settings.innodb_log_file_size", text("8M")));
        installation
    })
}

/// Runs a trial; settings that are given last count.
fn run(bench: &mut Bench<'_>, settings: &[(&'static str, Value)]) -> Observations {
    let short = [
        ("workload.before", Value::Float(0.3)),
        ("workload.after", Value::Float(0.6)),
        ("workload.detection", Value::Float(0.1)),
    ];
    let short: Vec<_> = short.into_iter().chain(settings.iter().cloned()).collect();
    let mut found = None;
    let removed = bench.measured(&Failover, &short, |_, result| found = Some(result.unwrap()));
    removed.unwrap();
    let observations = found.unwrap();
    for (kind, count) in ERRORS.members(&observations) {
        println!("{count} x {kind}");
    }
    println!("{:?}\n{:?}", observations.responses, observations.facts);
    assert_eq!(
        (UNEXPECTED.read(&observations), SILENT.read(&observations)),
        (Some(0.0), Some(0.0))
    );
    observations
}

#[test]
fn a_cut_of_3_s_gives_a_gap_of_3_s() {
    postgres().iter().for_each(cut);
}

#[test]
fn a_cut_of_3_s_gives_a_gap_of_3_s_on_mariadb() {
    mariadb().iter().for_each(cut);
}

fn cut(engine: &TestEngine) {
    let settings = [
        ("workload.fault", text("cut")),
        ("workload.cut", Value::Float(3.0)),
        ("workload.client_timeout", Value::Float(30.0)),
    ];
    let observations = run(&mut engine.bench(), &settings);
    // A busy machine can make connections wait for longer, and none for less.
    for name in ["gap_median", "gap_max", "first_success"] {
        let seconds = observations.response(name).unwrap();
        assert!((2.85..=3.6).contains(&seconds), "{name}: {seconds} s");
    }
    assert_eq!(LOST.read(&observations), Some(0.0));
    assert_eq!(DUPLICATES.read(&observations), Some(0.0));
    assert_eq!(PROMOTION.read(&observations), None);
    // All waited for their answers.
    assert_eq!(ERRORS.members(&observations).count(), 0);
}

/// The replica has what was acknowledged, if commits waited for it.
#[test]
fn kills_with_a_synchronous_replica_lose_nothing() {
    let Some(engine) = postgres() else { return };
    let mut bench = engine.bench();
    for (level, fault) in [("on", "kill"), ("remote_apply", "kill"), ("on", "stop")] {
        let settings = [
            ("workload.fault", text(fault)),
            ("workload.synchronous", Value::Bool(true)),
            ("workload.client_timeout", Value::Float(0.3)),
            ("target.settings.synchronous_commit", text(level)),
        ];
        let observations = run(&mut bench, &settings);
        assert!(ACKNOWLEDGED.read(&observations).unwrap() > 50.0);
        assert_eq!(LOST.read(&observations), Some(0.0), "{level} {fault}");
        // A server that was stopped does not close its connections. Some are closed with a message
        // of PostgreSQL when it is killed, and no new one is made.
        let kinds: Vec<&str> = ERRORS.members(&observations).map(|(kind, _)| kind).collect();
        let expected = if fault == "stop" { "no answer" } else { "connect" };
        assert!(kinds.iter().any(|kind| kind.starts_with(expected)), "{kinds:?}");
    }
}

/// Without a synchronous commit, the log of the last moments was not written when the server was
/// killed. A long delay of the log writer makes that certain.
#[test]
fn kills_with_asynchronous_commits_lose_acknowledged_writes() {
    let Some(engine) = postgres() else { return };
    let settings = [
        ("workload.fault", text("kill")),
        ("target.settings.synchronous_commit", text("off")),
        ("target.settings.wal_writer_delay", text("10s")),
    ];
    let observations = run(&mut engine.bench(), &settings);
    let (lost, acknowledged) =
        (LOST.read(&observations).unwrap(), ACKNOWLEDGED.read(&observations).unwrap());
    assert!(lost > 0.0 && lost < acknowledged, "{lost} of {acknowledged}");
    assert_eq!(observations.response("lost_writes"), Some(lost));
}

/// The replica has confirmed what was acknowledged, shown to others before or after that.
#[test]
fn kills_with_a_semi_synchronous_replica_lose_nothing() {
    let Some(engine) = mariadb() else { return };
    let mut bench = engine.bench();
    for (level, fault) in [("AFTER_SYNC", "kill"), ("AFTER_COMMIT", "stop")] {
        let settings = [
            ("workload.fault", text(fault)),
            ("workload.synchronous", Value::Bool(true)),
            ("workload.client_timeout", Value::Float(0.3)),
            ("target.settings.rpl_semi_sync_master_wait_point", text(level)),
        ];
        let observations = run(&mut bench, &settings);
        assert!(ACKNOWLEDGED.read(&observations).unwrap() > 50.0);
        assert_eq!(LOST.read(&observations), Some(0.0), "{level} {fault}");
    }
}

/// A replica that reads 8 kB a second has a part only of what was acknowledged when its primary is
/// killed. A semi-synchronous one slows the writes down instead.
#[test]
fn kills_with_a_slow_asynchronous_replica_lose_acknowledged_writes() {
    let Some(engine) = mariadb() else { return };
    let mut bench = engine.bench();
    for (synchronous, loses) in [(false, true), (true, false)] {
        let settings = [
            ("workload.fault", text("kill")),
            ("workload.synchronous", Value::Bool(synchronous)),
            ("target.settings.read_binlog_speed_limit", Value::Integer(8)),
        ];
        let observations = run(&mut bench, &settings);
        let (lost, all) =
            (LOST.read(&observations).unwrap(), ACKNOWLEDGED.read(&observations).unwrap());
        assert_eq!(lost > 0.0, loses, "{lost} of {all}");
        assert!(lost < all, "{lost} of {all}");
    }
}

#[test]
fn a_switchover_loses_nothing() {
    for engine in [postgres(), mariadb()].into_iter().flatten() {
        let observations = run(&mut engine.bench(), &[("workload.fault", text("switchover"))]);
        assert_eq!((LOST.read(&observations), UNKNOWN.read(&observations)), (Some(0.0), Some(0.0)));
        assert!(PROMOTION.read(&observations).unwrap() > 0.0);
    }
}

#[test]
fn refused_replication_says_what_to_change() {
    let Some(engine) = postgres() else { return };
    let settings = [("target.settings.max_wal_senders", Value::Integer(0))];
    let removed = engine.measured(&Failover, &settings, |_, result| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("making a replica (the primary needs wal_level"), "{error}");
        // Since version 17 the name of the setting is in quotes.
        assert!(error.contains("(currently 0)"), "{error}");
    });
    removed.unwrap();
}

#[test]
fn a_primary_that_refuses_its_replica_says_why() {
    let Some(engine) = mariadb() else { return };
    let settings = [("target.settings.require_secure_transport", Value::Bool(true))];
    let removed = engine.measured(&Failover, &settings, |_, result| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("attaching the replica"), "{error}");
        // Without encryption the server refuses each login by TCP.
        assert!(error.contains("Access denied for user 'steelbench_replica'"), "{error}");
    });
    removed.unwrap();
}

#[test]
fn what_cannot_fail_over_is_refused_before_anything_runs() {
    for engine in &installed() {
        let refused = |settings: &[(&'static str, Value)]| {
            engine.objections(&Failover, &engine.configuration(settings))
        };
        let (setting, url) = match engine.engine.name {
            "postgres" => ("target.settings.synchronous_standby_names", "postgres://host/db"),
            "mariadb" => ("target.settings.log_bin", "mariadb://host/db"),
            _ => {
                assert_eq!(refused(&[]), ["workload.probe"], "{}", engine.name);
                continue;
            }
        };
        assert_eq!(refused(&[]), [""; 0]);
        assert_eq!(refused(&[(setting, text("x"))]), [setting]);
        assert_eq!(refused(&[("target.url", text(url))]), ["target.url"]);
    }
}

/// Sums over fifty kills.
struct Kills {
    acknowledged: f64,
    lost: f64,
    /// Kills after which an acknowledged write was absent.
    lossy: usize,
}

/// Kills fifty primaries in turn and prints the sums.
fn fifty_kills(name: &str, engine: &TestEngine, settings: &[(&'static str, Value)]) -> Kills {
    let (mut bench, start) = (engine.bench(), std::time::Instant::now());
    let mut sum = Kills { acknowledged: 0.0, lost: 0.0, lossy: 0 };
    let settings: Vec<_> =
        settings.iter().cloned().chain([("workload.fault", text("kill"))]).collect();
    for _ in 0..50 {
        let observations = run(&mut bench, &settings);
        let lost = LOST.read(&observations).unwrap();
        sum.acknowledged += ACKNOWLEDGED.read(&observations).unwrap();
        sum.lost += lost;
        sum.lossy += usize::from(lost > 0.0);
    }
    let Kills { acknowledged, lost, lossy } = sum;
    let seconds = start.elapsed().as_secs();
    println!(
        "{name}: 50 kills in {seconds} s, {acknowledged} acknowledged writes, {lost} lost in \
         {lossy} kills"
    );
    sum
}

#[test]
#[ignore = "lane all: 50 kills"]
fn fifty_kills_with_a_synchronous_replica_lose_nothing() {
    let Some(engine) = postgres() else { return };
    let settings = [("workload.synchronous", Value::Bool(true))];
    let sum = fifty_kills("synchronous_commit = on", &engine, &settings);
    assert!(sum.acknowledged > 5000.0);
    assert!(sum.lost < 0.5);
}

/// The log writer is up to 0.6 s behind, so that most kills lose something.
#[test]
#[ignore = "lane all: 50 kills"]
fn fifty_kills_with_asynchronous_commits_lose_acknowledged_writes() {
    let Some(engine) = postgres() else { return };
    let settings = [("target.settings.synchronous_commit", text("off"))];
    let sum = fifty_kills("synchronous_commit = off", &engine, &settings);
    assert!(sum.lost > 0.0 && sum.lost < sum.acknowledged);
}

#[test]
#[ignore = "lane all: 50 kills"]
fn fifty_kills_with_a_semi_synchronous_replica_lose_nothing() {
    let Some(engine) = mariadb() else { return };
    let settings = [("workload.synchronous", Value::Bool(true))];
    let sum = fifty_kills("semi-synchronous", &engine, &settings);
    assert!(sum.acknowledged > 5000.0);
    assert!(sum.lost < 0.5);
}
