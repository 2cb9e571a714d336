//! Scaling: curves of known shape on machines made by hand.

use analysis::ScalingClass::{Flat, Linear, Negative, SubLinear};
use analysis::summarize;
use observations::{
    ConfigurationRecord, Environment, Fact, FactorRecord, LevelRecord, Observations, Recording,
    Response, RunRecord, Value,
};
use sync::analysis::EdgeKind::{Core, Node, Processors, Socket};
use sync::analysis::{ScalingSummary, scaling};
use testing::recordings::done;

/// A trial with this throughput and these other responses.
fn trial(throughput: f64, others: &[(&str, f64)]) -> Observations {
    let fact = |(name, value): &(&str, f64)| Fact {
        name: (*name).into(),
        unit: String::new(),
        value: *value,
    };
    let (lost, facts): (Vec<_>, Vec<_>) =
        others.iter().partition(|(name, _)| *name == "lost_updates");
    let lost = lost.iter().map(|(name, value)| Response::lower(name, "%", *value));
    let response = Response::higher("throughput", "ops/ms", throughput);
    Observations {
        elapsed_s: 1.0,
        responses: std::iter::once(response).chain(lost).collect(),
        facts: facts.iter().map(fact).collect(),
        ..Observations::default()
    }
}

/// Two sockets of four cores with two hardware threads each.
fn machine() -> Environment {
    Environment {
        cpus: 16,
        cores: Some(8),
        sockets: Some(2),
        numa_nodes: Some(2),
        ..Environment::default()
    }
}

/// Three blocks of every primitive at every number of threads, with a little noise that differs
/// from block to block.
fn study(
    primitives: &[&str],
    threads: &[u64],
    observations: impl Fn(&str, u64) -> Observations,
    noise: f64,
) -> Recording {
    let factor = |name: &str, levels: Vec<String>| FactorRecord {
        name: name.into(),
        levels,
        numeric: None,
        hard_to_change: false,
    };
    let mut recording = Recording {
        run: RunRecord { id: 1, name: "sync".into(), ..RunRecord::default() },
        environments: vec![machine()],
        factors: vec![
            factor(
                "workload.primitive",
                primitives.iter().map(|name| (*name).to_owned()).collect(),
            ),
            factor("workload.threads", threads.iter().map(u64::to_string).collect()),
        ],
        ..Recording::default()
    };
    for primitive in primitives {
        for thread in threads {
            let position = recording.configurations.len();
            let level = |factor: &str, level: String| LevelRecord { factor: factor.into(), level };
            recording.configurations.push(ConfigurationRecord {
                key: format!("{position}"),
                label: format!("primitive={primitive} threads={thread}"),
                levels: vec![
                    level("workload.primitive", (*primitive).to_owned()),
                    level("workload.threads", thread.to_string()),
                ],
                settings: [
                    ("workload.primitive".into(), Value::Text((*primitive).into())),
                    ("workload.probe".into(), Value::Text("sync".into())),
                    ("workload.threads".into(), Value::Integer(*thread as i64)),
                ]
                .into(),
            });
            for block in 1..=3_u32 {
                let mut observations = observations(primitive, *thread);
                // Of opposite sign at one thread and at several: else it would cancel in the ratios
                // of a block.
                let sign = if *thread == 1 { 1.0 } else { -1.0 };
                observations.responses[0].value *= 1.0 + sign * noise * (f64::from(block) - 2.0);
                recording.trials.push(done(position, block, observations));
            }
        }
    }
    recording
}

fn summary(recording: &Recording) -> ScalingSummary {
    scaling(&summarize(recording)).unwrap()
}

/// Throughput at n threads, as its name says.
fn shape(primitive: &str, threads: u64) -> f64 {
    let n = threads as f64;
    match primitive {
        "per-thread" => 1000.0 * n,
        "atomic" => 1000.0 * n.sqrt(),
        "cas" => 1000.0 * (1.0 + 0.05 * (n.log2() / 4.0)),
        _ => 1000.0 / n,
    }
}

#[test]
fn four_shapes_have_four_classes() {
    let primitives = ["per-thread", "atomic", "cas", "mutex-map"];
    let recording = study(
        &primitives,
        &[1, 2, 4, 8, 16, 32],
        |name, threads| trial(shape(name, threads), &[]),
        0.001,
    );
    let summary = summary(&recording);
    let classes: Vec<_> =
        summary.curves.iter().map(|curve| curve.scaled.as_ref().unwrap().class).collect();
    assert_eq!(classes, [Linear, SubLinear, Flat, Negative]);
    let groups: Vec<&str> = summary.curves.iter().map(|curve| curve.group.as_str()).collect();
    assert_eq!(
        groups,
        ["primitive=per-thread", "primitive=atomic", "primitive=cas", "primitive=mutex-map"]
    );
    for curve in &summary.curves {
        let scaled = curve.scaled.as_ref().unwrap();
        // 32 threads have no processor each: the end is at 16.
        assert_eq!(curve.points[scaled.to].threads, 16);
        assert_eq!(scaled.between, Some((scaled.class, scaled.class)));
    }
    let speedup = |position: usize| summary.curves[position].scaled.as_ref().unwrap().speedup.value;
    assert!((speedup(0) - 16.0).abs() < 0.05 && (speedup(1) - 4.0).abs() < 0.02, "{}", speedup(0));
    assert_eq!(summary.curves[0].points[summary.curves[0].peak].threads, 32);
    assert_eq!(summary.curves[3].points[summary.curves[3].peak].threads, 1);
}

#[test]
fn noise_that_hides_the_class_is_said() {
    let recording =
        study(&["atomic"], &[1, 2], |_, threads| trial(1000.0 + 60.0 * threads as f64, &[]), 0.08);
    let scaled = summary(&recording).curves.remove(0).scaled.unwrap();
    assert_eq!(scaled.class, Flat);
    let (low, high) = scaled.between.unwrap();
    assert!(low < Flat && high > Flat, "{low:?} to {high:?}");
}

#[test]
fn without_pinning_edges_are_where_threads_no_longer_fit() {
    let recording = study(&["atomic"], &[1, 2, 4, 8, 16, 32], |_, _| trial(1000.0, &[]), 0.0);
    let curve = summary(&recording).curves.remove(0);
    let edges: Vec<_> =
        curve.edges.iter().map(|e| (e.kind, curve.points[e.at].threads, e.pinned)).collect();
    // Two threads fit on a core, eight on a socket, sixteen on the machine.
    assert_eq!(
        edges,
        [(Core, 4, false), (Node, 16, false), (Socket, 16, false), (Processors, 32, true)]
    );
}

#[test]
fn with_pinning_edges_are_where_threads_were_put() {
    // One thread on each core, then the second ones: as `other-core` does it.
    let place = |threads: u64| {
        let cores = threads.min(8) as f64;
        let sockets = if threads > 4 { 2.0 } else { 1.0 };
        let processors = threads.min(16) as f64;
        [("processors", processors), ("cores", cores), ("sockets", sockets), ("nodes", sockets)]
    };
    let recording =
        study(&["atomic"], &[1, 2, 4, 8], |_, threads| trial(1000.0, &place(threads)), 0.0);
    let curve = summary(&recording).curves.remove(0);
    let edges: Vec<_> =
        curve.edges.iter().map(|e| (e.kind, curve.points[e.at].threads, e.pinned)).collect();
    assert_eq!(edges, [(Core, 2, true), (Node, 8, true), (Socket, 8, true)]);
}

#[test]
fn threads_on_one_processor_do_not_scale_and_are_not_classified() {
    let place = [("processors", 1.0), ("cores", 1.0), ("sockets", 1.0), ("nodes", 1.0)];
    let recording = study(&["atomic"], &[1, 2], |_, _| trial(1000.0, &place), 0.0);
    let curve = summary(&recording).curves.remove(0);
    assert!(curve.scaled.is_none());
    assert_eq!(curve.edges.iter().map(|edge| edge.kind).collect::<Vec<_>>(), [Processors]);
}

#[test]
fn the_ceiling_of_one_line_is_the_best_that_shares_it_and_loses_nothing() {
    let figures = |name: &str, threads: u64| match name {
        "atomic-shared" => trial(100_000.0 / threads as f64, &[("shared_lines", 1.0)]),
        "cas" => trial(20_000.0, &[("shared_lines", 1.0)]),
        "racy" => trial(90_000.0, &[("shared_lines", 1.0), ("lost_updates", 40.0)]),
        "mutex-map" => trial(80_000.0, &[]),
        _ => trial(70_000.0, &[("shared_lines", 8.0)]),
    };
    let recording =
        study(&["atomic-shared", "cas", "racy", "mutex-map", "atomic"], &[1, 2, 4], figures, 0.0);
    let line = summary(&recording).shared_line.unwrap();
    // A single thread shares no line; racy loses updates; the others have no line or several.
    assert_eq!((line.primitive.as_str(), line.threads), ("atomic-shared", 2));
    assert!((line.throughput.mean - 50_000.0).abs() < 1e-6);
    // Threads on one core do not share a line between caches.
    let one_core = |_: &str, _: u64| trial(1.0, &[("shared_lines", 1.0), ("cores", 1.0)]);
    assert_eq!(summary(&study(&["cas"], &[2], one_core, 0.0)).shared_line, None);
}

#[test]
fn other_probes_have_no_curves() {
    let mut recording = study(&["atomic"], &[1, 2], |_, _| trial(1.0, &[]), 0.0);
    for configuration in &mut recording.configurations {
        configuration.settings.insert("workload.probe".into(), Value::Text("disk".into()));
    }
    assert_eq!(scaling(&summarize(&recording)), None);
}
