//! The steadiness of repeats: one line in every report, and a document of its own.

use super::{BLOCKS_MIN, ConfigurationStability, Separator, Stability, stability};
use analysis::Summary;
use report::json::object;
use report::number::{p_value, plain_percent, quantity, ratio};
use report::text::{label, listed};
use report::{Cell, Column, Columns, Document, Section, Text, number, waterfall, waterfall_legend};
use serde_json::{Value, json};

/// How the line and the document come to what they say.
const LEGEND: &str = "CV: standard deviation relative to the mean; range: largest less smallest \
                      value, relative to the mean. Regimes: two or three groups that one \
                      autocorrelated normal distribution would show too rarely. Of the \
                      configurations said to have regimes at most 5 % are expected not to \
                      (Benjamini-Hochberg, weighted by CV).";
/// Configurations with regimes that the line names.
const NAMED_MAX: usize = 3;
/// Counters of each that the line names.
const COUNTERS: usize = 3;

/// The line, and what separates regimes.
pub fn section(_: &Summary, stability: Option<&Stability>) -> Option<Section> {
    let stability = stability?;
    let mut section = Section::default();
    let with_regimes: Vec<&ConfigurationStability> = stability.with_regimes().collect();
    if with_regimes.is_empty() {
        section.note(line(stability));
        return Some(section);
    }
    section.warn(line(stability));
    for regime in with_regimes.iter().take(NAMED_MAX) {
        section.detail(format!("{}{}", regimes(regime, &stability.unit), causes(regime)));
    }
    if let Some(more @ 1..) = with_regimes.len().checked_sub(NAMED_MAX) {
        let more = number::plural(more, "more configuration");
        section.detail(format!("{more} with regimes: `steelbench show --stability`."));
    }
    Some(section)
}

/// `Stability: CV 1.2 to 4.5 % in 10 blocks; no significant drift (p = 0.3); no regimes found.`
fn line(stability: &Stability) -> String {
    let percent = |share: f64| number::percent(share, 1);
    let cv = stability.cv().map(|(low, high)| match (percent(low), percent(high)) {
        (low, high) if low == high => format!("CV {low}"),
        (low, high) => format!("CV {low} to {high}"),
    });
    let changes = listed(stability.changes.iter().map(|block| format!("block {block}")));
    let drift = match (&stability.drift, changes) {
        (_, Some(blocks)) => Some(format!("the level changes at {blocks}")),
        (Some(drift), None) if drift.supported => {
            Some(format!("blocks differ ({})", p_value(drift.p_value)))
        }
        (Some(drift), None) => Some(format!("no significant drift ({})", p_value(drift.p_value))),
        (None, None) => None,
    };
    let (found, all) = (stability.with_regimes().count(), stability.configurations.len());
    let rate = plain_percent(stability.error_rate);
    let regimes = match (found, all) {
        (0, _) => format!("no regimes found in the repeats (test at {rate})"),
        (_, 1) => format!("the repeats fall into regimes (test at {rate})"),
        _ => format!(
            "repeats of {found} of {} fall into regimes (false discovery rate {rate})",
            number::plural(all, "configuration")
        ),
    };
    let parts = [cv, drift, Some(regimes)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    format!("Stability in {}: {parts}.", number::plural(stability.blocks, "block"))
}

/// `data_files=4: 1,228 rows/s (2 blocks) and 3,011 rows/s (8 blocks), 2.45x apart (p = 0.04).`
fn regimes(configuration_stability: &ConfigurationStability, unit: &str) -> String {
    let each = configuration_stability.regimes.iter().map(|regime| {
        let blocks = number::plural(regime.blocks.len(), "block");
        format!("{} ({blocks})", quantity(regime.mean, unit))
    });
    let apart = configuration_stability
        .ratio
        .map_or_else(String::new, |regime_ratio| format!(", {}x apart", ratio(regime_ratio)));
    let p =
        configuration_stability.p_value.map_or_else(String::new, |p| format!(" ({})", p_value(p)));
    let label = label(&configuration_stability.label);
    format!("{label}: {}{apart}{p}.", listed(each).unwrap_or_default())
}

/// The sentences of the session time, and the counters.
fn causes(configuration_stability: &ConfigurationStability) -> String {
    let why = configuration_stability.why.iter().map(|finding| format!(" {}", finding.text));
    let counters = configuration_stability.separators.iter().take(COUNTERS).map(|separator| {
        let [better, worse] =
            [&separator.better, &separator.worse].map(|regime| quantity(regime.mean, &regime.unit));
        format!("{} {better} to {worse}", separator.name)
    });
    let counters = listed(counters).map(|counters| format!(" Counters that differ: {counters}."));
    let causes: String = why.chain(counters).collect();
    if causes.is_empty() {
        return " No recorded wait or counter separates them.".to_owned();
    }
    causes
}

/// All of it for programs; `stability` is `null` where no configuration has five repeats.
pub fn json(summary: &Summary) -> serde_json::Result<Value> {
    let run = &summary.recording.run;
    let content = json!({ "run": run.id, "name": run.name, "stability": stability(summary) });
    object("stability", &content, Value::Null)
}

/// All of it, for `show --stability`.
pub fn document(summary: &Summary) -> Document {
    let title = Text::from(summary.recording.run.name.as_str());
    let Some(stability) = stability(summary) else {
        let mut section = Section::default();
        section.line(format!(
            "No configuration has {BLOCKS_MIN} repeats with a value: stability is not estimated. \
             Raise repeats.blocks to {BLOCKS_MIN} or more and run again."
        ));
        return Document { title, sections: vec![section] };
    };
    let mut all = Section::new(format!("Stability of {}", stability.response));
    all.line(line(&stability));
    all.table(table(&stability));
    all.note(LEGEND);
    let of_regimes = stability.with_regimes().flat_map(|entry| details(entry, &stability.unit));
    Document { title, sections: [all].into_iter().chain(of_regimes).collect() }
}

fn table(stability: &Stability) -> Columns<'_, &ConfigurationStability> {
    let mut table = Columns::for_rows(&stability.configurations);
    table.name("configuration", |row| label(&row.label));
    table.right("n", |row| row.estimate.n);
    table.left("mean", |row| &row.estimate);
    table.right("CV", |row| Cell::percent(row.cv, 1));
    table.right("range", |row| Cell::percent(row.range, 1));
    table.right("regimes", |row| row.regimes.len().max(1));
    table.left("p", |row| row.p_value.map(p_value));
    table
}

/// The regimes of a configuration and what separates them.
fn details(configuration_stability: &ConfigurationStability, unit: &str) -> Vec<Section> {
    let mut section = Section::new(format!("Regimes of {}", label(&configuration_stability.label)));
    let mut regimes = Columns::for_rows(&configuration_stability.regimes);
    regimes.with(Column::right("mean"), |regime| quantity(regime.mean, unit));
    regimes.left("blocks", |regime| listed(&regime.blocks));
    section.table(regimes);
    for finding in &configuration_stability.why {
        section.line(finding.text.as_str());
        section.detail(finding.evidence.as_str());
    }
    if let Some(explanation) = &configuration_stability.explanation {
        let (from, to) = (&explanation.from, &explanation.to);
        section.chart(waterfall(&explanation.decomposition, from, to));
        section.note(waterfall_legend(&explanation.decomposition));
    }
    if configuration_stability.separators.is_empty() {
        section.note("No counter of device, machine or study differs between the regimes.");
        return vec![section];
    }
    let mut counters = Columns::for_rows(&configuration_stability.separators);
    counters.name("counter", |separator: &&Separator| separator.name.as_str());
    counters.left("better side", |counter| &counter.better);
    counters.left("worse side", |counter| &counter.worse);
    counters.left("p", |counter| p_value(counter.p_value));
    counters.left("values overlap", |counter| if counter.is_complete { "no" } else { "yes" });
    section.table(counters);
    section.note(
        "The sides are divided at the largest step between regimes. p: Welch's t, adjusted for all \
         counters recorded (false discovery rate). A counter that differs may be a cause, a \
         consequence or neither.",
    );
    vec![section]
}
