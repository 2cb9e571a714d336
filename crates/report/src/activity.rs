//! A live server's waits: `steelbench waits`.

use crate::model::{Cell, Column, Document, Section, Table, Tone};
use crate::{number, sections};
use analysis::ActivitySummary;
use analysis::activity::{ActivityGroup, BackgroundProcess};
use observations::{TaskSession, WaitingTask};

/// Rows of a table of statements or clients.
const GROUPS_MAX: usize = 15;
/// Characters of a statement.
const STATEMENT_MAX: usize = 120;

/// What a live server's sessions waited for in an interval.
pub fn activity(summary: &ActivitySummary) -> Document {
    let mut sections = vec![overview(summary), table(summary)];
    sections.extend(groups(summary));
    sections.extend(summary.seen.tasks.as_deref().map(tasks));
    sections.extend(background(summary));
    sections.extend(counted(summary));
    sections.extend(meanings(summary));
    sections.extend(lost(summary));
    let elapsed = number::seconds(summary.seen.elapsed_s);
    Document { title: format!("{}: waits in {elapsed}", summary.seen.server).into(), sections }
}

fn overview(summary: &ActivitySummary) -> Section {
    let mut section = Section::new("");
    let sampling = &summary.seen.sampling;
    let missed = match sampling.missed {
        0 => String::new(),
        missed => format!("; {} more were due but not taken", number::count(missed)),
    };
    section.line(format!(
        "{} of each process from {}, {} a second{missed}.",
        number::plural(sampling.polls as usize, "sample"),
        sampling.source,
        number::figure(sampling.hz)
    ));
    let states: Vec<String> =
        summary.states.iter().map(|(state, mean)| format!("{} {state}", number::figure(*mean))).collect();
    if !states.is_empty() {
        section
            .line(format!("Client sessions as the server reports them, on average: {}.", states.join(", ")));
    }
    if summary.accounting.session_s > 0.0 {
        section.line(format!("While busy: {}", sections::accounting(&summary.accounting)));
        let source = if summary.seen.time_is_exact {
            "Busy is a session that has something to do, also while it is ready and waits for a processor. CPU and run \
             queue (signal) are the kernel's figures; samples divide the rest among the waits."
        } else {
            "CPU is time without a wait event, run queue included: the kernel of the server was not asked."
        };
        section.toned(source, Tone::Muted);
    } else {
        section.line("No session had anything to do.");
    }
    section
}

/// The nine columns, and how sure they are.
fn table(summary: &ActivitySummary) -> Section {
    let mut section = Section::new("Waits of client sessions while busy");
    if summary.table.rows.is_empty() {
        section.toned("Nothing was waited for.", Tone::Muted);
        return section;
    }
    section.table(sections::wait_table(&summary.table));
    if summary.shares.is_empty() {
        return section;
    }
    section.toned(
        "Waits are sampled: they have no count and no average. Their shares of the samples of busy sessions, with \
         about the 95 % interval that the number of samples allows:",
        Tone::Muted,
    );
    let rows = summary.shares.iter().map(|row| {
        let interval =
            format!("{} to {}", number::percent(row.interval.low, 1), number::percent(row.interval.high, 1));
        vec![
            Cell::plain(row.wait_type.as_str()),
            Cell::plain(row.class.name()),
            Cell::plain(number::count(row.samples)),
            Cell::plain(number::percent(row.share, 1)),
            Cell::plain(interval),
        ]
    });
    section.table(Table {
        columns: vec![
            Column::name("Wait type"),
            Column::left("Class"),
            Column::right("Samples"),
            Column::right("Of samples"),
            Column::left("95 % interval"),
        ],
        rows: rows.collect(),
        fixed: false,
    });
    section
}

fn groups(summary: &ActivitySummary) -> Vec<Section> {
    let busy_s: f64 = summary.classes.iter().map(|(_, seconds)| seconds).sum();
    if busy_s <= 0.0 {
        return Vec::new();
    }
    let mut classes = Section::new("By class");
    let rows = summary.classes.iter().map(|(class, seconds)| {
        let name = class.map_or("CPU or run queue", |class| class.name());
        vec![
            Cell::plain(name),
            Cell::plain(number::seconds(*seconds)),
            Cell::plain(number::percent(seconds / busy_s, 1)),
        ]
    });
    classes.table(Table {
        columns: vec![Column::left("Class"), Column::right("Time"), Column::right("Share")],
        rows: rows.collect(),
        fixed: false,
    });
    let statement = |id: &Option<i64>| match id {
        None => vec![String::new(), "(not numbered)".to_owned()],
        Some(id) => {
            let text = summary.seen.texts.get(id).map_or("(text not seen)".to_owned(), |text| shorten(text));
            vec![id.to_string(), text]
        }
    };
    let client = |(application, user, database): &(String, String, String)| {
        [application, user, database]
            .map(|name| if name.is_empty() { "-".to_owned() } else { name.clone() })
            .to_vec()
    };
    vec![
        classes,
        group_section("By statement", &["Query id", "Statement"], &summary.statements, busy_s, statement),
        group_section(
            "By application and user",
            &["Application", "User", "Database"],
            &summary.clients,
            busy_s,
            client,
        ),
    ]
}

fn group_section<K>(
    heading: &str,
    names: &[&str],
    groups: &[ActivityGroup<K>],
    busy_s: f64,
    name: impl Fn(&K) -> Vec<String>,
) -> Section {
    let mut section = Section::new(heading);
    let mut columns = vec![
        Column::right("Busy"),
        Column::right("Share"),
        Column::right("No wait").optional(2),
        Column::name("Most waited for"),
    ];
    columns.extend(names.iter().map(|name| Column::name(*name)));
    let rows = groups.iter().take(GROUPS_MAX).map(|group| {
        let mut cells = vec![
            Cell::plain(number::seconds(group.busy_s)),
            Cell::plain(number::percent(group.busy_s / busy_s, 1)),
            Cell::plain(number::seconds(group.running_s)),
            Cell::plain(most(&group.waits, group.busy_s, 2)),
        ];
        cells.extend(name(&group.key).into_iter().map(Cell::plain));
        cells
    });
    section.table(Table { columns, rows: rows.collect(), fixed: false });
    if let Some(more) = groups.len().checked_sub(GROUPS_MAX).filter(|more| *more > 0) {
        section.toned(format!("{} more are not shown.", number::count(more as u64)), Tone::Muted);
    }
    section
}

/// `IO:WalSync 41 %, Lock:tuple 12 %`.
fn most(waits: &[(String, f64)], all_s: f64, rows: usize) -> String {
    let shares = waits.iter().take(rows).filter(|_| all_s > 0.0);
    let shown: Vec<String> =
        shares.map(|(name, seconds)| format!("{name} {}", number::percent(seconds / all_s, 0))).collect();
    if shown.is_empty() { "-".to_owned() } else { shown.join(", ") }
}

/// Who waits for what now, and who is in the way.
fn tasks(tasks: &[WaitingTask]) -> Section {
    let mut section = Section::new("Waiting now");
    if tasks.is_empty() {
        section.line("Nobody waits.");
    }
    for task in tasks {
        section.line(task_line(task));
        section.detail(shorten(&task.session.statement));
        for blocker in &task.blocked_by {
            section.detail(blocker_line(blocker));
        }
    }
    section
}

/// `pid 4711 (app as user) waits for Lock:tuple since 2.1 s: row 3 of page 7 of accounts, ExclusiveLock`.
fn task_line(task: &WaitingTask) -> String {
    let since = match (task.waited_s, task.session.statement_s) {
        (Some(seconds), _) => format!(" since {}", number::seconds(seconds)),
        (None, Some(seconds)) => format!(" in a statement of {}", number::seconds(seconds)),
        (None, None) => String::new(),
    };
    let lock = [task.resource.as_deref(), task.lock_mode.as_deref()];
    let lock = lock.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let colon = if lock.is_empty() { "" } else { ": " };
    format!("{} waits for {}{since}{colon}{lock}", who(&task.session), task.wait_type)
}

fn blocker_line(session: &TaskSession) -> String {
    let transaction = session
        .transaction_s
        .map(|seconds| format!(", in its transaction for {}", number::seconds(seconds)))
        .unwrap_or_default();
    let statement = shorten(&session.statement);
    let statement = if statement.is_empty() { statement } else { format!(": {statement}") };
    format!("blocked by {}, {}{transaction}{statement}", who(session), session.state)
}

fn who(session: &TaskSession) -> String {
    let application = if session.application.is_empty() { "no name" } else { &session.application };
    format!("pid {} ({application}, user {}, database {})", session.pid, session.user, session.database)
}

fn background(summary: &ActivitySummary) -> Option<Section> {
    if summary.background.is_empty() {
        return None;
    }
    let mut section = Section::new("Processes of the server itself, not in the figures above");
    let figure = |seconds: Option<f64>| Cell::plain(seconds.map_or("-".to_owned(), number::seconds));
    let rows = summary.background.iter().map(|process: &BackgroundProcess| {
        let waited_s: f64 = process.waits.iter().map(|(_, seconds)| seconds).sum();
        let time = process.time.as_ref();
        vec![
            Cell::plain(process.process.as_str()),
            figure(time.map(|time| time.cpu_s)),
            figure(time.map(|time| time.run_queue_s)),
            figure(Some(waited_s)),
            Cell::plain(most(&process.waits, waited_s, 3)),
        ]
    });
    section.table(Table {
        columns: vec![
            Column::name("Process"),
            Column::right("CPU"),
            Column::right("Run queue"),
            Column::right("Waited"),
            Column::name("For"),
        ],
        rows: rows.collect(),
        fixed: false,
    });
    Some(section)
}

fn counted(summary: &ActivitySummary) -> Option<Section> {
    if summary.seen.operations.is_empty() {
        return None;
    }
    let mut section = Section::new("Counted by the server");
    let rows = summary.seen.operations.iter().map(|operation| {
        let each = (operation.count > 0 && operation.wall_s > 0.0)
            .then(|| number::seconds(operation.wall_s / operation.count as f64));
        let timed = (operation.wall_s > 0.0).then(|| number::seconds(operation.wall_s));
        let bytes = (operation.bytes > 0).then(|| number::bytes(operation.bytes));
        let cell = |text: Option<String>| Cell::plain(text.unwrap_or_else(|| "-".to_owned()));
        vec![
            Cell::plain(operation.name.as_str()),
            Cell::plain(number::count(operation.count)),
            cell(bytes),
            cell(timed),
            cell(each),
        ]
    });
    section.table(Table {
        columns: vec![
            Column::name("Operation"),
            Column::right("Calls"),
            Column::right("Bytes"),
            Column::right("Time"),
            Column::right("Each"),
        ],
        rows: rows.collect(),
        fixed: false,
    });
    section.toned(
        "All processes together, calls that the system's page cache served included. Sessions report once a second \
         at most; times need track_io_timing and track_wal_io_timing.",
        Tone::Muted,
    );
    Some(section)
}

fn meanings(summary: &ActivitySummary) -> Option<Section> {
    if summary.seen.meanings.is_empty() {
        return None;
    }
    let mut section = Section::new("What these waits are");
    for row in summary.table.top() {
        if let Some(meaning) = summary.seen.meanings.get(&row.wait_type) {
            section.line(format!("{}: {meaning}.", row.wait_type));
        }
    }
    Some(section)
}

fn lost(summary: &ActivitySummary) -> Option<Section> {
    if summary.seen.lost.is_empty() {
        return None;
    }
    let mut section = Section::new("What could not be seen");
    for sentence in &summary.seen.lost {
        section.toned(sentence.as_str(), Tone::Warning);
    }
    Some(section)
}

/// A statement in one line, cut where it is long.
fn shorten(statement: &str) -> String {
    let line = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(STATEMENT_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
