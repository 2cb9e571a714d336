//! Samples of the processor time of a trial's measured part, where `observe.profile` asks for them.

use crate::TrialContext;
use experiment::common::OBSERVE_PROFILE;
use observations::{Observations, Warning, WarningKind};
use profile::{ProfileError, Profiler, Samples};

/// Samples for each second on a processor. Not 100: what happens 100 times a second would be found each time or never.
const HZ: u32 = 99;

/// Sampling of all that works for a trial on this machine: our own process, and servers.
pub struct Sampling {
    profiler: Option<Result<Profiler, ProfileError>>,
    /// What is not sampled, and why.
    unseen: Vec<String>,
}

impl Sampling {
    /// Begins, if it is asked for: when the load is ready, just before "go".
    pub fn start(context: &TrialContext<'_>) -> Self {
        if context.configuration.get(OBSERVE_PROFILE) != Some(true) {
            return Self { profiler: None, unseen: Vec::new() };
        }
        if context.capabilities.synthetic {
            let unseen = vec!["a profile: this engine only says that time has passed".into()];
            return Self { profiler: None, unseen };
        }
        let mut pids = vec![std::process::id() as i32];
        let mut unseen = Vec::new();
        match context.instance.server_process() {
            Ok(server) => pids.extend(server),
            Err(error) => unseen.push(format!("the server in the profile: {error}")),
        }
        let profiler = Profiler::attach(&pids, HZ).and_then(Profiler::start);
        Self { profiler: Some(profiler), unseen }
    }

    /// Ends with the measured part.
    pub fn stop(self) -> Sampled {
        let samples = self.profiler.map(|profiler| profiler.and_then(Profiler::stop));
        Sampled { samples, unseen: self.unseen }
    }
}

/// What was found.
pub struct Sampled {
    samples: Option<Result<Samples, ProfileError>>,
    unseen: Vec<String>,
}

impl Sampled {
    /// Adds it to what else was observed, with warnings for what was not. Takes its time to find names: after all that
    /// is measured.
    pub fn note(self, observations: &mut Observations) {
        let mut unseen = self.unseen;
        match self.samples {
            Some(Ok(samples)) => observations.profile = Some(samples.named()),
            Some(Err(error)) => unseen.push(format!("a profile: {error}")),
            None => {}
        }
        let warnings = unseen.into_iter().map(|detail| Warning { kind: WarningKind::NotObserved, detail });
        observations.warnings.extend(warnings);
    }
}
