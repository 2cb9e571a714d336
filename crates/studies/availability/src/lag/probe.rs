//! The probe: a trial makes a replica, writes to the primary at a rate, and looks how far the
//! replica is behind.

use super::heartbeat::{Look, lag_ns, percentile};
use super::load::{CREATE, Pace, Stage, beat, compare, look, write};
use crate::pair::Node;
use crate::replication;
use ::probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use engine::EngineError;
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{Event, FactName, MachineLoad, Observations, Response, Work};
use observe::MachineMonitor;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The lag probe.
#[derive(Debug, Clone, Copy)]
pub struct Lag;

settings! {
    pub(crate) const SETTINGS = [];
    /// Writes a second of all connections together. A connection that waits for an answer writes
    /// later: the report has the rate that was reached.
    pub RATE: f64 = "workload.rate", Kind::Rate, "500/s" => ArrivalRate;
    /// Connections that write.
    pub CONNECTIONS: u32 =
        "workload.connections", Kind::Count { min: 1, max: 1000 }, "4" => Concurrency;
    /// Bytes of the text of a row.
    pub ROW_BYTES: u64 = "workload.row_bytes", Kind::Size { min: 0, max: 1 << 20 }, "200";
    /// Commits wait for the replica: as target.settings.synchronous_commit says, or
    /// semi-synchronous as target.settings.rpl_semi_sync_master_wait_point says.
    pub SYNCHRONOUS: bool = "workload.synchronous", Kind::Bool, "false" => Durability;
    /// Length of the measurement.
    pub DURATION: f64 = "workload.duration", Kind::PositiveDuration, "5 s" => Measurement;
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "1 s" => Measurement;
    /// The lag is bounded if 95 % of the looks see no more than this.
    pub LAG_LIMIT: f64 = "workload.lag_limit", Kind::PositiveDuration, "100 ms" => Measurement;
}

/// The lag that 95 % of the looks do not exceed.
pub(crate) const LAG_P95: FactName = FactName::new("lag_p95", "ms");
/// Writes a second that were acknowledged.
pub const WRITES: FactName = FactName::new("write_rate", "writes/s");
/// Looks at the replica.
pub const LOOKS: FactName = FactName::new("looks", "");
/// Heartbeats that the primary acknowledged.
pub const BEATS: FactName = FactName::new("heartbeats", "");

impl Probe for Lag {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("lag", SETTINGS) }
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        // The heartbeat and the comparison of positions have their own.
        configuration.get(CONNECTIONS) + 2
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let why = "the study makes its replica of a private server";
        replication::objections(configuration, target, why)
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let pair = replication::pair(context, "replicas: it has no private server")?;
        for statement in CREATE {
            pair.ask(Node::Primary, statement)?;
        }
        pair.attach_replica(context.configuration.get(SYNCHRONOUS))?;
        let stage = Stage {
            pair: &pair,
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            cancel: context.cancel,
        };
        let (machine, readings) = Records::collect(context, &stage)?;
        pair.end()?;
        Ok(Observations { machine, ..readings.observations(context.configuration) })
    }
}

/// The observations of the threads.
struct Records {
    /// Acknowledged writes.
    writes: Vec<u64>,
    beats: Vec<u64>,
    looks: Vec<Look>,
    /// Bytes behind, with their time.
    behind: Vec<(u64, f64)>,
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'scope,
) -> Result<Running<'scope, T>, EngineError> {
    std::thread::Builder::new()
        .name("lag".into())
        .spawn_scoped(scope, work)
        .map_err(|error| EngineError::no_thread(&error))
}

type Running<'scope, T> = ScopedJoinHandle<'scope, Result<T, EngineError>>;

/// The threads of a trial.
struct Threads<'scope> {
    writers: Vec<Running<'scope, Vec<u64>>>,
    beats: Running<'scope, Vec<u64>>,
    looks: Running<'scope, Vec<Look>>,
    behind: Running<'scope, Vec<(u64, f64)>>,
}

impl<'scope> Threads<'scope> {
    fn start(
        scope: &'scope Scope<'scope, '_>,
        stage: &'scope Stage<'_>,
        configuration: &Configuration,
    ) -> Result<Self, EngineError> {
        let connections = configuration.get(CONNECTIONS);
        let every = Duration::from_secs_f64(f64::from(connections) / configuration.get(RATE));
        let row_bytes = configuration.get(ROW_BYTES) as usize;
        let paces = (0..connections as usize).map(|writer| Pace { writer, every, row_bytes });
        let writers = paces.map(|pace| spawn(scope, move || write(stage, pace)));
        Ok(Self {
            writers: writers.collect::<Result<_, _>>()?,
            beats: spawn(scope, move || beat(stage))?,
            looks: spawn(scope, move || look(stage))?,
            behind: spawn(scope, move || compare(stage))?,
        })
    }

    /// Waits for all of them; the first error is the result.
    fn end(self) -> Result<Records, EngineError> {
        let writes = self.writers.into_iter().map(joined).collect::<Vec<_>>();
        let (beats, looks, behind) = (joined(self.beats), joined(self.looks), joined(self.behind));
        let writes = writes.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Records { writes, beats: beats?, looks: looks?, behind: behind? })
    }
}

fn joined<T>(thread: Running<'_, T>) -> Result<T, EngineError> {
    thread.join().unwrap_or_else(|_| Err(EngineError::failed("writing", "a thread has panicked")))
}

impl Records {
    /// Runs the load; also returns what the machine did while it was measured.
    fn collect(
        context: &TrialContext<'_>,
        stage: &Stage<'_>,
    ) -> Result<(MachineLoad, Self), EngineError> {
        std::thread::scope(|scope| {
            let threads = Threads::start(scope, stage, context.configuration);
            let machine =
                if threads.is_ok() { measure(context, stage) } else { Ok(MachineLoad::default()) };
            // Also after an error: threads that were started wait for it.
            stage.is_over.store(true, Ordering::Relaxed);
            let end = threads?.end();
            Ok((machine?, end?))
        })
    }

    fn observations(&self, configuration: &Configuration) -> Observations {
        let warmup_ns = (configuration.get(WARMUP) * 1e9) as u64;
        let duration_s = configuration.get(DURATION);
        let until_ns = warmup_ns + (duration_s * 1e9) as u64;
        let measured = warmup_ns..until_ns;
        let looks = self.looks.iter().filter(|look| measured.contains(&look.sent_ns));
        let mut lags: Vec<u64> = looks.map(|look| lag_ns(&self.beats, *look)).collect();
        lags.sort_unstable();
        let behind = self.behind.iter().filter(|(at, _)| measured.contains(at));
        let mut behind: Vec<u64> = behind.map(|(_, bytes)| *bytes as u64).collect();
        behind.sort_unstable();
        let writes = self.writes.iter().filter(|at| measured.contains(at)).count();
        let rate = writes as f64 / duration_s;
        let mut responses = Vec::new();
        let parts = [("lag_p95", 0.95), ("lag_median", 0.5), ("lag_max", 1.0)];
        for (name, share) in parts {
            let lag = percentile(&lags, share);
            responses.extend(lag.map(|ns| Response::lower(name, "ms", ns as f64 / 1e6)));
        }
        for (name, share) in [("behind_p95", 0.95), ("behind_max", 1.0)] {
            let bytes = percentile(&behind, share);
            responses.extend(bytes.map(|byte| Response::lower(name, "MB", byte as f64 / 1e6)));
        }
        responses.push(Response::higher("throughput", "writes/s", rate));
        let mut facts = vec![
            WRITES.record(rate),
            LOOKS.record(lags.len() as f64),
            BEATS.record(self.beats.len() as f64),
        ];
        facts.extend(percentile(&lags, 0.95).map(|ns| LAG_P95.record(ns as f64 / 1e6)));
        let connections = configuration.get(CONNECTIONS);
        Observations {
            elapsed_s: duration_s,
            connections,
            work: Work {
                unit: "write".into(),
                amount: writes as u64,
                transactions: writes as u64,
                ..Work::default()
            },
            responses,
            facts,
            ..Observations::default()
        }
    }
}

/// Waits for the warm-up, then watches the machine during the measurement.
fn measure(context: &TrialContext<'_>, stage: &Stage<'_>) -> Result<MachineLoad, EngineError> {
    let configuration = context.configuration;
    let warmup_s = configuration.get(WARMUP);
    wait(context, stage, warmup_s)?;
    let machine = MachineMonitor::start_with_servers();
    wait(context, stage, warmup_s + configuration.get(DURATION))?;
    Ok(machine.stop())
}

/// Waits until this number of seconds after the start.
fn wait(context: &TrialContext<'_>, stage: &Stage<'_>, seconds: f64) -> Result<(), EngineError> {
    let configuration = context.configuration;
    let (warmup_s, duration_s) = (configuration.get(WARMUP), configuration.get(DURATION));
    let until = stage.begun + Duration::from_secs_f64(seconds);
    while !stage.is_over.load(Ordering::Relaxed) {
        if context.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Ok(());
        }
        let elapsed_s = stage.begun.elapsed().as_secs_f64() - warmup_s;
        (context.progress)(Event::Progress {
            elapsed_s,
            fraction: (elapsed_s / duration_s).clamp(0.0, 1.0),
            rate: configuration.get(RATE),
            unit: "writes/s".into(),
            latency_p99_ms: None,
        });
        std::thread::sleep(rest.min(Duration::from_millis(100)));
    }
    Ok(())
}
