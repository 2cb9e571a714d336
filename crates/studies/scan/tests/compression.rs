//! Costs and savings of compression: ratios, the break-even computed by hand, and its interval on
//! simulated trials.

use analysis::{Study, summarize_with};
use observations::{Fact, Observations, Recording, Response, TimeUse, Work};
use scan::compression::analysis::{Compression, compression};
use testing::recordings::coverage::Coverage;
use testing::recordings::{Random, done, recording};

const WORKS: [&str; 5] = ["load", "hot scan", "cold scan", "lookups", "updates"];
const PROBES: [&str; 5] = ["bulk-load", "scan", "scan", "lookup", "update"];
const STUDIES: &[&Study] =
    &[&keys::bulk_load::STUDY, &scan::STUDY, &keys::lookup::STUDY, &keys::update::STUDY];
const ROWS: f64 = 600_000.0;

/// A trial: processor seconds of a unit of work, and bytes that are stored.
fn trial(work: usize, cpu_s: f64, kernel_s: Option<f64>, stored_bytes: f64) -> Observations {
    let fact = |name: &str, value: f64| Fact { name: name.into(), unit: String::new(), value };
    let mut facts =
        vec![fact("table_rows", ROWS), fact("stored_bytes", stored_bytes), fact("cpu_s", cpu_s)];
    facts.extend(kernel_s.map(|seconds| fact("kernel_cpu_s", seconds)));
    // Of half as many bytes a column has half by another method.
    let more = if stored_bytes < 5e9 {
        &[("text.FSST", 0.4), ("text.Dictionary", 0.1)][..]
    } else {
        &[("text.Uncompressed", 1.0)]
    };
    let column =
        |(name, share): &(&str, f64)| fact(&format!("compressed.{name}"), share * stored_bytes);
    facts.extend(more.iter().map(column));
    let responses = match PROBES[work] {
        "bulk-load" => vec![Response::lower("load", "s", cpu_s * ROWS)],
        "scan" => vec![Response::lower("scan", "ms", cpu_s * 1e3)],
        "update" => vec![Response::lower("lock_held", "ms", cpu_s * 1e3)],
        _ => Vec::new(),
    };
    Observations {
        elapsed_s: cpu_s * 100.0,
        connections: 1,
        work: Work { unit: "unit".into(), amount: 100, ..Work::default() },
        responses,
        facts,
        time: TimeUse { session_s: cpu_s * 100.0, cpu_s: cpu_s * 100.0, ..TimeUse::default() },
        ..Observations::default()
    }
}

/// A recording of the levels none and page of a factor; `observations` makes a trial of a level and
/// a work.
fn recorded(
    factor: &str,
    others: &[(&str, &[&str])],
    blocks: u32,
    mut observations: impl FnMut(&[usize], usize) -> Observations,
) -> Recording {
    let factors: Vec<_> = others
        .iter()
        .copied()
        .chain([(factor, &["none", "page"][..]), ("work", &WORKS[..])])
        .collect();
    let mut recording = recording(&factors);
    for position in 0..recording.configurations.len() {
        let work = position % WORKS.len();
        let levels = recording.configurations[position].levels.clone();
        let settings = &mut recording.configurations[position].settings;
        let mut set =
            |path: &str, value: &str| settings.insert(path.into(), value.to_owned().into());
        set("workload.probe", PROBES[work]);
        set("target.cache", if WORKS[work] == "cold scan" { "cold" } else { "hot" });
        for level in levels.iter().filter(|level| level.factor.contains('.')) {
            set(&level.factor, &level.level);
        }
        let place = |level_record: &observations::LevelRecord| {
            let (_, levels) =
                factors.iter().find(|(name, _)| *name == level_record.factor).unwrap();
            levels.iter().position(|level| *level == level_record.level).unwrap()
        };
        let places: Vec<usize> = levels.iter().map(place).collect();
        for block in 1..=blocks {
            recording.trials.push(done(position, block, observations(&places, work)));
        }
    }
    recording
}

fn compressions(recording: &Recording) -> Vec<Compression> {
    compression(&summarize_with(recording, STUDIES, Vec::new()))
}

/// S2c: page compression costs twice the processor time of a scan from memory. A LINEITEM of 6.5 GB
/// that takes half.
#[test]
fn each_work_is_told_beside_the_reference_and_a_cold_scan_makes_the_break_even() {
    // Processor seconds of a unit of each work, uncompressed and compressed.
    let cpu_s = [[2e-6, 5e-6], [3.0, 6.0], [6.0, 10.0], [10e-6, 25e-6], [20e-6, 60e-6]];
    let bytes = [6.5e9, 3.25e9];
    let recorded = recorded("target.compression", &[], 3, |level, work| {
        trial(work, cpu_s[work][level[0]], None, bytes[level[0]])
    });
    let [compression] = &compressions(&recorded)[..] else { panic!("one factor on one data set") };
    assert_eq!((compression.reference.as_str(), compression.group.as_str()), ("none", ""));
    let row = |work: &str, figure: &str| {
        let found = compression.rows.iter().find(|row| row.work == work && row.figure == figure);
        found.unwrap_or_else(|| panic!("{work} {figure} in {:#?}", compression.rows))
    };
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    near(row("", "size").ratio.value, 0.5);
    near(row("", "size").estimate.mean, 3250.0);
    near(row("work=hot scan", "CPU time").ratio.value, 2.0);
    near(row("work=hot scan", "CPU time").reference.mean, 3e6 / ROWS);
    near(row("work=load", "CPU time").estimate.mean, 5.0);
    near(row("work=lookups", "CPU time").ratio.value, 2.5);
    near(row("work=updates", "row lock held").ratio.value, 3.0);
    assert_eq!(compression.rows.iter().filter(|row| row.figure == "size").count(), 1);
    let [column] = &compression.columns[..] else { panic!("{:?}", compression.columns) };
    let stored = |at: usize| {
        (
            column.levels[at].level.as_str(),
            column.levels[at].methods.join(" "),
            column.levels[at].bytes,
        )
    };
    assert_eq!((column.column.as_str(), column.levels.len()), ("text", 2));
    assert_eq!(
        [stored(0), stored(1)],
        [("none", "Uncompressed".into(), 6.5e9), ("page", "FSST Dictionary".into(), 0.5 * 3.25e9)]
    );
    let [limit] = &compression.break_even[..] else { panic!("{:?}", compression.break_even) };
    assert_eq!(limit.work, "work=cold scan");
    // By hand: 3,250 MB saved for 4 s more; 6,500 MB while the processor works for 10 s.
    near(limit.in_turns.below_mb_s.unwrap(), 812.5);
    near(limit.overlapped.below_mb_s.unwrap(), 650.0);
}

#[test]
fn what_the_kernels_threads_do_is_part_of_the_processor_time() {
    let recorded = recorded("compression", &[], 2, |level, work| {
        trial(work, 1.0, Some([0.5, 2.0][level[0]]), [8e6, 4e6][level[0]])
    });
    let compression = compressions(&recorded).remove(0);
    let ratio = |figure: &str| {
        let row = compression
            .rows
            .iter()
            .find(|row| row.work == "work=cold scan" && row.figure == figure);
        row.unwrap().ratio.value
    };
    assert!((ratio("CPU time") - 2.0).abs() < 1e-9);
    assert!((ratio("of it kernel threads") - 4.0).abs() < 1e-9);
    assert!((compression.break_even[0].more_cpu_s - 1.5).abs() < 1e-9);
}

#[test]
fn each_engine_is_told_by_itself_and_other_factors_are_not_told_at_all() {
    let engines: &[(&str, &[&str])] = &[("target.engine", &["sqlite", "duckdb"])];
    let observations = |level: &[usize], work: usize| {
        trial(work, 1.0 + level[1] as f64, None, [[8e6, 4e6], [2e6, 1e6]][level[0]][level[1]])
    };
    let results = compressions(&recorded("target.compression", engines, 2, observations));
    let groups: Vec<&str> = results.iter().map(|compression| compression.group.as_str()).collect();
    assert_eq!(groups, ["engine=sqlite", "engine=duckdb"]);
    let sizes: Vec<f64> =
        results.iter().map(|compression| compression.rows[0].reference.mean).collect();
    assert_eq!(sizes, [8.0, 2.0]);
    assert!(
        results
            .iter()
            .all(|compression| compression.rows.iter().all(|row| !row.work.contains("engine")))
    );
    let other = recorded("target.page_size", &[], 2, |level, work| {
        trial(work, 1.0 + level[0] as f64, None, 1e6)
    });
    assert!(compressions(&other).is_empty());
}

/// Intervals of the break-even hold the true one as often as they promise.
#[test]
fn the_break_even_is_found_in_noise() {
    let (mut random, mut in_turns, mut overlapped) =
        (Random::new(25), Coverage::default(), Coverage::default());
    for _ in 0..400 {
        let recorded = recorded("target.compression", &[], 5, |level, work| {
            let cpu_s = [6.0, 10.0][level[0]] * (1.0 + 0.03 * random.normal());
            trial(work, cpu_s, None, [6.5e9, 3.25e9][level[0]])
        });
        let limit = compressions(&recorded).remove(0).break_even.remove(0);
        for (coverage, pays, truth) in
            [(&mut in_turns, limit.in_turns, 812.5), (&mut overlapped, limit.overlapped, 650.0)]
        {
            let (low, high) = (pays.low_mb_s.unwrap(), pays.high_mb_s.unwrap_or(f64::INFINITY));
            coverage.interval(Some(analysis::Interval { low, high }), truth);
        }
    }
    println!("in turns {:.3}, overlapped {:.3}", in_turns.share(), overlapped.share());
    in_turns.check("in turns", 400);
    overlapped.check("overlapped", 400);
}
