//! What a live server's sessions waited for, by wait type, class, statement and client.

use crate::{Accounting, Interval, WaitOptions, WaitTable};
use observations::{
    ActivityCell, Observations, Operation, ProcessUse, Sampling, ServerActivity, WaitClass, WaitingTask,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// 97.5th percentile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A live server in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ActivitySummary {
    /// Name and version of the server.
    pub server: String,
    /// Seconds watched.
    pub elapsed_s: f64,
    /// How samples were taken.
    pub sampling: Sampling,
    /// Where the time of the clients' sessions went while they had something to do; its
    /// `connections` is how many were busy on average.
    pub accounting: Accounting,
    /// Whether CPU and run-queue time are the kernel's.
    pub time_is_exact: bool,
    /// What they waited for, clients included.
    pub table: WaitTable,
    /// How sure the rows of the top 95 % are.
    pub shares: Vec<SampledShare>,
    /// Number of client sessions in each state, as the server reports it, on average of the samples.
    pub states: Vec<(String, f64)>,
    /// Busy time by class of wait; `None` is time without a wait.
    pub classes: Vec<(Option<WaitClass>, f64)>,
    /// By statement: the engine's number of it.
    pub statements: Vec<ActivityGroup<Option<i64>>>,
    /// By application, user and database.
    pub clients: Vec<ActivityGroup<(String, String, String)>>,
    /// Processes that work for the server itself.
    pub background: Vec<BackgroundProcess>,
    /// I/O that the server counted and timed itself, most time first.
    pub operations: Vec<Operation>,
    /// Texts of the statements.
    pub texts: BTreeMap<i64, String>,
    /// What the wait types in the table mean.
    pub meanings: BTreeMap<String, String>,
    /// Who waited when the interval ended.
    pub tasks: Option<Vec<WaitingTask>>,
    /// What could not be seen.
    pub lost: Vec<String>,
}

/// How often a wait type was sampled, and what share of the busy time that is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledShare {
    /// The wait type.
    pub wait_type: String,
    /// Our class.
    pub class: WaitClass,
    /// Samples in it.
    pub samples: u64,
    /// Its share of the samples of busy sessions.
    pub share: f64,
    /// About where the share lies with 95 % confidence: Wilson's interval, which takes the samples
    /// as independent. Waits longer than the time between two samples make it too narrow.
    pub interval: Interval,
}

/// Busy time of sessions that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivityGroup<K> {
    /// What they have in common.
    pub key: K,
    /// Seconds in which they had something to do.
    pub busy_s: f64,
    /// Seconds of it without a wait: on a processor, or ready for one.
    pub running_s: f64,
    /// What else they did, most first: wait types with their seconds.
    pub waits: Vec<(String, f64)>,
}

/// A kind of process that works for the server itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BackgroundProcess {
    /// Its kind.
    pub process: String,
    /// Seconds on a processor and in the run queue, where the kernel tells.
    pub time: Option<ProcessUse>,
    /// Seconds in which it was sampled without a wait.
    pub running_s: f64,
    /// What it waited for while it had something to do, most first.
    pub waits: Vec<(String, f64)>,
}

/// Sums a live server's samples up.
pub fn activity(activity: ServerActivity) -> ActivitySummary {
    let busy: Vec<&ActivityCell> =
        activity.cells.iter().filter(|cell| cell.for_client && !cell.idle).collect();
    let options = WaitOptions { include_client: true, benign: None };
    let table = WaitTable::new(&[&activity.waits], options);
    let mut accounting = Accounting::of(&Observations {
        elapsed_s: activity.elapsed_s,
        waits: activity.waits.clone(),
        time: activity.time.clone(),
        ..Observations::default()
    });
    if activity.elapsed_s > 0.0 {
        accounting.connections = activity.time.session_s / activity.elapsed_s;
    }
    let explained = |name: &String| table.top().iter().any(|row| &row.wait_type == name);
    let mut operations = activity.operations;
    operations.sort_by(|a, b| b.wall_s.total_cmp(&a.wall_s).then_with(|| b.count.cmp(&a.count)));
    ActivitySummary {
        shares: shares(&table, &busy),
        states: states(&activity.cells, activity.sampling.polls),
        classes: classes(&busy),
        statements: groups(&busy, |cell| cell.query_id),
        clients: groups(&busy, |cell| (cell.application.clone(), cell.user.clone(), cell.database.clone())),
        background: background(&activity.cells, &activity.processes),
        meanings: activity.meanings.into_iter().filter(|(name, _)| explained(name)).collect(),
        server: activity.server,
        elapsed_s: activity.elapsed_s,
        sampling: activity.sampling,
        accounting,
        time_is_exact: activity.time_is_exact,
        table,
        operations,
        texts: activity.statements,
        tasks: activity.tasks,
        lost: activity.lost,
    }
}

fn shares(table: &WaitTable, busy: &[&ActivityCell]) -> Vec<SampledShare> {
    let all: u64 = busy.iter().map(|cell| cell.samples).sum();
    let samples = |name: &str| {
        busy.iter().filter(|cell| cell.wait_type.as_deref() == Some(name)).map(|cell| cell.samples).sum()
    };
    let sampled = table.top().iter().map(|row| (row, samples(&row.wait_type))).filter(|(_, n)| *n > 0);
    sampled
        .map(|(row, samples)| SampledShare {
            wait_type: row.wait_type.clone(),
            class: row.class,
            samples,
            share: samples as f64 / all as f64,
            interval: wilson(samples, all),
        })
        .collect()
}

/// Wilson's score interval of a share, at 95 %.
pub(crate) fn wilson(part: u64, all: u64) -> Interval {
    let (n, share) = (all as f64, part as f64 / all as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Interval { low: ((middle - half) / scale).max(0.0), high: ((middle + half) / scale).min(1.0) }
}

fn states(cells: &[ActivityCell], polls: u64) -> Vec<(String, f64)> {
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.process == "client backend") {
        // A profile of waits does not have the state.
        let state = match (cell.state.as_str(), cell.idle) {
            ("", true) => "idle",
            ("", false) => "busy",
            (state, _) => state,
        };
        *states.entry(state).or_insert(0) += cell.samples;
    }
    let mut means: Vec<(String, f64)> = states
        .into_iter()
        .map(|(state, samples)| (state.to_owned(), samples as f64 / polls.max(1) as f64))
        .collect();
    means.sort_by(|a, b| b.1.total_cmp(&a.1));
    means
}

fn classes(busy: &[&ActivityCell]) -> Vec<(Option<WaitClass>, f64)> {
    let mut sums: HashMap<Option<WaitClass>, f64> = HashMap::new();
    for cell in busy {
        *sums.entry(cell.class).or_insert(0.0) += cell.seconds;
    }
    let mut classes: Vec<_> = sums.into_iter().collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    classes
}

fn groups<K: Ord + Clone>(busy: &[&ActivityCell], key: impl Fn(&ActivityCell) -> K) -> Vec<ActivityGroup<K>> {
    let mut members: BTreeMap<K, Vec<&ActivityCell>> = BTreeMap::new();
    for cell in busy {
        members.entry(key(cell)).or_default().push(cell);
    }
    let mut groups: Vec<ActivityGroup<K>> = members
        .into_iter()
        .map(|(key, cells)| ActivityGroup {
            key,
            busy_s: cells.iter().map(|cell| cell.seconds).sum(),
            running_s: running(&cells),
            waits: waits(&cells),
        })
        .collect();
    groups.sort_by(|a, b| b.busy_s.total_cmp(&a.busy_s));
    groups
}

fn running(cells: &[&ActivityCell]) -> f64 {
    cells.iter().filter(|cell| cell.wait_type.is_none()).map(|cell| cell.seconds).sum()
}

fn waits(cells: &[&ActivityCell]) -> Vec<(String, f64)> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for cell in cells {
        if let Some(wait_type) = &cell.wait_type {
            *sums.entry(wait_type).or_insert(0.0) += cell.seconds;
        }
    }
    let mut waits: Vec<_> = sums.into_iter().map(|(name, seconds)| (name.to_owned(), seconds)).collect();
    waits.sort_by(|a, b| b.1.total_cmp(&a.1));
    waits
}

/// Only processes that did something or waited for something.
fn background(cells: &[ActivityCell], uses: &[ProcessUse]) -> Vec<BackgroundProcess> {
    let mut kinds: BTreeMap<&str, Vec<&ActivityCell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !cell.for_client) {
        let cells = kinds.entry(&cell.process).or_default();
        if !cell.idle {
            cells.push(cell);
        }
    }
    for used in uses.iter().filter(|used| !used.for_client) {
        kinds.entry(&used.process).or_default();
    }
    let one = |(kind, cells): (&str, Vec<&ActivityCell>)| BackgroundProcess {
        process: kind.to_owned(),
        time: uses.iter().find(|used| used.process == kind).cloned(),
        running_s: running(&cells),
        waits: waits(&cells),
    };
    let mut processes: Vec<BackgroundProcess> = kinds.into_iter().map(one).collect();
    let busy_s = |process: &BackgroundProcess| {
        process.running_s + process.waits.iter().map(|(_, seconds)| seconds).sum::<f64>()
    };
    processes.retain(|process| {
        busy_s(process) > 0.0 || process.time.as_ref().is_some_and(|time| time.cpu_s + time.run_queue_s > 0.0)
    });
    processes.sort_by(|a, b| busy_s(b).total_cmp(&busy_s(a)));
    processes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_published_method() {
        // Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3 (Wilson's score).
        for (part, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(part, all);
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_06;
            assert!(near(interval.low, low) && near(interval.high, high), "{part}/{all}: {interval:?}");
        }
    }
}
