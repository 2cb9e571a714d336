//! `steelbench waits --watch`: the terminal, the keys, and the clock.

mod state;
mod view;

use crate::exit_code::{ExitCode, Failure};
use engines::{LiveObserver, ServerError};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use state::{State, Tab};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REFRESH: Duration = Duration::from_secs(1);
/// How long the screen waits for a key before it looks at the clock.
const NAP: Duration = Duration::from_millis(100);

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Quit,
    Pause,
    Show(Tab),
}

/// Shows a server's waits until somebody has seen enough.
pub fn run(
    connect: impl FnOnce() -> Result<Box<dyn LiveObserver>, ServerError>,
    stop: &AtomicBool,
    failure: impl Fn(ServerError) -> Failure,
) -> Result<ExitCode, Failure> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Failure::usage("--watch needs a terminal; without it the waits are printed once"));
    }
    // What can go wrong with the server should be told before the screen is taken.
    let mut observer = connect().map_err(&failure)?;
    let mut terminal = ratatui::try_init().map_err(screen)?;
    let result = watch(&mut terminal, &mut *observer, stop, failure);
    ratatui::restore();
    result.map(|()| ExitCode::Ok)
}

fn watch(
    terminal: &mut ratatui::DefaultTerminal,
    observer: &mut dyn LiveObserver,
    stop: &AtomicBool,
    failure: impl Fn(ServerError) -> Failure,
) -> Result<(), Failure> {
    let mut state = State::default();
    let mut due = Instant::now() + REFRESH;
    while !stop.load(Ordering::Relaxed) {
        terminal.draw(|frame| view::draw(&state, frame.area(), frame.buffer_mut())).map_err(screen)?;
        if event::poll(NAP.min(due.saturating_duration_since(Instant::now()))).map_err(screen)? {
            match action(&event::read().map_err(screen)?) {
                Some(Action::Quit) => return Ok(()),
                Some(Action::Pause) => state.pause(),
                Some(Action::Show(tab)) => state.show(tab),
                None => {}
            }
        }
        if Instant::now() >= due {
            let mut activity = observer.window().map_err(&failure)?;
            activity.tasks = Some(observer.tasks().map_err(&failure)?);
            state.hear(analysis::activity(activity));
            due = (due + REFRESH).max(Instant::now());
        }
    }
    Ok(())
}

fn action(event: &Event) -> Option<Action> {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event else { return None };
    match code {
        KeyCode::Char('q') | KeyCode::Esc => Some(Action::Quit),
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Some(Action::Quit),
        KeyCode::Char('p' | ' ') => Some(Action::Pause),
        KeyCode::Char(digit) => Tab::of_key(*digit).map(Action::Show),
        _ => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
fn screen(error: std::io::Error) -> Failure {
    Failure::failed(format!("cannot use the terminal: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_quit_pause_and_choose_a_tab() {
        let press = |code, modifiers| action(&Event::Key(KeyEvent::new(code, modifiers)));
        let plain = KeyModifiers::NONE;
        assert_eq!(press(KeyCode::Char('q'), plain), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('p'), plain), Some(Action::Pause));
        assert_eq!(press(KeyCode::Char('3'), plain), Some(Action::Show(Tab::Clients)));
        for code in [KeyCode::Char('c'), KeyCode::Char('5'), KeyCode::Enter] {
            assert_eq!(press(code, plain), None);
        }
    }
}
