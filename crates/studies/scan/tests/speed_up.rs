//! The speed-up of scans by the degree of parallelism: recovered from simulated scans that follow
//! Amdahl's law.

use analysis::{ScalingClass, summarize};
use observations::{Fact, Observations, Recording, Response, Value};
use scan::speed_up::{SpeedUp, speed_ups};
use testing::recordings::{Random, done, recording};

/// Scans of which this share cannot be divided, and that take so much more processor time for each
/// further worker.
struct Law {
    serial: f64,
    overhead: f64,
}

impl Law {
    fn speed_up(&self, degree: f64) -> f64 {
        1.0 / (self.serial + (1.0 - self.serial) / degree)
    }

    fn processor_time(&self, degree: f64) -> f64 {
        1.0 + self.overhead * (degree - 1.0)
    }
}

/// Scans of 100 ms at degree 1, with noise.
fn scans(law: &Law, levels: &[&str], blocks: u32, mut noise: impl FnMut() -> f64) -> Recording {
    let mut recording = recording(&[("workload.degree", levels), ("query", &["sum", "q1"])]);
    for configuration in &mut recording.configurations {
        let degree: i64 = configuration.level("workload.degree").unwrap().parse().unwrap();
        configuration.settings.insert("workload.probe".to_owned(), "scan".to_owned().into());
        configuration.settings.insert("workload.degree".to_owned(), Value::Integer(degree));
        let query = configuration.level("query").unwrap().to_owned();
        configuration.settings.insert("workload.query".to_owned(), query.into());
    }
    for block in 1..=blocks {
        for (position, configuration) in recording.configurations.clone().iter().enumerate() {
            let degree: f64 = configuration.level("workload.degree").unwrap().parse().unwrap();
            let scan_ms = 100.0 / law.speed_up(degree) * noise();
            let cpu_ms = 100.0 * law.processor_time(degree);
            let observations = Observations {
                elapsed_s: scan_ms / 1e3,
                connections: 1,
                responses: vec![
                    Response::lower("scan", "ms", scan_ms),
                    Response::lower("cpu_per_row", "us/row", cpu_ms),
                ],
                facts: vec![Fact { name: "cpu_s".into(), unit: "s".into(), value: cpu_ms / 1e3 }],
                ..Observations::default()
            };
            recording.trials.push(done(position, block, observations));
        }
    }
    recording
}

#[test]
fn amdahls_law_comes_back() {
    let law = Law { serial: 0.1, overhead: 0.05 };
    let recording = scans(&law, &["4", "1", "2"], 3, || 1.0);
    let all = speed_ups(&summarize(&recording));
    assert_eq!(
        all.iter().map(|row| row.group.as_str()).collect::<Vec<_>>(),
        ["query=sum", "query=q1"]
    );
    for SpeedUp { rows, .. } in &all {
        assert_eq!(rows.iter().map(|row| row.degree).collect::<Vec<_>>(), [1, 2, 4]);
        assert!(rows[0].speed_up.is_none() && rows[0].efficiency.is_none());
        for (row, degree) in rows.iter().zip([1.0, 2.0, 4.0]).skip(1) {
            let near = |value: f64, expected: f64| {
                assert!((value / expected - 1.0).abs() < 1e-9, "{value} {expected}");
            };
            near(row.speed_up.as_ref().unwrap().value, law.speed_up(degree));
            near(row.efficiency.unwrap(), law.speed_up(degree) / degree);
            near(row.processor_time.as_ref().unwrap().value, law.processor_time(degree));
            near(
                row.busy.as_ref().unwrap().mean,
                law.processor_time(degree) * law.speed_up(degree),
            );
        }
    }
    // 1.82 of 2 is linear, 3.08 of 4 is not.
    let class = |row: usize| all[0].rows[row].between.unwrap();
    assert_eq!(class(1), (ScalingClass::Linear, ScalingClass::Linear));
    assert_eq!(class(2), (ScalingClass::SubLinear, ScalingClass::SubLinear));
}

/// Intervals hold the speed-up as often as they promise.
#[test]
fn intervals_of_speed_up_hold() {
    const EXPERIMENTS: u32 = 300;
    let (law, mut random, mut held) = (Law { serial: 0.2, overhead: 0.0 }, Random::new(3), 0);
    for _ in 0..EXPERIMENTS {
        let recording = scans(&law, &["1", "2"], 5, || (0.05 * random.normal()).exp());
        let rows = speed_ups(&summarize(&recording)).remove(0).rows;
        let interval = rows[1].efficiency_interval.unwrap();
        held += u32::from(interval.contains(law.speed_up(2.0) / 2.0));
    }
    let share = f64::from(held) / f64::from(EXPERIMENTS);
    println!("{held} of {EXPERIMENTS} intervals hold the efficiency: {share:.3}");
    assert!((0.92..=0.98).contains(&share));
}

#[test]
fn a_degree_that_was_not_varied_has_no_section() {
    let recording = scans(&Law { serial: 0.0, overhead: 0.0 }, &["2"], 2, || 1.0);
    assert!(speed_ups(&summarize(&recording)).is_empty());
}
