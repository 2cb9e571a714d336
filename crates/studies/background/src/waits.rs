//! The time of the sessions before, during and after an action, by class of wait: pure functions of
//! the parts of a load.

use crate::facts::{
    CPU, SAMPLE_S, SESSION, WAITS_AFTER, WAITS_BEFORE, WAITS_DURING, WAITS_UNDIVIDED,
};
use engine::SessionPart;
use observations::{Fact, FactFamily, Observations, Wait, WaitClass};

/// The families of the phases, in their order.
pub const PHASES: [FactFamily; 3] = [WAITS_BEFORE, WAITS_DURING, WAITS_AFTER];

/// The least seconds of a class that is worth a fact: less is noise of the arithmetic.
const LEAST_S: f64 = 1e-6;

/// The facts of a load that an action has divided into these parts; empty where it was not.
pub fn facts(parts: &[SessionPart], observations: &Observations) -> Vec<Fact> {
    if parts.len() < 2 || parts.len() > PHASES.len() {
        return Vec::new();
    }
    let mut facts = Vec::new();
    for (part, family) in parts.iter().zip(PHASES) {
        // The load ended with the action.
        if part.session_s <= 0.0 {
            continue;
        }
        facts.push(family.record(SESSION, part.session_s));
        facts.push(family.record(CPU, part.cpu_s));
        let classes = WaitClass::ALL.into_iter().map(|class| (class, of_class(&part.waits, class)));
        let shown = classes.filter(|(_, seconds)| *seconds > LEAST_S);
        facts.extend(shown.map(|(class, seconds)| family.record(class.name(), seconds)));
    }
    for class in WaitClass::ALL {
        let divided_s: f64 = parts.iter().map(|part| of_class(&part.waits, class)).sum();
        let rest_s = of_class(&observations.waits, class) - divided_s;
        facts.extend((rest_s > LEAST_S).then(|| WAITS_UNDIVIDED.record(class.name(), rest_s)));
    }
    facts.extend(Wait::samples_hz(&observations.waits).map(|hz| SAMPLE_S.record(1.0 / hz)));
    facts
}

fn of_class(waits: &[Wait], class: WaitClass) -> f64 {
    waits.iter().filter(|wait| wait.class == class).map(Wait::wait_s).sum()
}

#[cfg(test)]
mod tests {
    use super::facts;
    use crate::facts::{CPU, SAMPLE_S, SESSION, WAITS_AFTER, WAITS_DURING, WAITS_UNDIVIDED};
    use engine::SessionPart;
    use observations::{Observations, Wait, WaitClass, WaitSource};

    fn wait(name: &str, class: WaitClass, seconds: f64) -> Wait {
        Wait::counted(name, class, 1, seconds, 0.0).unwrap()
    }

    fn observed(parts: &[SessionPart], waits: Vec<Wait>) -> Observations {
        let mut observations = Observations { waits, ..Observations::default() };
        observations.facts = facts(parts, &observations);
        observations
    }

    #[test]
    fn classes_that_were_not_seen_are_absent_and_undivided_waits_are_named() {
        let part = |session_s, log_s| SessionPart {
            session_s,
            cpu_s: 1.0,
            waits: vec![wait("WAL_SYNC", WaitClass::Log, log_s)],
        };
        let hidden = wait("BUFFER_READ", WaitClass::DataRead, 0.5);
        let source = WaitSource::Sampled { hz: 20.0, samples: Some(9), error_s: None };
        let sampled = Wait { source, ..wait("WAL_SYNC", WaitClass::Log, 5.0) };
        // The action outlasted the load: nothing is after it.
        let parts = [part(8.0, 2.0), part(4.0, 3.0), SessionPart::default()];
        let observations = observed(&parts, vec![sampled, hidden]);
        assert_eq!(WAITS_DURING.read("log", &observations), Some(3.0));
        assert_eq!(WAITS_DURING.read(SESSION, &observations), Some(4.0));
        assert_eq!(WAITS_DURING.read("lock", &observations), None);
        assert_eq!(WAITS_AFTER.members(&observations).count(), 0);
        assert_eq!(WAITS_UNDIVIDED.read("data-read", &observations), Some(0.5));
        assert_eq!(WAITS_UNDIVIDED.read("log", &observations), None);
        assert_eq!(
            (SAMPLE_S.read(&observations), WAITS_DURING.read(CPU, &observations)),
            (Some(0.05), Some(1.0))
        );
        assert_eq!(observed(&parts[..1], Vec::new()).facts, []);
    }
}
