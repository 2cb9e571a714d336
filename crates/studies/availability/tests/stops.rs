//! Sessions of the study: an answer that takes too long, and one that a stop does not wait for.

use availability::pair::{Node, Pair};
use availability::replication::for_engine;
use engine::{EngineError, Fault};
use experiment::{Configuration, Invalid};
use observations::Observations;
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use testing::trials::installed;
use work::CancelReason;

const SOON: Duration = Duration::from_millis(300);

/// Runs a statement of a minute: once with a limit, and once until a stop.
struct Impatient {
    engine: &'static str,
}

impl Probe for Impatient {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("impatient", &[]) }
    }

    fn plan(&self, _: &Configuration, _: &Target) -> Vec<Invalid> {
        Vec::new()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let server = context.instance.parts().private_server.unwrap();
        let slow =
            if self.engine == "mariadb" { "SELECT SLEEP(60)" } else { "SELECT pg_sleep(60)" };
        let mut session = server.session(None, Some(SOON), context.cancel)?;
        assert_eq!(session.query(slow).unwrap_err().fault, Fault::Silence);
        let pair = Pair::new(server, for_engine(self.engine).unwrap(), context.cancel);
        let stopped = scope(|scope| {
            scope.spawn(|| {
                sleep(SOON);
                context.cancel.cancel(CancelReason::Interrupt);
            });
            pair.ask(Node::Primary, slow).unwrap_err()
        });
        assert!(matches!(stopped, EngineError::Cancelled), "{stopped}");
        Ok(Observations::default())
    }
}

#[test]
fn an_answer_has_a_limit_and_a_stop_ends_the_wait_for_it() {
    for engine in installed() {
        if for_engine(engine.engine.name).is_some() {
            let begun = Instant::now();
            let probe = Impatient { engine: engine.engine.name };
            engine.measured(&probe, &[], |_, observations| drop(observations.unwrap())).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(50), "{}", engine.name);
        }
    }
}
