//! The disk probe on files of the engine for plain files.

use disk::DiskProbe;
use disk::FILES;
use engine::{Folders, Permits};
use experiment::{Catalog, Configuration, Experiment, parse};
use observations::{Observations, WaitClass, WarningKind};
use probe::{Probe, Target, TrialContext};
use std::path::{Path, PathBuf};
use work::Cancel;

fn experiment(target: &str, workload: &str, factors: &str) -> Experiment {
    let catalog = Catalog {
        engines: vec![(FILES.name, FILES.settings)],
        probes: vec![(DiskProbe.declarations().name, DiskProbe.declarations().settings)],
        ..Catalog::default()
    };
    let text = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"files\"\nfile_size = \"8 \
         MiB\"\nlog_size = \"1 MiB\"\n{target}\n[workload]\nprobe = \"disk\"\nduration = \"400 \
         ms\"\nwarmup = \"50 ms\"\n{workload}\n{factors}"
    );
    parse(&text, &catalog).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn configuration(target: &str, workload: &str) -> Configuration {
    experiment(target, workload, "").configurations.remove(0)
}

fn try_run(configuration: &Configuration, overwrite: Vec<PathBuf>) -> Result<Observations, String> {
    assert_eq!(
        DiskProbe.plan(configuration, &Target::for_engine(&FILES, configuration)),
        Vec::new()
    );
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_path_buf();
    let permits = Permits { overwrite, ..Permits::default() };
    let place = Folders {
        directory: directory.clone(),
        volumes: Vec::new(),
        permits,
        cgroup_joins: Vec::new(),
    };
    let cancel = Cancel::new();
    let mut host = (FILES.host)(place);
    let instance = host.prepare(configuration, 1, &cancel).unwrap();
    let result = DiskProbe.run(&TrialContext {
        disturbances: &[],
        generation: probe::generation::Generation::Here,
        configuration,
        instance: instance.as_ref(),
        target: Target::for_engine(&FILES, configuration),
        storage: &[("default".into(), directory.clone())],
        seed: 1,
        cancel: &cancel,
        progress: &|_| {},
    });
    instance.remove().unwrap();
    drop(host);
    let left = std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(left, 0, "created files are removed");
    result.map_err(|error| error.to_string())
}

fn run(target: &str, workload: &str) -> Observations {
    try_run(&configuration(target, workload), Vec::new()).unwrap()
}

fn response(observations: &Observations, name: &str) -> f64 {
    let names: Vec<&str> =
        observations.responses.iter().map(|response| response.name.as_str()).collect();
    let found = observations.responses.iter().find(|response| response.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}")).value
}

fn operation(observations: &Observations, name: &str) -> (u64, u64) {
    let found = observations.operations.iter().find(|operation| operation.name == name);
    found.map_or((0, 0), |operation| (operation.count, operation.bytes))
}

fn close(left: f64, right: f64, relative: f64) -> bool {
    (left - right).abs() <= relative * right.abs().max(1e-9)
}

fn objections(target: &str, workload: &str) -> String {
    let configuration = configuration(target, workload);
    let objections = DiskProbe.plan(&configuration, &Target::for_engine(&FILES, &configuration));
    objections.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn figures_of_one_stream_agree_with_each_other() {
    let observations =
        run("", "pattern = \"random-mixed\"\nreads = \"75%\"\nqueue_depth = 4\nthreads = 2");
    let (reads, read_bytes) = operation(&observations, "DATA_READ");
    let (writes, written) = operation(&observations, "DATA_WRITE");
    assert_eq!(reads + writes, observations.work.amount);
    assert_eq!((read_bytes, written), (reads * 8192, writes * 8192));
    let iops = response(&observations, "iops");
    assert!(close(iops * observations.elapsed_s, observations.work.amount as f64, 1e-9));
    assert!(close(response(&observations, "bandwidth") * 1e6, iops * 8192.0, 1e-9));
    assert!(close(
        response(&observations, "read_iops") + response(&observations, "write_iops"),
        iops,
        1e-9
    ));
    // Three standard deviations of a binomial share.
    let share = reads as f64 / observations.work.amount as f64;
    assert!(
        (share - 0.75).abs() < 3.0 * (0.1875 / observations.work.amount as f64).sqrt(),
        "{share}"
    );
    let depth = response(&observations, "depth");
    assert!(depth > 0.0 && depth <= 8.0, "{depth}");
    assert!(response(&observations, "latency_min") <= response(&observations, "latency_p50"));
    assert!(response(&observations, "latency_p99.9") <= response(&observations, "latency_max"));
    let by_interval = observations.series.iter().find(|series| series.name == "iops").unwrap();
    assert!(by_interval.start_s < 0.0, "the warm-up comes before second 0");
}

#[test]
fn the_time_of_the_threads_adds_up() {
    let observations = run("", "queue_depth = 8\nthreads = 2");
    assert!(close(observations.time.session_s, 2.0 * observations.elapsed_s, 1e-9));
    let waited: f64 = observations.waits.iter().map(observations::Wait::wait_s).sum();
    assert!(
        close(observations.time.cpu_s + waited, observations.time.session_s, 0.03),
        "{} + {waited}",
        observations.time.cpu_s
    );
}

#[test]
fn streams_run_side_by_side_on_their_own_files() {
    let observations = run(
        "data_files = 2",
        "streams = [\"reader pattern=random-read file=1\", \"writer pattern=sequential-write \
         file=2 block_size=64KiB\", \"log\"]",
    );
    for name in ["reader.iops", "writer.bandwidth", "log.latency_p99", "iops"] {
        assert!(response(&observations, name) > 0.0, "{name}");
    }
    let sum: f64 = ["reader", "writer", "log"]
        .iter()
        .map(|name| response(&observations, &format!("{name}.iops")))
        .sum();
    assert!(close(sum, response(&observations, "iops"), 1e-9));
    let (writes, bytes) = operation(&observations, "LOG_WRITE");
    // Sizes are drawn from 512 bytes to 60 KiB.
    let mean = bytes as f64 / writes as f64;
    assert!(mean > 512.0 && mean < 61_440.0 && bytes % 512 == 0, "{mean}");
    assert!(observations.waits.iter().any(|wait| wait.class == WaitClass::Log));
    assert!(observations.latencies.iter().any(|latency| latency.name == "log: write"));
}

#[test]
fn shares_divide_common_threads() {
    let observations = run(
        "data_files = 2",
        "queue_depth = 4\nstreams = [\"a share=3 file=1\", \"b share=1 file=2\"]",
    );
    assert_eq!(observations.connections, 1);
    let (a, b) = (
        response(&observations, "a.iops") * observations.elapsed_s,
        response(&observations, "b.iops") * observations.elapsed_s,
    );
    let (all, share) = (a + b, a / (a + b));
    assert!((share - 0.75).abs() < 3.0 * (0.1875 / all).sqrt() + 4.0 / all, "{share} of {all}");
}

#[test]
fn pread_does_the_same_with_a_thread_for_each_io() {
    let observations = run("", "io_engine = \"pread\"\nqueue_depth = 3");
    assert_eq!(observations.connections, 3);
    assert!(response(&observations, "depth") <= 3.0);
}

#[test]
fn existing_files_are_read_but_only_written_when_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let target = format!("paths = [{path:?}]");
    let unchanged = |path: &Path| std::fs::read(path).unwrap().iter().all(|byte| *byte == 7);

    let read = configuration(&target, "direct = false");
    assert!(try_run(&read, Vec::new()).unwrap().work.amount > 0);
    let write = configuration(&target, "direct = false\npattern = \"random-write\"");
    let refused = try_run(&write, vec![folder.path().join("other")]).unwrap_err();
    assert!(refused.contains("--overwrite") && unchanged(&path), "{refused}");
    assert!(try_run(&write, vec![path.clone()]).unwrap().work.amount > 0);
    assert!(!unchanged(&path) && path.metadata().unwrap().len() == 1 << 20);
}

#[test]
fn a_stream_whose_file_fails_leaves_the_others_their_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let target = format!("paths = [{path:?}, {:?}]", {
        let other = folder.path().join("stays");
        std::fs::write(&other, vec![7; 1 << 20]).unwrap();
        other
    });
    let workload = "direct = false\nstreams = [\"first file=1\", \"second file=2\"]";
    let configuration = configuration(&target, workload);
    let scope = std::thread::scope(|scope| {
        scope.spawn(|| {
            let is_open = || {
                let mut open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
                open.any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == path))
            };
            // The check of its size, before the load, does not take so long.
            let pause = || std::thread::sleep(std::time::Duration::from_millis(50));
            (0..600).find(|_| {
                pause();
                is_open() && (pause(), is_open()).1
            });
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        });
        try_run(&configuration, Vec::new()).unwrap()
    });
    let failed =
        scope.warnings.iter().find(|warning| warning.kind == WarningKind::IoErrors).unwrap();
    assert!(failed.detail.contains("shrinks"), "{}", failed.detail);
    assert!(response(&scope, "second.iops") > 0.0);
    assert!(
        !scope
            .responses
            .iter()
            .any(|response| response.name == "first.iops" || response.name == "iops")
    );
}

#[test]
fn what_makes_no_sense_is_said_before_anything_runs() {
    for (target, workload, part) in [
        ("", "mix = \"oltp\"\nstreams = [\"log\"]", "give one of them"),
        ("", "streams = [\"a blok_size=8KiB\"]", "did you mean `block_size`?"),
        ("", "streams = [\"a duration=3s\"]", "applies to all streams"),
        ("", "streams = [\"a block_size=3 KiB\"]", "is not key=value"),
        ("", "streams = [\"a reads=170%\"]", "from 0 to 1"),
        ("", "streams = [\"a\", \"a\"]", "two streams have the name"),
        ("", "streams = [\"a;b\"]", "cannot be a stream name"),
        ("", "block_size = 1000", "needs a multiple of 512"),
        ("", "block_size = \"8 KiB\"\nblock_size_max = \"4 KiB\"", "smaller than the block size"),
        ("", "rate = 100\nburst = 10", "give one of them"),
        ("cache = \"cold\"", "", "contradicts"),
    ] {
        let objections = objections(target, workload);
        assert!(objections.contains(part), "{workload}: {objections}");
    }
    let offset = (FILES.validate)(&configuration("offset = \"8 MiB\"", ""), 1, &[]);
    assert!(offset[0].message.contains("must be smaller than target.file_size"), "{offset:?}");
    let factor = "[factors]\n\"workload.queue_depth\" = [1, 2]";
    let varied = experiment("", "mix = \"log\"", factor).configurations.remove(0);
    assert!(
        DiskProbe.plan(&varied, &Target::for_engine(&FILES, &varied))[0]
            .message
            .contains("has no effect")
    );
    let missing = try_run(&configuration("", "streams = [\"a file=9\"]"), Vec::new()).unwrap_err();
    assert!(missing.contains("exceeds the number of data files, 1"), "{missing}");
}
