//! From the runs to the observations of the trial.

use crate::answer::PrintedValue;
use crate::job::Job;
use crate::lane::{LaneOutcome, Run};
use crate::run::StartUp;
use analysis::estimate::mean;
use observations::{
    Fact, FactName, Histogram, Latency, Observations, Response, Series, TimeUse, Wait, WaitClass,
    Warning, WarningKind, Work, order, wait_type,
};
use probe::measure::{Surroundings, connection_done};

/// Most names of processes that are listed.
const NAMED_MAX: usize = 5;

/// The observations of a trial. `shell`: what is subtracted from each run, if anything;
/// `left_behind`: the processes that were still there at the trial's end.
pub fn observations(
    job: &Job,
    shell: Option<StartUp>,
    lanes: &[LaneOutcome],
    left_behind: &[String],
    surroundings: Surroundings,
) -> Observations {
    let mut runs: Vec<&Run> = lanes.iter().flat_map(|lane| &lane.runs).collect();
    order::by_key(&mut runs, &|run| run.number);
    let elapsed_s = lanes.iter().map(|lane| lane.elapsed_s).fold(0.0, f64::max);
    let figures = Figures::from_runs(&runs, shell.unwrap_or_default());
    let histograms: Vec<&Histogram> = lanes.iter().map(|lane| &lane.latencies).collect();
    let mut responses = figures.responses(&runs);
    if job.concurrency > 1 && elapsed_s > 0.0 {
        responses.push(Response::higher("throughput", "runs/s", runs.len() as f64 / elapsed_s));
    }
    for (position, answer) in job.answers.iter().enumerate() {
        let printed: Vec<PrintedValue> = runs.iter().map(|run| run.answers[position]).collect();
        responses.push(answer.response(&printed));
    }
    let sessions = surroundings.sessions_of_others();
    let observations =
        surroundings.observations(elapsed_s, job.concurrency, std::iter::empty(), Vec::new());
    // Where the command's sessions on a server are seen, it is their time that is accounted for.
    let (connections, waits, time) = match sessions {
        Some(time) => {
            ((time.session_s / elapsed_s).round().max(1.0) as u32, observations.waits.clone(), time)
        }
        None => {
            (job.concurrency, waits(lanes, elapsed_s), time_of(&runs, job.concurrency, elapsed_s))
        }
    };
    let mut warnings = observations.warnings.clone();
    warnings.extend(left(&runs, left_behind));
    Observations {
        facts: facts(&runs, shell).into_iter().chain(job.draws.facts()).collect(),
        work: Work { unit: Work::RUN.into(), amount: runs.len() as u64, ..Work::default() },
        responses,
        latencies: vec![Latency { name: "run".into(), histogram: Histogram::sum(&histograms) }],
        series: figures.series(&runs),
        connections,
        waits,
        time,
        warnings,
        ..observations
    }
}

/// Use of time by sessions that execute one run after the other.
fn time_of(runs: &[&Run], sessions: u32, elapsed_s: f64) -> TimeUse {
    TimeUse {
        session_s: elapsed_s * f64::from(sessions),
        cpu_s: runs.iter().map(|run| run.used.user_s + run.used.system_s).sum(),
        cpu_user_s: Some(runs.iter().map(|run| run.used.user_s).sum()),
        ..TimeUse::default()
    }
}

/// Times of the runs in their order, without those of the shell.
struct Figures {
    elapsed_s: Vec<f64>,
    user_s: Vec<f64>,
    system_s: Vec<f64>,
}

impl Figures {
    fn from_runs(runs: &[&Run], shell: StartUp) -> Self {
        let less = |of: fn(&Run) -> f64, shell_s: f64| {
            runs.iter().map(|run| (of(run) - shell_s).max(0.0)).collect()
        };
        Self {
            elapsed_s: less(|run| run.elapsed_s, shell.elapsed_s),
            user_s: less(|run| run.used.user_s, shell.user_s),
            system_s: less(|run| run.used.system_s, shell.system_s),
        }
    }

    /// Means over the runs, but for the extremes.
    fn responses(&self, runs: &[&Run]) -> Vec<Response> {
        let step = 1.0 / runs.len() as f64;
        let counted = |name: &str, of: fn(&Run) -> u64| {
            Response::lower(name, "", mean(runs.iter().map(|run| of(run) as f64))).in_steps_of(step)
        };
        let mut responses = vec![Response::lower("elapsed", "s", mean(&self.elapsed_s))];
        if runs.len() > 1 {
            let extreme =
                |of: fn(f64, f64) -> f64| self.elapsed_s.iter().copied().reduce(of).unwrap_or(0.0);
            responses.push(Response::lower("elapsed_min", "s", extreme(f64::min)));
            responses.push(Response::lower("elapsed_max", "s", extreme(f64::max)));
        }
        responses.extend([
            Response::lower("user_cpu", "s", mean(&self.user_s)),
            Response::lower("system_cpu", "s", mean(&self.system_s)),
        ]);
        if let Some(delays) =
            runs.iter().map(|run| run.used.run_delay_s).collect::<Option<Vec<_>>>()
        {
            responses.push(Response::lower("run_queue", "s", mean(&delays)));
        }
        responses.extend([
            counted("minor_faults", |run| run.used.minor_faults),
            counted("major_faults", |run| run.used.major_faults),
            counted("voluntary_switches", |run| run.used.voluntary_switches),
            counted("involuntary_switches", |run| run.used.involuntary_switches),
        ]);
        let millions = |amounts: &[u64]| mean(amounts.iter().map(|amount| *amount as f64 / 1e6));
        let instructions: Option<Vec<u64>> = runs.iter().map(|run| run.instructions).collect();
        responses.extend(
            instructions.map(|all| Response::lower("instructions", "million", millions(&all))),
        );
        let moved: Option<Vec<(u64, u64)>> =
            runs.iter().map(|run| run.used.storage_bytes).collect();
        if let Some(moved) = moved {
            let (read, written): (Vec<u64>, Vec<u64>) = moved.into_iter().unzip();
            responses.push(Response::lower("storage_read", "MB", millions(&read)));
            responses.push(Response::lower("storage_written", "MB", millions(&written)));
        }
        responses.extend(
            peak_bytes(runs).map(|peak| Response::lower("peak_memory", "MB", peak as f64 / 1e6)),
        );
        responses
    }

    /// A value a run.
    fn series(&self, runs: &[&Run]) -> Vec<Series> {
        let codes = runs.iter().map(|run| f64::from(run.exit_code)).collect();
        let peaks: Option<Vec<f64>> =
            runs.iter().map(|run| run.used.peak_bytes.map(|peak| peak as f64)).collect();
        let times = [
            ("elapsed", &self.elapsed_s),
            ("user_cpu", &self.user_s),
            ("system_cpu", &self.system_s),
        ];
        let times = times.map(|(name, values)| Series::of_runs(name, "s", values.clone()));
        let others = [Series::of_runs("exit_code", "", codes)].into_iter();
        times
            .into_iter()
            .chain(others)
            .chain(peaks.map(|peaks| Series::of_runs("peak_memory", "B", peaks)))
            .collect()
    }
}

/// The largest resident set of a process in any run, where that is known.
fn peak_bytes(runs: &[&Run]) -> Option<u64> {
    runs.iter().filter_map(|run| run.used.peak_bytes).max()
}

/// Seconds that a shell takes to start, which are subtracted from each run.
pub(crate) const SHELL_START_UP: FactName = FactName::new("shell_start_up", "s");
/// Megabytes (10^6) that no process of a run exceeded.
pub(crate) const PEAK_MEMORY_AT_MOST: FactName = FactName::new("peak_memory_at_most", "MB");

fn facts(runs: &[&Run], shell: Option<StartUp>) -> Vec<Fact> {
    let shell = shell.map(|shell| SHELL_START_UP.record(shell.elapsed_s));
    // The kernel counts the memory of the process that starts a command as the command's.
    shell
        .into_iter()
        .chain(
            peak_bytes(runs)
                .is_none()
                .then(|| PEAK_MEMORY_AT_MOST.record(observe::child::own_peak_bytes() as f64 / 1e6)),
        )
        .collect()
}

/// Waits of a session, which is a sequence of runs: its time off the CPU. With several CPUs in use
/// the rest of the elapsed time is unknown.
fn waits(lanes: &[LaneOutcome], elapsed_s: f64) -> Vec<Wait> {
    let (mut queue_s, mut off_s, mut between_s) = (0.0, 0.0, 0.0);
    let (mut lost, mut left, mut runs) = (0, 0, 0);
    for lane in lanes {
        let mut runs_s = 0.0;
        for Run { elapsed_s, used, .. } in &lane.runs {
            let delay_s = used.run_delay_s.unwrap_or(0.0).min(*elapsed_s);
            queue_s += delay_s;
            off_s += (elapsed_s - used.user_s - used.system_s - delay_s).max(0.0);
            runs_s += elapsed_s;
            lost += used.involuntary_switches;
            left += used.voluntary_switches;
        }
        between_s += (lane.elapsed_s - runs_s).max(0.0);
        runs += lane.runs.len() as u64;
    }
    [
        Wait::counted(wait_type::CPU_QUEUE, WaitClass::CpuQueue, lost, 0.0, queue_s),
        Wait::counted("OFF_CPU", WaitClass::Other, left, off_s, 0.0),
        Wait::counted(wait_type::BETWEEN_RUNS, WaitClass::Client, runs, between_s, 0.0),
        connection_done(elapsed_s, lanes.iter().map(|lane| lane.elapsed_s)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Processes that were there when they should have ended.
fn left(runs: &[&Run], left_behind: &[String]) -> Option<Warning> {
    let groups = runs.iter().filter(|run| run.left_group).count();
    let mut parts = Vec::new();
    if groups > 0 {
        parts.push(format!(
            "{groups} of {} runs left processes of their process group running",
            runs.len()
        ));
    }
    if !left_behind.is_empty() {
        let more = left_behind.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = left_behind[..left_behind.len().min(NAMED_MAX)].join(", ");
        parts.push(format!("still running at the end of the trial: {named}{more}"));
    }
    let detail =
        format!("{}; they were killed and their resource use is not counted", parts.join("; "));
    (!parts.is_empty()).then_some(Warning { kind: WarningKind::LeftBehind, detail })
}
