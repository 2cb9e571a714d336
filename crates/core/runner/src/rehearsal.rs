//! Questions to engines before the first trial: whether a server starts with the settings of a
//! configuration, and whether it accepts the user's statements. Private servers and embedded
//! engines are prepared as for a trial and removed again; your servers are asked without a change.

use crate::catalog::Registry;
use crate::workdir::{Places, WorkFolder, Workdir};
use engine::{Ability, Engine, EngineError, Folders, Host, NoPlan, Permits, PlanRequest, Planned};
use experiment::common::{ENGINE, PROBE};
use experiment::{Configuration, Experiment, Value};
use observations::number::plural;
use observations::redacted_message;
use probe::{Probe, WrittenStatement};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};
use work::{Cancel, CancelReason, Stop, Work, while_watched};

/// The time that all of it may take.
const TIME_MAX: Duration = Duration::from_secs(60);
/// The time after which a request to stop is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Marks the folder: one that a killed check has left is removed by the next check.
const OWNER: &str = "steelbench check\n";

/// The engines' answers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Rehearsal {
    /// Statements that engines refuse, with their places.
    pub refused: Vec<RefusedStatement>,
    /// Targets that cannot be prepared, a sentence each.
    pub failed: Vec<String>,
    /// The extent to which statements could be prepared, a sentence each.
    pub notes: Vec<String>,
}

/// A statement that an engine refuses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedStatement {
    /// The script.
    pub script: String,
    /// Line of the refused part, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The engine's message.
    pub message: String,
}

/// Asks the engines of an experiment whose results go to this file. The preflight has found nothing
/// missing.
pub fn rehearse(
    registry: Registry,
    experiment: &Experiment,
    results: &Path,
    permits: &Permits,
    stop: &Stop,
) -> Rehearsal {
    let (cancel, started) = (Cancel::new(), Instant::now());
    let answers = while_watched(
        "rehearsal",
        LOOK_EVERY,
        || {
            if stop.is_asked() {
                cancel.cancel(CancelReason::Interrupt);
            } else if started.elapsed() > TIME_MAX {
                cancel.cancel(CancelReason::RunTime);
            }
            true
        },
        || all(registry, experiment, results, permits, &cancel),
    );
    answers.unwrap_or_else(|error| {
        let failed = vec![EngineError::no_thread(&error).to_string()];
        Rehearsal { failed, ..Rehearsal::default() }
    })
}

/// Statements are asked on each different kind of target, and each value of a setting once on each
/// kind: a server for every combination of settings would take a minute where a few do.
fn all(
    registry: Registry,
    experiment: &Experiment,
    results: &Path,
    permits: &Permits,
    cancel: &Cancel,
) -> Rehearsal {
    let (mut answers, mut requested) = (Rehearsal::default(), HashSet::new());
    let (mut prepared, mut refused) = (0, BTreeSet::new());
    let mut place = None;
    for configuration in &experiment.configurations {
        let engine = registry.engine(&configuration.get(ENGINE));
        let probe = registry.probe(&configuration.get(PROBE));
        let Some((engine, probe)) = engine.zip(probe) else { continue };
        let statements = probe.statements(configuration);
        let questions = questions(configuration, &statements);
        if questions.is_subset(&requested) || !is_worth_asking(engine, configuration, &statements) {
            continue;
        }
        requested.extend(questions);
        let asking =
            EngineCheck { registry, experiment, engine, probe, configuration, permits, cancel };
        match asking.answers(&statements, results, &mut place) {
            Ok(plans) => {
                for (statement, plan) in plans {
                    match plan {
                        Ok(_) | Err(NoPlan::NoSteps { .. }) => prepared += 1,
                        Err(NoPlan::Refused { message }) if statement.is_certain => {
                            refused.insert(refusal(statement, &message));
                        }
                        Err(NoPlan::Refused { message }) => {
                            note(&mut answers.notes, &uncertain(&refusal(statement, &message)));
                        }
                        // Engines prepare no such statement.
                        Err(NoPlan::Verb { .. } | NoPlan::Command) => {}
                        Err(reason) => note(&mut answers.notes, &unprepared(statement, &reason)),
                    }
                }
            }
            Err(NotAsked::Unprepared(why)) if !statements.is_empty() => {
                note(&mut answers.notes, &format!("statements were not prepared: {why}"));
            }
            Err(NotAsked::Unprepared(_)) => {}
            Err(NotAsked::Failed(error)) => {
                let label = configuration.label();
                let whose = if label.is_empty() { String::new() } else { format!("{label}: ") };
                let why = essence(&error.to_string());
                note(&mut answers.failed, &format!("{whose}{why}"));
            }
        }
    }
    if prepared > 0 && refused.is_empty() {
        answers.notes.insert(0, format!("{} prepared", plural(prepared, "statement")));
    }
    answers.refused = refused.into_iter().collect();
    answers
}

/// The questions that a target answers when it is prepared with these statements.
fn questions(configuration: &Configuration, statements: &[WrittenStatement]) -> HashSet<String> {
    let (settings, kind): (Vec<(&str, &Value)>, Vec<_>) =
        configuration.below("target.").partition(|(name, _)| name.starts_with("settings."));
    let settings = settings.iter().map(|setting| format!("{kind:?} {setting:?}"));
    settings.chain([format!("{kind:?} {statements:?}")]).collect()
}

/// Says why a statement was not prepared.
fn unprepared(written_statement: &WrittenStatement, reason: &NoPlan) -> String {
    format!(
        "{}:{}:{}: not prepared: {reason}",
        written_statement.script, written_statement.line, written_statement.column
    )
}

/// A refusal that does not prevent the run.
fn uncertain(refused_statement: &RefusedStatement) -> String {
    format!(
        "{}:{}:{}: {} (perhaps not in the run: the script changes tables or the session, or may \
         skip this statement)",
        refused_statement.script,
        refused_statement.line,
        refused_statement.column,
        refused_statement.message
    )
}

/// Words before what matters in a line of a log.
const LEVELS: [&str; 4] = ["PANIC", "FATAL", "ERROR", "HINT"];

/// The first line of an error, and of the log behind it what matters.
fn essence(error: &str) -> String {
    let mut lines = error.lines();
    let first = lines.next().unwrap_or_default();
    let important = lines.clone().filter_map(|line| {
        let at = LEVELS.iter().filter_map(|level| line.find(level)).min()?;
        Some(&line[at - usize::from(line[..at].ends_with('['))..])
    });
    let mut shown: Vec<&str> = important.collect();
    if shown.is_empty() {
        shown.extend(lines.next_back());
    }
    [&[first], &shown[..]].concat().join(" ")
}

fn note(notes: &mut Vec<String>, text: &str) {
    let text = redacted_message(text);
    if !notes.contains(&text) {
        notes.push(text);
    }
}

/// Statements of the user, or settings that a server checks when it starts.
fn is_worth_asking(
    engine: &Engine,
    configuration: &Configuration,
    statements: &[WrittenStatement],
) -> bool {
    let abilities = engine.abilities;
    let has_server = engine.recovery.is_some() && !abilities.contains(&Ability::Embedded);
    let has_settings = configuration.below("target.settings.").next().is_some();
    !abilities.contains(&Ability::Synthetic)
        && abilities.contains(&Ability::Statements)
        && engine.missing(configuration).is_none()
        && (!statements.is_empty() || (has_server && has_settings))
}

type Answers<'a> = Vec<(&'a WrittenStatement, Result<Planned, NoPlan>)>;

/// Why an engine was not asked.
enum NotAsked {
    /// The tables cannot be there before the run.
    Unprepared(String),
    /// The target cannot be made.
    Failed(EngineError),
}

/// Where consecutive targets of an engine are made; a server stays from one to the next, as
/// between trials.
struct Place {
    engine: &'static str,
    /// Names of the volumes.
    volumes: Vec<String>,
    /// Dropped before the folders.
    host: Box<dyn Host>,
    _folders: Vec<WorkFolder>,
}

/// A configuration whose engine checks it.
struct EngineCheck<'a> {
    registry: Registry,
    experiment: &'a Experiment,
    engine: &'static Engine,
    probe: &'static dyn Probe,
    configuration: &'a Configuration,
    permits: &'a Permits,
    cancel: &'a Cancel,
}

impl EngineCheck<'_> {
    fn answers<'s>(
        &self,
        statements: &'s [WrittenStatement],
        results: &Path,
        place: &mut Option<Place>,
    ) -> Result<Answers<'s>, NotAsked> {
        let late = || {
            let limit = TIME_MAX.as_secs();
            NotAsked::Unprepared(format!("preparing the targets takes longer than {limit} s"))
        };
        if self.cancel.is_cancelled() {
            return Err(late());
        }
        let requests: Vec<PlanRequest> = statements
            .iter()
            .filter_map(|statement| statement.request.as_ref().ok().cloned())
            .collect();
        let plans = match self.by_url(&requests) {
            Some(plans) => plans?,
            None => self.on_private_target(&requests, results, place).map_err(|error| {
                if self.cancel.is_cancelled() { late() } else { NotAsked::Failed(error) }
            })?,
        };
        // Without an answer, it was not asked on this target.
        let mut plans = plans.into_iter();
        let answers = statements.iter().filter_map(|statement| match &statement.request {
            Ok(_) => {
                let plan = plans.next()?.and_then(|plan| plan.read(self.engine.plan_reader, true));
                Some((statement, plan))
            }
            Err(reason) => Some((statement, Err(reason.clone()))),
        });
        Ok(answers.collect())
    }

    /// The answers of your server; its tables must be there already.
    fn by_url(
        &self,
        requests: &[PlanRequest],
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>, NotAsked>> {
        let are_made = engine::setup::Setup::from_settings(self.configuration).is_some()
            || !self.probe.tables(self.configuration).is_empty();
        let requests = if are_made { &[] } else { requests };
        let stop = self.cancel.stop();
        let answers =
            self.engine.prerequisites?.plan_by_url(self.configuration, requests, &stop)?;
        if are_made {
            let why = "the run creates their tables on your server".to_owned();
            return Some(Err(NotAsked::Unprepared(why)));
        }
        Some(answers.map_err(|error| NotAsked::Unprepared(error.to_string())))
    }

    /// The answers of a target made as for a trial, with its tables but without their rows.
    fn on_private_target(
        &self,
        requests: &[PlanRequest],
        results: &Path,
        place: &mut Option<Place>,
    ) -> Result<Vec<Result<Planned, NoPlan>>, EngineError> {
        let volumes = self.configuration.volumes();
        let fitting = place
            .take()
            .filter(|place| place.engine == self.engine.name && place.volumes == volumes);
        let place = match fitting {
            Some(fitting) => place.insert(fitting),
            None => place.insert(self.new_place(results)?),
        };
        let instance = place.host.prepare(self.configuration, 1, self.cancel)?;
        let tables = self.probe.tables(self.configuration);
        let answers = instance
            .create(Work { tables, ..Work::default() })
            .and_then(|()| instance.plans(requests));
        let removed = instance.remove();
        answers.and_then(|answers| removed.map(|()| answers))
    }

    /// New folders, and the engine's host in them.
    fn new_place(&self, results: &Path) -> Result<Place, EngineError> {
        let results = std::path::absolute(results).unwrap_or_else(|_| results.into());
        let parent = results.ancestors().skip(1).find(|folder| folder.is_dir());
        let default = parent.unwrap_or(Path::new("/")).to_path_buf();
        let places = Places::find(self.registry, self.experiment, &default);
        let owners = vec![OWNER.to_owned()];
        let workdir = Workdir { registry: self.registry, owners, default, places };
        let parent = workdir.parent(self.engine.name);
        let new_folder = |parent: &Path| {
            workdir.remove_orphans(parent);
            let folder = workdir.create(parent);
            folder.map_err(|error| EngineError::failed("making a folder", error.to_string()))
        };
        let folder = new_folder(parent)?;
        let directory = folder.path().to_path_buf();
        let (mut created, mut volumes) = (vec![folder], Vec::new());
        let names = self.configuration.volumes();
        for volume in self.experiment.volumes.iter().filter(|volume| names.contains(&&*volume.name))
        {
            let path = Path::new(&volume.path);
            // A command makes it only in the run.
            let is_there = volume.prepare.is_none() && path.is_dir();
            let folder = new_folder(if is_there { path } else { parent })?;
            volumes.push((volume.name.clone(), folder.path().to_path_buf()));
            created.push(folder);
        }
        let permits = self.permits.clone();
        let folders = Folders { directory, volumes, permits, cgroup_joins: Vec::new() };
        Ok(Place {
            engine: self.engine.name,
            volumes: names.into_iter().map(str::to_owned).collect(),
            host: (self.engine.host)(folders),
            _folders: created,
        })
    }
}

/// Finds the place that a message names in a statement.
fn refusal(statement: &WrittenStatement, message: &str) -> RefusedStatement {
    let at = place(&statement.text, message).unwrap_or(0);
    let before = &statement.text[..at];
    let (line, column) = match before.rfind('\n') {
        None => (statement.line, statement.column + before.chars().count()),
        Some(end) => (statement.line + before.matches('\n').count(), before[end..].chars().count()),
    };
    let script = statement.script.clone();
    // Lines that follow repeat the statement as it was sent.
    let message = message.lines().next().unwrap_or_default().to_owned();
    RefusedStatement { script, line, column, message }
}

/// Where a statement has a name or a sign that a message quotes, ends with after a colon, or
/// qualifies.
fn place(text: &str, message: &str) -> Option<usize> {
    let quoted = ['"', '\'', '`'].into_iter().flat_map(|mark| {
        message.split(mark).skip(1).step_by(2).map(str::trim).filter(|name| !name.is_empty())
    });
    let last = message.rsplit(": ").next().and_then(|rest| rest.split_whitespace().next());
    let dotted = message.split_whitespace().filter(|word| word.contains('.'));
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    quoted.chain(last).chain(dotted).find_map(|name| {
        // `column t.a does not exist` and `Table 'database.t' doesn't exist`.
        [name, name.rsplit('.').next().unwrap_or(name)].into_iter().find_map(|name| {
            let is_whole = |at: usize| {
                let (before, after) = (&text[..at], &text[at + name.len()..]);
                let joins_before = name.starts_with(is_name) && before.ends_with(is_name);
                let joins_after = name.ends_with(is_name) && after.starts_with(is_name);
                !joins_before && !joins_after
            };
            let found = text.match_indices(name).find(|(at, _)| is_whole(*at));
            found.map(|(at, _)| at)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{essence, place, refusal};
    use engine::NoPlan;
    use probe::WrittenStatement;

    #[test]
    fn of_a_log_only_what_matters_is_shown() {
        let log = "starting: its log ends with:\n10:00 LOG:  starting\n10:01 FATAL:  no \
                   memory\n10:01 HINT:  less\n10:02 LOG:  ended";
        assert_eq!(essence(log), "starting: its log ends with: FATAL:  no memory HINT:  less");
        let bracketed = "log:\n10:00 [Note] begins\n10:01 [ERROR] no memory";
        assert_eq!(essence(bracketed), "log: [ERROR] no memory");
        assert_eq!(essence("starting: ended\nwith 1"), "starting: ended with 1");
        assert_eq!(essence("refused"), "refused");
    }

    #[test]
    fn the_place_is_that_of_the_name_in_the_message() {
        let text = "SELECT anope, nope\nFROM t WHERE t.b = :c";
        for (message, word) in [
            ("column \"nope\" does not exist", "nope\n"),
            ("no such column: nope", "nope\n"),
            ("Unknown column 'nope' in 'SELECT'", "nope\n"),
            ("column t.b does not exist", "t.b"),
            ("Table 'steelbench.t' doesn't exist", "t WHERE"),
            ("relation \"t\" does not exist", "t WHERE"),
            ("near \"FROM\": syntax error", "FROM"),
        ] {
            let found = place(text, message);
            assert_eq!(found, text.find(word), "{message}");
        }
        assert_eq!(place(text, "something else"), None);
        let statement = WrittenStatement {
            script: "s.sql".into(),
            line: 7,
            column: 3,
            text: text.into(),
            request: Err(NoPlan::FromResults),
            is_certain: true,
        };
        let at = |message| {
            let refusal = refusal(&statement, message);
            (refusal.line, refusal.column)
        };
        assert_eq!(at("column \"nope\" does not exist"), (7, 17));
        assert_eq!(at("relation \"t\" does not exist"), (8, 6));
        assert_eq!(at("out of memory"), (7, 3));
    }
}
