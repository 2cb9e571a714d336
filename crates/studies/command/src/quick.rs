//! `steelbench time`: a quick command is an experiment too.

use crate::arguments::{Exports, Time};
use crate::brief;
use crate::hyperfine::{self, CommandTimes};
use crate::job::Job;
use crate::probe::{
    CLEANUP, COMMAND, CONCLUDE, CONCURRENCY, DURATION, FACTOR, IGNORE_FAILURE, INPUT, MAX_RUNS,
    MIN_RUNS, OUTPUT, PARAMETERS, PREPARE, RUNS, SETUP, SHELL, SUBTRACT_SHELL, WARMUP_RUNS,
};
use crate::template::escaped;
use analysis::MatchedCells;
use analysis::gate::{self, Gate};
use command_line::files::{Replace, replace_file};
use command_line::session::{Session, exit_code};
use command_line::{Chapter, Command, Context, ExitCode, Failure, Tool, output};
use engine::Permits;
use experiment::common::{ENGINE, OBSERVE_COMMANDS, OBSERVE_PROFILE, PROBE};
use experiment::{Draft, Experiment, LinkedSettings, Setting, Value};
use observations::Recording;
use observations::number::plural;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

/// The command of this study.
pub const TIME: Command = Command::new::<Time>(Chapter::QuickTests);

/// Prints the experiment that is run.
const PRINTED: &str = "steelbench time --print";
/// hyperfine's defaults: runs and seconds at least.
const RUNS_LEAST: u64 = 10;
const SECONDS_LEAST: f64 = 3.0;
/// Values of a scan; more are a mistake.
const VALUES_MAX: usize = 10_000;

impl Tool for Time {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench time 'gzip -k dump.sql' 'zstd -k dump.sql'",
        "steelbench time --runs 20 'sqlite3 shop.db < report.sql'",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let draft = draft(self)?;
        let session = Session::quick(&self.quick, self.quick.name("time"), Permits::default());
        if self.quick.print {
            return session.run(context, &draft, PRINTED, true);
        }
        let experiment = context.build(&draft, PRINTED)?;
        let end = session.conduct(context, &experiment)?;
        let recording = session.recording(context)?;
        let times = times(self, &experiment, &recording);
        let gate = self.judge(&recording)?;
        let failed = session.show_as(context, &recording, gate.as_ref(), &|summary, _| {
            Ok(if self.is_verbose() || summary.failed() > 0 {
                let mut document = report::run(summary, context.sections, report::Medium::Text);
                document.sections.extend(gate.as_ref().map(report::gate_section));
                document
            } else {
                brief::document(summary, &times, gate.as_ref())
            })
        })?;
        export(&self.exports, &times)?;
        let code = exit_code(&end, failed, None);
        match gate.filter(|_| matches!(code, ExitCode::Ok)) {
            Some(gate) => self.gate.conclude(&gate, self.quick.name("time"), self.quick.json),
            None => Ok(code),
        }
    }
}

impl Time {
    /// Returns whether everything is printed; of a profile, the code.
    fn is_verbose(&self) -> bool {
        self.verbose || self.quick.full || self.runs.profile
    }

    /// Judges each command against the first one; `None` without a limit.
    fn judge(&self, recording: &Recording) -> Result<Option<Gate>, Failure> {
        if !self.gate.is_given() || recording.done().next().is_none() {
            return Ok(None);
        }
        let pairs = (1..recording.configurations.len()).map(|other| (0, other)).collect();
        let cells = MatchedCells { pairs, unmatched: 0 };
        gate::judge(recording, &cells, &self.gate.fail_if).map(Some).map_err(Failure::usage)
    }
}

/// The runs of each configuration that has any, with its position.
fn times(
    arguments: &Time,
    experiment: &Experiment,
    recording: &Recording,
) -> Vec<(usize, CommandTimes)> {
    let configurations = experiment.configurations.iter().enumerate();
    let times = configurations.filter_map(|(position, configuration)| {
        let level = configuration.levels.iter().find(|level| level.factor == FACTOR);
        let named_level =
            level.filter(|level| arguments.parameters.command_name.contains(&level.label));
        let job = Job::from_settings(configuration).ok()?;
        let line =
            if job.is_hidden { level.map_or("command", |level| &level.label) } else { &job.line };
        let name = named_level.map_or_else(|| line.to_owned(), |level| job.filled(&level.label));
        let times = CommandTimes::for_configuration(recording, position, &name, &job.parameters)?;
        Some((position, times))
    });
    times.collect()
}

/// Writes the files that were asked for.
fn export(exports: &Exports, times: &[(usize, CommandTimes)]) -> Result<(), Failure> {
    let times: Vec<CommandTimes> = times.iter().map(|(_, times)| times.clone()).collect();
    let write = |path: &Option<PathBuf>, text: &[u8]| match path {
        // These formats bear no sign of who wrote them.
        Some(path) => replace_file(path, Replace::Any, |writer| writer.write_all(text)),
        None => Ok(()),
    };
    write(&exports.export_json, hyperfine::json(&times).map_err(Failure::failed)?.as_bytes())?;
    write(&exports.export_csv, &hyperfine::csv(&times).map_err(Failure::failed)?)?;
    write(&exports.export_markdown, hyperfine::markdown(&times).as_bytes())
}

/// The experiment that a command line stands for.
fn draft(arguments: &Time) -> Result<Draft, Failure> {
    let (around, runs) = (&arguments.around, &arguments.runs);
    let parameters = parameters(arguments)?;
    let text = |text: &String| escaped(text, |name| parameters.contains_key(name));
    let question = match &arguments.commands[..] {
        [command] if only_parameters_vary(arguments) && !arguments.hide_commands => {
            format!("How long does `{command}` take?")
        }
        [_] => "How long does this command take?".to_owned(),
        _ => "Which of these commands is faster?".to_owned(),
    };
    let mut draft = Draft::new(arguments.quick.name("time"), &question);
    draft.comment(&format!("Written by `{PRINTED}`."));
    draft.set(ENGINE, "none");
    draft.set(PROBE, "command");
    let shell = if around.no_shell { Some("none") } else { around.shell.as_deref() };
    draft.set_some(SHELL, shell.filter(|shell| *shell != "default").map(str::to_owned));
    draft.set(SUBTRACT_SHELL, shell != Some("none"));
    draft.set_some(SETUP, around.setup.as_ref().map(text));
    draft.set_some(CLEANUP, around.cleanup.as_ref().map(text));
    draft.set_some(INPUT, around.input.clone().filter(|input| input != "null"));
    if around.show_output {
        draft.set(OUTPUT, "inherit".to_owned());
    }
    draft.set_some(WARMUP_RUNS, runs.warmup);
    draft.set_some(CONCURRENCY, runs.concurrency);
    draft.set_some(
        IGNORE_FAILURE,
        runs.ignore_failure.as_ref().map(|codes| {
            if codes == "true" { Value::Bool(true) } else { Value::Text(codes.clone()) }
        }),
    );
    draft.set_some(OBSERVE_PROFILE, runs.profile.then_some(true));
    draft.set_some(OBSERVE_COMMANDS, arguments.hide_commands.then_some(false));
    let Rounds { blocks, runs, duration_s, min_runs, max_runs } =
        Rounds::from_arguments(arguments)?;
    draft.set_some(RUNS, runs);
    draft.set_some(DURATION, duration_s);
    draft.set_some(MIN_RUNS, min_runs);
    draft.set_some(MAX_RUNS, max_runs);
    add_commands(&mut draft, arguments, &text)?;
    for (name, values) in &parameters {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        draft.vary_text(&PARAMETERS.path().replace('*', name), &values);
    }
    draft.repeats(blocks, arguments.quick.seed.unwrap_or(1));
    Ok(draft)
}

/// Returns whether the single command varies only by parameters.
fn only_parameters_vary(arguments: &Time) -> bool {
    let parameters = &arguments.parameters;
    let varies = parameters.parameter_scan.is_some() || !parameters.parameter_list.is_empty();
    arguments.commands.len() == 1 && parameters.command_name.is_empty() && varies
}

/// An option that can be given once per command: its setting, its option, the values.
type CommandOption<'a> = (Setting<Option<String>>, &'static str, &'a [String]);

/// Adds each command as a level, with what it has of its own, or as all there is. `text` writes a
/// command with its parameters.
fn add_commands(
    draft: &mut Draft,
    arguments: &Time,
    text: &dyn Fn(&String) -> String,
) -> Result<(), Failure> {
    let (commands, around, names) =
        (&arguments.commands, &arguments.around, &arguments.parameters.command_name);
    if names.len() > commands.len() {
        return Err(Failure::usage("--command-name: more names than commands"));
    }
    let options: [CommandOption<'_>; 3] = [
        (PREPARE, "--prepare", &around.prepare),
        (CONCLUDE, "--conclude", &around.conclude),
        (OUTPUT, "--output", &around.output),
    ];
    let mut labels: Vec<String> = Vec::new();
    for (position, command) in commands.iter().enumerate() {
        let mut of_command = Vec::new();
        for (setting, option, values) in options {
            let value = match values.len() {
                0 => continue,
                1 => &values[0],
                several if several == commands.len() => &values[position],
                _ => {
                    return Err(Failure::usage(format!(
                        "{option}: give it once, or once per command"
                    )));
                }
            };
            let is_command = setting.path() != OUTPUT.path();
            of_command.push((setting, if is_command { text(value) } else { value.clone() }));
        }
        if only_parameters_vary(arguments) {
            draft.set(COMMAND, Value::from(text(command)));
            for (setting, value) in of_command {
                draft.set(setting, value);
            }
            return Ok(());
        }
        let settings = LinkedSettings::default().with(COMMAND, Value::from(text(command)));
        let settings =
            of_command.into_iter().fold(settings, |all, (setting, value)| all.with(setting, value));
        let number = format!("command {}", position + 1);
        let line = if arguments.hide_commands { &number } else { command };
        let label = names.get(position).unwrap_or(line);
        // The same command twice shows what chance makes of it.
        let same = labels.iter().filter(|other| *other == label).count();
        let name = if same == 0 { label.clone() } else { format!("{label} ({})", same + 1) };
        draft.level(FACTOR, &name, settings);
        labels.push(label.clone());
    }
    Ok(())
}

/// How the runs of a command are divided among blocks.
#[derive(Debug, Default, PartialEq)]
struct Rounds {
    blocks: u32,
    /// In each trial.
    runs: Option<u64>,
    duration_s: Option<f64>,
    min_runs: Option<u64>,
    max_runs: Option<u64>,
}

impl Rounds {
    fn from_arguments(arguments: &Time) -> Result<Self, Failure> {
        let (runs, around) = (&arguments.runs, &arguments.around);
        // Each trial has its own warm-up and setup.
        let costly = runs.warmup.is_some_and(|runs| runs > 0)
            || around.setup.is_some()
            || around.cleanup.is_some();
        let usual = arguments.quick.blocks.unwrap_or(if costly { 5 } else { 10 });
        if let Some(all) = runs.runs {
            let blocks = match arguments.quick.blocks {
                Some(blocks) => blocks,
                None => divided(all, usual),
            };
            let runs = all.div_ceil(u64::from(blocks));
            if runs * u64::from(blocks) != all {
                let made = runs * u64::from(blocks);
                let blocks = plural(blocks as usize, "block");
                output::complain(&format!(
                    "note: {made} runs instead of {all}: {blocks} of {runs}"
                ));
            }
            return Ok(Self { blocks, runs: Some(runs), ..Self::default() });
        }
        let (min, max) = (runs.min_runs, runs.max_runs);
        if min.zip(max).is_some_and(|(min, max)| min > max) {
            return Err(Failure::usage("--min-runs is more than --max-runs"));
        }
        let blocks = max.map_or(usual, |max| usual.min(max.try_into().unwrap_or(u32::MAX)));
        let max_runs = max.map(|max| max / u64::from(blocks));
        let min_runs =
            min.unwrap_or(RUNS_LEAST).div_ceil(u64::from(blocks)).min(max_runs.unwrap_or(u64::MAX));
        let duration_s = Some(SECONDS_LEAST / f64::from(blocks));
        Ok(Self { blocks, runs: None, duration_s, min_runs: Some(min_runs), max_runs })
    }
}

/// Number of blocks with equal numbers of runs: about `usual`, if one near it divides the runs; one
/// for each run, if these are few.
fn divided(runs: u64, usual: u32) -> u32 {
    let fitting = (usual.div_ceil(2)..=2 * usual)
        .filter(|blocks: &u32| runs.is_multiple_of(u64::from(*blocks)))
        .min_by_key(|blocks: &u32| blocks.abs_diff(usual));
    fitting.unwrap_or(usual.min(runs.try_into().unwrap_or(u32::MAX)))
}

/// The values of each parameter.
fn parameters(arguments: &Time) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let arguments_given = &arguments.parameters;
    let mut parameters = BTreeMap::new();
    if let Some([name, min, max]) = arguments_given.parameter_scan.as_deref() {
        let step = arguments_given.parameter_step_size.as_deref().unwrap_or("1");
        let values = scan(min, max, step)
            .map_err(|error| Failure::usage(format!("--parameter-scan: {error}")))?;
        parameters.insert(name.clone(), values);
    }
    for pair in arguments_given.parameter_list.chunks_exact(2) {
        if parameters.insert(pair[0].clone(), list(&pair[1])).is_some() {
            return Err(Failure::usage(format!("--parameter-list: {} is given twice", pair[0])));
        }
    }
    Ok(parameters)
}

/// The values between commas; a comma behind a backslash belongs to its value.
fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, values.last_mut()) {
            (',', _) => values.push(String::new()),
            ('\\', Some(value)) if chars.as_str().starts_with(',') => value.extend(chars.next()),
            (c, value) => value.into_iter().for_each(|value| value.push(c)),
        }
    }
    values
}

/// Why the values of a scan cannot be listed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ScanError {
    #[error("`{0}` is not a decimal number")]
    Number(String),
    #[error("MAX must be at least MIN, and the step must be above 0")]
    Order,
    #[error("more than {VALUES_MAX} values")]
    Values,
}

/// Decimal numbers from one to another, counted in units of the last decimal that any of them has.
fn scan(min: &str, max: &str, step: &str) -> Result<Vec<String>, ScanError> {
    let decimals =
        [min, max, step].map(|text| text.split_once('.').map_or(0, |parts| parts.1.len()));
    let scale = decimals.into_iter().max().unwrap_or(0);
    let (first, last, by) = (units(min, scale)?, units(max, scale)?, units(step, scale)?);
    if by <= 0 || first > last {
        return Err(ScanError::Order);
    }
    let number = usize::try_from(last.abs_diff(first) / by.unsigned_abs()).unwrap_or(usize::MAX);
    if number >= VALUES_MAX {
        return Err(ScanError::Values);
    }
    Ok((0..=number as i64).map(|position| decimal(first + position * by, scale)).collect())
}

/// A decimal number in units of its decimal at this place.
fn units(text: &str, scale: usize) -> Result<i64, ScanError> {
    let (whole, after) = text.split_once('.').unwrap_or((text, ""));
    let is_number = scale <= 9 && after.bytes().all(|byte| byte.is_ascii_digit());
    let units = format!("{whole}{after:0<scale$}").parse().ok().filter(|_| is_number);
    units.ok_or_else(|| ScanError::Number(text.into()))
}

/// Such a number as people write it.
fn decimal(units: i64, scale: usize) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", units.unsigned_abs(), scale + 1);
    let (whole, after) = digits.split_at(digits.len() - scale);
    let text = format!("{sign}{whole}.{after}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Rounds, ScanError, draft, list, scan};
    use crate::CommandProbe;
    use crate::arguments::Time;
    use crate::job::Job;
    use clap::Parser;
    use experiment::Catalog;
    use null::NONE;
    use probe::Probe as _;

    fn arguments(line: &[&str]) -> Time {
        Time::try_parse_from(["time"].iter().chain(line)).unwrap()
    }

    /// Lists the command of each configuration.
    fn lines(line: &[&str]) -> Vec<String> {
        let draft = draft(&arguments(line)).unwrap_or_else(|failure| panic!("{failure:?}"));
        let catalog = Catalog {
            engines: vec![(NONE.name, NONE.settings)],
            probes: vec![(CommandProbe.declarations().name, CommandProbe.declarations().settings)],
            ..Catalog::default()
        };
        let experiment = draft.build(&catalog);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}\n{}", draft.source()));
        experiment
            .configurations
            .iter()
            .map(|configuration| Job::from_settings(configuration).unwrap().line)
            .collect()
    }

    #[test]
    fn parameters_are_put_into_commands_and_other_braces_stay() {
        let all = lines(&[
            "-L",
            "n",
            "1,08",
            "-L",
            "word",
            "a\\,b,",
            "awk '{print}' f{n} {word}",
            "echo ${n} {other}",
        ]);
        let echo = "echo ${n} {other}";
        let expected = [
            "awk '{print}' f1 a,b",
            echo,
            "awk '{print}' f1 ",
            echo,
            "awk '{print}' f08 a,b",
            echo,
            "awk '{print}' f08 ",
            echo,
        ];
        assert_eq!(all, expected);
        assert_eq!(
            lines(&["-P", "d", "0.3", "0.7", "-D", "0.2", "sleep {d}"]),
            ["sleep 0.3", "sleep 0.5", "sleep 0.7"]
        );
        assert_eq!(lines(&["true", "true"]), ["true", "true"]);
    }

    #[test]
    fn scans_are_exact_and_lists_keep_what_is_no_number() {
        assert_eq!(scan("-1", "1", "0.5").unwrap(), ["-1", "-0.5", "0", "0.5", "1"]);
        assert_eq!(scan("0", "1", "0.1").unwrap().len(), 11);
        assert_eq!(scan("8", "10", "3").unwrap(), ["8"]);
        for (min, max, step) in
            [("2", "1", "1"), ("1", "2", "0"), ("1", "2", "-1"), ("a", "2", "1"), ("0", "1e9", "1")]
        {
            assert!(scan(min, max, step).is_err(), "{min} {max} {step}");
        }
        assert_eq!(scan("0", "99999999", "1"), Err(ScanError::Values));
        assert_eq!(list("1,0x1\\,"), ["1", "0x1,"]);
    }

    #[test]
    fn runs_are_divided_among_blocks() {
        let rounds = |line: &[&str]| {
            let rounds = Rounds::from_arguments(&arguments(&[line, &["true"]].concat())).unwrap();
            (rounds.blocks, rounds.runs, rounds.min_runs, rounds.max_runs)
        };
        assert_eq!(rounds(&[]), (10, None, Some(1), None));
        assert_eq!(rounds(&["-w", "1"]), (5, None, Some(2), None));
        assert_eq!(rounds(&["-M", "3"]), (3, None, Some(1), Some(1)));
        assert_eq!(rounds(&["-m", "25", "-M", "40"]), (10, None, Some(3), Some(4)));
        for (runs, expected) in [
            ("1", (1, 1)),
            ("3", (3, 1)),
            ("10", (10, 1)),
            ("11", (11, 1)),
            ("100", (10, 10)),
            ("12", (12, 1)),
            ("997", (10, 100)),
        ] {
            let (blocks, runs, ..) = rounds(&["-r", runs]);
            assert_eq!((blocks, runs), (expected.0, Some(expected.1)));
        }
        assert!(Rounds::from_arguments(&arguments(&["-m", "5", "-M", "3", "true"])).is_err());
    }
}
