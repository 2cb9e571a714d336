//! The measurements: what runs, how a figure is made of the responses of its trials, and its goal.

/// A measurement by name.
pub struct Bench {
    pub name: &'static str,
    /// Figures of the experiment of its name; empty: there is none.
    pub figures: &'static [Figure],
    /// A further experiment.
    pub second: Option<Experiment>,
    /// A script that prints its figures itself, after the experiments.
    pub script: Option<&'static str>,
    /// Arguments of `cargo build` for what it runs in addition to our program.
    pub build: &'static [&'static str],
    /// A program without which it is skipped.
    pub needs: Option<&'static str>,
    /// Needs servers, engines or peers that are installed where they are missing.
    pub has_server: bool,
}

/// The experiment `FILE.toml`.
#[derive(Clone, Copy)]
pub struct Experiment {
    pub file: &'static str,
    pub figures: &'static [Figure],
}

/// How a figure is made of the responses of a trial.
#[derive(Clone, Copy)]
pub struct Figure {
    pub name: &'static str,
    /// Responses that are added.
    pub sum: &'static [&'static str],
    /// The response by which their sum is divided.
    pub per: Option<&'static str>,
    /// The sum is multiplied by this.
    pub scale: f64,
    pub unit: &'static str,
    pub comparison: Comparison,
    /// Part of the labels of the configurations that have this figure.
    pub only: &'static str,
    pub goal: Option<Goal>,
}

/// The printed form of a figure.
#[derive(Clone, Copy)]
pub enum Comparison {
    /// The figure itself.
    Alone,
    /// The ratio to that of a level, in pairs of trials of a block.
    RatioTo(&'static str),
    /// The inverse of that ratio: the speed of what took a time.
    SpeedOver(&'static str),
}

/// A limit that a median should keep.
#[derive(Clone, Copy)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

use Comparison::{Alone, RatioTo, SpeedOver};
use Goal::{AtLeast, AtMost};

const PEER: Comparison = RatioTo("program=peer");
const SPEED: Comparison = SpeedOver("program=peer");
/// Seconds of CPU time of a command and of all that it waited for.
const CPU: &[&str] = &["user_cpu", "system_cpu"];

impl Figure {
    const fn new(name: &'static str, sum: &'static [&'static str], comparison: Comparison) -> Self {
        Self { name, sum, per: None, scale: 1.0, unit: "", comparison, only: "", goal: None }
    }

    const fn per(self, response: &'static str) -> Self {
        Self { per: Some(response), ..self }
    }

    const fn in_unit(self, scale: f64, unit: &'static str) -> Self {
        Self { scale, unit, ..self }
    }

    const fn only(self, label: &'static str) -> Self {
        Self { only: label, ..self }
    }

    const fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }
}

impl Bench {
    /// An experiment.
    const fn new(name: &'static str, figures: &'static [Figure]) -> Self {
        Self {
            name,
            figures,
            second: None,
            script: None,
            build: &["--bin", "steelbench"],
            needs: None,
            has_server: false,
        }
    }

    const fn on_server(name: &'static str, figures: &'static [Figure]) -> Self {
        Self { has_server: true, ..Self::new(name, figures) }
    }

    const fn and(self, file: &'static str, figures: &'static [Figure]) -> Self {
        Self { second: Some(Experiment { file, figures }), ..self }
    }

    const fn and_script(self, file: &'static str) -> Self {
        Self { script: Some(file), ..self }
    }

    const fn with_example(self, arguments: &'static [&'static str]) -> Self {
        Self { build: arguments, ..self }
    }

    /// The experiments in their order.
    pub fn experiments(&self) -> impl Iterator<Item = Experiment> {
        let first = Experiment { file: self.name, figures: self.figures };
        let first = (!self.figures.is_empty()).then_some(first);
        first.into_iter().chain(self.second)
    }
}

/// Client CPU for each transaction beside the peer's, and throughput.
const COSTS: &[Figure] = &[
    Figure::new("CPU of a transaction", CPU, PEER).per("transactions").in_unit(1e6, " us"),
    Figure::new("throughput", &["tps"], PEER).in_unit(1.0, "/s"),
];
/// Both costs with the CPU of our load's thread: the rest of our process fills and checks tables.
const THREAD_COSTS: &[Figure] = &[
    Figure::new("CPU of a transaction", &["client_cpu"], PEER)
        .in_unit(1.0, " us")
        .goal(AtMost(1.0)),
    Figure::new("throughput", &["tps"], PEER).in_unit(1.0, "/s"),
];
const THROUGHPUT: &[&str] = &["throughput"];
const MEMORY: &[&str] = &["peak_memory"];
const LOAD_TIME: &[Figure] =
    &[Figure::new("time of the load", &["load_time"], PEER).in_unit(1.0, " s").goal(AtMost(1.2))];

const FILL: &[Figure] =
    &[Figure::new("speed", &["fill"], SPEED).in_unit(1.0, " s").goal(AtLeast(1.0))];

/// CPU time, memory and output of what is made of 10,000 trials.
const REPORT: &[Figure] = &[
    report("CPU time", CPU, "show").in_unit(1.0, " s").goal(AtMost(1.0)),
    report("CPU time", CPU, "page").in_unit(1.0, " s").goal(AtMost(3.0)),
    report("CPU time", CPU, "workbook").in_unit(1.0, " s").goal(AtMost(8.0)),
    Figure::new("CPU time", CPU, RatioTo("what=read")).in_unit(1.0, " s"),
    report("most memory", MEMORY, "show").in_unit(1.0, " MB").goal(AtMost(200.0)),
    report("most memory", MEMORY, "page").in_unit(1.0, " MB").goal(AtMost(500.0)),
    report("most memory", MEMORY, "workbook").in_unit(1.0, " MB").goal(AtMost(500.0)),
    report("output", &["output"], "page").in_unit(1e-6, " MB").goal(AtMost(8.0)),
];

const fn report(name: &'static str, sum: &'static [&'static str], what: &'static str) -> Figure {
    Figure::new(name, sum, Alone).only(what)
}

pub const BENCHES: &[Bench] = &[
    Bench::new(
        "insert",
        &[Figure::new("throughput", &["time"], SPEED).in_unit(1.0, " s").goal(AtLeast(0.98))],
    )
    .with_example(&["--package", "sqlite", "--example", "straight_insert"]),
    Bench::new(
        "instruments",
        &[Figure::new("throughput", THROUGHPUT, RatioTo("waits=false")).goal(AtLeast(0.98))],
    ),
    Bench::new("overhead", &[]).and_script("overhead.sh"),
    Bench::new(
        "start-up",
        &[Figure::new("time", &["elapsed"], Alone).in_unit(1e3, " ms").goal(AtMost(20.0))],
    ),
    Bench::new("report", REPORT).and_script("report-serve.sh"),
    Bench::new("a-a", &[]).and_script("a-a.sh"),
    Bench::new(
        "disk-check",
        &[
            Figure::new("iops", &["iops"], PEER),
            Figure::new("bandwidth", &["bandwidth"], PEER).in_unit(1.0, " MB/s"),
            Figure::new("latency_mean", &["latency_mean"], PEER).in_unit(1.0, " us"),
            Figure::new("latency_mean (fio: clat)", &["clat"], PEER).in_unit(1.0, " us"),
            Figure::new("latency_p50", &["latency_p50"], PEER).in_unit(1.0, " us"),
            Figure::new("latency_p99", &["latency_p99"], PEER).in_unit(1.0, " us"),
            Figure::new("CPU of an I/O", &["cpu"], PEER).in_unit(1.0, " us"),
        ],
    ),
    Bench::new(
        "disk-cpu",
        &[
            Figure::new("CPU of an I/O", &["cpu"], PEER).in_unit(1.0, " us").goal(AtMost(0.5)),
            Figure::new("iops", &["iops"], PEER),
            Figure::new("latency_mean", &["latency_mean"], PEER).in_unit(1.0, " us"),
        ],
    ),
    Bench::new(
        "disk-cached",
        &[
            Figure::new("iops", &["iops"], PEER).goal(AtLeast(1.4)),
            Figure::new("CPU of an I/O", &["cpu"], PEER).in_unit(1.0, " us"),
        ],
    ),
    Bench::new("time", &[Figure::new("mean", &["mean"], PEER).in_unit(1e3, " ms")]).and(
        "time-costs",
        &[
            Figure::new("overhead of a call", &["call"], Alone).in_unit(1.0, " ms"),
            Figure::new("overhead of each run", &["run_overhead"], Alone).in_unit(1.0, " us"),
            Figure::new("a run of true in all", &["run"], PEER).in_unit(1.0, " us"),
        ],
    ),
    Bench::new(
        "recorder",
        &[
            Figure::new("a record", &["record"], Alone)
                .only("recorder=ours")
                .in_unit(1.0, " ns")
                .goal(AtMost(10.0)),
            Figure::new("a record", &["record"], Alone).in_unit(1.0, " ns"),
        ],
    )
    .and(
        "recorder-snapshots",
        &[Figure::new("reading 64 threads while two record", &["read"], Alone).in_unit(1.0, " us")],
    )
    .with_example(&["--package", "work", "--example", "record"]),
    Bench::new(
        "recording",
        &[Figure::new("throughput", THROUGHPUT, RatioTo("latencies=false")).goal(AtLeast(0.995))],
    ),
    Bench::new("profiling", &[Figure::new("throughput", THROUGHPUT, RatioTo("profile=false"))]),
    Bench::on_server("models", &[]).and_script("models.py"),
    Bench::on_server(
        "analytics-loads",
        &[Figure::new("speed", &["load"], SPEED).in_unit(1.0, " s").goal(AtLeast(1.0))],
    ),
    Bench::on_server(
        "analytics-scans",
        &[Figure::new("time of a scan", &["scan"], PEER).in_unit(1.0, " ms").goal(AtMost(1.01))],
    )
    .and_script("analytics-instructions.sh")
    .with_example(&["--package", "sqlite", "--example", "straight_scan"]),
    Bench::on_server("analytics-models", &[]).and_script("analytics-models.sh"),
    Bench::on_server("postgres-cpu", COSTS),
    Bench::on_server(
        "postgres-load",
        &[Figure::new("throughput", &["tps"], PEER).in_unit(1.0, "/s")],
    ),
    Bench::on_server(
        "postgres-observer",
        &[Figure::new("throughput", THROUGHPUT, RatioTo("waits=false")).goal(AtLeast(0.99))],
    ),
    Bench::on_server("postgres-population", FILL),
    Bench::on_server("order-entry-cpu", THREAD_COSTS),
    Bench { needs: Some("go"), ..Bench::on_server("order-entry-cpu-mariadb", THREAD_COSTS) },
    Bench::on_server("order-entry-load", LOAD_TIME),
    Bench::on_server("order-entry-load-mariadb", LOAD_TIME),
    Bench::on_server(
        "order-entry-terminals",
        &[
            Figure::new("throughput", &["tps"], Alone).in_unit(1.0, "/s"),
            Figure::new("client", &["cpus"], Alone).in_unit(1.0, " CPUs").goal(AtMost(1.0)),
            Figure::new("most memory", MEMORY, Alone).in_unit(1.0, " MB").goal(AtMost(300.0)),
        ],
    ),
    Bench::on_server("mariadb-cpu", COSTS),
    Bench::on_server(
        "mariadb-performance-schema",
        &[
            Figure::new("throughput", &["tps"], RatioTo("schema=off")).in_unit(1.0, "/s"),
            Figure::new("server CPU of a transaction", &["server_cpu"], RatioTo("schema=off"))
                .per("transactions")
                .in_unit(1e6, " us"),
        ],
    ),
    Bench::on_server("mariadb-population", FILL),
    Bench::on_server(
        "queries-whole",
        &[
            Figure::new("time", &["elapsed"], Alone).in_unit(1.0, " s").goal(AtMost(5.0)),
            Figure::new("CPU time", CPU, Alone).in_unit(1.0, " s"),
            Figure::new("most memory", MEMORY, Alone).in_unit(1.0, " MB").goal(AtMost(200.0)),
        ],
    )
    .and_script("queries-workbook.sh"),
    Bench::on_server(
        "queries-plans",
        &[
            Figure::new("time", &["elapsed"], Alone).in_unit(1.0, " s").goal(AtMost(10.0)),
            Figure::new("CPU time", CPU, Alone).in_unit(1.0, " s"),
            Figure::new("most memory", MEMORY, Alone).in_unit(1.0, " MB"),
        ],
    ),
    Bench::on_server(
        "queries-share",
        &[
            Figure::new("share of our sessions in the server's CPU", &["share"], Alone)
                .only("queries=on")
                .in_unit(1.0, " %"),
            Figure::new("a twelfth of that, as once a minute", &["share"], Alone)
                .only("queries=on")
                .in_unit(1.0 / 12.0, " %")
                .goal(AtMost(1.0)),
            Figure::new("CPU of our sessions for each interval", &["interval"], Alone)
                .only("queries=on")
                .in_unit(1.0, " ms"),
            Figure::new("CPU of the server", &["server_cpu"], RatioTo("queries=off"))
                .in_unit(1.0, " s"),
        ],
    ),
    Bench::on_server("advisors", &[]).and_script("advisors.sh"),
    Bench::on_server("agents", &[]).and_script("agents.py"),
];
