//! Tables of what a run recorded: of its trials, and of what was set and where it ran.

use crate::table::{Cell, Column, Columns, Share, Table, Time, Tone, Typed};
use crate::text::joined;
use analysis::waits::HEADINGS;
use analysis::{Accounting, WaitTable};
use observations::{
    ConfigurationRecord, DeviceUse, Environment, Fact, Frame, Histogram, Latency, Observations,
    Operation, Profile, Recording, Response, ScriptStatement, Series, TrialRecord, TrialStatus,
    Wait, WaitSource,
};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};

/// A part of what a trial saw (a wait, a latency, ...), with its trial.
#[derive(Clone, Copy)]
struct Item<'a, P> {
    /// Number of the trial in the recording, from 1: it joins the tables.
    number: u64,
    trial: &'a TrialRecord,
    part: P,
}

type Parts<'a, P> = Columns<'a, Item<'a, P>>;

/// Everything that the trials of a run recorded, as tables: `trials`, `waits`, `latencies`,
/// `statements`, `operations`, `series`, `devices`, `functions`. Every one begins with the trial
/// and its levels.
pub fn tables(recording: &Recording) -> Vec<Table<'_>> {
    vec![
        trials(recording),
        waits(recording),
        latencies(recording),
        statements(recording),
        operations(recording),
        series(recording),
        devices(recording),
        functions(recording),
    ]
}

/// The first columns of every table: trial, configuration and levels.
fn common<'a, P: 'a>(
    recording: &'a Recording,
    items: impl Iterator<Item = Item<'a, P>> + Clone + 'a,
) -> Parts<'a, P> {
    let mut columns = Columns::for_rows(items);
    columns.with(Column::raw("run", ""), |_| recording.run.id);
    columns.add("trial", "", |row| row.number).on_page = true;
    columns.with(Column::raw("configuration", ""), |row| {
        configuration(recording, row).map(|configuration| configuration.label.as_str())
    });
    columns.add("block", "", |row| row.trial.block).on_page = true;
    columns.add("attempt", "", |row| row.trial.attempt).on_page = true;
    for factor in &recording.factors {
        columns
            .factor(factor, |row: &Item<'_, P>| configuration(recording, row)?.level(&factor.name))
            .on_page = true;
    }
    columns
        .add("status", "", |row: &Item<'_, P>| match row.trial.status {
            TrialStatus::Done => Cell::from("done"),
            TrialStatus::Failed { .. } => Cell::new("failed", Tone::Bad),
        })
        .on_page = true;
    columns
}

fn configuration<'a, P>(
    recording: &'a Recording,
    row: &Item<'_, P>,
) -> Option<&'a ConfigurationRecord> {
    recording.configurations.get(row.trial.configuration)
}

/// A row a trial.
pub fn trials(recording: &Recording) -> Table<'_> {
    let trials = numbered(recording).map(|(number, trial)| Item { number, trial, part: () });
    let mut columns = common(recording, trials);
    columns.observed("elapsed", "s", |trial| trial.elapsed_s).on_page =
        !recording.responses().iter().any(|response| response.name == "elapsed");
    figures(&mut columns, recording);
    columns
        .observed("cpu_share", "", |trial| share(trial, |all| all.cpu_s))
        .headed("CPU share")
        .on_page = true;
    columns
        .observed("unaccounted_share", "", |trial| share(trial, |all| all.unaccounted_s))
        .on_page = true;
    columns
        .observed("warnings", "", |trial| {
            joined(trial.warnings.iter().map(|warning| warning.kind.name()), " ")
        })
        .on_page = true;
    columns.observed("warning_details", "", |trial| {
        joined(trial.warnings.iter().map(|warning| &warning.detail), "; ")
    });
    columns.add("cause", "", cause).headed("cause of failure").on_page =
        recording.trials.iter().any(|trial| matches!(trial.status, TrialStatus::Failed { .. }));
    columns.observed("timeout", "s", |trial| trial.timeout_s);
    columns.add("setup", "", |row| row.trial.setup);
    columns.add("sequence", "", |row| row.trial.sequence);
    if recording.trials.iter().any(|trial| trial.machine.is_some()) {
        columns.add("machine", "", |row| row.trial.machine.clone()).on_page = true;
    }
    columns.add("started", "", |row| Time(row.trial.started_ms));
    columns.add("wall", "s", |row| row.trial.wall_s).headed("whole trial");
    work_and_load(&mut columns);
    columns.named("trials")
}

impl<'a> Parts<'a, ()> {
    /// A column of what trials observed.
    fn observed<V: Typed + 'a>(
        &mut self,
        name: &str,
        unit: &str,
        value: fn(&'a Observations) -> V,
    ) -> &mut Column {
        self.with(Column::raw(name, unit), move |row| data(row).map(value))
    }
}

/// A part of the time of a trial's sessions; `None` of work without sessions.
fn share(trial: &Observations, seconds: fn(&Accounting) -> f64) -> Option<Share> {
    let all = Accounting::for_trial(trial);
    (all.session_s > 0.0).then(|| Share(all.share(seconds(&all))))
}

/// A column for each response and each fact that any trial has.
fn figures<'a>(columns: &mut Parts<'a, ()>, recording: &'a Recording) {
    for Response { name, unit, .. } in recording.responses() {
        columns
            .with(Column::raw(name, unit), move |row: &Item<'_, ()>| {
                let mut responses = data(row)?.responses.iter();
                Some(responses.find(|other| other.name == *name && other.unit == *unit)?.value)
            })
            .from_origin("response")
            .on_page = true;
    }
    let mut known: Vec<&Fact> = Vec::new();
    for fact in observed_trials(recording).flat_map(|(.., observations)| &observations.facts) {
        if known.iter().any(|known| known.name == fact.name && known.unit == fact.unit) {
            continue;
        }
        known.push(fact);
        columns
            .with(Column::raw(&fact.name, &fact.unit), move |row: &Item<'_, ()>| {
                let mut facts = data(row)?.facts.iter();
                Some(facts.find(|other| other.name == fact.name && other.unit == fact.unit)?.value)
            })
            .from_origin("fact")
            .on_page = true;
    }
}

fn work_and_load(columns: &mut Parts<'_, ()>) {
    columns.observed("synthetic", "", |trial| trial.synthetic);
    columns.observed("connections", "", |trial| trial.connections);
    columns.observed("work_amount", "", |trial| trial.work.amount);
    columns.observed("work_unit", "", |trial| trial.work.unit.as_str());
    columns.observed("transactions", "", |trial| trial.work.transactions);
    columns.observed("errors", "", |trial| trial.work.errors);
    columns.observed("retries", "", |trial| trial.work.retries);
    columns.observed("session", "s", |trial| trial.time.session_s).headed("sessions");
    columns
        .observed("cpu", "s", |trial| Some(trial.time.cpu_s).filter(|cpu_s| *cpu_s > 0.0))
        .headed("CPU");
    columns.observed("cpu_user", "s", |trial| trial.time.cpu_user_s).headed("CPU in user mode");
    columns.observed("client_share", "", |trial| Share(trial.load.client_share));
    columns.observed("run_delay_share", "", |trial| Share(trial.load.run_delay_share));
    columns.observed("sends_intended", "", |trial| trial.load.sends_intended);
    columns.observed("sends_missed", "", |trial| trial.load.sends_missed);
    columns.observed("sends_late", "", |trial| trial.load.sends_late);
    columns.observed("schedule", "s", |trial| trial.load.schedule_s);
    columns.observed("free_until", "s", |trial| trial.load.free_until_s);
    columns
        .observed("send_delay_us_max", "", |trial| trial.load.send_delay_us_max)
        .headed("longest send delay (us)");
    columns.observed("machine_cpus", "", |trial| trial.machine.cpus).headed("machine CPUs");
    columns.observed("machine_busy", "s", |trial| trial.machine.busy_s);
    columns.observed("machine_own", "s", |trial| trial.machine.own_s);
    columns.observed("machine_steal", "s", |trial| trial.machine.steal_s);
    columns.observed("machine_iowait", "s", |trial| trial.machine.iowait_s);
}

/// A wait, and its place in the trial's wait table.
struct WaitItem<'a> {
    wait: &'a Wait,
    /// Percentage of all waits in the table, and true if it is in the top 95 %. `None` for waits
    /// that the table leaves out: client and idle waits.
    of_all: Option<(f64, bool)>,
}

/// The nine columns of the published tables, and what else was recorded of a wait.
fn waits(recording: &Recording) -> Table<'_> {
    let waited = observed_trials(recording).flat_map(|(number, trial, observations)| {
        let table = WaitTable::of_trials(&[observations]);
        observations.waits.iter().map(move |wait| {
            let at = table.rows.iter().position(|row| row.wait_type == wait.wait_type);
            let of_all = at.map(|at| (table.rows[at].percentage, at < table.top));
            Item { number, trial, part: WaitItem { wait, of_all } }
        })
    });
    let mut columns = common(recording, waited);
    columns
        .add("wait_type", "", |row: &Item<WaitItem>| row.part.wait.wait_type.as_str())
        .headed(HEADINGS[0]);
    columns.add("wait", "s", |row| row.part.wait.wait_s());
    columns.add("resource", "s", |row| row.part.wait.resource_s);
    columns.add("signal", "s", |row| row.part.wait.signal_s);
    columns.add("wait_count", "", |row| row.part.wait.count).headed(HEADINGS[4]);
    columns
        .add("share", "", |row| row.part.of_all.map(|(percentage, _)| Share(percentage / 100.0)))
        .headed(HEADINGS[5]);
    columns.add("average_wait", "s", |row| each(row.part.wait, Wait::wait_s));
    columns.add("average_resource", "s", |row| each(row.part.wait, |wait| wait.resource_s));
    columns.add("average_signal", "s", |row| each(row.part.wait, |wait| wait.signal_s));
    columns.add("class", "", |row| row.part.wait.class.name());
    columns.add("top", "", |row| row.part.of_all.map(|(_, top)| top)).headed("top 95 %");
    columns.add("sampled", "Hz", |row| match row.part.wait.source {
        WaitSource::Sampled { hz, .. } => Some(hz),
        _ => None,
    });
    columns.add("samples", "", |row| row.part.wait.source.samples());
    columns.add("standard_error", "s", |row| row.part.wait.source.error_s());
    columns.add("counter", "", |row| match &row.part.wait.source {
        WaitSource::Server { counter, .. } => Some(counter.as_str()),
        _ => None,
    });
    columns.named("waits")
}

/// Seconds for each wait, where waits are counted.
fn each(wait: &Wait, seconds: fn(&Wait) -> f64) -> Option<f64> {
    wait.count.filter(|count| *count > 0).map(|count| seconds(wait) / count as f64)
}

const PERCENTILES: [(&str, &str, f64); 6] = [
    ("p50", "p50", 50.0),
    ("p90", "p90", 90.0),
    ("p95", "p95", 95.0),
    ("p99", "p99", 99.0),
    ("p999", "p99.9", 99.9),
    ("p9999", "p99.99", 99.99),
];

/// A distribution, and its figures unless it is empty.
#[derive(Clone, Copy)]
struct Distribution<'a> {
    latency: &'a Latency,
    figures: Option<Figures>,
}

#[derive(Clone, Copy)]
struct Figures {
    count: u64,
    min_mean_max_ns: (u64, f64, u64),
    percentiles_ns: [u64; PERCENTILES.len()],
}

impl Figures {
    fn from_histogram(histogram: &Histogram) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            min_mean_max_ns: histogram.min_mean_max_ns(),
            percentiles_ns: histogram
                .percentiles_ns(PERCENTILES.map(|(_, _, percentile)| percentile)),
        })
    }
}

fn latencies(recording: &Recording) -> Table<'_> {
    let distributions = parts(recording, |recording| &recording.latencies).map(|item| {
        let figures = Figures::from_histogram(&item.part.histogram);
        Item {
            number: item.number,
            trial: item.trial,
            part: Distribution { latency: item.part, figures },
        }
    });
    let mut columns = common(recording, distributions.collect::<Vec<_>>().into_iter());
    columns.add("latency", "", |row: &Item<Distribution>| row.part.latency.name.as_str());
    columns.add("count", "", |row| row.part.figures.map_or(0, |figures| figures.count));
    columns.add("min", "ns", |row| row.part.figures.map(|figures| figures.min_mean_max_ns.0));
    columns.add("mean", "ns", |row| row.part.figures.map(|figures| figures.min_mean_max_ns.1));
    for (at, (name, heading, _)) in PERCENTILES.into_iter().enumerate() {
        columns
            .with(Column::raw(name, "ns"), move |row: &Item<'_, Distribution<'_>>| {
                row.part.figures.map(|figure| figure.percentiles_ns[at])
            })
            .headed(heading);
    }
    columns.add("max", "ns", |row| row.part.figures.map(|figures| figures.min_mean_max_ns.2));
    columns.named("latencies")
}

fn statements(recording: &Recording) -> Table<'_> {
    let mut columns = common(recording, parts(recording, |recording| &recording.statements));
    columns.add("script", "", |row: &Item<&ScriptStatement>| row.part.script.as_str());
    columns.add("statement", "", |row| row.part.text.as_str()).wrapped = true;
    columns.add("count", "", |row| row.part.count);
    columns.add("mean", "ms", |row| {
        (row.part.count > 0).then(|| row.part.wall_s * 1e3 / row.part.count as f64)
    });
    columns.add("max", "ms", |row| row.part.wall_s_max * 1e3);
    columns.add("statement_wall", "s", |row| row.part.wall_s);
    columns.add("failures", "", |row| row.part.failures);
    columns.add("retries", "", |row| row.part.retries);
    columns.named("statements")
}

fn operations(recording: &Recording) -> Table<'_> {
    let mut columns = common(recording, parts(recording, |recording| &recording.operations));
    columns.add("operation", "", |row: &Item<&Operation>| row.part.name.as_str());
    columns.add("count", "", |row| row.part.count);
    columns.add("bytes", "", |row| row.part.bytes);
    columns.add("operation_wall", "s", |row| row.part.wall_s);
    columns.named("operations")
}

/// A row for each interval.
fn series(recording: &Recording) -> Table<'_> {
    let intervals =
        parts(recording, |recording| &recording.series).flat_map(|Item { number, trial, part }| {
            (0..part.values.len()).map(move |interval| Item {
                number,
                trial,
                part: (part, interval),
            })
        });
    let mut columns = common(recording, intervals);
    columns.add("series", "", |row: &Item<(&Series, usize)>| row.part.0.name.as_str());
    columns.add("unit", "", |row| row.part.0.unit.as_str());
    columns.add("start", "s", |row| start_s(row.part));
    columns.add("interval", "s", |row| row.part.0.interval_s);
    columns.add("warm_up", "", |row| start_s(row.part) < 0.0);
    columns.add("value", "", |row| row.part.0.values.get(row.part.1).copied());
    columns.named("series")
}

/// The start of an interval of a series.
fn start_s((series, interval): (&Series, usize)) -> f64 {
    series.start_s + interval as f64 * series.interval_s
}

/// The kernel's counters of the block devices under every trial.
fn devices(recording: &Recording) -> Table<'_> {
    let mut columns: Parts<'_, &DeviceUse> =
        common(recording, parts(recording, |recording| &recording.devices));
    columns.add("volume", "", |row| row.part.volume.to_string());
    columns.add("device", "", |row| row.part.device.as_str());
    columns.add("reads", "", |row| row.part.reads);
    columns.add("read_bytes", "", |row| row.part.read_bytes);
    columns.add("writes", "", |row| row.part.writes);
    columns.add("write_bytes", "", |row| row.part.write_bytes);
    columns.add("flushes", "", |row| row.part.flushes);
    columns.add("reads_per_s", "", |row| per(row.part.reads as f64, row.part.elapsed_s));
    columns.add("writes_per_s", "", |row| per(row.part.writes as f64, row.part.elapsed_s));
    columns
        .add("mb_per_s", "", |row| {
            let bytes = row.part.read_bytes as f64 + row.part.write_bytes as f64;
            per(bytes / 1e6, row.part.elapsed_s)
        })
        .headed("MB per s");
    columns.add("read_mean", "ms", |row| mean_ms(row.part.read_s, row.part.reads));
    columns.add("write_mean", "ms", |row| mean_ms(row.part.write_s, row.part.writes));
    columns.add("flush_mean", "ms", |row| mean_ms(row.part.flush_s, row.part.flushes));
    columns.add("utilisation", "", |row| per(row.part.busy_s, row.part.elapsed_s).map(Share));
    columns.add("queue_mean", "", |row| per(row.part.queue_s, row.part.elapsed_s));
    columns.add("read", "s", |row| row.part.read_s);
    columns.add("write", "s", |row| row.part.write_s);
    columns.add("flush", "s", |row| row.part.flush_s);
    columns.add("busy", "s", |row| row.part.busy_s);
    columns.add("queue", "s", |row| row.part.queue_s);
    columns.add("device_elapsed", "s", |row| row.part.elapsed_s);
    columns.named("devices")
}

fn per(amount: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| amount / of)
}

fn mean_ms(seconds: f64, count: u64) -> Option<f64> {
    per(seconds * 1e3, count as f64)
}

/// A function of a profile, with its samples: in it, and in it or in what it called.
struct FrameItem<'a> {
    profile: &'a Profile,
    frame: &'a Frame,
    counts: (u64, u64),
}

fn functions(recording: &Recording) -> Table<'_> {
    let sampled = observed_trials(recording).flat_map(|(number, trial, observations)| {
        observations.profile.iter().flat_map(move |profile| {
            let counted = profile.frames.iter().zip(profile.self_and_total());
            counted.map(move |(frame, counts)| {
                let part = FrameItem { profile, frame, counts };
                Item { number, trial, part }
            })
        })
    });
    let mut columns = common(recording, sampled);
    columns.add("module", "", |row: &Item<FrameItem>| row.part.profile.module_of(row.part.frame));
    columns.add("function", "", |row| row.part.frame.function.as_str());
    columns.add("kernel", "", |row| row.part.frame.kernel);
    columns.add("self_samples", "", |row| row.part.counts.0);
    columns.add("total_samples", "", |row| row.part.counts.1);
    columns.add("self", "s", |row| row.part.profile.seconds(row.part.counts.0));
    columns.add("total", "s", |row| row.part.profile.seconds(row.part.counts.1));
    columns.named("functions")
}

/// The first line of the cause; the section on failures has all lines.
fn cause(row: &Item<'_, ()>) -> Option<Cell> {
    match &row.trial.status {
        TrialStatus::Done => None,
        TrialStatus::Failed { cause, .. } => {
            Some(Cell::from(cause).shown(cause.lines().next().unwrap_or_default()))
        }
    }
}

fn data<'a, P>(row: &Item<'a, P>) -> Option<&'a Observations> {
    row.trial.observations.as_ref()
}

fn numbered(recording: &Recording) -> impl Iterator<Item = (u64, &TrialRecord)> + Clone {
    (1..).zip(&recording.trials)
}

/// Trials with what they saw, also those that failed midway.
fn observed_trials(
    recording: &Recording,
) -> impl Iterator<Item = (u64, &TrialRecord, &Observations)> + Clone {
    numbered(recording)
        .filter_map(|(number, trial)| Some((number, trial, trial.observations.as_ref()?)))
}

/// A list of every trial's observations, flattened.
fn parts<'a, P>(
    recording: &'a Recording,
    list: fn(&'a Observations) -> &'a Vec<P>,
) -> impl Iterator<Item = Item<'a, &'a P>> + Clone {
    observed_trials(recording).flat_map(move |(number, trial, observations)| {
        list(observations).iter().map(move |part| Item { number, trial, part })
    })
}

/// A row for each setting of each configuration.
pub fn settings(recording: &Recording) -> Table<'_> {
    let mut values: BTreeMap<&str, Vec<&observations::Value>> = BTreeMap::new();
    let all = || recording.configurations.iter();
    for (name, value) in all().flat_map(|configuration| &configuration.settings) {
        values.entry(name).or_default().push(value);
    }
    let varying: HashSet<&str> = values
        .iter()
        .filter(|(_, column)| {
            column.len() < recording.configurations.len()
                || column.windows(2).any(|pair| pair[0] != pair[1])
        })
        .map(|(name, _)| *name)
        .collect();
    let rows =
        all().flat_map(|record| record.settings.iter().map(move |setting| (record, setting)));
    let mut columns = Columns::for_rows(rows);
    columns.add("configuration", "", |(configuration, _)| configuration.label.as_str());
    columns.add("setting", "", |(_, (name, _))| name.as_str());
    columns.with(Column::raw("varies", ""), move |(_, (name, _))| varying.contains(name.as_str()));
    columns.add("value", "", |(_, (_, value))| plain(&serde_json::json!(value)));
    columns.named("settings")
}

/// The file as it was, line by line.
pub fn experiment(recording: &Recording) -> Table<'_> {
    let mut columns = Columns::for_rows((1_u64..).zip(recording.run.source.lines()));
    columns.add("line", "", |(number, _)| *number);
    columns.add("experiment_file", "", |(_, line)| *line);
    columns.named("experiment")
}

/// The files that the experiment names, line by line.
pub fn files(recording: &Recording) -> Table<'_> {
    let rows = recording.files.iter().flat_map(|file| {
        (1_u64..).zip(file.content.lines()).map(move |(number, line)| (file, number, line))
    });
    let mut columns = Columns::for_rows(rows);
    columns.add("named_by", "", |(file, ..)| file.named_by.as_str());
    columns.add("file", "", |(file, ..)| file.path.as_str());
    columns.add("sha256", "", |(file, ..)| file.sha256.as_str());
    columns.add("line", "", |(_, number, _)| *number);
    columns.add("content", "", |(.., line)| *line);
    columns.named("files")
}

/// The run, then one row for each fact of each environment that a session of the run found.
pub fn environment(recording: &Recording) -> Table<'_> {
    let of_run = run(recording).map(|(name, value)| (None, name.to_owned(), value));
    let found = (1_u64..).zip(&recording.environments).flat_map(|(number, environment)| {
        facts(environment).into_iter().map(move |(name, value)| (Some(number), name, value))
    });
    let rows: Vec<_> = of_run.into_iter().chain(found).collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("environment", "", |row| row.0);
    columns.add("fact", "", |row| row.1.clone());
    columns.add("value", "", |row| row.2.clone());
    columns.named("environment")
}

fn run(recording: &Recording) -> [(&'static str, Cell); 10] {
    let run = &recording.run;
    [
        ("run", run.id.into()),
        ("name", Cell::from(&run.name)),
        ("question", run.question.clone().into()),
        ("started (UTC)", Time(run.started_ms).into()),
        ("seed", run.seed.into()),
        ("response", run.response.clone().into()),
        ("recorded by Steelbench", run.steelbench.clone().into()),
        ("label", run.label.clone().into()),
        ("commit", run.git.as_ref().map(|git| git.commit.clone()).into()),
        ("changes since the commit", run.git.as_ref().and_then(|git| git.changed).into()),
    ]
}

/// Everything that is known of an environment, each fact with its path: `volumes.1.path`.
pub fn facts(environment: &Environment) -> Vec<(String, Cell)> {
    let mut facts = Vec::new();
    // Plain data with names of their own: this cannot fail.
    flatten(String::new(), &serde_json::to_value(environment).unwrap_or_default(), &mut facts);
    facts
}

fn flatten(path: String, json: &Json, facts: &mut Vec<(String, Cell)>) {
    let below =
        |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
    match json {
        Json::Object(fields) => {
            fields.iter().for_each(|(name, value)| flatten(below(name), value, facts));
        }
        Json::Array(items) if !items.is_empty() && items.iter().all(Json::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            facts.push((path, items.join(", ").into()));
        }
        Json::Array(items) => {
            (1..)
                .zip(items)
                .for_each(|(at, item): (u64, _)| flatten(below(&at.to_string()), item, facts));
        }
        leaf => facts.push((path, plain(leaf))),
    }
}

/// JSON as a cell: what is neither a number nor a word stays JSON.
fn plain(json: &Json) -> Cell {
    match json {
        Json::Null => Cell::default(),
        Json::Bool(value) => (*value).into(),
        Json::String(text) => text.clone().into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(count), _, _) => count.into(),
            (None, Some(integer), _) => integer.into(),
            (None, None, number) => number.into(),
        },
        other => other.to_string().into(),
    }
}
