//! A window as the rows that are recorded of a server.

use super::{Process, Sample, Window};
use engine::WaitType;
use observations::{ActivityCell, ActivityPart, ProcessUse, Sampling, ServerActivity};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Sums the samples by what is worth telling apart; `factor` corrects the time that a sample stands
/// for.
pub fn cells(
    window: &Window,
    types: &'static [WaitType],
    factor: impl Fn(&Sample, &Process) -> f64,
) -> Vec<ActivityCell> {
    let unknown = Process { kind: "client backend".to_owned(), ..Process::default() };
    let mut sums: HashMap<(Sample, &Process), (u64, f64)> = HashMap::new();
    for (sample, count) in &window.samples {
        let process = window.processes.get(&sample.pid).unwrap_or(&unknown);
        let wait = sample.suspended_in().map(str::to_owned);
        let idle = sample.idle && wait.is_some();
        let merged = Sample { pid: 0, wait, idle, runnable: None, ..sample.clone() };
        let sum = sums.entry((merged, process)).or_insert((0, 0.0));
        sum.0 += count;
        sum.1 += *count as f64 * factor(sample, process) * window.sample_s();
    }
    let cell =
        |((sample, process), (samples, seconds)): ((Sample, &Process), (u64, f64))| ActivityCell {
            process: process.kind.clone(),
            for_client: process.for_client(),
            class: sample.wait.as_deref().map(|wait| WaitType::class_of(types, wait)),
            wait_type: sample.wait,
            idle: sample.idle,
            state: sample.state,
            query_id: sample.query_id,
            application: process.application.clone(),
            user: process.user.clone(),
            database: process.database.clone(),
            samples,
            seconds,
        };
    let mut cells: Vec<ActivityCell> = sums.into_iter().map(cell).collect();
    cells.sort_by_cached_key(|cell| {
        let names = [&cell.application, &cell.user, &cell.state].map(Clone::clone);
        (Reverse(cell.samples), cell.wait_type.clone(), cell.query_id, names)
    });
    cells
}

/// Returns the part of a server's activity that a window alone gives.
pub fn activity(window: &Window, hides_waits: bool) -> ServerActivity {
    ServerActivity {
        elapsed_s: window.elapsed.as_secs_f64(),
        sampling: Sampling {
            source: window.source.to_owned(),
            hz: window.hz,
            polls: window.polls,
            missed: window.missed,
            hides_waits,
        },
        time_is_exact: window.kernel.is_some(),
        processes: process_use(window),
        parts: parts(window),
        ..ServerActivity::default()
    }
}

/// The parts of the window, each sorted so that the same is always recorded alike.
fn parts(window: &Window) -> Vec<ActivityPart> {
    window
        .parts
        .iter()
        .map(|part| {
            let samples = part
                .samples
                .iter()
                .map(|((wait, query_id), count)| (wait.clone(), *query_id, *count));
            let mut samples: Vec<_> = samples.collect();
            samples.sort_unstable();
            ActivityPart { polls: part.polls, samples }
        })
        .collect()
}

/// Time of the processes by their kind.
fn process_use(window: &Window) -> Vec<ProcessUse> {
    let mut kinds: BTreeMap<&str, ProcessUse> = BTreeMap::new();
    for (pid, times) in window.kernel.iter().flatten() {
        let Some(process) = window.processes.get(pid) else { continue };
        let sum = kinds.entry(&process.kind).or_insert_with(|| ProcessUse {
            process: process.kind.clone(),
            for_client: process.for_client(),
            cpu_s: 0.0,
            run_queue_s: 0.0,
        });
        sum.cpu_s += times.cpu_ns as f64 / 1e9;
        sum.run_queue_s += times.run_delay_ns as f64 / 1e9;
    }
    kinds.into_values().collect()
}

/// Returns the meanings of these waits: the server's own where ours are general.
pub fn meanings<'a>(
    types: &'static [WaitType],
    theirs: impl Fn(&str) -> Option<String>,
    names: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let explained = names.filter_map(|name| {
        let ours = WaitType::find(types, name)?;
        let theirs = ours.is_pattern().then(|| theirs(name)).flatten();
        Some((name.to_owned(), theirs.unwrap_or_else(|| sentence(ours.meaning))))
    });
    explained.collect()
}

/// A meaning as a sentence of its own.
fn sentence(meaning: &str) -> String {
    let mut letters = meaning.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
