//! The sync probe on this machine.

use engine::{Folders, Permits};
use experiment::{Catalog, Configuration, parse};
use null::NONE;
use observations::{Observations, WaitClass};
use probe::{Probe, ProbeError, Target, TrialContext};
use sync::SyncProbe;
use sync::primitives::Topology;
use work::Cancel;

fn configuration(engine: &str, workload: &str) -> Configuration {
    let catalog = Catalog {
        engines: testing::ENGINES.iter().map(|engine| (engine.name, engine.settings)).collect(),
        probes: vec![(SyncProbe.declarations().name, SyncProbe.declarations().settings)],
        ..Catalog::default()
    };
    let text = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"{engine}\"\n[workload]\nprobe = \
         \"sync\"\nduration = \"300 ms\"\nwarmup = \"20 ms\"\n{workload}\n"
    );
    parse(&text, &catalog)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .configurations
        .remove(0)
}

fn run(workload: &str) -> Observations {
    run_with(workload, &Cancel::new(), &|_| {}).unwrap()
}

fn run_with(
    workload: &str,
    cancel: &Cancel,
    progress: &(dyn Fn(observations::Event) + Sync),
) -> Result<Observations, ProbeError> {
    let configuration = configuration("none", workload);
    assert_eq!(
        SyncProbe.plan(&configuration, &Target::for_engine(&NONE, &configuration)),
        Vec::new()
    );
    let place = Folders {
        directory: std::env::temp_dir(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let instance = (NONE.host)(place).prepare(&configuration, 1, cancel).unwrap();
    SyncProbe.run(&TrialContext {
        disturbances: &[],
        generation: probe::generation::Generation::Here,
        configuration: &configuration,
        instance: instance.as_ref(),
        target: Target::for_engine(&NONE, &configuration),
        storage: &[],
        seed: 1,
        cancel,
        progress,
    })
}

/// Seconds of a class of waits.
fn waited(observations: &Observations, class: WaitClass) -> f64 {
    let waits = observations.waits.iter().filter(|wait| wait.class == class);
    waits.map(observations::Wait::wait_s).sum()
}

#[test]
fn the_time_of_threads_that_sleep_is_accounted_for() {
    for primitive in ["mutex-map", "rwlock-map", "concurrent-map", "mutex-array"] {
        let observations = run(&format!("primitive = \"{primitive}\"\nthreads = 4\nmembers = 1"));
        let waits_s: f64 = observations.waits.iter().map(observations::Wait::wait_s).sum();
        let known_s = observations.time.cpu_s + waits_s;
        let share = known_s / observations.time.session_s;
        assert!(
            (0.97..1.03).contains(&share),
            "{primitive}: {share} of {:?}: {:?}",
            observations.time,
            observations.waits
        );
        assert_eq!(observations.operations.len(), 1);
        assert_eq!(observations.operations[0].count, observations.work.amount);
    }
}

#[test]
fn only_locks_that_sleep_are_a_wait_and_the_rest_uses_its_processor() {
    for primitive in ["spin-tas", "spin-mcs", "atomic", "per-core"] {
        let observations = run(&format!("primitive = \"{primitive}\"\nthreads = 2\nmembers = 1"));
        assert!(
            waited(&observations, WaitClass::Latch) == 0.0,
            "{primitive}: {:?}",
            observations.waits
        );
        let spins = primitive.starts_with("spin");
        assert_eq!(observations.response("acquire_mean").is_some(), spins, "{primitive}");
        assert_eq!(observations.operations.len(), usize::from(spins), "{primitive}");
    }
}

#[test]
fn figures_agree_with_each_other() {
    let observations = run("primitive = \"atomic-shared\"\nthreads = 2");
    let throughput = observations.response("throughput").unwrap();
    let expected = observations.work.amount as f64 / observations.elapsed_s / 1e3;
    assert!((throughput / expected - 1.0).abs() < 1e-9);
    assert_eq!(observations.responses[0].name, "throughput");
    let jain = observations.response("fairness_jain").unwrap();
    assert!((0.5..=1.0).contains(&jain), "{jain}");
    assert!(observations.response("fairness_min_max").unwrap() <= jain);
    assert_eq!(observations.fact("shared_lines"), Some(1.0));
    // Not pinned: the CPUs of the threads are unknown.
    assert_eq!(observations.fact("cores"), None);
    assert_eq!(observations.response("lost_updates"), None);
    assert!(run("primitive = \"racy\"\nthreads = 2").response("lost_updates").is_some());
}

#[test]
fn pinned_threads_are_where_they_were_put() {
    let observations = run("primitive = \"per-thread\"\nthreads = 2\npinning = \"same-core\"");
    assert_eq!(
        (observations.fact("processors"), observations.fact("cores")),
        (Some(1.0), Some(1.0))
    );
    let busy = observations.time.cpu_s / observations.elapsed_s;
    assert!(busy <= 1.05, "two threads on one processor used {busy} processors");
    let cores = Topology::of_this_machine().whole().cores;
    if cores < 2 {
        println!("SKIPPED: one core only");
        return;
    }
    let observations = run("primitive = \"per-thread\"\nthreads = 2\npinning = \"other-core\"");
    assert_eq!((observations.fact("cores"), observations.fact("sockets")), (Some(2.0), Some(1.0)));
}

#[test]
fn nonsense_is_refused_before_anything_runs() {
    let objections = |engine: &str, workload: &str| -> Vec<String> {
        let configuration = configuration(engine, workload);
        let target = Target::for_engine(testing::engine(engine), &configuration);
        let objections = SyncProbe.plan(&configuration, &target);
        objections.into_iter().map(|invalid| invalid.path).collect()
    };
    assert_eq!(objections("sqlite", ""), ["workload.probe"]);
    assert_eq!(
        objections("none", "primitive = \"mutex-map\"\npadding = \"line\""),
        ["workload.padding"]
    );
    assert_eq!(objections("none", "primitive = \"atomic\"\npadding = \"line\""), [] as [&str; 0]);
    let machine = Topology::of_this_machine().whole();
    let expected: &[&str] = if machine.sockets > 1 { &[] } else { &["workload.pinning"] };
    assert_eq!(objections("none", "pinning = \"other-socket\""), expected);
}

#[test]
fn it_can_be_stopped() {
    let cancel = Cancel::new();
    let result = run_with("", &cancel, &|_| cancel.cancel(work::CancelReason::Interrupt));
    assert_eq!(result.unwrap_err().to_string(), "stopped on request");
}
