//! The probe: a trial makes a replica, loads the primary, disturbs it, and judges the writes.

use super::facts::{
    ACKNOWLEDGED, DUPLICATES, ERRORS, FAULT as FAULT_TIME, LOST, PROMOTION, SILENT, UNEXPECTED,
    UNKNOWN, UNKNOWN_PRESENT,
};
use super::incident::{Director, Incident};
use super::journal::{Gap, Verdict};
use super::settings::{CLIENT_TIMEOUT, CONNECTIONS, FAULT, Fault, RATE, SETTINGS, SYNCHRONOUS};
use super::writer::{CREATE, Stage, WriteLog, write};
use crate::pair::{Node, Pair};
use crate::replication;
use engine::{EngineError, Rows};
use experiment::{Configuration, Invalid};
use observations::{Fact, Observations, Response, Warning, WarningKind, Work};
use observe::MachineMonitor;
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use statistics::median;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};
use transport::relay::{Relay, Toxics};

/// The failover probe.
#[derive(Debug, Clone, Copy)]
pub struct Failover;

impl Probe for Failover {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("failover", SETTINGS) }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let why = "the study kills its servers: it needs a private one";
        replication::objections(configuration, target, why)
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let pair = replication::pair(context, "faults: it has no private server")?;
        pair.ask(Node::Primary, CREATE)?;
        pair.attach_replica(configuration.get(SYNCHRONOUS))?;
        let relay = (configuration.get(FAULT) == Fault::Cut).then(|| relay(&pair)).transpose()?;
        let clients = configuration.get(CONNECTIONS) as usize;
        let stage = Stage {
            pair: &pair,
            begun: Instant::now(),
            is_taken_over: AtomicBool::new(false),
            is_relayed: relay.is_some(),
            timeout: Duration::from_secs_f64(configuration.get(CLIENT_TIMEOUT)),
            every: Duration::from_secs_f64(clients as f64 / configuration.get(RATE)),
            is_over: AtomicBool::new(false),
            cancel: context.cancel,
            acknowledged: (0..clients).map(|_| AtomicU64::new(0)).collect(),
        };
        let machine = MachineMonitor::start_with_servers();
        let (incident, written) = load(context, &stage, relay.as_ref())?;
        let machine = machine.stop();
        let survivor =
            if configuration.get(FAULT) == Fault::Cut { Node::Primary } else { Node::Replica };
        let rows = rows(&pair.ask(survivor, COUNTS)?);
        pair.end()?;
        let end = Outcome { incident, written, rows };
        Ok(Observations { machine, ..end.observations() })
    }
}

/// The rows that a server has, by client and number.
const COUNTS: &str = "SELECT writer, number, count(*) FROM failover GROUP BY writer, number";

fn relay(pair: &Pair<'_>) -> Result<Relay, EngineError> {
    let route = pair.route()?;
    Relay::between(&route.relay, &route.server, Toxics::default())
        .map_err(|error| EngineError::failed("starting the relay", error))
}

/// Runs the clients and the fault.
fn load(
    context: &TrialContext<'_>,
    stage: &Stage<'_>,
    relay: Option<&Relay>,
) -> Result<(Incident, Vec<WriteLog>), EngineError> {
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        let mut failure = None;
        for writer in 0..stage.acknowledged.len() {
            let builder = std::thread::Builder::new().name(format!("client {writer}"));
            match builder.spawn_scoped(scope, move || write(stage, writer)) {
                Ok(client) => clients.push(client),
                Err(error) => failure = Some(EngineError::no_thread(&error)),
            }
        }
        if failure.is_some() {
            stage.is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        }
        let incident = match failure {
            Some(failure) => Err(failure),
            None => Director { context, stage, relay }.run(),
        };
        let written = clients.into_iter().map(|client| {
            client.join().map_err(|_| EngineError::failed("writing", "a client has panicked"))
        });
        let written = written.collect::<Result<Vec<_>, _>>()?;
        Ok((incident?, written))
    })
}

/// Rows by client, then by number.
fn rows(counts: &Rows) -> BTreeMap<u64, BTreeMap<u64, u64>> {
    let mut rows = BTreeMap::<u64, BTreeMap<u64, u64>>::new();
    for row in counts.iter() {
        if let (Some(writer), Some(number), Some(count)) =
            (row.parse(0), row.parse(1), row.parse(2))
        {
            rows.entry(writer).or_default().insert(number, count);
        }
    }
    rows
}

/// The results of a trial.
struct Outcome {
    incident: Incident,
    written: Vec<WriteLog>,
    rows: BTreeMap<u64, BTreeMap<u64, u64>>,
}

impl Outcome {
    fn observations(&self) -> Observations {
        let none = BTreeMap::new();
        let verdicts = (0..).zip(&self.written).map(|(writer, written)| {
            written.journal.judge(self.rows.get(&writer).unwrap_or(&none))
        });
        let verdict = verdicts.fold(Verdict::default(), Verdict::plus);
        let Incident { begun_ns, over_ns, end_ns, .. } = self.incident;
        let gaps = self.written.iter();
        let gaps = gaps.filter_map(|writer| writer.journal.gap(begun_ns..=over_ns, end_ns));
        let gaps: Vec<Gap> = gaps.collect();
        let clients = self.written.len();
        let elapsed_s = end_ns as f64 / 1e9;
        let silent = clients - gaps.iter().filter(|gap| !gap.is_open).count();
        Observations {
            elapsed_s,
            connections: clients as u32,
            work: Work {
                unit: "write".into(),
                amount: verdict.acknowledged,
                transactions: verdict.acknowledged,
                errors: verdict.unknown,
                retries: 0,
            },
            responses: self.responses(&gaps, verdict),
            facts: self.facts(verdict, silent),
            warnings: self.warnings(silent),
            ..Observations::default()
        }
    }

    fn responses(&self, gaps: &[Gap], verdict: Verdict) -> Vec<Response> {
        let mut lengths: Vec<f64> = gaps.iter().map(|gap| gap.seconds()).collect();
        lengths.sort_by(f64::total_cmp);
        let mut responses = Vec::new();
        if let (Some(median), Some(most)) = (median(&lengths), lengths.last()) {
            responses.push(Response::lower("gap_median", "s", median));
            responses.push(Response::lower("gap_max", "s", *most));
        }
        let first_ns = gaps.iter().map(|gap| gap.to_ns).min();
        let first_s = first_ns.map(|ns| ns.saturating_sub(self.incident.begun_ns) as f64 / 1e9);
        responses.extend(first_s.map(|first_s| Response::lower("first_success", "s", first_s)));
        let counted =
            |name: &str, count: u64| Response::lower(name, "writes", count as f64).in_steps_of(1.0);
        responses.push(counted("lost_writes", verdict.lost));
        responses.push(counted("duplicate_writes", verdict.duplicates));
        responses
    }

    fn facts(&self, verdict: Verdict, silent: usize) -> Vec<Fact> {
        let Incident { begun_ns, complete_ns, promotion_s, .. } = self.incident;
        let mut facts = vec![
            ACKNOWLEDGED.record(verdict.acknowledged as f64),
            LOST.record(verdict.lost as f64),
            DUPLICATES.record(verdict.duplicates as f64),
            UNKNOWN.record(verdict.unknown as f64),
            UNKNOWN_PRESENT.record(verdict.unknown_present as f64),
            UNEXPECTED.record(verdict.unexpected as f64),
            FAULT_TIME.record((complete_ns - begun_ns) as f64 / 1e9),
            SILENT.record(silent as f64),
        ];
        facts.extend(promotion_s.map(|seconds| PROMOTION.record(seconds)));
        let mut errors = BTreeMap::<&str, u64>::new();
        for (kind, count) in self.written.iter().flat_map(|writer| &writer.errors) {
            *errors.entry(kind).or_default() += count;
        }
        facts.extend(errors.iter().map(|(kind, count)| ERRORS.record(kind, *count as f64)));
        facts
    }

    fn warnings(&self, silent: usize) -> Vec<Warning> {
        let detail = format!(
            "{silent} of {} connections did not write again before the trial ended: their gaps \
             are lower bounds",
            self.written.len()
        );
        (silent > 0)
            .then_some(Warning { kind: WarningKind::NotObserved, detail })
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::rows;
    use engine::Rows;

    #[test]
    fn rows_are_counted_by_client_and_number() {
        let names = ["writer", "number", "count"].map(str::to_owned).to_vec();
        let mut counts = Rows::with_columns(names);
        for cells in [["0", "0", "1"], ["1", "7", "2"], ["0", "5", "1"]] {
            counts.push(cells.map(Some));
        }
        let rows = rows(&counts);
        assert_eq!((rows[&0].len(), rows[&0][&5], rows[&1][&7]), (2, 1, 2));
    }
}
