//! From the state to the cells of a screen.

use super::state::{State, Tab};
use analysis::ActivitySummary;
use analysis::activity::ActivityGroup;
use observations::{TaskSession, WaitClass, WaitingTask, number};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Sparkline, Table, Tabs, Widget};
use report::Text;

/// Columns of a class's name and figure beside its curve.
const LABEL: u16 = 24;
/// A curve is drawn in eighths of a line.
const EIGHTHS: f64 = 1000.0;

/// Draws everything.
pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let classes = state.classes();
    let curves = (classes.len() as u16).clamp(1, (area.height / 3).max(1));
    let [header, sessions, history, _, tabs, lower, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Length(curves),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(area);
    let keys_line = "q quit   p pause   1 waits   2 statements   3 sessions   4 tasks";
    Line::from(keys_line.dim()).render(keys, buffer);
    let Some(summary) = &state.latest else {
        Line::from("Watching the first second ...").render(header, buffer);
        return;
    };
    let paused = if state.paused { "   PAUSED" } else { "" };
    let title = format!(
        "{}   {} a second from {}",
        summary.seen.server, summary.seen.sampling.hz, summary.seen.sampling.source
    );
    Line::from(vec![Span::from(safe(&title)).bold(), Span::from(paused).yellow()]).render(header, buffer);
    Paragraph::new(vec![states(summary), lost(summary)]).render(sessions, buffer);
    for (row, class) in history.rows().zip(&classes) {
        curve(state, *class, row, buffer);
    }
    Tabs::new(Tab::ALL.map(Tab::title))
        .select(Tab::ALL.iter().position(|tab| *tab == state.tab))
        .highlight_style(Style::new().bold().reversed())
        .render(tabs, buffer);
    match state.tab {
        Tab::Waits => waits(summary, lower, buffer),
        Tab::Statements => groups(summary, &summary.statements, |id| statement(summary, *id), lower, buffer),
        Tab::Clients => {
            let name = |key: &(String, String, String)| format!("{} ({}, {})", key.0, key.1, key.2);
            groups(summary, &summary.clients, name, lower, buffer);
        }
        Tab::Tasks => tasks(summary.seen.tasks.as_deref().unwrap_or_default(), lower, buffer),
    }
}

fn states(summary: &ActivitySummary) -> Line<'static> {
    let states: Vec<String> =
        summary.states.iter().map(|(state, mean)| format!("{mean:.1} {state}")).collect();
    Line::from(format!("Sessions: {}", safe(&states.join(", "))))
}

fn lost(summary: &ActivitySummary) -> Line<'static> {
    Line::from(summary.seen.lost.first().map(|sentence| safe(sentence)).unwrap_or_default()).yellow()
}

/// How many sessions were busy in a class, second by second.
fn curve(state: &State, class: Option<WaitClass>, area: Rect, buffer: &mut Buffer) {
    let [label, line] = Layout::horizontal([Constraint::Length(LABEL), Constraint::Min(1)]).areas(area);
    let points = state.sessions_in(class, line.width.into());
    let now = points.last().copied().unwrap_or(0.0);
    let name = class.map_or("CPU or run queue", WaitClass::name);
    Line::from(format!("{name:<17}{now:>6.1}")).fg(colour(class)).render(label, buffer);
    // All curves have one scale, so that they can be compared.
    let all: Vec<f64> =
        state.classes().iter().flat_map(|class| state.sessions_in(*class, line.width.into())).collect();
    let top = all.into_iter().fold(1.0, f64::max);
    let data: Vec<u64> = points.iter().map(|sessions| (sessions * EIGHTHS) as u64).collect();
    let sparkline = Sparkline::default().data(data).max((top * EIGHTHS) as u64);
    sparkline.style(Style::new().fg(colour(class))).render(line, buffer);
}

fn colour(class: Option<WaitClass>) -> Color {
    match class {
        None => Color::Green,
        Some(WaitClass::CpuQueue) => Color::LightGreen,
        Some(WaitClass::DataRead) => Color::Blue,
        Some(WaitClass::DataWrite) => Color::Cyan,
        Some(WaitClass::Log) => Color::Magenta,
        Some(WaitClass::Lock) => Color::Red,
        Some(WaitClass::Latch) => Color::LightRed,
        Some(WaitClass::Checkpoint) => Color::Yellow,
        Some(WaitClass::Client | WaitClass::Other | WaitClass::Idle) => Color::Gray,
    }
}

/// Of all waits, not only of the top 95 %.
fn waits(summary: &ActivitySummary, area: Rect, buffer: &mut Buffer) {
    let busy_s = summary.accounting.session_s;
    let elapsed_s = summary.seen.elapsed_s.max(f64::MIN_POSITIVE);
    let rows = summary.table.rows.iter().map(|row| {
        let cells = [
            safe(&row.wait_type),
            row.class.name().to_owned(),
            format!("{:.2}", row.wait_s / elapsed_s),
            percent(row.wait_s, busy_s),
        ];
        Row::new(cells).style(Style::new().fg(colour(Some(row.class))))
    });
    let widths =
        [Constraint::Length(34), Constraint::Length(12), Constraint::Length(10), Constraint::Length(8)];
    table(rows, widths, ["Wait type", "Class", "Sessions", "Of busy"], area, buffer);
}

fn groups<K>(
    summary: &ActivitySummary,
    groups: &[ActivityGroup<K>],
    name: impl Fn(&K) -> String,
    area: Rect,
    buffer: &mut Buffer,
) {
    let elapsed_s = summary.seen.elapsed_s.max(f64::MIN_POSITIVE);
    let rows = groups.iter().map(|group| {
        let most = group.waits.first();
        let most = most.map_or_else(String::new, |(wait, s)| format!("{wait} {}", percent(*s, group.busy_s)));
        Row::new([
            format!("{:.2}", group.busy_s / elapsed_s),
            percent(group.running_s, group.busy_s),
            safe(&most),
            safe(&name(&group.key)),
        ])
    });
    let widths = [Constraint::Length(8), Constraint::Length(8), Constraint::Length(32), Constraint::Min(20)];
    table(rows, widths, ["Sessions", "No wait", "Most waited for", "Who"], area, buffer);
}

fn statement(summary: &ActivitySummary, id: Option<i64>) -> String {
    let Some(id) = id else { return "(not numbered)".to_owned() };
    summary.seen.texts.get(&id).map_or_else(|| format!("query {id}"), |text| one_line(text))
}

fn tasks(tasks: &[WaitingTask], area: Rect, buffer: &mut Buffer) {
    let seconds =
        |seconds: Option<f64>| seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1}"));
    let rows = tasks.iter().map(|task| {
        let blockers: Vec<String> =
            task.blocked_by.iter().map(|TaskSession { pid, state, .. }| format!("{pid} ({state})")).collect();
        Row::new([
            task.session.pid.to_string(),
            safe(&task.wait_type),
            seconds(task.waited_s.or(task.session.statement_s)),
            safe(&blockers.join(", ")),
            safe(task.resource.as_deref().unwrap_or("")),
            safe(&one_line(&task.session.statement)),
        ])
    });
    let widths = [
        Constraint::Length(8),
        Constraint::Length(24),
        Constraint::Length(8),
        Constraint::Length(24),
        Constraint::Fill(1),
        Constraint::Fill(1),
    ];
    let headings = ["Pid", "Waits for", "Seconds", "Blocked by", "Resource", "Statement"];
    table(rows, widths, headings, area, buffer);
}

fn table<'a, const N: usize>(
    rows: impl Iterator<Item = Row<'a>>,
    widths: [Constraint; N],
    headings: [&'static str; N],
    area: Rect,
    buffer: &mut Buffer,
) {
    let table = Table::new(rows, widths).header(Row::new(headings).bold());
    Widget::render(table, area, buffer);
}

fn percent(part: f64, all: f64) -> String {
    if all > 0.0 { number::percent(part / all, 1) } else { "-".to_owned() }
}

fn one_line(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of a server must not command the terminal.
fn safe(text: &str) -> String {
    Text::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::activity;
    use observations::{ActivityCell, Sampling, ServerActivity, TimeUse, Wait, WaitSource};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

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

    /// One second in which 3 sessions waited for a lock and 1 worked.
    fn second() -> ServerActivity {
        let wait = Wait {
            wait_type: "Lock:tuple".to_owned(),
            class: WaitClass::Lock,
            count: None,
            resource_s: 3.0,
            signal_s: 0.0,
            source: WaitSource::Sampled { hz: 100.0 },
        };
        let session =
            TaskSession { pid: 7, statement: "UPDATE t\n SET a = 1".to_owned(), ..TaskSession::default() };
        let blocker =
            TaskSession { pid: 9, state: "idle in transaction".to_owned(), ..TaskSession::default() };
        ServerActivity {
            server: "PostgreSQL 18.6".to_owned(),
            elapsed_s: 1.0,
            sampling: Sampling { source: "pg_stat_activity".to_owned(), hz: 100.0, polls: 100, missed: 0 },
            waits: vec![wait],
            time: TimeUse { session_s: 4.0, cpu_s: 1.0, cpu_user_s: None },
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

    /// The screen as lines.
    fn screen(state: &State, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(state, frame.area(), frame.buffer_mut())).unwrap();
        let buffer = terminal.backend().buffer();
        let line =
            |row: &[ratatui::buffer::Cell]| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        buffer.content.chunks(width.into()).map(|row| line(row).trim_end().to_owned()).collect()
    }

    #[test]
    fn the_screen_shows_states_curves_and_the_chosen_table() {
        let mut state = State::default();
        assert!(screen(&state, 80, 20)[0].starts_with("Watching the first second"));
        state.hear(activity(second()));
        state.hear(activity(second()));
        let lines = screen(&state, 80, 20);
        assert_eq!(lines[0], "PostgreSQL 18.6   100 a second from pg_stat_activity");
        assert_eq!(lines[1], "Sessions: 4.0 active");
        // One scale: 3 sessions fill the line, 1 fills two of its eight parts.
        assert_eq!(lines[3], "lock                3.0 ██");
        assert_eq!(lines[4], "CPU or run queue    1.0 ▂▂");
        assert_eq!(lines[6], " Waits │ Statements │ Sessions │ Tasks");
        assert!(lines[7].starts_with("Wait type") && lines[8].starts_with("Lock:tuple"), "{lines:#?}");
        assert!(lines[8].contains("lock         3.00       75.0 %"), "{lines:#?}");
        assert!(lines[19].starts_with("q quit"));
    }

    #[test]
    fn each_tab_has_its_table_and_no_name_commands_the_terminal() {
        let mut state = State::default();
        state.hear(activity(second()));
        for (tab, part) in [
            (Tab::Statements, "UPDATE t SET a = $1"),
            (Tab::Clients, "shop\\u{1b}[2J (anna, orders)"),
            (Tab::Tasks, "9 (idle in transaction)"),
            (Tab::Tasks, "row 3 of page 0 of t"),
            (Tab::Tasks, "UPDATE t SET a = 1"),
        ] {
            state.show(tab);
            let lines = screen(&state, 130, 16);
            assert!(lines.iter().any(|line| line.contains(part)), "{part} is not in {lines:#?}");
        }
    }

    #[test]
    fn a_paused_screen_does_not_change_and_a_tiny_one_does_not_fail() {
        let mut state = State::default();
        state.hear(activity(second()));
        state.pause();
        let before = screen(&state, 80, 20);
        assert!(before[0].ends_with("PAUSED"));
        state.hear(activity(ServerActivity { server: "other".to_owned(), ..second() }));
        assert_eq!(screen(&state, 80, 20), before);
        state.pause();
        state.hear(activity(ServerActivity { server: "other".to_owned(), ..second() }));
        assert!(screen(&state, 80, 20)[0].starts_with("other"));
        for (width, height) in [(1, 1), (3, 40), (200, 2)] {
            assert_eq!(screen(&state, width, height).len(), usize::from(height));
        }
    }
}
