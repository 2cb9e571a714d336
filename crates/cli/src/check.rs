//! `steelbench check`

use crate::needs;
use crate::run::refuse_search;
use clap::{Parser, ValueEnum};
use command_line::servers::stop_by;
use command_line::{Context, ExitCode, Failure, Tool, output, results, signals};
use engine::Permits;
use experiment::common::PROBE;
use experiment::file::{QUESTION, TRIAL_TIME_S};
use experiment::{Blocks, Experiment, Plan, Stage};
use observations::number::{plural, rounded_time};
use report::Text;
use runner::{Findings, RefusedStatement};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use store::Store;
use work::Stop;

/// Configurations that are listed one by one.
const CONFIGURATIONS_SHOWN: usize = 40;

/// Validate an experiment file; list trials and estimate the time
#[derive(Debug, Parser)]
#[command(name = "check")]
pub struct Check {
    /// The experiment file
    pub file: PathBuf,
    /// How much of the trial order to print
    #[arg(long, value_enum, default_value_t = Order::First)]
    pub order: Order,
    /// Results file whose trials the estimate uses [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Check the file as `run --untrusted` does
    #[arg(long)]
    pub untrusted: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// The part of the order of trials to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The first block of each group
    First,
    /// Every trial
    All,
}

impl Tool for Check {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench check random-insert.toml", "steelbench check random-insert.toml --order all"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let experiment = context.experiment_by(&self.file, self.untrusted)?;
        let permits = Permits { is_confined: self.untrusted, ..Permits::default() };
        refuse_search(&experiment, &self.file)?;
        let plan = Plan::new(&experiment);
        let results = results::path(self.results.as_ref(), &experiment.name);
        let estimate = Estimate::for_plan(&experiment, &plan, &results);
        let mut findings = runner::preflight(
            context.registry,
            &experiment,
            &results,
            &permits,
            &Stop::when(|| false),
        );
        let invalid = experiment.objections(&findings.invalid);
        if !invalid.errors.is_empty() {
            let name = self.file.display().to_string();
            return Err(Failure::usage(invalid.render(&name, &experiment.source)));
        }
        if findings.missing.is_empty() {
            let stop = stop_by(&signals::stop_flag()?);
            let answers =
                runner::rehearse(context.registry, &experiment, &results, &permits, &stop);
            if stop.is_asked() {
                return Err(Failure::interrupted("interrupted"));
            }
            if !answers.refused.is_empty() {
                return Err(Failure::usage(refused(&answers.refused)));
            }
            findings.missing.extend(answers.failed);
            findings.notes.extend(answers.notes);
        } else if has_statements(context, &experiment) {
            findings.notes.push("statements were not prepared: a target is not ready yet".into());
        }
        let design = context.registry.designs.for_experiment(&experiment);
        let (lines, design) = design.map(|design| design.plan(&experiment)).unzip();
        if self.json {
            let mut check = as_json(&experiment, &plan, &estimate, &findings);
            check["design"] = json!(design);
            output::print_json(check)
        } else {
            let lines = lines.unwrap_or_default();
            let text = as_text(&experiment, &plan, &estimate, &findings, self.order, lines);
            output::print_wrapped(&text)
        }
    }
}

/// Returns whether trials run statements of the user.
fn has_statements(context: &Context, experiment: &Experiment) -> bool {
    experiment.configurations.iter().any(|configuration| {
        let probe = context.registry.probe(&configuration.get(PROBE));
        probe.is_some_and(|probe| !probe.statements(configuration).is_empty())
    })
}

/// The statements that engines refuse, a line each.
fn refused(statements: &[RefusedStatement]) -> String {
    let line = |refused_statement: &RefusedStatement| {
        format!(
            "{}:{}:{}: {}",
            refused_statement.script,
            refused_statement.line,
            refused_statement.column,
            refused_statement.message
        )
    };
    statements.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The time that the run would take, as far as that is known.
struct Estimate {
    /// Mean seconds of a recorded trial and their number.
    recorded: Option<(f64, usize)>,
    /// Seconds of all measurements and warm-ups, when the file fixes them.
    measured_s: Option<f64>,
}

impl Estimate {
    fn for_plan(experiment: &Experiment, plan: &Plan, results: &Path) -> Self {
        let recorded = || {
            let store = Store::open(results).ok()?;
            let trials = store.recorded_trials(store.latest_run().ok()??.id).ok()?;
            let sum: f64 = trials.iter().map(|trial| trial.wall_s).sum();
            (!trials.is_empty()).then(|| (sum / trials.len() as f64, trials.len()))
        };
        Self { recorded: recorded(), measured_s: measured_s(experiment, plan) }
    }

    fn text(&self, trials: usize) -> String {
        match (self.recorded, self.measured_s) {
            (Some((mean_s, recorded)), _) => format!(
                "about {} (estimate: mean of {recorded} recorded trials, {mean_s:.1} s each)",
                rounded_time(mean_s * trials as f64)
            ),
            (None, Some(seconds)) => {
                format!(
                    "at least {} of measurement, not counting preparation",
                    rounded_time(seconds)
                )
            }
            (None, None) => "unknown until a trial has run".into(),
        }
    }
}

/// Seconds of all measurements and warm-ups, when the file fixes them.
pub fn measured_s(experiment: &Experiment, plan: &Plan) -> Option<f64> {
    let seconds = plan.trials().map(|trial| {
        // Probes that take a time have these settings, each with defaults of its own.
        let configuration = &experiment.configurations[trial.configuration];
        let number = |path| configuration.value(path).and_then(experiment::Value::as_f64);
        Some(number("workload.duration")? + number("workload.warmup").unwrap_or(0.0))
    });
    seconds.sum()
}

fn as_text(
    experiment: &Experiment,
    plan: &Plan,
    estimate: &Estimate,
    findings: &Findings,
    order: Order,
    design: Vec<String>,
) -> String {
    let mut lines = vec![format!("{}: valid", experiment.name)];
    lines.extend(experiment.get(QUESTION));
    for factor in &experiment.factors {
        let labels: Vec<&str> = factor.levels.iter().map(|level| level.label.as_str()).collect();
        let hard = if factor.hard_to_change { " (hard to change)" } else { "" };
        lines.push(format!("factor {}{hard}: {}", factor.name, labels.join(", ")));
    }
    let (number, seed) = (experiment.configurations.len(), experiment.repeats.seed);
    let repeats = match experiment.repeats.blocks {
        Blocks::Fixed(blocks) => plural(blocks as usize, "block"),
        Blocks::Adaptive { min, max, until } => {
            format!(
                "{min} to {max} blocks, until every 95 % interval is within {} %",
                until * 100.0
            )
        }
    };
    let setups = match experiment.repeats.setups {
        1 => String::new(),
        setups => format!(" in {setups} set-ups of each hard-to-change level"),
    };
    lines.extend(design);
    let configurations = plural(experiment.own_configurations(), "configuration");
    let trials = plural(plan.len(), "trial");
    let extensions: String = experiment.stages.iter().map(extension).collect();
    lines.push(format!("{configurations} x {repeats}{setups}{extensions} = {trials}, seed {seed}"));
    let trial_max = rounded_time(experiment.get(TRIAL_TIME_S));
    lines.push(format!("time: {}; at most {trial_max} per trial", estimate.text(plan.len())));
    lines.extend(experiment.left_out.iter().map(ToString::to_string));
    lines.extend(needs::sentences(experiment));
    lines.extend(findings.space.iter().map(|space| format!("space: {space}")));
    let missing = findings.missing.iter().chain(&findings.doubtful);
    lines.extend(missing.map(|missing| format!("not ready yet: {missing}")));
    lines.extend(findings.notes.iter().map(|note| format!("note: {note}")));
    lines.extend([String::new(), "configurations:".into()]);
    for (position, configuration) in
        experiment.configurations.iter().enumerate().take(CONFIGURATIONS_SHOWN)
    {
        let baseline = if experiment.baseline == Some(position) { " (baseline)" } else { "" };
        let label = configuration.label();
        let label = if label.is_empty() { "all settings as in the file".into() } else { label };
        lines.push(format!("  {}. {label}{baseline}", position + 1));
    }
    if number > CONFIGURATIONS_SHOWN {
        lines.push(format!("  and {} more", number - CONFIGURATIONS_SHOWN));
    }
    lines.extend([String::new(), "order:".into()]);
    for group in 0..plan.groups() {
        let of_group =
            if plan.groups() > 1 { format!("group {}, ", group + 1) } else { String::new() };
        let blocks = if order == Order::All { usize::MAX } else { 1 };
        for block in plan.blocks(group).take(blocks) {
            let trials: Vec<String> = plan
                .block(group, block)
                .iter()
                .map(|trial| (trial.configuration + 1).to_string())
                .collect();
            lines.push(format!("  {of_group}block {block}: {}", trials.join(" ")));
        }
    }
    let line = |line: &String| format!("{}\n", Text::from(line.as_str()));
    lines.iter().map(line).collect()
}

/// The trials of an extension: ` + fold: 8 x 2 blocks`.
fn extension(stage: &Stage) -> String {
    let blocks = plural(stage.blocks.clone().count(), "block");
    let (kind, runs) = (&stage.kind, stage.configurations.len());
    format!(" + {kind}: {runs} x {blocks}")
}

fn as_json(
    experiment: &Experiment,
    plan: &Plan,
    estimate: &Estimate,
    findings: &Findings,
) -> Value {
    let configurations: Vec<Value> = experiment
        .recorded()
        .configurations
        .iter()
        .map(|configuration| {
            json!({
                "label": configuration.label(), "key": configuration.key(),
                "levels": configuration.levels, "settings": configuration.identity(),
            })
        })
        .collect();
    let order: Vec<Value> = plan
        .trials()
        .map(|trial| {
            json!({
                "sequence": trial.sequence, "block": trial.block, "setup": trial.setup,
                "configuration": trial.configuration,
            })
        })
        .collect();
    json!({
        "schema": report::json::SCHEMA,
        "kind": "check",
        "name": experiment.name,
        "design": null,
        "configurations": configurations,
        "baseline": experiment.baseline,
        "trials": order,
        "groups": plan.groups(),
        "estimate": {
            "recorded_mean_s": estimate.recorded.map(|(mean_s, _)| mean_s),
            "recorded_trials": estimate.recorded.map(|(_, trials)| trials),
            "measured_s_min": estimate.measured_s,
        },
        "left_out": experiment.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "needs": needs::sentences(experiment),
        "space": findings.space,
        "notes": findings.notes,
        "not_ready": findings.missing.iter().chain(&findings.doubtful).collect::<Vec<_>>(),
    })
}
