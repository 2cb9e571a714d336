//! Read values equal written values.

use crate::integrity;
use observations::{Environment, Recording, TrialStatus, WarningKind};
use store::{Fault, Store, StoreError};
use testing::sample;

fn write(store: &mut Store, recording: &Recording) -> i64 {
    let run = store.begin_run(&sample::plan()).unwrap();
    for environment in &recording.environments[1..] {
        store.add_environment(run, environment).unwrap();
    }
    recording.trials.iter().for_each(|trial| store.record_trial(run, trial).unwrap());
    run
}

#[test]
fn a_rich_recording_comes_back_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.steelbench");
    let mut recording = sample::recording(25);
    recording
        .environments
        .push(Environment { governor: Some("powersave".into()), ..Environment::default() });

    let mut writer = Store::create_or_open(&path).unwrap();
    let run = write(&mut writer, &recording);
    let reader = Store::open(&path).unwrap();
    assert_eq!(reader.read(run).unwrap(), recording);
    assert_eq!(reader.latest_run().unwrap().unwrap(), recording.run);
    assert_eq!(
        reader.read_plan(run).unwrap(),
        Recording { trials: Vec::new(), ..recording.clone() }
    );
    integrity::check_integrity(reader.path()).unwrap();

    let light = reader.recorded_trials(run).unwrap();
    assert_eq!(light.len(), recording.trials.len());
    for (light, trial) in light.iter().zip(&recording.trials) {
        assert_eq!(
            (light.configuration, light.block, light.attempt),
            (trial.configuration, trial.block, trial.attempt)
        );
        assert_eq!(
            (&light.status, light.wall_s, light.sequence),
            (&trial.status, trial.wall_s, trial.sequence)
        );
    }
}

/// The observations of a failed trial are kept with its cause.
#[test]
fn a_failed_trial_keeps_what_it_saw() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(folder.path().join("r")).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();
    let failed = sample::trial(9);
    assert!(matches!(failed.status, TrialStatus::Failed { .. }));
    store.record_trial(run, &failed).unwrap();
    let back = store.read(run).unwrap().trials.remove(0);
    assert_eq!(back, failed);
    let observations = back.observations.unwrap();
    assert_eq!(observations.devices.len(), 2);
    assert!(observations.warnings.iter().any(|warning| warning.kind == WarningKind::IoErrors));
}

#[test]
fn a_profile_can_be_queried_without_reading_its_stacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut store = Store::create_or_open(&path).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();
    store.record_trial(run, &sample::trial(0)).unwrap();
    let sql = "SELECT samples, kernel_samples, length(stacks) FROM profiles";
    let connection = rusqlite::Connection::open(&path).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    };
    let (samples, kernel, bytes) = connection.query_row(sql, [], row).unwrap();
    assert_eq!((samples, kernel), (64, 40));
    assert!(bytes < 300, "{bytes}");
    // Damage is an error, whatever it makes of the stacks.
    connection.execute("UPDATE profiles SET stacks = x'789c03000000000100'", []).unwrap();
    assert!(store.read(run).is_err());
}

/// The figures that texts read agree with the histograms.
#[test]
fn figures_are_those_of_the_histograms() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(folder.path().join("r")).unwrap();
    let run = write(&mut store, &sample::recording(4));
    let (mut whole, figures) = (store.read(run).unwrap(), store.read_figures(run).unwrap());
    let mut compared = 0;
    for (whole, figures) in whole.trials.iter_mut().zip(&figures.trials) {
        let (Some(whole), Some(figures)) = (&mut whole.observations, &figures.observations) else {
            continue;
        };
        for (whole, figures) in whole.latencies.iter_mut().zip(&figures.latencies) {
            let (known, read) = (&whole.histogram, &figures.histogram);
            assert_eq!(
                (known.len(), known.min_mean_max_ns()),
                (read.len(), read.min_mean_max_ns())
            );
            whole.histogram = read.clone();
            compared += 1;
        }
    }
    assert!(compared > 0);
    assert_eq!(whole, figures);
}

#[test]
fn runs_in_one_file_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(folder.path().join("r")).unwrap();
    assert_eq!(store.latest_run().unwrap(), None);
    let first = store.begin_run(&sample::plan()).unwrap();
    let second = store.begin_run(&sample::plan()).unwrap();
    // Trials of both, interleaved: a resumed older run may go on after a newer one.
    for i in 0..12 {
        store.record_trial(if i % 2 == 0 { first } else { second }, &sample::trial(i)).unwrap();
    }
    for (run, odd) in [(first, 0), (second, 1)] {
        let expected: Vec<_> = (0..12).filter(|i| i % 2 == odd).map(sample::trial).collect();
        assert_eq!(store.read(run).unwrap().trials, expected);
    }
    let ids: Vec<_> = store.runs().unwrap().iter().map(|run| run.id).collect();
    assert_eq!(ids, [first, second]);
}

#[test]
fn figures_keep_their_bits() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(folder.path().join("r")).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();
    let figures = [
        0.1 + 0.2,
        5e-324,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        9_007_199_254_740_993.0,
        f64::NAN,
    ];
    let mut trial = sample::trial(0);
    let observations = trial.observations.as_mut().unwrap();
    observations
        .responses
        .iter_mut()
        .zip(figures)
        .for_each(|(response, figure)| response.value = figure);
    store.record_trial(run, &trial).unwrap();

    let back = store.read_exact(run).unwrap().trials.remove(0).observations.unwrap();
    for (response, figure) in back.responses.iter().zip(figures) {
        assert!(
            response.value.to_bits() == figure.to_bits()
                || response.value.is_nan() && figure.is_nan()
        );
    }
}

#[test]
fn records_that_contradict_the_plan_are_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(folder.path().join("r")).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();

    let mut stray = sample::trial(0);
    stray.configuration = 3;
    assert!(matches!(
        store.record_trial(run, &stray),
        Err(StoreError { fault: Fault::Unrecordable(_), .. })
    ));
    let mut huge = sample::trial(1);
    huge.observations.as_mut().unwrap().operations[7].bytes = u64::MAX;
    assert!(matches!(
        store.record_trial(run, &huge),
        Err(StoreError { fault: Fault::Unrecordable(_), .. })
    ));
    assert!(matches!(
        store.record_trial(run + 1, &sample::trial(2)),
        Err(StoreError { fault: Fault::NoRun(_), .. })
    ));
    assert!(matches!(store.read(run + 1), Err(StoreError { fault: Fault::NoRun(_), .. })));
    assert!(matches!(
        store.add_environment(9, &Environment::default()),
        Err(StoreError { fault: Fault::NoRun(_), .. })
    ));

    let refused = |store: &mut Store, change: fn(&mut Recording)| {
        let mut plan = sample::plan();
        change(&mut plan);
        let error = store.begin_run(&plan).unwrap_err();
        assert!(matches!(error.fault, Fault::Unrecordable(_)), "{error}");
    };
    refused(&mut store, |plan| plan.run.baseline = Some(3));
    refused(&mut store, |plan| plan.factors[0].numeric = Some(vec![1.0]));

    assert_eq!(store.runs().unwrap().len(), 1);
    assert_eq!(store.read(run).unwrap(), sample::plan());
}

/// The promise to users: results can be asked for with plain SQL.
#[test]
fn views_answer_plain_questions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recording = sample::recording(4);
    let mut store = Store::create_or_open(&path).unwrap();
    let run = write(&mut store, &recording);
    let other = rusqlite::Connection::open(&path).unwrap();
    let sum: f64 = other
        .query_row(
            "SELECT sum(wait_s) FROM trial_waits WHERE run = ?1 AND block = 1",
            [run],
            |row| row.get(0),
        )
        .unwrap();
    let expected: f64 = recording
        .done()
        .filter(|(trial, _)| trial.block == 1)
        .flat_map(|(_, observations)| &observations.waits)
        .map(observations::Wait::wait_s)
        .sum();
    assert!((sum - expected).abs() < 1e-9 * expected, "{sum} {expected}");
    let sql = "SELECT busy_share, mean_queue, write_latency_us FROM trial_devices WHERE device = \
               'loop3' LIMIT 1";
    let (busy, queue, latency_us): (f64, f64, f64) =
        other.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    // The sample's first trial takes a second, of which 4000 writes take two, summed.
    assert!((busy - 0.9).abs() < 1e-9 && (queue - 31.7).abs() < 1e-9, "{busy} {queue}");
    assert!((latency_us - 500.0).abs() < 1e-9, "{latency_us}");
    let values: i64 = other
        .query_row("SELECT count(*) FROM series, json_each(interval_values)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(values, 4 * 8);
}

/// Not an assertion on time: `cargo test --release -p store -- --ignored --nocapture` prints it.
#[test]
#[ignore = "prints how long 10,000 trials take to read"]
fn ten_thousand_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut store = Store::create_or_open(&path).unwrap();
    let run = store.begin_run(&sample::plan()).unwrap();
    let start = std::time::Instant::now();
    (0..10_000).for_each(|i| store.record_trial(run, &sample::trial(i)).unwrap());
    let written = start.elapsed();
    drop(store);
    let start = std::time::Instant::now();
    let recording = Store::open(&path).unwrap().read(run).unwrap();
    let read = start.elapsed();
    assert_eq!(recording.trials.len(), 10_000);
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("10,000 trials: written in {written:?}, read in {read:?}, {} MB", bytes / 1_000_000);
}
