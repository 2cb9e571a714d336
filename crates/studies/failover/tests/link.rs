//! The relay between a load and its server (`[network]`): a latency is added to each round trip.

use engine::EngineError;
use experiment::{Configuration, Declaration, Invalid, Value};
use observations::{Observations, Response};
use probe::{Probe, ProbeError, Target, TrialContext};
use std::time::{Duration, Instant};
use testing::trials::{Session, installed};
use work::{Statement, Work};

/// Times round trips on a connection of the load.
struct RoundTrips;

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
        let mut round_trip = || {
            let start = Instant::now();
            session.run(Statement::Text("SELECT 1"))?;
            Ok(start.elapsed())
        };
        let all = (0..100).map(|_| round_trip()).collect::<Result<Vec<Duration>, EngineError>>()?;
        // The fastest: what a busy machine adds is not in it.
        let fastest_ms = all.iter().min().unwrap().as_secs_f64() * 1e3;
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
        let mut fastest = |given: &[(&'static str, Value)]| {
            let mut found = None;
            let removed = bench.measured(&RoundTrips, given, |_, seen| found = Some(seen.unwrap()));
            removed.unwrap();
            found.unwrap().response("fastest").unwrap()
        };
        let direct = fastest(&[]);
        let relayed = fastest(&[("network.relay", Value::Bool(true))]);
        let delayed = fastest(&[("network.latency", Value::Float(0.005))]);
        println!("{}: direct {direct}, relayed {relayed}, delayed {delayed} ms", engine.name);
        let added = delayed - relayed;
        assert!((added - 5.0).abs() < 0.2, "{}: {added} ms", engine.name);
    }
}
