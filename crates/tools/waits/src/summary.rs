//! The waits of a live server's sessions, by wait type, class, statement and client.

mod blocking;
mod compare;
mod parts;

pub use blocking::{RootBlocker, Victim};
pub use compare::{
    ActivityComparison, Load, OperationRates, Tendency, WaitChange, compare_activities,
};

use analysis::estimate::{sums, wilson};
use analysis::hot::{HotResources, resources};
use analysis::{Accounting, Interval, WaitOptions, WaitTable};
use observations::{
    ActivityCell, Observations, ProcessUse, ServerActivity, WaitClass, order, range,
};
use parts::Parts;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A live server in an interval: what was seen of it, with the operations that took most time first
/// and the meanings of the wait types in the table only; and what that comes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ActivitySummary {
    /// The recorded activity.
    #[serde(flatten)]
    pub activity: ServerActivity,
    /// The use of the time of the clients' sessions while they had something to do; its
    /// `connections` is how many were busy on average.
    pub accounting: Accounting,
    /// Waits of the sessions, clients included.
    pub table: WaitTable,
    /// The certainty of the rows of the top 95 %.
    pub shares: Vec<SampledShare>,
    /// Number of client sessions in each state, as the server reports it, on average of the
    /// samples.
    pub states: Vec<(String, f64)>,
    /// Busy time by class of wait; `None` is time without a wait.
    pub classes: Vec<(Option<WaitClass>, f64)>,
    /// By statement: the engine's number of it.
    pub statements: Vec<ActivityGroup<Option<i64>>>,
    /// The waits of statements, most first.
    pub statement_waits: Vec<StatementWait>,
    /// By application, user and database.
    pub clients: Vec<ActivityGroup<(String, String, String)>>,
    /// Processes that work for the server itself.
    pub background: Vec<BackgroundProcess>,
    /// Sessions at the root of waits for locks when the interval ended.
    pub blocking: Vec<RootBlocker>,
    /// Kinds of things that many waiting sessions met at.
    pub hot: Vec<HotResources>,
}

/// The number of samples of a wait type, and their share of the busy time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledShare {
    /// The wait type.
    pub wait_type: String,
    /// Our class.
    pub class: WaitClass,
    /// Samples in it.
    pub samples: u64,
    /// The share of the samples of busy sessions.
    pub share: f64,
    /// About where the share lies with 95 % confidence: Wilson's interval, which takes the samples
    /// as independent. Waits longer than the time between two samples make it too narrow.
    pub interval: Interval,
}

/// The number of samples of a statement in a wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementWait {
    /// The engine's number of the statement; `None`: it has none.
    pub query_id: Option<i64>,
    /// The wait type; `None`: on a processor, or ready for one.
    pub wait_type: Option<String>,
    /// Samples of it.
    pub samples: u64,
    /// Their share of the samples of busy sessions.
    pub share: f64,
    /// Standard error of the share: that of independent samples, or what the share's changes from
    /// one part of the interval to the next say, if that is more.
    pub error: f64,
}

/// Busy time of sessions that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivityGroup<K> {
    /// Their common key.
    pub key: K,
    /// Seconds in which they had something to do.
    pub busy_s: f64,
    /// Seconds of it without a wait: on a processor, or ready for one.
    pub running_s: f64,
    /// Their other waits, most first: wait types with their seconds.
    pub waits: Vec<(String, f64)>,
}

/// A kind of process that works for the server itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BackgroundProcess {
    /// The kind.
    pub process: String,
    /// Seconds on a processor and in the run queue, where the kernel tells.
    pub time: Option<ProcessUse>,
    /// Seconds in which it was sampled without a wait.
    pub running_s: f64,
    /// Waits during its busy time, most first.
    pub waits: Vec<(String, f64)>,
}

/// Sums up a live server's samples.
pub fn summarize(mut server_activity: ServerActivity) -> ActivitySummary {
    let options = WaitOptions { include_client: true, benign: None };
    let table = WaitTable::new(&[&server_activity.waits], options);
    let mut accounting = Accounting::for_trial(&Observations {
        elapsed_s: server_activity.elapsed_s,
        waits: server_activity.waits.clone(),
        time: server_activity.time.clone(),
        ..Observations::default()
    });
    if server_activity.elapsed_s > 0.0 {
        accounting.connections = server_activity.time.session_s / server_activity.elapsed_s;
    }
    server_activity.meanings.retain(|name, _| table.top().iter().any(|row| &row.wait_type == name));
    order::sort(&mut server_activity.operations, &|a, b| {
        b.wall_s.total_cmp(&a.wall_s).then_with(|| b.count.cmp(&a.count))
    });
    let busy: Vec<&ActivityCell> =
        server_activity.cells.iter().filter(|cell| cell.for_client && !cell.idle).collect();
    ActivitySummary {
        shares: if server_activity.counted_in.is_some() {
            Vec::new()
        } else {
            shares(&table, &busy)
        },
        states: states(&server_activity.cells, server_activity.sampling.polls),
        classes: classes(&server_activity, &busy),
        statements: groups(&busy, |cell| cell.query_id),
        statement_waits: statement_waits(&busy, &Parts::from_activity(&server_activity)),
        clients: groups(&busy, |cell| {
            (cell.application.clone(), cell.user.clone(), cell.database.clone())
        }),
        background: background(&server_activity.cells, &server_activity.processes),
        blocking: blocking::roots(server_activity.tasks.as_deref().unwrap_or_default()),
        hot: resources(&server_activity.resources),
        accounting,
        table,
        activity: server_activity,
    }
}

/// Busy time by class: from the samples, or without samples from the server's counters.
fn classes(
    server_activity: &ServerActivity,
    busy: &[&ActivityCell],
) -> Vec<(Option<WaitClass>, f64)> {
    if busy.is_empty() && server_activity.counted_in.is_some() {
        let waits = server_activity.waits.iter().filter(|wait| wait.class != WaitClass::Idle);
        return sums(waits.map(|wait| (Some(wait.class), wait.wait_s())));
    }
    sums(busy.iter().map(|cell| (cell.class, cell.seconds)))
}

fn shares(table: &WaitTable, busy: &[&ActivityCell]) -> Vec<SampledShare> {
    let all = range::total(busy.iter().map(|cell| cell.samples));
    table
        .top()
        .iter()
        .filter_map(|row| {
            let busy = busy.iter().filter(|cell| cell.wait_type.as_deref() == Some(&row.wait_type));
            let samples = range::total(busy.map(|cell| cell.samples));
            (samples > 0).then(|| SampledShare {
                wait_type: row.wait_type.clone(),
                class: row.class,
                samples,
                share: samples as f64 / all as f64,
                interval: wilson(samples, all),
            })
        })
        .collect()
}

fn statement_waits(busy: &[&ActivityCell], parts: &Parts) -> Vec<StatementWait> {
    let mut sums: BTreeMap<(Option<i64>, Option<&str>), u64> = BTreeMap::new();
    for cell in busy {
        let sum = sums.entry((cell.query_id, cell.wait_type.as_deref())).or_insert(0);
        *sum = sum.saturating_add(cell.samples);
    }
    let all = range::total(busy.iter().map(|cell| cell.samples));
    let errors = parts.errors_of_shares();
    let mut waits: Vec<StatementWait> = sums
        .into_iter()
        .filter(|(_, samples)| *samples > 0)
        .map(|((query_id, wait_type), samples): ((Option<i64>, Option<&str>), u64)| {
            let share = samples as f64 / all as f64;
            let independent = (share * (1.0 - share) / all as f64).sqrt();
            let error = errors.get(&(wait_type, query_id)).copied().unwrap_or(0.0).max(independent);
            StatementWait {
                query_id,
                wait_type: wait_type.map(str::to_owned),
                samples,
                share,
                error,
            }
        })
        .collect();
    order::by_key(&mut waits, &|wait| Reverse(wait.samples));
    waits
}

fn states(cells: &[ActivityCell], polls: u64) -> Vec<(String, f64)> {
    let clients = cells.iter().filter(|cell| cell.for_client && cell.process != "parallel worker");
    sums(clients.map(|cell| {
        // A profile of waits does not have the state.
        let state = match (cell.state.as_str(), cell.idle) {
            ("", true) => "idle",
            ("", false) => "busy",
            (state, _) => state,
        };
        (state.to_owned(), cell.samples as f64 / polls.max(1) as f64)
    }))
}

fn groups<K: Ord>(
    busy: &[&ActivityCell],
    key: impl Fn(&ActivityCell) -> K,
) -> Vec<ActivityGroup<K>> {
    let mut members: BTreeMap<K, Vec<&ActivityCell>> = BTreeMap::new();
    for cell in busy {
        members.entry(key(cell)).or_default().push(cell);
    }
    let mut groups: Vec<ActivityGroup<K>> = members
        .into_iter()
        .map(|(key, cells)| {
            let busy_s = cells.iter().map(|cell| cell.seconds).sum();
            ActivityGroup { key, busy_s, running_s: running(&cells), waits: waits(&cells) }
        })
        .collect();
    order::largest_first(&mut groups, &|row| row.busy_s);
    groups
}

fn running(cells: &[&ActivityCell]) -> f64 {
    cells.iter().filter(|cell| cell.wait_type.is_none()).map(|cell| cell.seconds).sum()
}

fn waits(cells: &[&ActivityCell]) -> Vec<(String, f64)> {
    sums(cells.iter().filter_map(|cell| Some((cell.wait_type.clone()?, cell.seconds))))
}

/// Only processes that did something or waited for something.
fn background(cells: &[ActivityCell], uses: &[ProcessUse]) -> Vec<BackgroundProcess> {
    let sampled = cells.iter().filter(|cell| !cell.for_client).map(|cell| cell.process.as_str());
    let used = uses.iter().filter(|used| !used.for_client).map(|used| used.process.as_str());
    let kinds: BTreeSet<&str> = sampled.chain(used).collect();
    let mut processes: Vec<BackgroundProcess> = kinds
        .into_iter()
        .map(|kind| {
            let cells: Vec<&ActivityCell> = cells
                .iter()
                .filter(|cell| !cell.for_client && !cell.idle && cell.process == kind)
                .collect();
            let time = uses.iter().find(|used| used.process == kind).cloned();
            let process = kind.to_owned();
            BackgroundProcess { process, time, running_s: running(&cells), waits: waits(&cells) }
        })
        .collect();
    let busy_s = |process: &BackgroundProcess| {
        process.running_s + process.waits.iter().map(|(_, seconds)| seconds).sum::<f64>()
    };
    processes.retain(|process| {
        busy_s(process) > 0.0
            || process.time.as_ref().is_some_and(|time| time.cpu_s + time.run_queue_s > 0.0)
    });
    order::largest_first(&mut processes, &|row| busy_s(row));
    processes
}
