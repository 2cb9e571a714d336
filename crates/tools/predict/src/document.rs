//! The page of a prediction.

use crate::models::hold_out::Accuracy;
use crate::prediction::{ByScript, WhatIf};
use report::model::{Columns, Document, Section};
use report::number;
use report::table::Cell;

/// The prediction, then its evidence.
pub fn prediction(experiment: &str, what_if: &WhatIf) -> Document {
    let name = what_if.factor.rsplit('.').next().unwrap_or(&what_if.factor);
    let mut section = Section::new("Prediction");
    let with =
        if what_if.group.is_empty() { String::new() } else { format!(", {}", what_if.group) };
    let at_most = if what_if.rate.is_some() { " at most" } else { "" };
    section.line(format!(
        "{name}={}{with}: {}{at_most} (estimate, 95 % interval)",
        number::whole(what_if.n),
        number::difference(what_if.throughput, Some(what_if.interval), &what_if.unit)
    ));
    if let Some(latency) = what_if.latency_s {
        let law = what_if.rate.map_or_else(
            || "by Little's Law".to_owned(),
            |rate| format!("from the intended start, at {} a second", number::whole(rate)),
        );
        let latency = number::difference(latency, what_if.latency_interval, "s");
        section.line(format!("mean latency: {latency} ({law})"));
    }
    let (n, measured) = &what_if.nearest;
    section.line(format!(
        "nearest measured: {name}={}, {}",
        number::whole(*n),
        number::estimate(measured)
    ));
    if let Some((limit, busy)) = &what_if.limit {
        let verb = if *busy > 0.9 { "the limit" } else { "the busiest resource" };
        section.line(format!("{verb}: {limit}, busy {} of the time", number::short_percent(*busy)));
    }
    let Accuracy { covered: (covered, predicted), error_median, factor_median } = what_if.accuracy;
    if predicted > 0 {
        section.line(format!(
            "prediction error on {} held out of the fit: {} (median); 95 % intervals covered \
             {covered} of {predicted}, their ends a factor of {} apart (median)",
            number::plural(predicted, "level"),
            number::short_percent(error_median),
            number::ratio(factor_median)
        ));
    }
    for warning in &what_if.warnings {
        section.warn(format!("warning: {warning}"));
    }
    for change in &what_if.changes {
        section.note(format!("{}: {}", change.change, change.law));
    }
    if let Some(script) = &what_if.by_script {
        by_script(&mut section, script);
    }
    Document { title: experiment.into(), sections: vec![section] }
}

/// Estimates of each script, and how far they are off.
fn by_script(section: &mut Section, script: &ByScript) {
    let mut scripts = Columns::for_rows(&script.scripts);
    scripts.name("script", |script| script.script.as_str());
    scripts.left("throughput", |script| {
        Cell::from(script.throughput).shown(number::quantity(script.throughput, "transactions/s"))
    });
    scripts.left("mean latency", |script| Cell::seconds(script.latency_s));
    section.table(scripts);
    let error = script.error_median.map_or_else(String::new, |error| {
        format!(
            " On held-out levels the median latency error was {}.",
            number::short_percent(error)
        )
    });
    section.note(format!(
        "By script (estimates): shares of transactions as at all levels, latencies in the \
         proportion of the nearest level.{error}"
    ));
}
