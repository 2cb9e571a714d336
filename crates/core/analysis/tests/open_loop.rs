//! Open loops: figures that the schedule sets are not a sign of drift, and an overloaded loop
//! decides nothing.

use analysis::{Standing, summarize};
use observations::{LoadHealth, Observations, Recording, Response, Warning, WarningKind};
use testing::recordings;
use testing::recordings::{Random, done, recording};

/// A trial of 10 s at about 1,000 transactions a second, of which the block's schedule has drawn so
/// many.
fn trial(starts: f64, latency_ms: f64, service_ms: f64) -> Observations {
    let mut observations = recordings::observed(10.0);
    observations.responses = vec![
        Response::lower("latency_p99", "ms", latency_ms),
        Response::higher("throughput", "transactions/s", starts / 10.0),
        Response::lower("service_mean", "ms", service_ms),
    ];
    observations.load = LoadHealth {
        sends_intended: starts as u64,
        sends_late: Some(0),
        schedule_s: Some(9.99),
        free_until_s: Some(9.99),
        ..LoadHealth::default()
    };
    observations
}

/// Four configurations in five blocks on a machine that does not change; `compared` on this
/// response.
fn steady(random: &mut Random, compared: &str) -> Recording {
    let mut recording = recording(&[("target.data_files", &["1", "2", "4", "8"])]);
    recording.run.response = Some(compared.to_owned());
    for block in 1..=5 {
        let starts = 10_000.0 + 100.0 * random.normal();
        // Queues follow the schedule: a bunch of starts is slow whatever the target does.
        let queue = (0.2 * random.normal()).exp();
        for configuration in 0..4 {
            let noise = |random: &mut Random, share: f64| 1.0 + share * random.normal();
            let (latency, service) = (9.0 * queue * noise(random, 0.03), 2.0 * noise(random, 0.02));
            let trial = trial(starts + random.normal().round(), latency, service);
            recording.trials.push(done(configuration, block, trial));
        }
    }
    recording
}

#[test]
fn schedules_of_blocks_do_not_make_a_machine_that_changes() {
    let mut random = Random::new(5);
    for compared in ["throughput", "latency_p99"] {
        let (mut claims, mut claims_of_closed) = (0, 0);
        for _ in 0..500 {
            let mut recording = steady(&mut random, compared);
            claims += u32::from(summarize(&recording).drift().unwrap().supported);
            // The same figures as if no schedule had set them.
            for trial in &mut recording.trials {
                trial.observations.as_mut().unwrap().load = LoadHealth::default();
            }
            claims_of_closed += u32::from(summarize(&recording).drift().unwrap().supported);
        }
        // 5 % of 500 and three deviations of a binomial count.
        assert!(claims <= 40, "{compared}: {claims} of 500 steady machines are said to change");
        assert!(claims_of_closed > 450, "{compared}: {claims_of_closed}");
    }
}

#[test]
fn a_machine_that_slows_down_is_seen_in_its_service_time() {
    let mut random = Random::new(6);
    let mut recording = steady(&mut random, "latency_p99");
    for trial in recording.trials.iter_mut().filter(|trial| trial.block >= 4) {
        trial.observations.as_mut().unwrap().responses[2].value *= 1.3;
    }
    let summary = summarize(&recording);
    let drift = summary.drift().unwrap();
    assert!(drift.supported && drift.response == "service_mean", "{drift:?}");
    assert!(
        summary
            .findings()
            .iter()
            .any(|finding| finding.text.starts_with("Blocks differ in service_mean ("))
    );
}

#[test]
fn one_overloaded_trial_leaves_the_latencies_of_its_configuration_without_a_verdict() {
    let mut recording = steady(&mut Random::new(7), "latency_p99");
    for (trial, observation) in
        recording.trials.iter_mut().filter(|trial| trial.configuration == 3).map(|trial| {
            let block = trial.block;
            (block, trial.observations.as_mut().unwrap())
        })
    {
        // Where it keeps up it looks twice as fast as all others.
        observation.responses[0].value /= 2.0;
        if trial == 2 {
            observation.responses[0].value = 4_000.0;
            let detail = "6,000 transactions/s were asked for".to_owned();
            observation.warnings.push(Warning { kind: WarningKind::Overloaded, detail });
        }
    }
    let summary = summarize(&recording);
    let row = &summary.configurations[3];
    assert_eq!(
        (row.standing, &row.response, &row.factor, &row.against_best),
        (Standing::Unknown, &None, &None, &None)
    );
    assert!(summary.configurations[..3].iter().all(|row| row.standing != Standing::Unknown));
    let texts: Vec<String> = summary.findings().into_iter().map(|finding| finding.text).collect();
    assert!(
        texts.iter().any(
            |text| text.starts_with("In 1 of 5 trials of data_files=8 the load could not keep")
        ),
        "{texts:?}"
    );
    assert!(
        texts
            .iter()
            .all(|text| !text.contains("data_files=8 is") && !text.contains("at data_files=8")),
        "{texts:?}"
    );
    assert_eq!(summary.open_loop()[3].overloaded, 1);
}

/// Five blocks are enough; what is missing are the figures of the level that was overloaded each
/// time.
#[test]
fn an_overloaded_level_is_why_levels_cannot_be_compared() {
    let mut recording = recording(&[("target.data_files", &["1", "2"])]);
    recording.run.response = Some("latency_p99".to_owned());
    for block in 1..=5 {
        for configuration in 0..2 {
            let mut trial = trial(10_000.0, 9.0 + f64::from(block) / 10.0, 2.0);
            if configuration == 1 {
                let detail = "6,000 transactions/s were asked for".to_owned();
                trial.warnings.push(Warning { kind: WarningKind::Overloaded, detail });
            }
            recording.trials.push(done(configuration, block, trial));
        }
    }
    let texts: Vec<String> =
        summarize(&recording).findings().into_iter().map(|finding| finding.text).collect();
    let expected = "The levels of data_files cannot be compared: 1 of the 2 configurations have \
                    no values.";
    assert!(texts.iter().any(|text| text == expected), "{texts:?}");
}
