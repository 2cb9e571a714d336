//! Sessions and their blockers.

use super::view::{ActivityView, FINDINGS};
use crate::summary::{ActivitySummary, RootBlocker};
use observations::{TaskSession, WaitingTask};
use report::model::{Section, Tone};
use report::number;
use report::text::listed;

/// Spaces by which a session stands behind the one that it waits for.
const STEP: usize = 2;
/// A session that is a thread of its server: it has a number there, and no process.
const CONNECTION: &str = "connection";

/// The root blockers with their victims; `None` when no session is blocked.
pub(super) fn section(summary: &ActivitySummary, view: ActivityView) -> Option<Section> {
    let tasks = summary.activity.tasks.as_deref()?;
    let mut section = Section::new("Blocking sessions at the end").named("blocking", FINDINGS);
    for root in &summary.blocking {
        section.warn(root_line(root));
        let statement = view.statement(&root.session.statement);
        if !statement.is_empty() {
            let which =
                if root.session.state == "active" { "its statement" } else { "its last statement" };
            section.detail(format!("{which}: {statement}"));
        }
        if let Some(ending) = ending(root) {
            section.indented(STEP, ending, Tone::Plain);
        }
        for victim in &root.victims {
            let (task, indent) = (&tasks[victim.task], STEP * victim.depth);
            section.indented(indent, task_line(task), Tone::Plain);
            section.indented(indent + STEP, view.statement(&task.session.statement), Tone::Muted);
        }
    }
    let several = summary.blocking.iter().flat_map(|root| &root.victims).any(|victim| {
        summary
            .blocking
            .iter()
            .filter(|root| root.victims.iter().any(|other| other.task == victim.task))
            .count()
            > 1
    });
    if several {
        section.note(
            "Sessions blocked by several others are listed under each of them and counted for \
             each.",
        );
    }
    section.unless_empty()
}

/// Pairs of statements that are shown.
const PAIRS: usize = 15;

/// Blockers and the blocked during the whole interval, by statement; `None` when no session was
/// blocked.
pub(super) fn over_interval(summary: &ActivitySummary, view: ActivityView) -> Option<Section> {
    let all = &summary.activity.blocked;
    if all.is_empty() {
        return None;
    }
    let total: f64 = all.iter().map(|pair| pair.seconds).sum();
    let mut section = Section::new("Blocking during the interval").named("blocking", FINDINGS);
    section.line(format!(
        "Sessions waited {} for other sessions, summed over {}.",
        number::seconds(total),
        if all.len() == 1 {
            "1 pair of statements".to_owned()
        } else {
            format!("{} pairs of statements", all.len())
        }
    ));
    for (at, pair) in (1..).zip(all.iter().take(PAIRS)) {
        let share = number::percent(pair.seconds / total.max(f64::MIN_POSITIVE), 1);
        let resource = pair.resource.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        section.warn(format!(
            "{at}. {} ({share}), at most {} at a time: {}{resource}",
            number::seconds(pair.seconds),
            number::plural(pair.sessions_max as usize, "session"),
            what(&pair.wait_type)
        ));
        let client = [pair.blocker_client.as_str(), pair.blocker_state.as_str()];
        let client = listed(client.into_iter().filter(|part| !part.is_empty()).map(str::to_owned));
        let shown = |statement: &str| match view.statement(statement) {
            text if text.is_empty() => "(statement not shown)".to_owned(),
            text => text,
        };
        let blocker = shown(&pair.blocker);
        let client = client.unwrap_or_else(|| "unknown".into());
        section.indented(STEP, format!("blocker: {blocker} [{client}]"), Tone::Plain);
        section.indented(STEP, format!("blocked: {}", shown(&pair.victim)), Tone::Plain);
    }
    if let Some(left) = all.len().checked_sub(PAIRS).filter(|left| *left > 0) {
        section.note(format!("{left} more in --json."));
    }
    section.note(
        "Steelbench looks twice a second: shorter waits are seen in part. Times of several blocked \
         sessions add up.",
    );
    Some(section)
}

/// `pid 4711 (shop, user anna, database orders) blocks 3 sessions, which have waited 30.2 s
/// together: idle in transaction for 12.3 s, in a transaction for 13.0 s`.
fn root_line(root: &RootBlocker) -> String {
    let victims = number::plural(root.victims.len(), "session");
    let have = if root.victims.len() == 1 { "wait time" } else { "total wait time" };
    let session = &root.session;
    let state = match (&*session.state, session.state_s) {
        ("", _) => session.process.is_empty().then(|| "state hidden from this role".to_owned()),
        (state, Some(seconds)) => Some(format!("{state} for {}", number::seconds(seconds))),
        (state, None) => (session.pid != 0).then(|| state.to_owned()),
    };
    let transaction = session.transaction_s.map(|seconds| {
        let seconds = number::seconds(seconds);
        if session.prepared.is_some() {
            format!("prepared {seconds} ago")
        } else {
            format!("in a transaction for {seconds}")
        }
    });
    let waits = root.wait_type.as_ref().map(|wait| format!("waits for {}", what(wait)));
    let deadlock =
        root.is_deadlock.then(|| "in a deadlock that the server has not resolved yet".to_owned());
    let rest =
        listed([state, transaction, waits, deadlock].into_iter().flatten()).unwrap_or_default();
    let waited = number::seconds(root.waited_s);
    format!("{} blocks {victims}, {have} {waited}: {rest}", who(session))
}

/// Returns the remedy that ends it.
fn ending(root: &RootBlocker) -> Option<String> {
    let session = &root.session;
    if let Some(name) = &session.prepared {
        let name = name.replace('\'', "''");
        return Some(format!("COMMIT PREPARED '{name}' or ROLLBACK PREPARED '{name}' ends it."));
    }
    session.is_idle_in_transaction().then(|| match &session.ended_by {
        Some(statement) => {
            format!("The client must end the transaction; {statement} rolls it back.")
        }
        None => "The client must end the transaction.".to_owned(),
    })
}

/// Waiting sessions without a known blocker.
pub(super) fn tasks(tasks: &[WaitingTask], view: ActivityView) -> Section {
    let mut section = Section::new("Waiting sessions without a blocker at the end");
    for task in tasks.iter().filter(|task| task.blocked_by.is_empty()) {
        section.line(task_line(task));
        section.detail(view.statement(&task.session.statement));
    }
    if section.blocks.is_empty() {
        section.line("None.");
    }
    section
}

/// `pid 4711 (app, user anna, database orders) waits for Lock:tuple for 2.1 s: row 3 of page 7 of
/// accounts, ExclusiveLock`.
fn task_line(task: &WaitingTask) -> String {
    let how_long = match (task.waited_s, task.session.statement_s) {
        (Some(seconds), _) => format!(" for {}", number::seconds(seconds)),
        (None, Some(seconds)) => format!(" in a statement of {}", number::seconds(seconds)),
        (None, None) => String::new(),
    };
    let lock = [task.resource.as_deref(), task.lock_mode.as_deref()];
    let lock =
        listed(lock.into_iter().flatten()).map_or_else(String::new, |lock| format!(": {lock}"));
    format!("{} waits for {}{how_long}{lock}", who(&task.session), what(&task.wait_type))
}

/// Returns the awaited object. The states of MariaDB's process list already start with "waiting".
fn what(wait_type: &str) -> &str {
    wait_type.strip_prefix("Waiting for ").unwrap_or(wait_type)
}

fn who(session: &TaskSession) -> String {
    let user = (!session.user.is_empty()).then(|| format!("user {}", session.user));
    let database = (!session.database.is_empty()).then(|| format!("database {}", session.database));
    if session.pid == 0 {
        let name = session
            .prepared
            .as_deref()
            .map_or_else(|| "(name unknown)".to_owned(), |name| format!("'{name}'"));
        let of = listed([user, database].into_iter().flatten())
            .map_or_else(String::new, |of| format!(" ({of})"));
        return format!("prepared transaction {name}{of}");
    }
    let process = match (session.process.as_str(), session.leader) {
        (CONNECTION, _) if session.application.is_empty() => None,
        ("client backend" | "", _) if session.application.is_empty() => Some("no name".to_owned()),
        ("client backend" | CONNECTION | "", _) => Some(session.application.clone()),
        (process, Some(leader)) => Some(format!("{process} of pid {leader}")),
        (process, None) => Some(process.to_owned()),
    };
    let of = listed([process, user, database].into_iter().flatten());
    let of = of.map_or_else(String::new, |of| format!(" ({of})"));
    let what = if session.process == CONNECTION { CONNECTION } else { "pid" };
    format!("{what} {}{of}", session.pid)
}
