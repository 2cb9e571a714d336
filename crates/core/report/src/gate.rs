//! A regression gate: its line for people, and what services of continuous integration read.

use crate::model::{Section, Tone};
use crate::text::{joined, label, listed};
use crate::web::markup;
use crate::{Text, number};
use analysis::WarningsCompared;
use analysis::gate::{Decision, Gate, Judgement, LimitJudged, Spread};
use std::fmt::Write as _;

/// Why a gate is passed or not, in one line, with the warnings that the trials behind it carry.
pub fn gate(gate: &Gate) -> Text {
    let WarningsCompared { from_trials, to_trials, kinds } = &gate.warnings;
    let warnings = listed(kinds.iter().map(|kind| {
        format!(
            "{} on {} of {from_trials} trials of A and {} of {to_trials} of B",
            kind.kind.name(),
            kind.from,
            kind.to
        )
    }))
    .map_or_else(String::new, |all| format!(" Warnings: {all}."));
    let limit = match gate.spread {
        Spread::SingleRuns => {
            " One run per side: this holds for these two runs; run-to-run variation is not in it."
        }
        Spread::Interleaved | Spread::Runs => "",
    };
    let power = detectable(gate).map_or_else(String::new, |power| format!(" {power}"));
    format!("{}{power}{limit}{warnings}", decision(gate)).into()
}

/// `Gate failed: elapsed of data_files=1 rose by 10.0 % [9.1, 10.9], beyond slower:3% (1 of 2
/// configurations).`
fn decision(gate: &Gate) -> String {
    let worst: Vec<&LimitJudged> =
        gate.limits.iter().filter(|limit| limit.decision == gate.decision).collect();
    let Some(first) = worst.first().filter(|_| gate.decision != Decision::Kept) else {
        let limits = joined(gate.limits.iter().map(|limit| limit.limit.to_string()), ", ");
        return format!("Gate passed: every configuration is within {limits}.");
    };
    let hit: Vec<&Judgement> = first
        .configurations
        .iter()
        .filter(|configuration| configuration.decision == gate.decision)
        .collect();
    let furthest =
        hit.iter().copied().reduce(|a, b| if beyond(first, b) > beyond(first, a) { b } else { a });
    let what = furthest.map_or_else(String::new, |judged| change(first, judged));
    let share =
        format!("{} of {}", hit.len(), number::plural(first.configurations.len(), "configuration"));
    let others = if worst.len() > 1 {
        let others = number::plural(worst.len() - 1, "other limit");
        let possibly = if gate.decision == Decision::Broken { "" } else { "possibly " };
        format!("; {others} {possibly}exceeded too")
    } else {
        String::new()
    };
    let limit = &first.limit;
    match gate.decision {
        Decision::Broken => format!("Gate failed: {what}, beyond {limit} ({share}{others})."),
        _ => format!("Gate inconclusive: {what}; the interval includes {limit} ({share}{others})."),
    }
}

/// The line of a gate as a section.
pub fn gate_section(gate: &Gate) -> Section {
    let mut section = Section::default();
    section.toned(self::gate(gate), gate_tone(gate));
    section
}

/// The colour of a gate.
pub fn gate_tone(gate: &Gate) -> Tone {
    match gate.decision {
        Decision::Kept if gate.warnings.kinds.is_empty() => Tone::Good,
        Decision::Kept | Decision::Unsure => Tone::Warning,
        Decision::Broken => Tone::Bad,
    }
}

/// `elapsed: 10 blocks find a change of 6.1 % or more with 80 % power.`: what a gate that did not
/// fail can have missed.
fn detectable(gate: &Gate) -> Option<String> {
    let all = gate.limits.iter().flat_map(|limit| {
        limit.configurations.iter().map(move |configuration| (limit, configuration))
    });
    let known = all
        .filter_map(|(limit, judgement)| Some((limit, judgement.detectable?, judgement.repeats)));
    let (limit, change, repeats) = known.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let unit = if gate.spread == Spread::Runs { "run" } else { "block" };
    let (way, name) = (if limit.rise { "rise" } else { "fall" }, &limit.response.name);
    (gate.decision != Decision::Broken).then(|| {
        format!(
            "{} detect a {way} of {name} by {} % or more with 80 % power.",
            number::plural(repeats, unit),
            number::fixed(100.0 * change, 1)
        )
    })
}

/// Returns the part of a change that goes in the direction of the limit.
fn beyond(limit: &LimitJudged, judged: &Judgement) -> f64 {
    judged.change.map_or(f64::NEG_INFINITY, |change| if limit.rise { change } else { -change })
}

fn change(limit: &LimitJudged, judged: &Judgement) -> String {
    let name = format!("{} of {}", limit.response.name, label(&judged.label));
    let Some(change) = judged.change else {
        let why = limit
            .too_few
            .as_ref()
            .map_or_else(|| "a value is missing or not above 0".to_owned(), ToString::to_string);
        return format!("{name} cannot be judged: {why}");
    };
    let sign = if change < 0.0 { -1.0 } else { 1.0 };
    let word = if change < 0.0 { "fell" } else { "rose" };
    let percent = |value: f64| number::fixed(value, 1);
    let interval = judged.interval.map(|interval| interval.times(100.0 * sign));
    let interval = interval.map_or_else(
        || " (one block, no interval)".to_owned(),
        |interval| format!(" {}", number::percent_ends(interval, percent)),
    );
    format!("{name} {word} by {} %{interval}", percent(100.0 * change.abs()))
}

/// An annotation of GitHub's workflows, which shows the gate's line on the page of the change:
/// `::error title=Steelbench::...`.
///
/// <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>
pub fn github(gate: &Gate) -> String {
    let level = match gate.decision {
        Decision::Kept => "notice",
        Decision::Unsure => "warning",
        Decision::Broken => "error",
    };
    // A message is one line; `%` begins an escape.
    format!("::{level} title=Steelbench::{}\n", self::gate(gate).replace('%', "%25"))
}

/// The gate as a test report in `JUnit`'s XML: a test for each limit on each configuration. What is
/// unsure is skipped.
pub fn junit(gate: &Gate, suite: &str) -> String {
    let all = || {
        gate.limits.iter().flat_map(|limit| {
            limit.configurations.iter().map(move |configuration| (limit, configuration))
        })
    };
    let number = |decision| all().filter(|(_, judgement)| judgement.decision == decision).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\"",
        all().count(),
        number(Decision::Broken),
        number(Decision::Unsure)
    );
    let suite = markup::text(suite);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite \
         name=\"{suite}\" {counts}>\n"
    );
    for (limit, judged) in all() {
        let name = markup::text(&format!("{}: {}", limit.limit, label(&judged.label)));
        let message = markup::text(&change(limit, judged));
        let outcome = match judged.decision {
            Decision::Kept => format!("<system-out>{message}</system-out>"),
            Decision::Unsure => format!("<skipped message=\"inconclusive: {message}\"/>"),
            Decision::Broken => format!("<failure message=\"{message}\"/>"),
        };
        let _ =
            writeln!(xml, "<testcase classname=\"{suite}\" name=\"{name}\">{outcome}</testcase>");
    }
    xml + "</testsuite>\n</testsuites>\n"
}
