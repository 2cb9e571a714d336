//! The relay between a load and its server (`[network]`): a latency is added to each round trip.

use experiment::{Configuration, Declaration, Invalid, Value};
use observations::{Observations, Response};
use probe::{Probe, ProbeError, Target, TrialContext};
use std::time::Instant;
use testing::trials::{Session, installed};
use work::{Statement, Work};

/// Times round trips on a connection of the load. What a busy machine adds is not in the fastest
/// of them: there are more until it takes no longer than this, up to a limit.
struct RoundTrips {
    enough_ms: f64,
}

impl Probe for RoundTrips {
    fn name(&self) -> &'static str {
        "round-trips"
    }

    fn settings(&self) -> &'static [Declaration] {
        &[]
    }

    fn plan(&self, _: &Configuration, _: &Target) -> Vec<Invalid> {
        Vec::new()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        context.instance.create(Work::default())?;
        let mut session = Session::open(context)?;
        let mut fastest_ms = f64::INFINITY;
        for count in 0..1000 {
            let start = Instant::now();
            session.run(Statement::Text("SELECT 1"))?;
            fastest_ms = fastest_ms.min(start.elapsed().as_secs_f64() * 1e3);
            if count >= 50 && fastest_ms <= self.enough_ms {
                break;
            }
        }
        let responses = vec![Response::lower("fastest", "ms", fastest_ms)];
        Ok(Observations { responses, ..Observations::default() })
    }
}

#[test]
fn a_latency_of_5_ms_adds_5_ms_to_each_round_trip() {
    for engine in &installed() {
        if !engine.engine.abilities().contains(&engine::Ability::Relayed) {
            continue;
        }
        let mut bench = engine.bench();
        let mut fastest = |enough_ms: f64, given: &[(&'static str, Value)]| {
            let (probe, mut found) = (RoundTrips { enough_ms }, None);
            bench.measured(&probe, given, |_, seen| found = Some(seen.unwrap())).unwrap();
            found.unwrap().response("fastest").unwrap()
        };
        let direct = fastest(0.0, &[]);
        let relayed = fastest(0.0, &[("network.relay", Value::Bool(true))]);
        let delayed = {
            let latency = ("network.latency", Value::Float(0.005));
            fastest(relayed + 5.15, &[latency])
        };
        println!("{}: direct {direct}, relayed {relayed}, delayed {delayed} ms", engine.name);
        let added = delayed - relayed;
        assert!((added - 5.0).abs() < 0.2, "{}: {added} ms", engine.name);
    }
}
