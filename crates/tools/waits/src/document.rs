//! A server's waits, live and recorded: `steelbench waits`.

mod blocking;
mod compare;
mod counters;
mod view;

pub use compare::compared_activities;
pub use view::ActivityView;

use self::view::FINDINGS;
use crate::summary::{ActivityGroup, ActivitySummary, BackgroundProcess};
use observations::{ActivityRecord, Interval, Operation, Sampling};
use report::model::{Cell, Column, Columns, Document, Section};
use report::text::listed;
use report::{
    accounting, accounting_check, hot_resources, missing, number, text, wait_table, waits_left_out,
};

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 11] = [
    "overview",
    "blocking",
    "contention",
    "waits",
    "classes",
    "clients",
    "processes",
    "counters",
    "meanings",
    "statements",
    "missing",
];

/// Waits on a screen.
const WAITS: usize = 8;

/// Returns the waits of a server's sessions in an interval; `record` names server and time.
pub fn activity(
    record: &ActivityRecord,
    summary: &ActivitySummary,
    view: ActivityView,
) -> Document {
    let mut sections = vec![overview(record, summary)];
    sections.extend(blocking::section(summary, view));
    sections.extend(blocking::over_interval(summary, view));
    sections.extend(hot(summary));
    sections.push(table(summary));
    sections.extend(groups(summary, view));
    sections.extend(
        summary
            .activity
            .tasks
            .as_deref()
            .filter(|_| view.tasks)
            .map(|tasks| blocking::tasks(tasks, view)),
    );
    sections.extend(background(summary));
    sections.extend(counted(summary));
    sections.extend(counters::sections(summary, view));
    sections.extend(meanings(summary));
    if view.statements {
        sections.extend(texts(summary));
    }
    sections
        .extend(missing(&summary.activity.lost).map(|section| section.named("missing", FINDINGS)));
    let elapsed = number::seconds(summary.activity.elapsed_s);
    Document { title: format!("{}: waits in {elapsed}", summary.activity.server).into(), sections }
}

fn overview(record: &ActivityRecord, summary: &ActivitySummary) -> Section {
    let mut section = Section::new("").named("overview", usize::MAX);
    let sampling = &summary.activity.sampling;
    section.line(format!("{} on {}.", record.address, text::utc(record.started_ms)));
    if let Some(why) = &summary.activity.ended {
        let elapsed = number::seconds(summary.activity.elapsed_s);
        section.warn(format!(
            "The connection was lost after {elapsed}: {why}. The figures end there."
        ));
    }
    if let Some(why) = &summary.activity.hidden {
        section.warn(format!(
            "This report does not show the whole server: {why}. Figures cover what this login sees."
        ));
    }
    if let Some(source) = &summary.activity.counted_in {
        section.note(format!(
            "The server counts and times waits in {source} for all its sessions; the figures \
             cover the interval. The time of a wait counts when it ends."
        ));
    }
    if sampling.polls > 0 {
        section.note(samples(sampling));
    }
    let states =
        summary.states.iter().map(|(state, mean)| format!("{} {state}", number::figure(*mean)));
    if let Some(states) = listed(states) {
        section.line(format!("Client sessions by state, mean: {states}."));
    }
    if summary.accounting.session_s > 0.0 {
        section.line(format!("While busy: {}", accounting(&summary.accounting)));
        let source = if sampling.hides_waits && summary.activity.time_is_exact {
            "A session is busy when it has work, according to samples. CPU and run queue \
             (signal) are the kernel's figures. Waits are counted by the server, or sampled \
             where it does not count them."
        } else if sampling.hides_waits {
            "A session is busy when it has work, according to samples. CPU time is unknown. \
             Waits are counted by the server, or sampled where it does not count them."
        } else if summary.activity.time_is_exact {
            "A session is busy when it has work, including when it is ready to run and waits for \
             a CPU. CPU and run queue (signal) are the kernel's figures; samples divide the rest \
             among the waits."
        } else {
            "CPU is time without a wait event, including the run queue: kernel CPU times were \
             not available."
        };
        section.note(source);
        if let Some(check) = accounting_check(&summary.accounting) {
            section.note(check);
        }
    } else if summary.activity.hidden.is_some() {
        section.line("Unknown: whether sessions had work.");
    } else if summary.activity.counted_in.is_none() {
        section.line("All sessions were idle.");
    }
    section
}

fn samples(sampling: &Sampling) -> String {
    let missed = match sampling.missed {
        0 => String::new(),
        missed => format!("; {} samples missed", number::count(missed)),
    };
    format!(
        "{} of each process from {}, {} per second{missed}.",
        number::plural(sampling.polls as usize, "sample"),
        sampling.source,
        number::figure(sampling.hz)
    )
}

/// The nine columns, and how sure they are.
fn table(summary: &ActivitySummary) -> Section {
    let heading = if summary.activity.counted_in.is_some() {
        "Waits"
    } else {
        "Waits of client sessions while busy"
    };
    let mut section = Section::new(heading).named("waits", WAITS);
    if summary.table.rows.is_empty() {
        let hidden = summary.activity.hidden.is_some();
        section.line(if hidden { "Unknown: no wait was visible." } else { "No waits." });
    } else {
        section.table(wait_table(&summary.table));
    }
    if let Some(filtered) = waits_left_out(&summary.table) {
        section.note(filtered);
    }
    if summary.shares.is_empty() {
        return section;
    }
    let which = if summary.activity.sampling.hides_waits {
        "Waits without a count are sampled"
    } else {
        "Waits are sampled: there is no count and no average"
    };
    section.note(format!(
        "{which}. Their shares of the samples of busy sessions, with approximate 95 % intervals:"
    ));
    let mut shares = Columns::for_rows(&summary.shares);
    shares.name("Wait type", |row| &row.wait_type);
    shares.left("Class", |row| row.class.name());
    shares.right("Samples", |row| Cell::count(row.samples));
    shares.right("Of samples", |row| Cell::percent(row.share, 1));
    shares.left("95 % interval", |row| {
        let Interval { low, high } = row.interval;
        let shown = format!("{} to {}", number::percent(low, 1), number::percent(high, 1));
        Cell::ends(row.interval, shown)
    });
    section.table(shares);
    section
}

fn groups(summary: &ActivitySummary, view: ActivityView) -> Vec<Section> {
    let busy_s: f64 = summary.classes.iter().map(|(_, seconds)| seconds).sum();
    if busy_s <= 0.0 {
        return Vec::new();
    }
    let mut classes = Columns::for_rows(&summary.classes);
    let without = if summary.activity.sampling.hides_waits {
        "CPU or a hidden wait"
    } else {
        "CPU or run queue"
    };
    classes
        .with(Column::left("Class"), move |(class, _)| class.map_or(without, |class| class.name()));
    classes.right("Time", |(_, seconds)| Cell::seconds(*seconds));
    classes.with(Column::right("Share"), |(_, seconds)| Cell::percent(seconds / busy_s, 1));
    let mut by_class = Section::new("By class").named("classes", 0);
    by_class.table(classes);

    let mut statements = group_columns(&summary.statements, busy_s, view);
    statements.left("Query id", |group| group.key.map(|id| id.to_string()));
    statements.with(Column::statement("Statement"), |group| statement(summary, group.key, view));
    let mut clients = group_columns(&summary.clients, busy_s, view);
    let known = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    clients.with(Column::name("Application"), move |group| known(&group.key.0));
    clients.with(Column::name("User"), move |group| known(&group.key.1));
    clients.with(Column::name("Database"), move |group| known(&group.key.2));
    vec![
        by_class,
        group_section("By statement", statements, summary.statements.len(), view)
            .named("statements", 0),
        statement_waits(summary, view),
        group_section("By application and user", clients, summary.clients.len(), view)
            .named("clients", 0),
    ]
}

/// Returns the printed form of a statement.
fn statement(summary: &ActivitySummary, id: Option<i64>, view: ActivityView) -> String {
    match id.map(|id| summary.activity.texts.get(&id)) {
        None => "(no query id)".to_owned(),
        Some(None) => "(text unknown)".to_owned(),
        Some(Some(text)) => view.statement(text),
    }
}

fn statement_waits(summary: &ActivitySummary, view: ActivityView) -> Section {
    let mut section = Section::new("Waits by statement").named("statements", 0);
    let mut table = Columns::for_rows(summary.statement_waits.iter().take(view.rows()));
    table.right("Of samples", |row| {
        let share =
            format!("{} ± {}", number::percent(row.share, 1), number::percent(row.error, 1));
        Cell::percent(row.share, 1).shown(share)
    });
    table.right("Samples", |row| Cell::count(row.samples)).optional(2);
    table.left("Wait type", |row| row.wait_type.as_deref().unwrap_or("(no wait)"));
    table.left("Query id", |row| row.query_id.map(|id| id.to_string())).optional(1);
    table.with(Column::statement("Statement"), |row| statement(summary, row.query_id, view));
    section.table(table);
    section.note_more(summary.statement_waits.len().saturating_sub(view.rows()));
    section.note("Shares of the samples of busy sessions, with their standard error.");
    section
}

/// The whole texts, in the order of the busy time.
fn texts(summary: &ActivitySummary) -> Option<Section> {
    let mut section = Section::new("Statement texts");
    for id in summary.statements.iter().filter_map(|group| group.key) {
        if let Some(text) = summary.activity.texts.get(&id) {
            section.line(format!("Query id {id}:"));
            section.detail(text);
        }
    }
    section.unless_empty()
}

/// Adds the columns common to all groups, before their names.
fn group_columns<K>(
    groups: &[ActivityGroup<K>],
    busy_s: f64,
    view: ActivityView,
) -> Columns<'_, &ActivityGroup<K>> {
    let mut table = Columns::for_rows(groups.iter().take(view.rows()));
    table.right("Busy", |group| Cell::seconds(group.busy_s));
    table.with(Column::right("Share"), move |group| Cell::percent(group.busy_s / busy_s, 1));
    table.right("No wait", |group| Cell::seconds(group.running_s)).optional(2);
    table.name("Main waits", |group| most(&group.waits, group.busy_s, 2));
    table
}

fn group_section<T>(heading: &str, table: Columns<T>, all: usize, view: ActivityView) -> Section {
    let mut section = Section::new(heading);
    section.table(table);
    section.note_more(all.saturating_sub(view.rows()));
    section
}

/// `IO:WalSync 41 %, Lock:tuple 12 %`.
fn most(waits: &[(String, f64)], all_s: f64, rows: usize) -> Option<String> {
    let shares = waits.iter().take(rows).filter(|_| all_s > 0.0);
    listed(shares.map(|(name, seconds)| format!("{name} {}", number::percent(seconds / all_s, 0))))
}

fn background(summary: &ActivitySummary) -> Option<Section> {
    if summary.background.is_empty() {
        return None;
    }
    let mut section = Section::new("Server processes (not included above)").named("processes", 0);
    let waited_s =
        |process: &BackgroundProcess| process.waits.iter().map(|(_, seconds)| seconds).sum();
    let mut table = Columns::for_rows(&summary.background);
    table.name("Process", |process| &process.process);
    table.right("CPU", |process| process.time.as_ref().map(|time| Cell::seconds(time.cpu_s)));
    table.right("Run queue", |process| {
        process.time.as_ref().map(|time| Cell::seconds(time.run_queue_s))
    });
    table.with(Column::right("Waited"), move |process| Cell::seconds(waited_s(process)));
    table.with(Column::name("For"), move |process| most(&process.waits, waited_s(process), 3));
    section.table(table);
    Some(section)
}

fn counted(summary: &ActivitySummary) -> Option<Section> {
    if summary.activity.operations.is_empty() {
        return None;
    }
    let mut section = Section::new("Counted by the server").named("counters", 0);
    let mut table = Columns::for_rows(&summary.activity.operations);
    let timed = |operation: &&Operation| Some(operation.wall_s).filter(|seconds| *seconds > 0.0);
    table.name("Operation", |operation| &operation.name);
    table.right("Calls", |operation| Cell::count(operation.count));
    table.right("Bytes", |operation| {
        Some(operation.bytes).filter(|bytes| *bytes > 0).map(Cell::bytes)
    });
    table.with(Column::right("Time"), move |operation| timed(operation).map(Cell::seconds));
    table.with(Column::right("Each"), move |operation| {
        let count = Some(operation.count).filter(|count| *count > 0)?;
        Some(Cell::seconds(timed(operation)? / count as f64))
    });
    section.table(table);
    section.note(if summary.activity.sampling.hides_waits {
        "All threads of the server, including calls served by the operating system's page cache."
    } else {
        "All processes, including calls served by the operating system's page cache. Sessions \
         report at most once per second; times need track_io_timing and track_wal_io_timing."
    });
    Some(section)
}

fn meanings(summary: &ActivitySummary) -> Option<Section> {
    if summary.activity.meanings.is_empty() {
        return None;
    }
    let mut section = Section::new("Meaning of these waits").named("meanings", 0);
    for row in summary.table.top() {
        if let Some(meaning) = summary.activity.meanings.get(&row.wait_type) {
            section.line(format!("{}: {meaning}.", row.wait_type));
        }
    }
    Some(section)
}

/// A sentence for each kind of things, with what it rests on; `None` where sessions met at nothing.
fn hot(summary: &ActivitySummary) -> Option<Section> {
    let mut section = Section::new("Contention").named("contention", FINDINGS);
    hot_resources(&mut section, &summary.hot);
    section.unless_empty()
}
