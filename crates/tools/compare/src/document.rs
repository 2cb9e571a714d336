//! Two runs against each other.

use crate::head_to_head::{against_first, compared_warnings};
use crate::runs::{
    Change, ConfigurationCompared, FactorChange, MatchedBy, ResponseCompared, RunName, RunsCompared,
};
use analysis::gate::Gate;
use analysis::{Comparison, Estimate, Verdict};
use report::table::{NOTHING, Share};
use report::text::{joined, label, listed};
use report::{Cell, Column, Columns, Document, Section, Tone, better, gate_tone, number, text};

/// Two runs: how each configuration changed, and what else did.
pub fn runs(compared: &RunsCompared, gate: Option<&Gate>) -> Document {
    let mut sections = vec![introduction(compared, gate)];
    sections.extend(
        compared
            .responses
            .iter()
            .map(|compared_response| response(compared_response, unit(compared))),
    );
    sections.extend(compared_warnings(&compared.warnings));
    sections.push(surroundings(compared));
    sections.extend(unmatched(compared));
    let [a, b] = sides(compared).map(|(_, runs)| names(&runs));
    Document { title: format!("A: {a}; B: {b}").into(), sections }
}

/// `random-insert, run 3`.
fn name(run: &RunName) -> String {
    format!("{}, run {}", run.name, run.run)
}

/// `random-insert, runs 3, 4 and 5`.
fn names(runs: &[&RunName]) -> String {
    match runs {
        [only] => name(only),
        runs if runs.iter().all(|run| run.name == runs[0].name) => {
            let numbers = joined(runs.iter().map(|run| run.run), ", ");
            format!("{}, runs {numbers}", runs[0].name)
        }
        runs => joined(runs.iter().map(|run| name(run)), "; "),
    }
}

/// The runs of both sides.
fn sides(compared: &RunsCompared) -> [(&'static str, Vec<&RunName>); 2] {
    let RunsCompared { from, more_from, to, more_to, .. } = compared;
    [("A", from, more_from), ("B", to, more_to)]
        .map(|(side, first, more)| (side, [first].into_iter().chain(more).collect()))
}

/// The unit that repeats a comparison.
fn unit(compared: &RunsCompared) -> &'static str {
    if compared.more_from.is_empty() { "block" } else { "run" }
}

fn introduction(compared: &RunsCompared, judged: Option<&Gate>) -> Section {
    let mut section = Section::default();
    let all = sides(compared);
    for (side, run) in all.iter().flat_map(|(side, runs)| runs.iter().map(move |run| (side, run))) {
        let synthetic = if run.synthetic { ", of a scripted engine" } else { "" };
        let (started, version) = (text::utc(run.started_ms), &run.steelbench);
        let origin = text::origin(run.label.as_deref(), run.git.as_ref());
        let origin = origin.map_or_else(String::new, |origin| format!(", {origin}"));
        section.note(format!("{side}: {started}{origin}, Steelbench {version}{synthetic}"));
    }
    if let Some(judged) = judged {
        section.toned(report::gate(judged), gate_tone(judged));
    }
    for response in &compared.responses {
        let (text, tone) = verdict(response, unit(compared));
        section.toned(text, tone);
    }
    if compared.has_single_runs() {
        section.warn(SINGLE_RUNS);
    }
    section
}

/// The limit of a comparison of two runs.
const SINGLE_RUNS: &str = "One run per side: the figures describe these two runs. How much runs of \
                           one side differ is unknown, so no difference beyond them is claimed. \
                           Compare several runs per side, or measure both sides as levels of one \
                           experiment, whose blocks interleave them.";

/// `elapsed: B is 1.10x [1.08, 1.12] faster than A over all configurations (geometric mean):
/// significantly better.`
fn verdict(compared: &ResponseCompared, repeat: &str) -> (String, Tone) {
    let name = &compared.response.name;
    let of = |verdict: Verdict| {
        compared
            .configurations
            .iter()
            .filter(|configuration| configuration.verdict == verdict)
            .count()
    };
    let counts = [
        (of(Verdict::Better), "better"),
        (of(Verdict::Worse), "worse"),
        (of(Verdict::BetterInTheseRuns), "better in these two runs"),
        (of(Verdict::WorseInTheseRuns), "worse in these two runs"),
        (of(Verdict::NotSeen), "without a significant difference"),
        (of(Verdict::Unknown), "not comparable"),
    ];
    let counts =
        joined(counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")), ", ");
    let n = compared.configurations.len();
    let single = compared
        .configurations
        .first()
        .filter(|_| n == 1)
        .and_then(|configuration| configuration.comparison.as_ref());
    let over =
        if n == 1 { String::new() } else { " over all configurations (geometric mean)".to_owned() };
    match single.or(compared.overall.as_ref()) {
        Some(comparison) => {
            let figure = against_first(comparison, &compared.response);
            let (word, tone) = supported(comparison, repeat);
            let counts =
                if n == 1 { String::new() } else { format!(" Of {n} configurations: {counts}.") };
            (format!("{name}: B is {figure}{over}: {word}.{counts}"), tone)
        }
        None => (format!("{name}, {}: {counts}.", number::plural(n, "configuration")), Tone::Plain),
    }
}

fn supported(comparison: &Comparison, repeat: &str) -> (String, Tone) {
    match (comparison.p_value, comparison.supported()) {
        (_, true) if repeat != "run" => {
            let word = if comparison.is_better() { "better" } else { "worse" };
            (format!("{word} in these two runs"), Tone::Warning)
        }
        (_, true) if comparison.is_better() => ("significantly better".to_owned(), Tone::Good),
        (_, true) => ("significantly worse".to_owned(), Tone::Bad),
        (Some(_), false) => ("no significant difference".to_owned(), Tone::Plain),
        (None, _) => (format!("too few {repeat}s"), Tone::Warning),
    }
}

fn response(compared: &ResponseCompared, repeat: &str) -> Section {
    let response = &compared.response;
    let (better, unit) = (better(response.direction), &response.unit);
    let mut section = Section::new(format!("{} ({unit}, {better} is better)", response.name));
    let mut table = Columns::for_rows(&compared.configurations);
    let n = |estimate: Option<&Estimate>| estimate.map_or(0, |estimate| estimate.n);
    table.name("configuration", |row| labels(row));
    table.left("A", |row| row.from.as_ref());
    table.left("B", |row| row.to.as_ref());
    table.with(Column::left("B vs A"), |row| {
        let (_, tone) = wording(row.verdict);
        row.comparison.as_ref().map(|comparison| Cell::comparison(comparison, unit).toned(tone))
    });
    table.left("verdict", |row| {
        let (word, tone) = wording(row.verdict);
        Cell::new(word, tone)
    });
    table
        .with(Column::right("n"), move |row| {
            format!("{}, {}", n(row.from.as_ref()), n(row.to.as_ref()))
        })
        .optional(1);
    table
        .right("detectable", move |row| {
            row.detectable.map(|share| Cell::from(Share(share)).shown(number::relative(share)))
        })
        .optional(2);
    section.table(table);
    let verdict = if repeat == "run" { "95 %" } else { "by the spread within the runs" };
    if let Some(few) = &compared.too_few {
        section.warn(format!("Configurations without enough values are not compared: {few}."));
    }
    let spread = if repeat == "run" {
        "from the spread between runs; n: runs (one mean each)"
    } else {
        "from the spread within a run; they do not include run-to-run variation"
    };
    section.note(format!(
        "B vs A: above 1x is better. Verdict: {verdict}, Holm-adjusted for all configurations. \
         Detectable: the smallest difference found with 80 % power. ±: 95 % CI of the mean. \
         [ ]: 95 % CI of the ratio, adjusted like the verdict. Both {spread}."
    ));
    section
}

fn wording(verdict: Verdict) -> (&'static str, Tone) {
    match verdict {
        Verdict::Better => ("better", Tone::Good),
        Verdict::Worse => ("worse", Tone::Bad),
        Verdict::BetterInTheseRuns => ("better in these two runs", Tone::Warning),
        Verdict::WorseInTheseRuns => ("worse in these two runs", Tone::Warning),
        Verdict::NotSeen => ("not significant", Tone::Plain),
        Verdict::Unknown => ("unknown", Tone::Warning),
    }
}

/// The label, or both where they differ; a star where only the levels are the same.
fn labels(configuration_compared: &ConfigurationCompared) -> String {
    let (from, to) =
        (label(&configuration_compared.from_label), label(&configuration_compared.to_label));
    let name = if from == to { from.to_owned() } else { format!("{from} / {to}") };
    if configuration_compared.matched_by == MatchedBy::Levels { format!("{name} *") } else { name }
}

fn surroundings(compared: &RunsCompared) -> Section {
    let mut section = Section::new("Changes in environment and settings");
    if compared.environment.is_empty() {
        section.line("Environment: no recorded change.");
    } else {
        let mut table = Columns::for_rows(&compared.environment);
        table.name("environment", |change| &change.what);
        table.name("A", |change| changed(change, change.from.as_ref(), NOTHING));
        table.name("B", |change| changed(change, change.to.as_ref(), NOTHING));
        section.table(table);
    }
    if compared.settings.is_empty() {
        section.line("Settings of the compared configurations: no change.");
    } else {
        let mut table = Columns::for_rows(&compared.settings);
        table.name("setting", |setting| &setting.change.what);
        table.name("A", |setting| changed(&setting.change, setting.change.from.as_ref(), NOT_SET));
        table.name("B", |setting| changed(&setting.change, setting.change.to.as_ref(), NOT_SET));
        table.name("configurations", |setting| {
            listed(setting.configurations.iter().map(|configuration| label(configuration)))
                .unwrap_or_else(|| "all".to_owned())
        });
        section.table(table);
        if compared
            .responses
            .iter()
            .flat_map(|response| &response.configurations)
            .any(|configuration| configuration.matched_by == MatchedBy::Levels)
        {
            section.warn("*: same levels, but these settings differ.");
        }
    }
    compared.factors.iter().for_each(|factor| section.line(factor_line(factor)));
    if !compared.differ_within.is_empty() {
        let what = compared.differ_within.join(", ");
        section.warn(format!("Runs that count as repeats of one side differ in: {what}."));
    }
    let all = sides(compared);
    for (side, run) in all.iter().flat_map(|(side, runs)| runs.iter().map(move |run| (side, run))) {
        if run.other_environments > 0 {
            let others = number::plural(run.other_environments, "other environment");
            section.warn(format!("{side} was resumed in {others}."));
        }
    }
    section
}

/// Placeholder for a setting that one side lacks.
pub const NOT_SET: &str = "not set";

/// A side of a change.
pub fn changed(change: &Change, side: Option<&String>, absent: &str) -> Cell {
    side.map_or_else(
        || Cell::new(absent, Tone::Muted),
        |value| readable(&change.what, value).into(),
    )
}

/// Bytes in units that people read, and long fractions without what rounding left at their end; a
/// short one may be a version.
fn readable(what: &str, value: &str) -> String {
    let rounded =
        |value: f64| format!("{value:.11e}").parse().map_or(value, |rounded: f64| rounded);
    let bytes = value.parse().ok().filter(|_| what.ends_with("_bytes")).map(number::bytes);
    let fraction = value
        .parse()
        .ok()
        .filter(|_| value.len() > 15 && value.contains('.'))
        .map(|value| rounded(value).to_string());
    bytes.or(fraction).unwrap_or_else(|| value.to_owned())
}

fn factor_line(change: &FactorChange) -> String {
    let name = &change.factor;
    let list = |levels: &[String]| levels.join(", ");
    match (&change.from, &change.to) {
        (None, Some(to)) => format!("Factor {name} is only in B: {}.", list(to)),
        (Some(from), None) => format!("Factor {name} is only in A: {}.", list(from)),
        (from, to) => {
            let levels = |of: &Option<Vec<String>>| of.as_deref().map(list).unwrap_or_default();
            format!(
                "Factor {name} has different levels: {} in A, {} in B.",
                levels(from),
                levels(to)
            )
        }
    }
}

fn unmatched(compared: &RunsCompared) -> Option<Section> {
    let mut section = Section::new("Not compared");
    for (side, labels) in [("A", &compared.only_from), ("B", &compared.only_to)] {
        if !labels.is_empty() {
            section.warn(format!("Only in {side}: {}.", labels.join("; ")));
        }
    }
    section.unless_empty()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn recorded_values_are_made_readable() {
        for (what, value, text) in [
            ("target.delay", "0.0021999999999999997", "0.0022"),
            ("memory_bytes", "34359738368", "32.0 GiB"),
            ("engines.postgres.version", "15.10", "15.10"),
            ("engines.sqlite.version", "3.50.4", "3.50.4"),
            ("target.page_size", "4096", "4096"),
            ("target.journal", "\"wal\"", "\"wal\""),
        ] {
            assert_eq!(readable(what, value), text);
        }
    }
}
