//! Crashes of private servers: what was committed is there, and the log is as long as asked for.

use availability::replication::for_engine;
use availability::restart::{CHECKPOINT_DISTANCE, COMMITTED, PRESENT, Restart};
use experiment::Value;
use testing::trials::{installed, text};

#[test]
fn a_killed_server_recovers_what_was_committed() {
    for engine in &installed() {
        if for_engine(engine.engine.name).is_none() {
            continue;
        }
        let mut bench = engine.bench();
        for distance in [0, 6 << 20] {
            let settings = [("workload.distance", Value::Integer(distance))];
            let removed = bench.measured(&Restart, &settings, |_, observations| {
                let observations =
                    observations.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
                println!("{}: {:?} {:?}", engine.name, observations.responses, observations.facts);
                let far = CHECKPOINT_DISTANCE.read(&observations).unwrap();
                assert!(far >= distance as f64 && far < distance as f64 + 4e6, "{far}");
                assert_eq!(
                    COMMITTED.read(&observations),
                    PRESENT.read(&observations),
                    "{}",
                    engine.name
                );
                assert_eq!(COMMITTED.read(&observations) > Some(0.0), distance > 0);
                assert_eq!(observations.response("lost_rows"), Some(0.0));
                assert!(observations.response("recovery").unwrap() > 0.0);
            });
            removed.unwrap();
        }
    }
}

/// Checkpoints come too early for the distance: the error says which settings allow more.
#[test]
fn a_server_with_early_checkpoints_says_what_to_change() {
    let Some(engine) =
        installed().into_iter().find(|installation| installation.name.starts_with("postgres"))
    else {
        return;
    };
    let settings = [
        ("workload.distance", Value::Integer(16 << 20)),
        ("target.wal_segment_size", Value::Integer(1 << 20)),
        ("target.settings.max_wal_size", text("2MB")),
        ("target.settings.synchronous_commit", text("off")),
    ];
    let removed = engine.measured(&Restart, &settings, |_, result| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("allow more log between checkpoints (max_wal_size"), "{error}");
    });
    removed.unwrap();
}

#[test]
fn what_cannot_be_killed_is_refused_before_anything_runs() {
    for engine in &installed() {
        let refused = |settings: &[(&'static str, Value)]| {
            engine.objections(&Restart, &engine.configuration(settings))
        };
        let expected: &[&str] =
            if for_engine(engine.engine.name).is_some() { &[] } else { &["workload.probe"] };
        assert_eq!(refused(&[]), expected, "{}", engine.name);
    }
}
