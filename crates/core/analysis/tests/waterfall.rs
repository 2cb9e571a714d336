//! A decomposition worked out by hand.

use analysis::{FindingKind, MatchedCells, Part, PartKind, compare_over, summarize};
use observations::{
    Frame, Observations, Profile, Recording, Stack, TimeUse, Wait, WaitClass, Work,
};
use testing::recordings::{done, observed, recording, wait};

/// A trial over 1,000 rows whose sessions have 40 seconds.
fn trial(connections: u32, cpu_s: f64, waits: Vec<Wait>) -> Observations {
    Observations {
        connections,
        time: TimeUse { session_s: 40.0, cpu_s, cpu_user_s: None, ..TimeUse::default() },
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

/// 4 connections take 10 s, 8 connections 5 s: the same session time, half the elapsed time, and by
/// Little's law twice the throughput, all of it from twice the sessions.
#[test]
fn parts_of_session_time() {
    let mut run = recording(&[("workload.connections", &["4", "8"])]);
    for block in 1..=2 {
        let four =
            [("WAL_SYNC", WaitClass::Log, 20.0, 2.0), ("ARRIVAL", WaitClass::Client, 4.0, 0.0)];
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
    let decomposition =
        compare_over(&run, &MatchedCells::pair(0, 1)).unwrap().decomposition.unwrap();
    assert_eq!(
        table(&decomposition.by_class),
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
        table(std::slice::from_ref(&decomposition.total)),
        [(PartKind::Total, 40_000, 40_000)]
    );
    // Session time did not change: no part is a share of nothing.
    assert!(decomposition.by_class.iter().all(|part| part.share.is_none()));
    assert_eq!(decomposition.sessions.map(f64::to_bits), [4.0, 8.0_f64].map(f64::to_bits));
    assert!((decomposition.throughput_ratio() - 2.0).abs() < 1e-12);
    // Resource and signal wait together, the largest change first.
    let wait = |name: &str| PartKind::WaitType(name.to_owned());
    assert_eq!(
        table(&decomposition.by_type),
        [
            (PartKind::Cpu, 10_000, 12_000),
            (wait("WRITER_LOCK"), 0, 16_000),
            (wait("WAL_SYNC"), 22_000, 7_000),
            (wait("CPU_QUEUE"), 0, 5_000),
            (PartKind::ClientWait("ARRIVAL".to_owned()), 4_000, 0),
            (PartKind::Unaccounted, 4_000, 0),
        ]
    );
}

/// A profile at 100 Hz in which these functions of `db` were found running so often.
fn profile(functions: &[(&str, u64)]) -> Profile {
    let frame = |(function, _): &(&str, u64)| Frame {
        function: (*function).to_owned(),
        module: 0,
        kernel: false,
    };
    let stack = |(frame, (_, samples)): (usize, &(&str, u64))| Stack {
        frames: vec![frame],
        samples: *samples,
    };
    Profile {
        hz: 100.0,
        modules: vec!["/opt/db/bin/db".to_owned()],
        frames: functions.iter().map(frame).collect(),
        stacks: functions.iter().enumerate().map(stack).collect(),
        ..Profile::default()
    }
}

/// Without compression the same rows need a third of the copying, and half of the time.
fn profiled(blocks: u64) -> Recording {
    let mut run = recording(&[("target.compression", &["on", "off"])]);
    for block in 1..=blocks {
        let trial = |copy, elapsed_s, functions: &[(&str, u64)]| Observations {
            work: Work { unit: "row".to_owned(), amount: 1_000, ..Work::default() },
            profile: Some(profile(&[&[("copy", copy)], functions].concat())),
            ..observed(elapsed_s)
        };
        let late = block as f64 / 100.0;
        run.trials.push(done(
            0,
            block as u32,
            trial(600 + block, 10.0 + late, &[("parse", 395), ("log", 5)]),
        ));
        // The order in which functions are met says nothing.
        run.trials.push(done(
            1,
            block as u32,
            trial(200 + block, 5.0 + late, &[("log", 5), ("parse", 395)]),
        ));
    }
    run
}

#[test]
fn processor_time_by_function() {
    let run = profiled(3);
    let code =
        compare_over(&run, &MatchedCells::pair(0, 1)).unwrap().decomposition.unwrap().code.unwrap();
    let function =
        |name: &str| PartKind::Function { function: name.to_owned(), module: "db".to_owned() };
    // 602 samples are 6.02 s, for 1,000 rows; `log` has less than 1 %.
    assert_eq!(
        table(&code.parts),
        [
            (function("copy"), 6_020, 2_020),
            (function("parse"), 3_950, 3_950),
            (PartKind::OtherCode, 50, 50)
        ]
    );
    assert_eq!(table(&[code.total]), [(PartKind::Total, 10_020, 6_020)]);
    assert_eq!(code.samples, [3 * 1_000 + 6, 3 * 600 + 6]);
    let shares: Vec<f64> = code.parts.iter().map(|part| part.share.unwrap()).collect();
    assert!((shares[0] - 1.0).abs() < 1e-9 && shares[1].abs() < 1e-9, "{shares:?}");
}

/// A sample of a function in each block says nothing, however much the blocks agree; forty do.
#[test]
fn few_samples_that_agree_are_no_change() {
    let supported = |rare: u64, common: u64| {
        let mut run = recording(&[("target.compression", &["on", "off"])]);
        for block in 1..=3 {
            for (configuration, functions) in
                [&[("copy", common)][..], &[("copy", common), ("rare", rare)]]
                    .into_iter()
                    .enumerate()
            {
                let work = Work { unit: "row".to_owned(), amount: 1_000, ..Work::default() };
                let elapsed_s = 5.0 + configuration as f64 + f64::from(block) / 100.0;
                let trial =
                    Observations { work, profile: Some(profile(functions)), ..observed(elapsed_s) };
                run.trials.push(done(configuration, block, trial));
            }
        }
        let code = compare_over(&run, &MatchedCells::pair(0, 1))
            .unwrap()
            .decomposition
            .unwrap()
            .code
            .unwrap();
        let is_rare = |kind: &PartKind| {
            matches!(kind,
                PartKind::Function { function, .. } if function == "rare")
        };
        code.parts.iter().find(|part| is_rare(&part.kind)).unwrap().supported()
    };
    assert_eq!([supported(1, 20), supported(40, 800)], [false, true]);
}

#[test]
fn the_verdict_names_the_code() {
    let recording = profiled(3);
    let summary = summarize(&recording);
    let code: Vec<_> =
        summary.findings().into_iter().filter(|found| found.kind == FindingKind::Code).collect();
    let [found] = &code[..] else { panic!("{code:?}") };
    assert_eq!(
        found.text,
        "From compression=on to compression=off, profiled CPU time per 1,000 rows changes from \
         10.0 to 6.02 s; by function: copy (db) from 6.02 to 2.02 s."
    );
    assert!(
        found
            .evidence
            .starts_with("3006 and 1806 samples, 95 % t intervals, 3 blocks; false discovery rate"),
        "{found:?}"
    );

    // A trial without a profile: no sides to compare.
    let mut run = profiled(3);
    run.trials[0].observations.as_mut().unwrap().profile = None;
    let summary = summarize(&run);
    assert!(summary.findings().iter().all(|found| found.kind != FindingKind::Code));
}
