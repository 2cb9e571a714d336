//! What can be typed after `steelbench sync`.

use super::setting;
use clap::Args;
use probes::sync::{
    DURATION, MEMBERS, PADDING, PINNING, PRIMITIVE, Padding, Pinning, Primitive, READS, THREADS, WARMUP,
};
use std::path::PathBuf;

/// How do synchronization primitives scale with threads on this machine?
#[derive(Debug, Args)]
pub struct Sync {
    /// What guards or replaces the counters: mutex-map, rwlock-map, concurrent-map, mutex-array, spin-tas, spin-ttas,
    /// spin-ticket, spin-mcs, racy, atomic-shared, atomic, cas, per-core, per-thread [default: all]
    #[arg(long, value_name = "LIST", value_parser = setting::<Primitive, _>(PRIMITIVE), value_delimiter = ',')]
    pub primitive: Vec<Primitive>,
    /// Number of threads [default: 1, 2, 4, ... up to the number of processors]
    #[arg(long, value_name = "LIST", value_parser = setting::<u32, _>(THREADS), value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Number of counters [default: 8]
    #[arg(long, value_name = "LIST", value_parser = setting::<u32, _>(MEMBERS), value_delimiter = ',')]
    pub members: Vec<u32>,
    /// Distance between them, for primitives where it can be chosen: none, line, two-lines [default: none]
    #[arg(long, value_name = "LIST", value_parser = setting::<Padding, _>(PADDING), value_delimiter = ',')]
    pub padding: Vec<Padding>,
    /// Where threads run: none, same-core, smt-sibling, other-core, other-socket [default: none]
    #[arg(long, value_name = "LIST", value_parser = setting::<Pinning, _>(PINNING), value_delimiter = ',')]
    pub pinning: Vec<Pinning>,
    /// Share of operations that read, as in 90% [default: 0%]
    #[arg(long, value_name = "LIST", value_parser = setting::<f64, _>(READS), value_delimiter = ',')]
    pub reads: Vec<f64>,
    /// Length of the measurement of each trial [default: 1 s]
    #[arg(long, value_name = "TIME", value_parser = setting::<f64, _>(DURATION))]
    pub duration: Option<f64>,
    /// The load runs for this long before the measurement [default: 200 ms]
    #[arg(long, value_name = "TIME", value_parser = setting::<f64, _>(WARMUP))]
    pub warmup: Option<f64>,
    /// How often each configuration is measured
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub blocks: u32,
    /// Seed of what is drawn and of the order of trials
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the experiment file instead of running it
    #[arg(long, conflicts_with = "json")]
    pub print: bool,
    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "sync")]
    pub name: String,
    /// The results file [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Print events and the summary as JSON, one object a line
    #[arg(long)]
    pub json: bool,
}
