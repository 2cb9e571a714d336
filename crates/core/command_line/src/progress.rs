//! Progress of a run, for people and for programs.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use observations::number::{self, plural};
use observations::{Event, FailureKind, Response, RunEnd, TrialRef};
use report::Text;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The interval at which the clock on the bar moves.
const TICK: Duration = Duration::from_millis(250);

/// Listens to a run.
pub enum Progress {
    /// One JSON object a line on standard output.
    Json,
    /// A bar on the terminal, or plain lines where there is none, on standard error.
    People(Box<Display>),
}

/// The live display for people.
pub struct Display {
    bar: ProgressBar,
    start: Instant,
    terminal: bool,
    trials: u64,
    done: u64,
    /// Seconds of the trials that this session has finished, and their number.
    finished: (f64, u64),
    current: Text,
    /// Kinds of warnings that were printed.
    warned: BTreeSet<String>,
}

impl Progress {
    /// A listener for programs (`--json`) or for people.
    pub fn new(json: bool) -> Self {
        if json {
            return Self::Json;
        }
        let terminal = std::io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear);
        Self::People(Box::new(Display {
            bar,
            start: Instant::now(),
            terminal,
            trials: 0,
            done: 0,
            finished: (0.0, 0),
            current: Text::default(),
            warned: BTreeSet::new(),
        }))
    }

    /// Takes note of an event.
    pub fn hear(&mut self, event: &Event) {
        match self {
            // A reader that has gone does not stop the run.
            Self::Json => {
                drop(serde_json::to_value(event).map(output::print_json));
            }
            Self::People(display) => display.hear(event),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Display {
    #[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
    fn hear(&mut self, event: &Event) {
        match event {
            Event::RunStarted { experiment, configurations, trials, done } => {
                self.start(experiment, *configurations, *trials, *done);
            }
            Event::Step { text } => self.message(text),
            Event::TrialStarted { trial } => {
                let again = if trial.attempt > 1 {
                    format!(", attempt {}", trial.attempt)
                } else {
                    String::new()
                };
                self.current = Text::from(
                    format!("block {} {}{again}", trial.block, trial.configuration)
                        .replace(" ,", ","),
                );
                self.resume();
                self.message("");
            }
            Event::Progress { elapsed_s, fraction, rate, unit, latency_p99_ms } => {
                let warmup = if *elapsed_s < 0.0 { "warm-up, " } else { "" };
                let p99 = latency_p99_ms.map_or_else(String::new, |ms| format!(", p99 {ms:.2} ms"));
                let rate = number::grouped(*rate);
                self.message(&format!("{warmup}{:.0} %, {rate} {unit}{p99}", fraction * 100.0));
            }
            Event::TrialFinished { trial, wall_s, responses, warnings } => {
                let figures: Vec<String> = responses
                    .iter()
                    .take(2)
                    .map(|response: &Response| {
                        format!(
                            "{} {} {}",
                            response.name,
                            number::grouped(response.value),
                            response.unit
                        )
                    })
                    .collect();
                let first: Vec<&str> = warnings
                    .iter()
                    .filter(|kind| self.warned.insert((*kind).clone()))
                    .map(String::as_str)
                    .collect();
                let warnings = if first.is_empty() {
                    String::new()
                } else {
                    format!("  [{}]", first.join(", "))
                };
                let text = format!("{}{warnings}", figures.join("  "));
                self.settled(trial, *wall_s, true, Some(text).filter(|_| !self.terminal));
            }
            Event::TrialFailed { trial, wall_s, cause, kind, retry } => {
                let again = if *retry { " (retrying)" } else { "" };
                let mut causes = cause.lines();
                let first = causes.next().unwrap_or_default();
                // A trial that a search ended early has not failed.
                let failed = if *kind == FailureKind::Futile { "" } else { "FAILED: " };
                self.settled(trial, *wall_s, !retry, Some(format!("{failed}{first}{again}")));
                causes.for_each(|cause| self.line(&format!("         {cause}")));
            }
            Event::Hook(hook) if hook.exit_code != Some(0) => {
                let end = hook.exit_code.map_or_else(
                    || "was killed".into(),
                    |code| format!("failed with exit code {code}"),
                );
                self.line(&format!("hook {} {end}", hook.hook));
            }
            Event::ManualStep { text } => {
                self.line(&format!("manual step: {text}"));
                // Leave the terminal to the user who does the step.
                self.bar.finish_and_clear();
            }
            Event::Warning { text } => self.line(&format!("warning: {text}")),
            Event::CandidateLeft { text } => self.line(text),
            Event::RepeatsEnough { trials } => {
                self.trials = self.trials.saturating_sub(*trials as u64);
                self.bar.set_length(self.trials);
                let all = self.trials;
                self.line(&format!(
                    "no more repeats needed: {} fewer, {all} in total",
                    plural(*trials, "trial")
                ));
            }
            Event::BlockRepeated { block, machine, trials } => {
                self.done = self.done.saturating_sub(*trials as u64);
                self.bar.set_position(self.done);
                let trials = plural(*trials, "trial");
                self.line(&format!(
                    "block {block} is repeated on machine {machine}; no longer counted: {trials} \
                     of the lost machine"
                ));
            }
            Event::RunFinished(RunEnd::Completed(tally))
                if self.finished.1 == 0 && tally.failed > 0 =>
            {
                self.line("nothing to run: every remaining trial has failed before");
            }
            Event::RunFinished(RunEnd::Completed(_)) if self.finished.1 == 0 => {
                self.line("the run is complete; start a new one with --fresh");
            }
            Event::Hook(_) | Event::RunFinished(_) => {}
        }
    }

    fn start(&mut self, experiment: &str, configurations: usize, trials: usize, done: usize) {
        (self.trials, self.done) = (trials as u64, done as u64);
        let resumed = if done > 0 { format!(", {done} already recorded") } else { String::new() };
        self.bar.set_length(self.trials);
        self.bar.set_position(self.done);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {pos}/{len}  {elapsed} {prefix} {wide_msg}")
        {
            self.bar.set_style(style);
        }
        let (configurations, trials) =
            (plural(configurations, "configuration"), plural(trials, "trial"));
        self.line(&format!("{experiment}: {configurations}, {trials}{resumed}"));
        if self.terminal {
            self.tick();
        }
    }

    /// Has the clock on the bar move. Where no thread can be started for it, it moves with the
    /// events.
    fn tick(&self) {
        let bar = self.bar.downgrade();
        let _ = std::thread::Builder::new().name("progress".into()).spawn(move || {
            while let Some(bar) = bar.upgrade() {
                if !bar.is_finished() {
                    bar.tick();
                }
                drop(bar);
                std::thread::sleep(TICK);
            }
        });
    }

    /// Shows the bar again after a manual step.
    fn resume(&self) {
        if self.bar.is_finished() {
            self.bar.reset();
            self.bar.set_position(self.done);
            self.bar.set_elapsed(self.start.elapsed());
        }
    }

    fn message(&self, text: &str) {
        let separator = if text.is_empty() { "" } else { ": " };
        self.bar.set_message(format!("{}{separator}{}", self.current, Text::from(text)));
    }

    /// A trial is over; `counts` when it will not be tried again. A line says what came of it.
    fn settled(&mut self, trial: &TrialRef, wall_s: f64, counts: bool, text: Option<String>) {
        self.done += u64::from(counts);
        self.finished = (self.finished.0 + wall_s, self.finished.1 + 1);
        let (done, trials, TrialRef { block, configuration, .. }) = (self.done, self.trials, trial);
        if let Some(text) = text {
            self.line(&format!("{done:>4}/{trials}  block {block:<3} {configuration}  {text}"));
        }
        self.bar.set_position(self.done);
        let left_s =
            self.finished.0 / self.finished.1 as f64 * self.trials.saturating_sub(self.done) as f64;
        let left_s = left_s.round() as u64;
        self.bar.set_prefix(format!("left {}:{:02}", left_s / 60, left_s % 60));
    }

    fn line(&self, text: &str) {
        let text = Text::from(text);
        let text = text.as_str();
        if self.terminal {
            self.bar.println(output::wrapped_for_complaints(text));
        } else {
            output::complain(text);
        }
    }
}
