//! Times of the queries of power runs by CPU and wait, over blocks, and the queries whose waits
//! differ between two configurations: by paired blocks, adjusted for all comparisons (Holm).

use crate::query_parts::{QueryPart, REST, SAMPLE_S, UNDIVIDED, read_parts};
use analysis::response::distinct;
use analysis::{Estimate, Interval, Summary};
use observations::{Direction, Observations, WaitClass, order};
use serde::Serialize;
use statistics::{adjusted, t_quantile, t_two_sided_p};

/// Samples of which one is expected to see what takes more of the time than this many of them:
/// beyond that, seeing nothing has a probability below 5 % (the rule of three).
const SAMPLES_UNSEEN: f64 = 3.0;

/// Level of the adjusted p-value from which on nothing differs.
const SIGNIFICANT: f64 = 0.05;

/// Name of the time on a CPU.
pub const CPU: &str = "cpu";
/// Name of the time that neither CPU time nor a wait explains.
pub const UNACCOUNTED: &str = "unaccounted";
/// Name of what is behind the last query.
const BEHIND: &str = "(after the last)";

/// The queries of a configuration, in seconds a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryTimes {
    /// The queries in the order of the recording, then the time behind the last of them.
    pub queries: Vec<QueryTime>,
    /// Waits that the server counted and no sample saw: they are in no query.
    pub undivided: Vec<Undivided>,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryTime {
    /// The name.
    pub query: String,
    /// Seconds of the session, with the pause behind it in which its waits were read.
    pub time: Option<Estimate>,
    /// CPU time, then each class of waits that any query of the configuration has, then the
    /// unaccounted time.
    pub parts: Vec<TimePart>,
    /// The wait events, the longest first.
    pub events: Vec<Event>,
}

/// A part of a query's time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimePart {
    /// `cpu`, a class of waits, or `unaccounted`.
    pub name: &'static str,
    /// Seconds; `None`: nothing of it was seen.
    pub time: Option<Estimate>,
    /// Upper bound in seconds where samples saw nothing.
    pub below_s: Option<f64>,
}

/// A wait event of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// The class.
    pub class: &'static str,
    /// The engine's name.
    pub event: String,
    /// Seconds.
    pub time: Estimate,
    /// The share of the query's time.
    pub share: f64,
}

/// A wait that is in no query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undivided {
    /// The engine's name.
    pub event: String,
    /// Seconds of a trial.
    pub mean_s: f64,
}

/// Comparisons of the parts of queries between configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct WaitChanges {
    /// Comparisons made: queries, parts and configurations.
    pub tested: usize,
    /// Waits that differ significantly.
    pub differ: Vec<WaitChange>,
}

/// A part of a query's time that differs between two configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitChange {
    /// The query.
    pub query: String,
    /// `cpu` or a class of waits.
    pub part: &'static str,
    /// Position of the configuration.
    pub index: usize,
    /// The label.
    pub configuration: String,
    /// Label of the configuration that it is compared with.
    pub reference: String,
    /// Seconds a run there and here; `None`: not seen.
    pub times: [Option<Estimate>; 2],
    /// Seconds a run here less there, by paired blocks.
    pub difference: Estimate,
    /// The p-value of "no difference", adjusted for all queries, parts and configurations.
    pub adjusted_p: f64,
}

/// Describes the trials of a configuration; `None` where they were not divided by query.
pub fn query_times(trials: &[&Observations]) -> Option<QueryTimes> {
    let divided: Vec<Vec<QueryPart>> =
        trials.iter().map(|trial| read_parts(trial)).filter(|parts| !parts.is_empty()).collect();
    let first = divided.first()?;
    let sample_s = trials.iter().find_map(|trial| SAMPLE_S.read(trial));
    let classes: Vec<WaitClass> = WaitClass::ALL
        .into_iter()
        .filter(|class| divided.iter().flatten().any(|part| part.of_class(*class).is_some()))
        .collect();
    let queries = first.iter().map(|query| {
        let parts: Vec<&QueryPart> =
            divided.iter().flatten().filter(|part| part.query == query.query).collect();
        query_time(&parts, &classes, sample_s)
    });
    let names = trials.iter().flat_map(|trial| UNDIVIDED.members(trial)).map(|(event, _)| event);
    let undivided = distinct(names).into_iter().map(|event| {
        let all = trials.iter().filter_map(|trial| UNDIVIDED.read(event, trial));
        let mean_s = all.sum::<f64>() / divided.len() as f64;
        Undivided { event: event.to_owned(), mean_s }
    });
    Some(QueryTimes { queries: queries.collect(), undivided: undivided.collect() })
}

/// Describes a query by its parts, one of each trial.
fn query_time(parts: &[&QueryPart], classes: &[WaitClass], sample_s: Option<f64>) -> QueryTime {
    let runs: f64 = parts.iter().map(|part| part.runs).sum();
    let below_s = sample_s.map(|sample_s| SAMPLES_UNSEEN * sample_s / runs.max(1.0));
    let waits = classes.iter().map(|class| {
        let is_seen = parts.iter().any(|part| part.of_class(*class).is_some());
        let time = seconds(parts, |part| part.of_class(*class).unwrap_or(0.0)).filter(|_| is_seen);
        TimePart { name: class.name(), time, below_s: below_s.filter(|_| !is_seen) }
    });
    let cpu = TimePart { name: CPU, time: seconds(parts, |part| part.cpu_s), below_s: None };
    // Where samples see more than there is, the rest is negative: it is not an amount.
    let unaccounted = values(parts, QueryPart::unaccounted_s);
    let time = Estimate::from_values(&unaccounted, "s", Direction::LowerIsBetter);
    let rest = TimePart { name: UNACCOUNTED, time, below_s: None };
    let name = parts.first().map_or(REST, |part| part.query.as_str());
    QueryTime {
        query: if name == REST { BEHIND.to_owned() } else { name.to_owned() },
        time: seconds(parts, |part| part.session_s),
        parts: std::iter::once(cpu).chain(waits).chain([rest]).collect(),
        events: events(parts),
    }
}

/// The wait events of a query, the longest first.
fn events(parts: &[&QueryPart]) -> Vec<Event> {
    let session_s: f64 = parts.iter().map(|part| part.session_s).sum();
    let mut events = Vec::<Event>::new();
    for wait in parts.iter().flat_map(|part| &part.waits) {
        let class = wait.class.name();
        if events.iter().any(|event| event.event == wait.event && event.class == class) {
            continue;
        }
        let of_part = |query_part: &QueryPart| -> f64 {
            let same = query_part.waits.iter().filter(|other| other.event == wait.event);
            same.filter(|other| other.class == wait.class).map(|other| other.wait_s).sum()
        };
        let all_s: f64 = parts.iter().map(|part| of_part(part)).sum();
        let share = if session_s > 0.0 { all_s / session_s } else { 0.0 };
        let time = seconds(parts, of_part);
        events.extend(time.map(|time| Event { class, event: wait.event.clone(), time, share }));
    }
    order::largest_first(&mut events, &|row| row.share);
    events
}

/// Seconds a run of each trial.
fn values(parts: &[&QueryPart], of: impl Fn(&QueryPart) -> f64) -> Vec<f64> {
    parts.iter().map(|part| of(part) / part.runs.max(1.0)).collect()
}

fn seconds(parts: &[&QueryPart], of: impl Fn(&QueryPart) -> f64) -> Option<Estimate> {
    let values = values(parts, of);
    Estimate::from_amounts(&values, "s", Direction::LowerIsBetter)
}

/// Tests all parts of queries against those of the baseline, else of the first configuration with
/// power runs, by the blocks that both have; `None` where nothing can be tested.
pub fn changes(summary: &Summary) -> Option<WaitChanges> {
    let all = 0..summary.configurations.len();
    let divided: Vec<usize> = all
        .filter(|index| {
            summary.grid.trials(*index).iter().any(|trial| !read_parts(trial).is_empty())
        })
        .collect();
    let baseline = summary.recording.run.baseline.filter(|baseline| divided.contains(baseline));
    let base = baseline.or(divided.first().copied())?;
    let others = divided.into_iter().filter(|index| *index != base);
    let mut all: Vec<WaitChange> =
        others.flat_map(|index| differences(summary, base, index)).collect();
    let p_values: Vec<Option<f64>> = all.iter().map(|change| Some(change.adjusted_p)).collect();
    for (change, p) in all.iter_mut().zip(adjusted(&p_values)) {
        change.adjusted_p = p.unwrap_or(1.0);
    }
    let tested = all.len();
    all.retain(|change| change.adjusted_p < SIGNIFICANT);
    (tested > 0).then_some(WaitChanges { tested, differ: all })
}

/// A query in a block of two configurations.
struct Pair {
    from: QueryPart,
    to: QueryPart,
}

/// The differences of two configurations, with p-values that are not adjusted.
fn differences(summary: &Summary, from: usize, to: usize) -> Vec<WaitChange> {
    let matched = summary.grid.filter(|grid| !grid.timed_out()).matched(from, to);
    if !matched.paired || matched.from.len() < 2 {
        return Vec::new();
    }
    let step_s = matched
        .from
        .iter()
        .flatten()
        .find_map(|observations| SAMPLE_S.read(observations))
        .unwrap_or(0.0);
    let pairs: Vec<Pair> = matched
        .from
        .iter()
        .flatten()
        .zip(matched.to.iter().flatten())
        .flat_map(|(first, other)| {
            let others = read_parts(other);
            let of_both = read_parts(first).into_iter().filter_map(move |from| {
                let to = others.iter().find(|part| part.query == from.query)?.clone();
                Some(Pair { from, to })
            });
            of_both.collect::<Vec<_>>()
        })
        .collect();
    let names = pairs.iter().map(|pair| pair.from.query.as_str()).filter(|name| *name != REST);
    let label = |index: usize| summary.recording.configurations[index].label.clone();
    let mut found = Vec::new();
    for query in distinct(names) {
        let pairs: Vec<&Pair> = pairs.iter().filter(|pair| pair.from.query == query).collect();
        let classes = WaitClass::ALL.into_iter().map(Some);
        for class in std::iter::once(None).chain(classes) {
            let Some(tested) = tested(&pairs, class, step_s) else { continue };
            found.push(WaitChange {
                query: query.to_owned(),
                part: class.map_or(CPU, WaitClass::name),
                index: to,
                configuration: label(to),
                reference: label(from),
                times: tested.times,
                difference: tested.difference,
                adjusted_p: tested.p_value,
            });
        }
    }
    found
}

struct Test {
    times: [Option<Estimate>; 2],
    difference: Estimate,
    p_value: f64,
}

/// Tests a class of waits of a query, or its CPU time, by pairs: a paired t test whose error is at
/// least that of rounding to whole samples. `None` where neither side has any of it, or too few
/// pairs.
fn tested(pairs: &[&Pair], class: Option<WaitClass>, step_s: f64) -> Option<Test> {
    let time_s = |query_part: &QueryPart| match class {
        None => Some(query_part.cpu_s),
        Some(class) => query_part.of_class(class),
    };
    // The pause between two queries is the client's and says nothing of the query.
    if class == Some(WaitClass::Client) || class == Some(WaitClass::Idle) {
        return None;
    }
    let is_seen = |side: fn(&Pair) -> &QueryPart| {
        pairs.iter().any(|pair| time_s(side(pair)).is_some_and(|time_s| time_s > 0.0))
    };
    let sides: [fn(&Pair) -> &QueryPart; 2] = [|pair| &pair.from, |pair| &pair.to];
    if !sides.into_iter().any(is_seen) {
        return None;
    }
    let a_run =
        |query_part: &QueryPart| time_s(query_part).unwrap_or(0.0) / query_part.runs.max(1.0);
    let times = sides.map(|side| {
        let query_parts: Vec<&QueryPart> = pairs.iter().map(|pair| side(pair)).collect();
        seconds(&query_parts, |part| time_s(part).unwrap_or(0.0)).filter(|_| is_seen(side))
    });
    let differences: Vec<f64> =
        pairs.iter().map(|pair| a_run(&pair.to) - a_run(&pair.from)).collect();
    let difference = Estimate::from_values(&differences, "s", Direction::LowerIsBetter)?;
    let (n, runs) = (difference.n as f64, pairs.first()?.from.runs.max(1.0));
    // The CPU time is the kernel's and not sampled.
    let step_s = if class.is_some() { step_s / runs } else { 0.0 };
    // The variance of a value that is rounded to steps, on both sides.
    let rounding = (2.0 * step_s * step_s / 12.0).sqrt();
    let error = (difference.sd? / n.sqrt()).max(rounding);
    let p_value = match difference.mean {
        mean if error > 0.0 => t_two_sided_p(mean / error, n - 1.0),
        0.0 => 1.0,
        _ => 0.0,
    };
    let half = t_quantile(0.025, n - 1.0) * error;
    let interval = Some(Interval::around(difference.mean, half));
    Some(Test { times, difference: Estimate { interval, ..difference }, p_value })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::{BEHIND, CPU, Pair, QueryTime, TimePart, UNACCOUNTED, query_times, tested};
    use crate::query_parts::{EventTime, QueryPart, facts};
    use engine::SessionPart;
    use observations::{Observations, Wait, WaitClass, WaitSource};

    const LOCK: &str = "Lock:relation";

    fn wait(class: WaitClass, name: &str, seconds: f64) -> Wait {
        Wait::counted(name, class, 1, seconds, 0.0).unwrap()
    }

    /// A power run of Q1 (1 s) and Q4 (2 s, of which this many waiting for a lock), twice.
    fn trial(lock_s: f64, hz: Option<f64>) -> Observations {
        let part = |session_s, waits| SessionPart { session_s, cpu_s: 0.5, waits };
        let single = part(1.0, vec![wait(WaitClass::DataRead, "IO:DataFileRead", 0.25)]);
        let four = part(2.0, wait_of(lock_s));
        let parts = [single.clone(), four.clone(), single, four, part(0.5, Vec::new())];
        let source = hz.map(|hz| WaitSource::Sampled { hz, samples: None, error_s: None });
        let whole = wait(WaitClass::Lock, LOCK, 2.0 * lock_s);
        let whole = Wait { source: source.unwrap_or(WaitSource::Counted), ..whole };
        let mut observations = Observations { waits: vec![whole], ..Observations::default() };
        observations.facts = facts(&parts, &["Q1", "Q4", "Q1", "Q4"], &observations);
        observations
    }

    fn wait_of(lock_s: f64) -> Vec<Wait> {
        vec![wait(WaitClass::Lock, LOCK, lock_s)]
    }

    fn part<'a>(query: &'a QueryTime, name: &str) -> &'a TimePart {
        query.parts.iter().find(|part| part.name == name).unwrap()
    }

    #[test]
    fn parts_of_a_query_are_seconds_a_run_and_sum_to_its_time() {
        let trials = [trial(1.0, Some(50.0)), trial(1.5, Some(50.0))];
        let times = query_times(&trials.iter().collect::<Vec<_>>()).unwrap();
        let names: Vec<&str> = times.queries.iter().map(|query| query.query.as_str()).collect();
        assert_eq!(names, ["Q1", "Q4", BEHIND]);
        for query in &times.queries {
            let means = query.parts.iter().filter_map(|part| Some(part.time.as_ref()?.mean));
            assert_eq!(means.sum::<f64>(), query.time.as_ref().unwrap().mean, "{query:?}");
        }
        let q4 = &times.queries[1];
        let lock = part(q4, "lock");
        assert_eq!(lock.time.as_ref().map(|time| (time.mean, time.n)), Some((1.25, 2)));
        assert!(lock.time.as_ref().unwrap().interval.is_some());
        assert_eq!(part(q4, CPU).time.as_ref().unwrap().mean, 0.5);
        assert_eq!(part(q4, UNACCOUNTED).time.as_ref().unwrap().mean, 0.25);
        assert_eq!((q4.events[0].event.as_str(), q4.events[0].share), (LOCK, 0.625));
        // 3 samples of 20 ms in the four runs of both trials.
        let unseen = part(&times.queries[0], "lock");
        assert_eq!((unseen.time.clone(), unseen.below_s), (None, Some(0.015)));
    }

    #[test]
    fn one_trial_has_no_interval_and_counted_waits_have_no_bound() {
        let times = query_times(&[&trial(1.0, None)]).unwrap();
        let lock = part(&times.queries[1], "lock").time.clone().unwrap();
        assert_eq!((lock.mean, lock.interval), (1.0, None));
        let unseen = part(&times.queries[0], "lock");
        assert_eq!((unseen.time.clone(), unseen.below_s), (None, None));
        assert_eq!(query_times(&[&Observations::default()]), None);
    }

    fn query(lock_s: Option<f64>) -> QueryPart {
        let class = WaitClass::Lock;
        let waits = lock_s.map(|wait_s| EventTime { class, event: LOCK.into(), wait_s });
        let waits = waits.into_iter().collect();
        QueryPart { query: "Q4".into(), runs: 1.0, session_s: 3.0, cpu_s: 1.0, waits }
    }

    fn p_value(differences_s: &[f64], step_s: f64) -> f64 {
        let pairs: Vec<Pair> = differences_s
            .iter()
            .map(|differences_s| Pair { from: query(None), to: query(Some(*differences_s)) })
            .collect();
        let pairs: Vec<&Pair> = pairs.iter().collect();
        let found = tested(&pairs, Some(WaitClass::Lock), step_s).unwrap();
        assert_eq!(found.times[0], None, "not seen is not zero");
        assert!(tested(&pairs, Some(WaitClass::Log), step_s).is_none());
        assert!(tested(&pairs, None, step_s).is_some_and(|test| test.p_value == 1.0));
        found.p_value
    }

    /// `t.test(c(0.9, 1.0, 1.1))` of R has t = 17.32 and p = 0.003317.
    #[test]
    fn differences_are_tested_by_pairs_and_whole_samples_are_no_certainty() {
        assert!((p_value(&[0.9, 1.0, 1.1], 0.0) - 0.003_317).abs() < 1e-6);
        // One sample more in each of two blocks: equal differences that are rounded.
        assert!(p_value(&[0.02, 0.02], 0.02) > 0.2);
        assert_eq!(p_value(&[0.25, 0.25], 0.0), 0.0);
    }
}
