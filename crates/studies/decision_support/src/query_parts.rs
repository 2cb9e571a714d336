//! The time of the session in each query of a power run, as a trial records it: pure functions of
//! the parts of its load.

use engine::SessionPart;
use observations::{Fact, FactFamily, FactName, Observations, Wait, WaitClass};
use std::collections::BTreeMap;

/// Seconds of the session in all runs of a query: `query_time.Q1/session`, `query_time.Q1/cpu`,
/// `query_time.Q1/wait/lock/Lock:relation`. What is behind the last query has no name:
/// `query_time./session`.
const TIME: FactFamily = FactFamily::new("query_time.", "s");
/// Runs of a query that the measurement was divided by: `query_runs.Q1`.
const RUNS: FactFamily = FactFamily::new("query_runs.", "runs");
/// Seconds of waits that are in no part, because the server counted them and no sample saw them:
/// `query_time_undivided.IO:WalSync`.
pub(crate) const UNDIVIDED: FactFamily = FactFamily::new("query_time_undivided.", "s");
/// Seconds between two samples of the session, where waits are sampled.
pub const SAMPLE_S: FactName = FactName::new("query_time_sample", "s");

/// Name of the part behind the last query. A file's name is never empty.
pub const REST: &str = "";

const SESSION: &str = "session";
const CPU: &str = "cpu";
const WAIT: &str = "wait";

/// The least seconds of a wait that is worth a fact: less is noise of the arithmetic.
const LEAST_S: f64 = 1e-6;

/// The time of the session in all runs of a query of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryPart {
    /// Name of the query, or [`REST`].
    pub query: String,
    /// The runs.
    pub runs: f64,
    /// Seconds in all.
    pub session_s: f64,
    /// Of these, seconds on a CPU.
    pub cpu_s: f64,
    /// The waits; one that was not seen is absent.
    pub waits: Vec<EventTime>,
}

/// The time of a wait event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTime {
    /// The class.
    pub class: WaitClass,
    /// The engine's name.
    pub event: String,
    /// Seconds.
    pub wait_s: f64,
}

impl QueryPart {
    /// Seconds in waits of a class; `None`: none was seen.
    pub fn of_class(&self, class: WaitClass) -> Option<f64> {
        let waits = self.waits.iter().filter(|wait| wait.class == class);
        waits.map(|wait| wait.wait_s).reduce(|sum, wait_s| sum + wait_s)
    }

    /// Seconds that neither CPU time nor a wait explains.
    pub fn unaccounted_s(&self) -> f64 {
        self.session_s - self.cpu_s - self.waits.iter().map(|wait| wait.wait_s).sum::<f64>()
    }

    /// Adds a part of a measurement.
    fn add(&mut self, part: &SessionPart) {
        self.runs += 1.0;
        self.session_s += part.session_s;
        self.cpu_s += part.cpu_s;
        for wait in &part.waits {
            self.wait(wait.class, &wait.wait_type, wait.wait_s());
        }
    }

    fn wait(&mut self, class: WaitClass, event: &str, wait_s: f64) {
        match self.waits.iter_mut().find(|wait| wait.class == class && wait.event == event) {
            Some(wait) => wait.wait_s += wait_s,
            None => self.waits.push(EventTime { class, event: event.to_owned(), wait_s }),
        }
    }
}

/// The facts of a load with these parts: one for each of `queries`, the names of its queries in the
/// order in which they ran, and one behind the last. Empty where the load was not divided so.
pub fn facts(parts: &[SessionPart], queries: &[&str], observations: &Observations) -> Vec<Fact> {
    if queries.is_empty() || parts.len() != queries.len() + 1 {
        return Vec::new();
    }
    let mut sums = Vec::<QueryPart>::new();
    for (part, query) in parts.iter().zip(queries.iter().copied().chain([REST])) {
        let at = sums.iter().position(|sum| sum.query == query).unwrap_or_else(|| {
            sums.push(QueryPart { query: query.to_owned(), ..QueryPart::default() });
            sums.len() - 1
        });
        sums[at].add(part);
    }
    let mut facts: Vec<Fact> = sums.iter().flat_map(recorded).collect();
    facts.extend(undivided(parts, &observations.waits));
    facts.extend(Wait::samples_hz(&observations.waits).map(|hz| SAMPLE_S.record(1.0 / hz)));
    facts
}

/// The facts of one query.
fn recorded(query_part: &QueryPart) -> Vec<Fact> {
    let query = &query_part.query;
    let waits = query_part.waits.iter().filter(|wait| wait.wait_s > LEAST_S);
    let waits = waits.map(|wait| {
        TIME.record(&format!("{query}/{WAIT}/{}/{}", wait.class, wait.event), wait.wait_s)
    });
    let first = [
        RUNS.record(query, query_part.runs),
        TIME.record(&format!("{query}/{SESSION}"), query_part.session_s),
        TIME.record(&format!("{query}/{CPU}"), query_part.cpu_s),
    ];
    first.into_iter().chain(waits).collect()
}

/// The waits of the whole that no part has, by type.
fn undivided(parts: &[SessionPart], whole: &[Wait]) -> Vec<Fact> {
    let mut left = BTreeMap::<&str, f64>::new();
    for wait in whole {
        *left.entry(&wait.wait_type).or_default() += wait.wait_s();
    }
    for wait in parts.iter().flat_map(|part| &part.waits) {
        *left.entry(&wait.wait_type).or_default() -= wait.wait_s();
    }
    let rest = left.into_iter().filter(|(_, wait_s)| *wait_s > LEAST_S);
    rest.map(|(event, wait_s)| UNDIVIDED.record(event, wait_s)).collect()
}

/// Reads the queries of a trial in the order of the recording, and the part behind them; empty
/// where its measurement was not divided by query.
pub fn read_parts(observations: &Observations) -> Vec<QueryPart> {
    let mut parts: Vec<QueryPart> = RUNS
        .members(observations)
        .map(|(query, runs)| QueryPart { query: query.into(), runs, ..QueryPart::default() })
        .collect();
    for (name, seconds) in TIME.members(observations) {
        let Some((query, what)) = name.split_once('/') else { continue };
        let Some(part) = parts.iter_mut().find(|part| part.query == query) else { continue };
        let wait = what.strip_prefix(WAIT).and_then(|event| event.strip_prefix('/'));
        match (what, wait.and_then(|wait| wait.split_once('/'))) {
            (SESSION, _) => part.session_s = seconds,
            (CPU, _) => part.cpu_s = seconds,
            (_, Some((class, event))) => {
                let class = WaitClass::from_name(class).unwrap_or(WaitClass::Other);
                part.wait(class, event, seconds);
            }
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::{REST, SAMPLE_S, UNDIVIDED, facts, read_parts};
    use engine::SessionPart;
    use observations::{Observations, Wait, WaitClass, WaitSource};

    fn wait(name: &str, class: WaitClass, seconds: f64) -> Wait {
        Wait::counted(name, class, 1, seconds, 0.0).unwrap()
    }

    fn part(session_s: f64, waits: Vec<Wait>) -> SessionPart {
        SessionPart { session_s, cpu_s: 0.5, waits }
    }

    /// Two rounds of two queries, then the rest. Names of MariaDB's waits have slashes.
    #[test]
    fn parts_are_read_back_as_they_were_and_sum_to_the_whole() {
        let event = "wait/io/file/innodb/innodb_data_file";
        let parts = [
            part(2.0, vec![wait(event, WaitClass::DataRead, 1.0)]),
            part(4.0, Vec::new()),
            part(1.0, vec![wait(event, WaitClass::DataRead, 0.25)]),
            part(8.0, vec![wait("Lock:relation", WaitClass::Lock, 7.0)]),
            part(0.5, vec![wait("WAL_SYNC", WaitClass::Log, 0.25)]),
        ];
        let source = WaitSource::Sampled { hz: 50.0, samples: Some(9), error_s: None };
        let whole = vec![
            wait(event, WaitClass::DataRead, 1.25),
            Wait { source, ..wait("Lock:relation", WaitClass::Lock, 7.0) },
            wait("WAL_SYNC", WaitClass::Log, 0.25),
            wait("IO:WalSync", WaitClass::Log, 0.125),
        ];
        let mut observations = Observations { waits: whole, ..Observations::default() };
        observations.facts = facts(&parts, &["Q14", "own", "Q14", "own"], &observations);
        let read = read_parts(&observations);
        let names: Vec<&str> = read.iter().map(|part| part.query.as_str()).collect();
        assert_eq!(names, ["Q14", "own", REST]);
        assert_eq!((read[0].runs, read[0].session_s, read[0].cpu_s), (2.0, 3.0, 1.0));
        assert_eq!(read[0].of_class(WaitClass::DataRead), Some(1.25));
        assert_eq!(read[0].waits[0].event, event);
        assert_eq!(read[0].unaccounted_s(), 0.75);
        assert_eq!(read[0].of_class(WaitClass::Lock), None, "not seen is not zero");
        assert_eq!(read[1].of_class(WaitClass::Lock), Some(7.0));
        let sum: f64 = read.iter().map(|part| part.session_s).sum();
        assert_eq!(sum, parts.iter().map(|part| part.session_s).sum::<f64>());
        let undivided: Vec<(&str, f64)> = UNDIVIDED.members(&observations).collect();
        assert_eq!(undivided, [("IO:WalSync", 0.125)]);
        assert_eq!(SAMPLE_S.read(&observations), Some(0.02));
    }

    #[test]
    fn a_load_that_was_not_divided_has_no_parts() {
        let observations = Observations::default();
        assert_eq!(facts(&[], &["Q1"], &observations), []);
        assert_eq!(facts(&[part(1.0, Vec::new())], &[], &observations), []);
        assert!(read_parts(&observations).is_empty());
    }
}
