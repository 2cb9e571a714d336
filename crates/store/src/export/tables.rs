use super::table::{Cell, Columns, Kind, Sink, Table};
use crate::Result;
use observations::{
    DeviceUse, FactorRecord, Frame, Latency, Observations, Operation, Profile, Recording, Response, Series,
    TrialRecord, TrialStatus, Wait, WaitSource,
};

/// One part of what a trial saw (a wait, a latency, ...), with its trial.
#[derive(Clone, Copy)]
struct Item<'a, P> {
    /// Number of the trial in the recording, from 1: it joins the tables.
    number: u64,
    trial: &'a TrialRecord,
    part: P,
}

/// One figure of what a trial saw, or of a part of it.
type Figure<T, P = Observations> = fn(&P) -> T;

/// Hands every table to a sink: `trials`, `waits`, `latencies`, `operations`, `series`,
/// `devices`, `functions`.
pub(super) fn write_all(recording: &Recording, sink: &mut impl Sink) -> Result<()> {
    sink.table(trials(recording))?;
    sink.table(waits(recording))?;
    sink.table(latencies(recording))?;
    sink.table(operations(recording))?;
    sink.table(series(recording))?;
    sink.table(devices(recording))?;
    sink.table(functions(recording))
}

/// What every table begins with: which trial, of which configuration, at which levels.
fn common<P>(recording: &Recording) -> Columns<'_, Item<'_, P>> {
    let mut columns: Columns<'_, Item<'_, P>> = Columns(Vec::new());
    columns.own("run", Kind::Integer, |_| Cell::Integer(recording.run.id));
    columns.count("trial", |row| Some(row.number));
    columns.text("configuration", |row| {
        recording.configurations.get(row.trial.configuration).map_or("", |configuration| &configuration.label)
    });
    for factor in &recording.factors {
        factor_column(&mut columns, recording, factor);
    }
    columns.count("block", |row| Some(row.trial.block.into()));
    columns.count("attempt", |row| Some(row.trial.attempt.into()));
    columns.text("status", |row| match row.trial.status {
        TrialStatus::Done => "done",
        TrialStatus::Failed { .. } => "failed",
    });
    columns
}

/// A factor is a column of numbers when all its levels are numbers, otherwise of labels.
fn factor_column<'a, P>(
    columns: &mut Columns<'a, Item<'a, P>>,
    recording: &'a Recording,
    factor: &'a FactorRecord,
) {
    let kind = match &factor.numeric {
        None => Kind::Text,
        // Beyond 2^53 a floating-point number is no longer surely the integer that was written.
        Some(numbers) if numbers.iter().all(|n| n.fract() == 0.0 && n.abs() < 9e15) => Kind::Integer,
        Some(_) => Kind::Real,
    };
    columns.guest("factor", &factor.name, kind, move |row| {
        let levels = recording.configurations.get(row.trial.configuration).map(|found| &found.levels);
        let Some(level) = levels.and_then(|levels| levels.iter().find(|level| level.factor == factor.name))
        else {
            return Cell::Null;
        };
        let position = factor.levels.iter().position(|label| *label == level.level);
        match (kind, position.and_then(|position| factor.numeric.as_ref()?.get(position))) {
            (Kind::Text, _) => Cell::Text((&level.level).into()),
            (Kind::Integer, Some(&number)) => Cell::Integer(number as i64),
            (_, Some(&number)) => Cell::Real(number),
            (_, None) => Cell::Null,
        }
    });
}

fn trials(recording: &Recording) -> Table<'_, Item<'_, ()>> {
    let mut columns = common(recording);
    columns.count("sequence", |row| Some(row.trial.sequence.into()));
    columns.own("started", Kind::Time, |row| Cell::Time(row.trial.started_ms));
    columns.real("wall_s", |row| Some(row.trial.wall_s));
    columns.own("cause", Kind::Text, |row| match &row.trial.status {
        TrialStatus::Done => Cell::Null,
        TrialStatus::Failed { cause } => Cell::Text(cause.into()),
    });
    columns.own("warnings", Kind::Text, |row| {
        seen(row).map_or(Cell::Null, |seen| {
            let names: Vec<_> = seen.warnings.iter().map(|warning| warning.kind.name()).collect();
            Cell::Text(names.join(" ").into())
        })
    });
    columns
        .own("synthetic", Kind::Bool, |row| seen(row).map_or(Cell::Null, |seen| Cell::Bool(seen.synthetic)));
    columns.own("work_unit", Kind::Text, |row| {
        seen(row).map_or(Cell::Null, |seen| Cell::Text((&seen.work.unit).into()))
    });
    observed_counts(&mut columns);
    observed_reals(&mut columns);
    for response in recording.responses() {
        columns.guest(
            "response",
            &format!("{} ({})", response.name, response.unit),
            Kind::Real,
            move |row| {
                let same = |other: &&Response| other.name == response.name && other.unit == response.unit;
                seen(row)
                    .and_then(|seen| seen.responses.iter().find(same))
                    .map_or(Cell::Null, |response| Cell::Real(response.value))
            },
        );
    }
    let items = numbered(recording).map(|(number, trial)| Item { number, trial, part: () });
    Table { name: "trials", columns, items: Box::new(items) }
}

fn observed_counts<'a>(columns: &mut Columns<'a, Item<'a, ()>>) {
    let figures: [(_, Figure<u64>); 9] = [
        ("connections", |seen| seen.connections.into()),
        ("work_amount", |seen| seen.work.amount),
        ("transactions", |seen| seen.work.transactions),
        ("errors", |seen| seen.work.errors),
        ("retries", |seen| seen.work.retries),
        ("sends_intended", |seen| seen.load.sends_intended),
        ("sends_missed", |seen| seen.load.sends_missed),
        ("send_delay_us_max", |seen| seen.load.send_delay_us_max),
        ("machine_cpus", |seen| seen.machine.cpus.into()),
    ];
    for (name, figure) in figures {
        columns.count(name, move |row| seen(row).map(figure));
    }
}

fn observed_reals<'a>(columns: &mut Columns<'a, Item<'a, ()>>) {
    let figures: [(_, Figure<Option<f64>>); 10] = [
        ("elapsed_s", |seen| Some(seen.elapsed_s)),
        ("session_s", |seen| Some(seen.time.session_s)),
        ("cpu_s", |seen| Some(seen.time.cpu_s)),
        ("cpu_user_s", |seen| seen.time.cpu_user_s),
        ("client_share", |seen| Some(seen.load.client_share)),
        ("run_delay_share", |seen| Some(seen.load.run_delay_share)),
        ("machine_busy_s", |seen| Some(seen.machine.busy_s)),
        ("machine_own_s", |seen| Some(seen.machine.own_s)),
        ("machine_steal_s", |seen| Some(seen.machine.steal_s)),
        ("machine_iowait_s", |seen| Some(seen.machine.iowait_s)),
    ];
    for (name, figure) in figures {
        columns.real(name, move |row| seen(row).and_then(figure));
    }
}

fn waits(recording: &Recording) -> Table<'_, Item<'_, &Wait>> {
    let mut columns = common(recording);
    columns.text("wait_type", |row: &Item<&Wait>| &row.part.wait_type);
    columns.text("class", |row| row.part.class.name());
    columns.count("wait_count", |row| row.part.count);
    columns.real("wait_s", |row| Some(row.part.wait_s()));
    columns.real("resource_s", |row| Some(row.part.resource_s));
    columns.real("signal_s", |row| Some(row.part.signal_s));
    columns.real("sampled_hz", |row| match row.part.source {
        WaitSource::Counted => None,
        WaitSource::Sampled { hz } => Some(hz),
    });
    Table { name: "waits", columns, items: parts(recording, |seen| &seen.waits) }
}

fn latencies(recording: &Recording) -> Table<'_, Item<'_, &Latency>> {
    let mut columns = common(recording);
    columns.text("latency", |row: &Item<&Latency>| &row.part.name);
    columns.count("count", |row| Some(row.part.histogram.len()));
    columns.count("min_ns", |row| Some(row.part.histogram.min_mean_max_ns().0));
    columns.real("mean_ns", |row| Some(row.part.histogram.min_mean_max_ns().1));
    for (name, percentile) in [("p50_ns", 50.0), ("p95_ns", 95.0), ("p99_ns", 99.0), ("p999_ns", 99.9)] {
        columns.count(name, move |row| Some(row.part.histogram.percentile_ns(percentile)));
    }
    columns.count("max_ns", |row| Some(row.part.histogram.min_mean_max_ns().2));
    Table { name: "latencies", columns, items: parts(recording, |seen| &seen.latencies) }
}

fn operations(recording: &Recording) -> Table<'_, Item<'_, &Operation>> {
    let mut columns = common(recording);
    columns.text("operation", |row: &Item<&Operation>| &row.part.name);
    columns.count("count", |row| Some(row.part.count));
    columns.count("bytes", |row| Some(row.part.bytes));
    columns.real("operation_wall_s", |row| Some(row.part.wall_s));
    Table { name: "operations", columns, items: parts(recording, |seen| &seen.operations) }
}

/// One row for each interval.
fn series(recording: &Recording) -> Table<'_, Item<'_, (&Series, usize)>> {
    let mut columns = common(recording);
    columns.text("series", |row: &Item<(&Series, usize)>| &row.part.0.name);
    columns.text("unit", |row| &row.part.0.unit);
    columns.real("start_s", |row| Some(row.part.0.start_s + row.part.1 as f64 * row.part.0.interval_s));
    columns.real("interval_s", |row| Some(row.part.0.interval_s));
    columns.real("value", |row| row.part.0.values.get(row.part.1).copied());
    let items = parts(recording, |seen| &seen.series).flat_map(|Item { number, trial, part }| {
        (0..part.values.len()).map(move |interval| Item { number, trial, part: (part, interval) })
    });
    Table { name: "series", columns, items: Box::new(items) }
}

fn devices(recording: &Recording) -> Table<'_, Item<'_, &DeviceUse>> {
    let mut columns = common(recording);
    columns.text("volume", |row: &Item<&DeviceUse>| &row.part.volume);
    columns.text("device", |row| &row.part.device);
    let counts: [(_, Figure<u64, DeviceUse>); 5] = [
        ("reads", |used| used.reads),
        ("read_bytes", |used| used.read_bytes),
        ("writes", |used| used.writes),
        ("write_bytes", |used| used.write_bytes),
        ("flushes", |used| used.flushes),
    ];
    for (name, count) in counts {
        columns.count(name, move |row| Some(count(row.part)));
    }
    let times: [(_, Figure<f64, DeviceUse>); 6] = [
        ("read_s", |used| used.read_s),
        ("write_s", |used| used.write_s),
        ("flush_s", |used| used.flush_s),
        ("busy_s", |used| used.busy_s),
        ("queue_s", |used| used.queue_s),
        ("device_elapsed_s", |used| used.elapsed_s),
    ];
    for (name, time) in times {
        columns.real(name, move |row| Some(time(row.part)));
    }
    Table { name: "devices", columns, items: parts(recording, |seen| &seen.devices) }
}

/// A function of a profile, with its samples: in it, and in it or in what it called.
struct Sampled<'a> {
    profile: &'a Profile,
    frame: &'a Frame,
    counts: (u64, u64),
}

fn functions(recording: &Recording) -> Table<'_, Item<'_, Sampled<'_>>> {
    let mut columns = common(recording);
    columns.text("module", |row: &Item<Sampled>| row.part.profile.module_of(row.part.frame));
    columns.text("function", |row| &row.part.frame.function);
    columns.own("kernel", Kind::Bool, |row| Cell::Bool(row.part.frame.kernel));
    columns.count("self_samples", |row| Some(row.part.counts.0));
    columns.count("total_samples", |row| Some(row.part.counts.1));
    columns.real("self_s", |row| Some(row.part.profile.seconds(row.part.counts.0)));
    columns.real("total_s", |row| Some(row.part.profile.seconds(row.part.counts.1)));
    let profiles = numbered(recording)
        .filter_map(|(number, trial)| Some((number, trial, trial.observations.as_ref()?.profile.as_ref()?)));
    let items = profiles.flat_map(|(number, trial, profile)| {
        let counted = profile.frames.iter().zip(profile.self_and_total());
        counted.map(move |(frame, counts)| Item { number, trial, part: Sampled { profile, frame, counts } })
    });
    Table { name: "functions", columns, items: Box::new(items) }
}

fn seen<'a, P>(row: &Item<'a, P>) -> Option<&'a Observations> {
    row.trial.observations.as_ref()
}

fn numbered(recording: &Recording) -> impl Iterator<Item = (u64, &TrialRecord)> {
    (1..).zip(&recording.trials)
}

/// One list of every trial's observations, flattened.
fn parts<'a, P: 'a>(
    recording: &'a Recording,
    list: fn(&'a Observations) -> &'a Vec<P>,
) -> Box<dyn Iterator<Item = Item<'a, &'a P>> + 'a> {
    Box::new(numbered(recording).flat_map(move |(number, trial)| {
        let list = trial.observations.as_ref().map(list);
        list.into_iter().flatten().map(move |part| Item { number, trial, part })
    }))
}
