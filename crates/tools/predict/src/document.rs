//! The page of a prediction.

use crate::prediction::{ByScript, WhatIf};
use analysis::Interval;
use report::model::{Columns, Document, Section};
use report::number;
use report::table::Cell;

/// The prediction, then its evidence.
pub fn prediction(experiment: &str, own: &WhatIf) -> Document {
    let name = own.factor.rsplit('.').next().unwrap_or(&own.factor);
    let mut section = Section::new("Prediction");
    let ends = |interval: Interval| Some((interval.low, interval.high));
    let with = if own.group.is_empty() { String::new() } else { format!(", {}", own.group) };
    let at_most = if own.rate.is_some() { " at most" } else { "" };
    section.line(format!(
        "{name}={}{with}: {}{at_most} (estimate, 95 % interval)",
        number::whole(own.n),
        number::difference(own.throughput, ends(own.interval), &own.unit)
    ));
    if let Some(latency) = own.latency_s {
        let interval = own.latency_interval.and_then(ends);
        let law = own.rate.map_or_else(
            || "by Little's Law".to_owned(),
            |rate| format!("from the intended start, at {} a second", number::whole(rate)),
        );
        section
            .line(format!("mean latency: {} ({law})", number::difference(latency, interval, "s")));
    }
    let (n, measured) = &own.nearest;
    section.line(format!(
        "nearest measured: {name}={}, {}",
        number::whole(*n),
        number::estimate(measured)
    ));
    if let Some((limit, busy)) = &own.limit {
        let verb = if *busy > 0.9 { "the limit" } else { "the busiest resource" };
        section.line(format!("{verb}: {limit}, busy {} of the time", number::short_percent(*busy)));
    }
    let (covered, all) = own.covered;
    section.line(format!(
        "prediction error on {} held out of the fit: {} (median); 95 % intervals covered \
         {covered} of {all}, their ends a factor of {} apart (median)",
        number::plural(all, "level"),
        number::short_percent(own.error_median),
        number::ratio(own.factor_median)
    ));
    for warning in &own.warnings {
        section.warn(format!("warning: {warning}"));
    }
    for change in &own.changes {
        section.note(format!("{}: {}", change.change, change.law));
    }
    if let Some(own) = &own.by_script {
        by_script(&mut section, own);
    }
    Document { title: experiment.into(), sections: vec![section] }
}

/// Estimates of each script, and how far they are off.
fn by_script(section: &mut Section, own: &ByScript) {
    let mut scripts = Columns::for_rows(&own.scripts);
    scripts.name("script", |script| script.script.as_str());
    scripts.left("throughput", |script| {
        Cell::from(script.throughput).shown(number::quantity(script.throughput, "transactions/s"))
    });
    scripts.left("mean latency", |script| Cell::seconds(script.latency_s));
    section.table(scripts);
    let error = own.error_median.map_or_else(String::new, |error| {
        format!(
            " On held-out levels the median latency error was {}.",
            number::short_percent(error)
        )
    });
    section.note(format!(
        "By script (estimates): each script's CPU time and serial section are fitted to its \
         latencies at all levels.{error}"
    ));
}
