//! Sums of a window's samples over a whole server.

use super::accounting::{KernelTime, SessionSamples};
use super::class;
use super::window::{Process, Sample, Window};
use observations::{ActivityCell, ProcessUse, TimeUse, Wait};
use std::collections::{BTreeMap, HashMap};

/// The samples of what works for clients.
///
/// Sessions that used no processor at all tell nothing about what samples missed of it: they are kept
/// apart, so that many idle sessions do not hide the few that work.
pub(super) struct ClientSamples {
    worked: SessionSamples,
    rested: SessionSamples,
}

/// The pseudo wait, for its client, of a session that has nothing to do.
const IDLE: &str = "Client:Idle";

impl ClientSamples {
    pub(super) fn of(window: &Window) -> Self {
        let for_client = |pid: &i32| window.processes.get(pid).is_none_or(Process::for_client);
        let clients = |worked: bool| {
            let chosen = |pid: &i32| for_client(pid) && has_worked(window, *pid) == worked;
            let (mut running, mut samples, mut waits) = (0, 0, BTreeMap::new());
            for (sample, count) in window.samples.iter().filter(|(sample, _)| chosen(&sample.pid)) {
                samples += count;
                match sample.wait {
                    _ if sample.idle => *waits.entry(IDLE.to_owned()).or_insert(0) += count,
                    None => running += count,
                    Some(wait) => *waits.entry(window.wait_type(wait)).or_insert(0) += count,
                }
            }
            let kernel = window.kernel.as_ref().map(|kernel| {
                KernelTime::sum(kernel.iter().filter(|(pid, _)| chosen(pid)).map(|(_, times)| times))
            });
            let session_s = samples as f64 * window.sample_s();
            SessionSamples { session_s, running, waits: waits.into_iter().collect(), hz: window.hz, kernel }
        };
        Self { worked: clients(true), rested: clients(false) }
    }

    /// Waits and CPU time while sessions had something to do: also while they waited for a processor
    /// to begin with it.
    pub(super) fn account(&self) -> (Vec<Wait>, TimeUse) {
        let (mut waits, mut time) = self.worked.account();
        let (others, other_time) = self.rested.account();
        time.session_s += other_time.session_s;
        time.cpu_s += other_time.cpu_s;
        for other in others {
            match waits.iter_mut().find(|wait| wait.wait_type == other.wait_type) {
                Some(wait) => {
                    wait.resource_s += other.resource_s;
                    wait.signal_s += other.signal_s;
                }
                None => waits.push(other),
            }
        }
        let idle_s: f64 = waits.iter().filter(|wait| wait.wait_type == IDLE).map(Wait::wait_s).sum();
        time.session_s -= idle_s;
        waits.retain(|wait| wait.wait_type != IDLE);
        (waits, time)
    }
}

fn has_worked(window: &Window, pid: i32) -> bool {
    window.kernel.as_ref().is_none_or(|kernel| kernel.get(&pid).is_some_and(|times| times.cpu_ns > 0))
}

/// Sums the samples by what is worth telling apart.
pub(super) fn cells(window: &Window, clients: &ClientSamples) -> Vec<ActivityCell> {
    let unknown = Process { kind: "client backend".to_owned(), ..Process::default() };
    let correction = clients.worked.correction();
    let mut sums: HashMap<(Sample, &Process), (u64, f64)> = HashMap::new();
    for (sample, count) in &window.samples {
        let process = window.processes.get(&sample.pid).unwrap_or(&unknown);
        let factor = match sample.wait {
            _ if !process.for_client() || !has_worked(window, sample.pid) => 1.0,
            None => correction.running,
            Some(_) => correction.waiting,
        };
        let sum = sums.entry((Sample { pid: 0, ..*sample }, process)).or_insert((0, 0.0));
        sum.0 += count;
        sum.1 += *count as f64 * factor * window.sample_s();
    }
    let cell = |((sample, process), (samples, seconds)): ((Sample, &Process), (u64, f64))| {
        let wait_type = sample.wait.map(|wait| window.wait_type(wait));
        ActivityCell {
            process: process.kind.clone(),
            for_client: process.for_client(),
            class: wait_type.as_deref().map(class),
            wait_type,
            idle: sample.idle,
            state: window.names.get(sample.state).to_owned(),
            query_id: sample.query_id,
            application: process.application.clone(),
            user: process.user.clone(),
            database: process.database.clone(),
            samples,
            seconds,
        }
    };
    let mut cells: Vec<ActivityCell> = sums.into_iter().map(cell).collect();
    let order = |cell: &ActivityCell| {
        (
            cell.wait_type.clone(),
            cell.query_id,
            cell.application.clone(),
            cell.user.clone(),
            cell.state.clone(),
        )
    };
    cells.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| order(a).cmp(&order(b))));
    cells
}

/// Time of the processes by their kind.
pub(super) fn process_use(window: &Window) -> Vec<ProcessUse> {
    let mut kinds: BTreeMap<&str, (bool, Vec<_>)> = BTreeMap::new();
    for (pid, times) in window.kernel.iter().flatten() {
        let Some(process) = window.processes.get(pid) else { continue };
        kinds.entry(&process.kind).or_insert((process.for_client(), Vec::new())).1.push(times);
    }
    let kind = |(kind, (for_client, times)): (&str, (bool, Vec<_>))| {
        let sum = KernelTime::sum(times.into_iter());
        ProcessUse { process: kind.to_owned(), for_client, cpu_s: sum.cpu_s, run_queue_s: sum.run_queue_s }
    };
    kinds.into_iter().map(kind).collect()
}
