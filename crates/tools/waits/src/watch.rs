//! `steelbench waits --watch`: the terminal, the keys, the clock, and what is on the screen.

use crate::screen::{ESCAPE, INTERRUPT, Line, Look, Screen, fitted, span};
use crate::summary::{ActivityGroup, ActivitySummary, RootBlocker, summarize};
use command_line::{ExitCode, Failure};
use engine::{LiveObserver, ServerError};
use observations::{ServerActivity, WaitClass, WaitingTask, number, order};
use report::Text;
use report::text::one_line;
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REFRESH: Duration = Duration::from_secs(1);
/// The time that the screen waits for a key before it looks at the clock.
const NAP: Duration = Duration::from_millis(100);
/// Seconds of history: as many as a wide terminal has columns.
const HISTORY: usize = 240;
/// Tabs of the lower part of the screen, in the order of the keys from 1.
const TABS: [&str; 4] = ["Waits", "Statements", "Sessions", "Tasks"];
/// Lines for states and the warning below them.
const LINES_MAX: usize = 5;
/// Columns of a class's name and figure beside its curve.
const LABEL: usize = 24;
/// A point of a curve, in eighths of a line.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The fewest columns of a column that shares what others leave.
const SHARED_MIN: usize = 20;

/// Shows a server's waits until the user quits.
pub fn run(
    connect: impl Fn() -> Result<Box<dyn LiveObserver>, ServerError>,
    stop: &AtomicBool,
    failure: impl Fn(ServerError) -> Failure,
) -> Result<ExitCode, Failure> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Failure::usage("--watch needs a terminal; omit it to print the waits once"));
    }
    // Connect before the screen is taken, so that an error of the server stays visible.
    let observer = connect().map_err(&failure)?;
    let mut screen = Screen::open().map_err(screen_failure)?;
    watch(&mut screen, observer, stop, connect)
}

/// Watches a server, also after it was lost and is there again: restarts and failovers are what one
/// watches.
fn watch(
    screen: &mut Screen,
    observer: Box<dyn LiveObserver>,
    stop: &AtomicBool,
    connect: impl Fn() -> Result<Box<dyn LiveObserver>, ServerError>,
) -> Result<ExitCode, Failure> {
    let mut observer = Some(observer);
    let mut state = State::default();
    let mut due = Instant::now() + REFRESH;
    while !stop.load(Ordering::Relaxed) {
        let (columns, lines) = Screen::size();
        screen.draw(&state.lines(columns, lines), columns).map_err(screen_failure)?;
        let patience = NAP.min(due.saturating_duration_since(Instant::now()));
        let key = Screen::key(patience).map_err(screen_failure)?;
        if key.is_some_and(|key| state.press(key)) {
            break;
        }
        if Instant::now() < due {
            continue;
        }
        match observer.as_mut().map(|observer| interval(&mut **observer)) {
            Some(Ok(activity)) => state.add_interval(summarize(activity)),
            Some(Err(why)) => {
                observer = None;
                state.lost = Some(why.to_string());
            }
            None => match connect() {
                Ok(new) => {
                    observer = Some(new);
                    state.lost = None;
                }
                Err(why) => state.lost = Some(why.to_string()),
            },
        }
        due = (due + REFRESH).max(Instant::now());
    }
    Ok(ExitCode::Ok)
}

/// The activity since the interval before, with the tasks that wait now.
fn interval(observer: &mut dyn LiveObserver) -> Result<ServerActivity, ServerError> {
    let mut activity = observer.window()?;
    if let Some(why) = activity.ended {
        return Err(ServerError::new(why));
    }
    activity.tasks = observer.tasks()?;
    Ok(activity)
}

#[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
fn screen_failure(error: std::io::Error) -> Failure {
    Failure::failed(format!("cannot use the terminal: {error}"))
}

/// State of the screen.
#[derive(Debug, Default)]
struct State {
    /// The lower part: position in [`TABS`].
    tab: usize,
    /// Nothing new is shown.
    paused: bool,
    /// Why the server is not seen now.
    lost: Option<String>,
    /// The last interval.
    latest: Option<ActivitySummary>,
    /// For each past interval, how many sessions were busy on average, by class; `None` is without
    /// a wait. The newest is the last.
    history: VecDeque<Vec<(Option<WaitClass>, f64)>>,
}

impl State {
    /// Reacts to a key; returns true for one that quits.
    fn press(&mut self, key: char) -> bool {
        match key {
            'q' | ESCAPE | INTERRUPT => return true,
            'p' | ' ' => self.paused = !self.paused,
            '1'..='4' => self.tab = key as usize - '1' as usize,
            _ => {}
        }
        false
    }

    /// Adds an interval.
    fn add_interval(&mut self, summary: ActivitySummary) {
        if self.paused {
            return;
        }
        let elapsed_s = summary.activity.elapsed_s.max(f64::MIN_POSITIVE);
        let sessions = summary.classes.iter().map(|(class, seconds)| (*class, seconds / elapsed_s));
        self.history.push_back(sessions.collect());
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        self.latest = Some(summary);
    }

    /// Busy sessions of each class over the last intervals, the oldest first; the class with most
    /// time first.
    fn curves(&self, intervals: usize) -> Vec<(Option<WaitClass>, Vec<f64>)> {
        let skipped = self.history.len().saturating_sub(intervals);
        let mut curves: Vec<(Option<WaitClass>, Vec<f64>)> = Vec::new();
        for (at, interval) in self.history.iter().skip(skipped).enumerate() {
            for (class, sessions) in interval {
                let known =
                    curves.iter().position(|(known, _)| known == class).unwrap_or_else(|| {
                        curves.push((*class, vec![0.0; self.history.len() - skipped]));
                        curves.len() - 1
                    });
                curves[known].1[at] = *sessions;
            }
        }
        order::sort(&mut curves, &|(_, a), (_, b)| {
            b.iter().sum::<f64>().total_cmp(&a.iter().sum())
        });
        curves
    }

    /// The screen: `height` lines for `width` columns.
    fn lines(&self, width: usize, height: usize) -> Vec<Line> {
        let mut lines = vec![self.header()];
        if let Some(summary) = &self.latest {
            let mut states = summary_lines(summary, width);
            states.resize(states.len().clamp(2, LINES_MAX), Line::new());
            lines.extend(states);
            let curves = self.curves(width.saturating_sub(LABEL));
            // All curves have one scale, so that they can be compared.
            let top = curves.iter().flat_map(|(_, points)| points).copied().fold(1.0, f64::max);
            let shown = curves.iter().take((height / 3).max(1));
            lines.extend(shown.map(|(class, points)| curve(*class, points, top)));
            lines.extend([Line::new(), tabs(self.tab)]);
            lines.extend(match self.tab {
                0 => waits(summary, width),
                1 => groups(summary, &summary.statements, width, |id| statement(summary, *id)),
                2 => groups(summary, &summary.clients, width, |(application, user, database)| {
                    format!("{application} ({user}, {database})")
                }),
                _ => tasks(summary, width),
            });
        }
        lines.resize(height.saturating_sub(1), Line::new());
        let keys = "q quit   p pause   1 waits   2 statements   3 sessions   4 tasks";
        lines.push(vec![span(keys, Look::Dim)]);
        lines.truncate(height);
        lines
    }

    fn header(&self) -> Line {
        match (&self.lost, &self.latest) {
            (Some(why), _) => vec![span(format!("Reconnecting: {}", safe(why)), RED)],
            (None, None) => vec![span("Observing the first second ...", Look::Plain)],
            (None, Some(summary)) => {
                let activity = &summary.activity;
                let (hz, source) = (activity.sampling.hz, &activity.sampling.source);
                let title = format!("{}   {hz} per second from {source}", activity.server);
                let paused = if self.paused { "   PAUSED" } else { "" };
                vec![span(safe(&title), Look::Bold), span(paused, YELLOW)]
            }
        }
    }
}

/// The names of the tabs.
fn tabs(selected: usize) -> Line {
    let tab = |(at, name): (usize, &&str)| {
        let before = if at == 0 { " " } else { "│ " };
        let look = if at == selected { Look::Selected } else { Look::Plain };
        [span(before, Look::Plain), span(*name, look), span(" ", Look::Plain)]
    };
    TABS.iter().enumerate().flat_map(tab).collect()
}

/// The states of the sessions, and below them who blocks most, or else what is not seen, in lines
/// that fit.
fn summary_lines(summary: &ActivitySummary, width: usize) -> Vec<Line> {
    let states: Vec<String> =
        summary.states.iter().map(|(state, mean)| format!("{mean:.1} {state}")).collect();
    let worst = summary.blocking.first().map(|root| {
        let RootBlocker { session, victims, waited_s, .. } = root;
        let victims = number::plural(victims.len(), "session");
        let what = if session.process == "connection" { "connection" } else { "pid" };
        format!(
            "{what} {} ({}) blocks {victims}, {waited_s:.1} s in total",
            session.pid, session.state
        )
    });
    let warning = worst.or_else(|| summary.activity.lost.first().cloned()).unwrap_or_default();
    let lines = |text: &str, look: Look| -> Vec<Line> {
        let text = report::wrapped(&safe(text), width);
        text.lines().map(|line| vec![span(line, look)]).collect()
    };
    let states = lines(&format!("Sessions: {}", states.join(", ")), Look::Plain);
    [states, lines(&warning, YELLOW)].concat()
}

/// The number of sessions that were busy in a class, second by second.
fn curve(class: Option<WaitClass>, points: &[f64], top: f64) -> Line {
    let now = points.last().copied().unwrap_or(0.0);
    let name = class.map_or("CPU or run queue", WaitClass::name);
    let eighth = |sessions: &f64| EIGHTHS[((sessions / top * 8.0) as usize).min(8)];
    let curve: String = points.iter().map(eighth).collect();
    vec![span(fitted(&format!("{name:<17}{now:>6.1}"), LABEL) + &curve, colour(class))]
}

const RED: Look = Look::Colour(31);
const YELLOW: Look = Look::Colour(33);

fn colour(class: Option<WaitClass>) -> Look {
    match class {
        None => Look::Colour(32),
        Some(WaitClass::CpuQueue) => Look::Colour(92),
        Some(WaitClass::DataRead) => Look::Colour(34),
        Some(WaitClass::DataWrite) => Look::Colour(36),
        Some(WaitClass::Log) => Look::Colour(35),
        Some(WaitClass::Lock) => RED,
        Some(WaitClass::Latch) => Look::Colour(91),
        Some(WaitClass::Checkpoint) => YELLOW,
        Some(WaitClass::Client | WaitClass::Other | WaitClass::Idle) => Look::Colour(37),
    }
}

/// The table of all waits, not only of the top 95 %.
fn waits(summary: &ActivitySummary, width: usize) -> Vec<Line> {
    let rows = summary.table.rows.iter().map(|row| {
        let sessions =
            format!("{:.2}", row.wait_s / summary.activity.elapsed_s.max(f64::MIN_POSITIVE));
        let share = percent(row.wait_s, summary.accounting.session_s);
        let cells = [safe(&row.wait_type), row.class.name().to_owned(), sessions, share];
        Row { cells: cells.into(), look: colour(Some(row.class)) }
    });
    let columns =
        [("Wait type", None), ("Class", Some(12)), ("Sessions", Some(10)), ("Of busy", Some(8))];
    table(columns, rows, width)
}

fn groups<K>(
    summary: &ActivitySummary,
    groups: &[ActivityGroup<K>],
    width: usize,
    name: impl Fn(&K) -> String,
) -> Vec<Line> {
    let rows = groups.iter().map(|group| {
        let most = group.waits.first();
        let most = most
            .map_or_else(String::new, |(wait, s)| format!("{wait} {}", percent(*s, group.busy_s)));
        Row::plain([
            format!("{:.2}", group.busy_s / summary.activity.elapsed_s.max(f64::MIN_POSITIVE)),
            percent(group.running_s, group.busy_s),
            safe(&most),
            safe(&name(&group.key)),
        ])
    });
    let columns =
        [("Sessions", Some(8)), ("No wait", Some(8)), ("Main waits", Some(32)), ("Who", None)];
    table(columns, rows, width)
}

fn statement(summary: &ActivitySummary, id: Option<i64>) -> String {
    let Some(id) = id else { return "(no query id)".to_owned() };
    summary
        .activity
        .texts
        .get(&id)
        .map_or_else(|| format!("query {id}"), |text| one_line(text, usize::MAX))
}

/// Root blockers, each followed by the sessions that it blocks; then waiting sessions without a
/// blocker.
fn tasks(summary: &ActivitySummary, width: usize) -> Vec<Line> {
    let tasks = summary.activity.tasks.as_deref().unwrap_or_default();
    let seconds = |seconds: Option<f64>| {
        seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1}"))
    };
    let waiting = |task: &WaitingTask, depth: usize| {
        Row::plain([
            format!("{}{}", " ".repeat(depth), task.session.pid),
            safe(&task.wait_type),
            seconds(task.waited_s.or(task.session.statement_s)),
            safe(task.resource.as_deref().unwrap_or("")),
            safe(&one_line(&task.session.statement, usize::MAX)),
        ])
    };
    let trees = summary.blocking.iter().flat_map(|root| {
        let RootBlocker { session, victims, waited_s, .. } = root;
        let cells = [
            if session.pid == 0 { "-".to_owned() } else { session.pid.to_string() },
            format!("blocks {}, {waited_s:.1} s", victims.len()),
            seconds(session.state_s.or(session.transaction_s)),
            safe(&[session.state.as_str(), session.prepared.as_deref().unwrap_or("")].join(" ")),
            safe(&one_line(&session.statement, usize::MAX)),
        ];
        let head = Row { cells: cells.into(), look: Look::Bold };
        let victims = victims.iter().map(|victim| waiting(&tasks[victim.task], victim.depth));
        [head].into_iter().chain(victims)
    });
    let others =
        tasks.iter().filter(|task| task.blocked_by.is_empty()).map(|task| waiting(task, 0));
    let columns = [
        ("Pid", Some(12)),
        ("Waits for", Some(26)),
        ("Seconds", Some(8)),
        ("Resource or state", None),
        ("Statement", None),
    ];
    table(columns, trees.chain(others), width)
}

/// A row of a table.
struct Row {
    cells: Vec<String>,
    look: Look,
}

impl Row {
    fn plain(cells: impl Into<Vec<String>>) -> Self {
        Self { cells: cells.into(), look: Look::Plain }
    }
}

/// Lines of a table. A column has a heading and a width; those without one share what others leave.
fn table<const N: usize>(
    columns: [(&'static str, Option<usize>); N],
    rows: impl Iterator<Item = Row>,
    width: usize,
) -> Vec<Line> {
    let fixed: usize = columns.iter().filter_map(|(_, width)| *width).sum();
    let shares = columns.iter().filter(|(_, width)| width.is_none()).count().max(1);
    let share = (width.saturating_sub(fixed + N - 1) / shares).max(SHARED_MIN);
    let widths = columns.map(|(_, width)| width.unwrap_or(share));
    let headings = columns.map(|(heading, _)| heading.to_owned());
    let headings = Row { cells: headings.into(), look: Look::Bold };
    let line = |Row { cells, look }: Row| -> Line {
        let cells = cells.iter().zip(widths).map(|(cell, width)| fitted(cell, width));
        vec![span(cells.collect::<Vec<_>>().join(" "), look)]
    };
    [headings].into_iter().chain(rows).map(line).collect()
}

fn percent(part: f64, all: f64) -> String {
    if all > 0.0 { number::percent(part / all, 1) } else { "-".to_owned() }
}

/// Text of a server must not command the terminal.
fn safe(text: &str) -> String {
    Text::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarize;
    use observations::{ActivityCell, Sampling, TaskSession, TimeUse, Wait, WaitSource};

    fn cell(wait_type: Option<(&str, WaitClass)>, samples: u64) -> ActivityCell {
        ActivityCell {
            process: "client backend".to_owned(),
            for_client: true,
            wait_type: wait_type.map(|(name, _)| name.to_owned()),
            class: wait_type.map(|(_, class)| class),
            idle: false,
            state: "active".to_owned(),
            query_id: Some(42),
            application: "shop\u{1b}[2J".to_owned(),
            user: "anna".to_owned(),
            database: "orders".to_owned(),
            samples,
            seconds: samples as f64 / 100.0,
        }
    }

    /// A second in which 3 sessions waited for a lock and 1 worked.
    fn second() -> ServerActivity {
        let wait = Wait {
            wait_type: "Lock:tuple".to_owned(),
            class: WaitClass::Lock,
            count: None,
            resource_s: 3.0,
            signal_s: 0.0,
            source: WaitSource::Sampled { hz: 100.0, samples: Some(30), error_s: Some(0.05) },
        };
        let session = TaskSession {
            pid: 7,
            statement: "UPDATE t\n SET a = 1".to_owned(),
            ..TaskSession::default()
        };
        let blocker = TaskSession {
            pid: 9,
            state: "idle in transaction".to_owned(),
            ..TaskSession::default()
        };
        ServerActivity {
            server: "PostgreSQL 18.6".to_owned(),
            elapsed_s: 1.0,
            sampling: Sampling {
                source: "pg_stat_activity".into(),
                hz: 100.0,
                polls: 100,
                ..Sampling::default()
            },
            waits: vec![wait],
            time: TimeUse { session_s: 4.0, cpu_s: 1.0, cpu_user_s: None, ..TimeUse::default() },
            cells: vec![cell(Some(("Lock:tuple", WaitClass::Lock)), 300), cell(None, 100)],
            texts: [(42, "UPDATE t SET a = $1".to_owned())].into(),
            tasks: Some(vec![WaitingTask {
                session,
                wait_type: "Lock:tuple".to_owned(),
                waited_s: Some(2.5),
                resource: Some("row 3 of page 0 of t".to_owned()),
                lock_mode: None,
                blocked_by: vec![blocker],
            }]),
            ..ServerActivity::default()
        }
    }

    #[test]
    fn keys_quit_pause_and_choose_a_tab() {
        let mut state = State::default();
        for key in ['q', ESCAPE, INTERRUPT] {
            assert!(state.press(key));
        }
        assert!(!state.press('p') && state.paused);
        assert!(!state.press('3') && state.tab == 2);
        for key in ['c', '5', '\r'] {
            assert!(!state.press(key));
            assert!(state.paused && state.tab == 2, "nothing changes");
        }
    }

    /// The screen as lines.
    fn screen(state: &State, width: usize, height: usize) -> Vec<String> {
        let lines = state.lines(width, height);
        let texts =
            lines.iter().map(|line| line.iter().map(|span| &*span.text).collect::<String>());
        texts.map(|line| fitted(&line, width).trim_end().to_owned()).collect()
    }

    #[test]
    fn the_screen_shows_states_curves_and_the_chosen_table() {
        let mut state = State::default();
        assert!(screen(&state, 80, 20)[0].starts_with("Observing the first second"));
        state.add_interval(summarize(second()));
        state.add_interval(summarize(second()));
        let lines = screen(&state, 80, 20);
        assert_eq!(lines[0], "PostgreSQL 18.6   100 per second from pg_stat_activity");
        assert_eq!(lines[1], "Sessions: 4.0 active");
        assert_eq!(lines[2], "pid 9 (idle in transaction) blocks 1 session, 2.5 s in total");
        // One scale: 3 sessions fill the line, 1 fills two of its eight parts.
        assert_eq!(lines[3], "lock                3.0 ██");
        assert_eq!(lines[4], "CPU or run queue    1.0 ▂▂");
        assert_eq!(lines[6], " Waits │ Statements │ Sessions │ Tasks");
        assert!(
            lines[7].starts_with("Wait type") && lines[8].starts_with("Lock:tuple"),
            "{lines:#?}"
        );
        assert!(lines[8].contains("lock         3.00       75.0 %"), "{lines:#?}");
        assert!(lines[19].starts_with("q quit"));
    }

    /// Notes are not cut, nor are names that differ only at their end.
    #[test]
    fn long_texts_fit_80_columns() {
        let what = "Waits by statement: the server does not compute query identifiers. Set \
                    compute_query_id = on, or load pg_stat_statements.";
        let name = "wait/synch/cond/sql/MDL_context::COND_one";
        let mut long = ServerActivity { lost: vec![what.to_owned()], tasks: None, ..second() };
        long.waits[0].wait_type = name.to_owned();
        let mut state = State::default();
        state.add_interval(summarize(long));
        let lines = screen(&state, 80, 20);
        let line: Vec<&str> = lines[2..4].iter().map(|line| line.trim()).collect();
        assert_eq!(line.join(" "), what);
        assert!(lines.iter().any(|line| line.starts_with(name)), "{lines:#?}");
    }

    #[test]
    fn a_lost_server_is_said_beside_what_was_seen() {
        let mut state = State::default();
        state.add_interval(summarize(second()));
        state.lost = Some("the server has closed the connection".into());
        let lines = screen(&state, 80, 20);
        assert_eq!(lines[0], "Reconnecting: the server has closed the connection");
        assert_eq!(lines[1], "Sessions: 4.0 active");
        state.lost = None;
        assert!(screen(&state, 80, 20)[0].starts_with("PostgreSQL"));
    }

    #[test]
    fn each_tab_has_its_table_and_no_name_commands_the_terminal() {
        let mut state = State::default();
        state.add_interval(summarize(second()));
        for (tab, part) in [
            ('2', "UPDATE t SET a = $1"),
            ('3', "shop\\u{1b}[2J (anna, orders)"),
            ('4', "9            blocks 1, 2.5 s"),
            ('4', "idle in transaction"),
            ('4', " 7           Lock:tuple                 2.5"),
            ('4', "row 3 of page 0 of t"),
            ('4', "UPDATE t SET a = 1"),
        ] {
            state.press(tab);
            let lines = screen(&state, 130, 16);
            assert!(lines.iter().any(|line| line.contains(part)), "{part} is not in {lines:#?}");
        }
    }

    #[test]
    fn a_paused_screen_does_not_change_and_a_tiny_one_does_not_fail() {
        let mut state = State::default();
        state.add_interval(summarize(second()));
        state.press('p');
        let before = screen(&state, 80, 20);
        assert!(before[0].ends_with("PAUSED"));
        state.add_interval(summarize(ServerActivity { server: "other".to_owned(), ..second() }));
        assert_eq!(screen(&state, 80, 20), before);
        state.press('p');
        state.add_interval(summarize(ServerActivity { server: "other".to_owned(), ..second() }));
        assert!(screen(&state, 80, 20)[0].starts_with("other"));
        for (width, height) in [(1, 1), (3, 40), (200, 2)] {
            assert_eq!(screen(&state, width, height).len(), height);
        }
    }
}
