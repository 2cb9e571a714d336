//! The relay between a load and its server (`[network]`): a latency is added to each round trip.

use experiment::{Configuration, Invalid, Value};
use observations::{Observations, Response};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::time::Instant;
use testing::trials::{Session, installed};
use work::{Statement, Work};

/// Times round trips on a connection of the load. Most of what a busy machine adds is not in the
/// fastest of them.
struct RoundTrips;

/// Round trips of a measurement.
const TRIPS: usize = 200;

impl Probe for RoundTrips {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("round-trips", &[]) }
    }

    fn plan(&self, _: &Configuration, _: &Target) -> Vec<Invalid> {
        Vec::new()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        context.instance.create(Work::default())?;
        let mut session = Session::open(context)?;
        let mut fastest_ms = f64::INFINITY;
        for _ in 0..TRIPS {
            let start = Instant::now();
            session.run(Statement::Text("SELECT 1"))?;
            fastest_ms = fastest_ms.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let responses = vec![Response::lower("fastest", "ms", fastest_ms)];
        Ok(Observations { responses, ..Observations::default() })
    }
}

#[test]
fn a_latency_of_5_ms_adds_5_ms_to_each_round_trip() {
    for engine in &installed() {
        if !engine.engine.abilities.contains(&engine::Ability::Relayed) {
            continue;
        }
        let mut bench = engine.bench();
        let mut fastest = |settings: &[(&'static str, Value)]| {
            let mut found = None;
            bench
                .measured(&RoundTrips, settings, |_, result| found = Some(result.unwrap()))
                .unwrap();
            found.unwrap().response("fastest").unwrap()
        };
        let direct = fastest(&[]);
        let relayed = fastest(&[("network.relay", Value::Bool(true))]);
        let delayed = fastest(&[("network.latency", Value::Float(0.005))]);
        println!("{}: direct {direct}, relayed {relayed}, delayed {delayed} ms", engine.name);
        let added = delayed - relayed;
        // On an idle machine within 0.2 ms; a busy one wakes the threads of a relay later.
        assert!((4.8..=7.0).contains(&added), "{}: {added} ms", engine.name);
    }
}
