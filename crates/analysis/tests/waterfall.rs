//! A decomposition worked out by hand.

mod common;

use analysis::{Part, PartKind, Side, compare};
use common::{done, observed, recording, wait};
use observations::{Observations, TimeUse, Wait, WaitClass, Work};

/// A trial over 1,000 rows whose sessions have 40 seconds.
fn trial(connections: u32, cpu_s: f64, waits: Vec<Wait>) -> Observations {
    Observations {
        connections,
        time: TimeUse { session_s: 40.0, cpu_s, cpu_user_s: None },
        work: Work { unit: "row".to_owned(), amount: 1_000, ..Work::default() },
        waits,
        ..observed(40.0 / f64::from(connections))
    }
}

/// From and to in microseconds for each row.
fn table(parts: &[Part]) -> Vec<(PartKind, i64, i64)> {
    let micros = |seconds: f64| (1e6 * seconds).round() as i64;
    parts.iter().map(|part| (part.kind.clone(), micros(part.from_s), micros(part.to_s))).collect()
}

/// 4 connections take 10 s, 8 connections 5 s: the same session time, half the elapsed time.
#[test]
fn parts_in_session_and_in_elapsed_time() {
    let mut run = recording(&[("workload.connections", &["4", "8"])]);
    for block in 1..=2 {
        let four = [("WAL_SYNC", WaitClass::Log, 20.0, 2.0), ("ARRIVAL", WaitClass::Client, 4.0, 0.0)];
        let eight = [
            ("WAL_SYNC", WaitClass::Log, 6.0, 1.0),
            ("WRITER_LOCK", WaitClass::Lock, 16.0, 0.0),
            ("CPU_QUEUE", WaitClass::CpuQueue, 0.0, 5.0),
        ];
        let waits = |rows: &[(&str, WaitClass, f64, f64)]| {
            rows.iter()
                .map(|(name, class, resource, signal)| wait(name, *class, *resource, *signal))
                .collect()
        };
        run.trials.push(done(0, block, trial(4, 10.0, waits(&four))));
        run.trials.push(done(1, block, trial(8, 12.0, waits(&eight))));
    }
    let side = |configuration| Side { recording: &run, configuration };
    let decomposition = compare(side(0), side(1)).unwrap().decomposition.unwrap();
    assert_eq!(
        table(&decomposition.session),
        [
            (PartKind::Cpu, 10_000, 12_000),
            (PartKind::Resource(WaitClass::Log), 20_000, 6_000),
            (PartKind::Resource(WaitClass::Lock), 0, 16_000),
            (PartKind::Signal, 2_000, 6_000),
            (PartKind::Client, 4_000, 0),
            (PartKind::Unaccounted, 4_000, 0),
        ]
    );
    assert_eq!(
        table(&decomposition.elapsed),
        [
            (PartKind::Cpu, 2_500, 1_500),
            (PartKind::Resource(WaitClass::Log), 5_000, 750),
            (PartKind::Resource(WaitClass::Lock), 0, 2_000),
            (PartKind::Signal, 500, 750),
            (PartKind::Client, 1_000, 0),
            (PartKind::Unaccounted, 1_000, 0),
        ]
    );
    let totals = [decomposition.session_total, decomposition.elapsed_total];
    assert_eq!(table(&totals), [(PartKind::Total, 40_000, 40_000), (PartKind::Total, 10_000, 5_000)]);
    // Session time did not change: no part is a share of nothing.
    assert!(decomposition.session.iter().all(|part| part.share.is_none()));
    let share = decomposition.elapsed[1].share.unwrap();
    assert!((share - 0.85).abs() < 1e-9, "{share}");
    // Of elapsed time, resource and signal wait together, the largest change first.
    let expected =
        [("WAL_SYNC", 5_500, 875), ("WRITER_LOCK", 0, 2_000), ("ARRIVAL", 1_000, 0), ("CPU_QUEUE", 0, 625)];
    let expected = expected.map(|(name, from, to)| (PartKind::WaitType(name.to_owned()), from, to));
    assert_eq!(table(&decomposition.wait_types), expected);
}
