//! Models of the throughput: what a law says of scalability, what the model that predicts best says
//! of levels that it has not seen, and what a transaction needs.

use crate::models::hold_out::{Accuracy, Candidate, FACTOR_MAX, FAR, HoldOut};
use crate::throughput::{self, LevelDemands, ModelLevel, ModelSummary, Scalability};
use analysis::{Interval, Summary, response};
use report::text::{self, joined};
use report::{Cell, Column, Columns, Figure, Section, Table, Tone, coordinate, number, string};
use serde_json::{Value, json};

/// A section for each model.
pub fn sections(summary: &Summary, models: &[ModelSummary]) -> Vec<Section> {
    let mut sections: Vec<Section> = models.iter().map(|model| section(summary, model)).collect();
    let left_out = throughput::left_out(summary);
    if let Some(last) = sections.last_mut()
        && left_out > 0
    {
        let others = number::plural(left_out, "other combination");
        last.note(format!(
            "{others} of levels can be modelled too: select one with `show --only` or \
             `steelbench predict`."
        ));
    }
    sections
}

fn section(summary: &Summary, model: &ModelSummary) -> Section {
    let row = &summary.configurations[model.configuration];
    let group = text::label_without(summary, row, &model.factor);
    let name = text::factor(summary, &model.factor);
    let mut section = Section::about("Model", &group);
    if let Some(why) = &model.refused {
        section.warn(format!("No model predicts throughput here: {why}."));
    }
    if let Some(best) = model.candidates.first() {
        predictions(&mut section, name, model, best);
    }
    if let Some(law) = &model.scalability {
        scalability(&mut section, name, model, law);
    }
    demands(&mut section, name, model);
    section.figure(figure(name, model));
    section
}

fn predictions(section: &mut Section, name: &str, model: &ModelSummary, best: &Candidate) {
    let law = best.model.name();
    let article = if law.contains("'s ") { "" } else { "The " };
    let fitted = format!("{article}{law}, fitted to the other levels of {name}, predicts");
    let all = number::plural(best.tested.len(), "level");
    let Accuracy { covered: (covered, count), error_median, factor_median } = best.accuracy();
    let is_part = count < best.tested.len();
    let part = if is_part { format!("{count} of ") } else { String::new() };
    let line = match count {
        0 => format!("{fitted} no level ({all} tested)."),
        _ => format!(
            "{fitted} {part}{all} with a median error of {}; its 95 % intervals contain {covered} \
             of {count}, their ends a factor of {} apart (median).",
            number::short_percent(error_median),
            number::ratio(factor_median),
        ),
    };
    let misses = covered < count || error_median > 0.1 || is_part;
    section.toned(line, if misses { Tone::Warning } else { Tone::Plain });
    let mut levels = Columns::for_rows(&model.levels);
    levels.name(name, |level| number::whole(level.n));
    levels.left("measured", |level| &level.measured);
    levels.with(Column::left("predicted [95 % CI]"), |level| {
        level.tested.as_ref().map(|test| predicted(test, &model.unit))
    });
    levels.right("error", |level| level.tested.as_ref().map(|test| Cell::change(test.error)));
    levels.left("in the interval", |level| level.tested.as_ref().and_then(in_interval)).optional(1);
    section.table(levels);
    let errors = model.candidates[1..].iter().map(|candidate| {
        let error = number::short_percent(candidate.error_median);
        format!("{} by {error}", candidate.model.name())
    });
    let others = match &model.candidates[1..] {
        [] => String::new(),
        others => format!(
            "It weights {} by how they predict the highest of these levels from those below; \
             errors of each on the held-out levels: {}.",
            number::plural(others.len(), "model"),
            joined(errors, ", ")
        ),
    };
    section.note(format!(
        "The model is fitted to the levels without a prediction. {others} Intervals include the \
         change of the fit when one level is left out, differences between the models, their \
         error at higher levels (growing with each doubling) and the spread of trials. A level \
         whose interval spans more than a factor of {FACTOR_MAX} is not predicted. `steelbench \
         predict` predicts other levels and warns beyond {FAR}x of the measured range."
    ));
}

/// Returns whether a level is in its interval, if it is predicted.
pub fn in_interval(test: &HoldOut) -> Option<&'static str> {
    test.prediction.is_useful().then_some(if test.covered { "yes" } else { "no" })
}

/// The prediction for a level.
pub fn predicted(test: &HoldOut, unit: &str) -> Cell {
    if !test.prediction.is_useful() {
        let factor = number::figure(test.prediction.factor());
        return Cell::new(format!("not from these levels (factor {factor})"), Tone::Warning);
    }
    Cell::prediction(test.prediction.predicted, test.prediction.interval, unit)
}

fn scalability(section: &mut Section, name: &str, model: &ModelSummary, law: &Scalability) {
    let figure = |value: f64, interval: Option<Interval>| {
        let value = number::figure(value);
        interval.map_or(value.clone(), |interval| {
            let [low, high] = [interval.low, interval.high].map(number::figure);
            format!("{value} [{low}, {high}]")
        })
    };
    section.line(format!(
        "Universal Scalability Law, all levels: {} at {name}=1, contention {}, coherency {}, \
         residuals {}.",
        number::difference(law.law.gamma, law.intervals[0], &model.unit),
        figure(law.law.contention, law.intervals[1]),
        figure(law.law.coherency, law.intervals[2]),
        number::short_percent(law.residual),
    ));
    let last = model.levels.last().map_or(1.0, |level| level.n);
    let limit = law.law.limit().map_or_else(String::new, |limit| {
        format!(
            " Contention alone would limit throughput to {}.",
            number::quantity(limit, &model.unit)
        )
    });
    let text = match (law.peak, law.peak_interval) {
        (Some(peak), Some(peak_interval)) => {
            let beyond = if peak > last { ", beyond the measured range," } else { "" };
            format!(
                "Throughput peaks at {}{beyond} and then falls, because of coherency (the cost of \
                 each pair).{limit}",
                figure(peak, Some(peak_interval))
            )
        }
        _ if law.contends => format!(
            "The levels show contention but no fall, so coherency and the peak are unknown. Add \
             levels above {} to find them.{limit}",
            number::whole(last)
        ),
        _ => "Neither contention nor coherency differs significantly from 0: add levels or \
              repeats."
            .to_owned(),
    };
    section.line(text);
}

/// Demands of a transaction at the lowest and the highest level.
fn demands(section: &mut Section, name: &str, model: &ModelSummary) {
    for demand in &model.demands {
        if let Some(error) = &demand.error {
            section.warn(format!("{name}={}: {error}.", number::whole(demand.n)));
        }
        checked(section, name, demand);
    }
    let [low, high] = model.demands.as_slice() else { return };
    let (Some(first), Some(last)) = (&low.demands, &high.demands) else { return };
    let all = first.demands.iter().chain(&last.demands);
    let names = response::distinct(all.map(|demand| demand.name.as_str()));
    let mut table = Columns::for_rows(&names);
    table.name(format!("of each {}", low.unit), |name| **name);
    for (n, level) in [(low.n, first), (high.n, last)] {
        let find = |resource: &str| level.demands.iter().find(|demand| demand.name == resource);
        table.with(Column::right(format!("{name}={}", number::whole(n))), move |name| {
            find(name).map(|demand| Cell::seconds(demand.demand_s))
        });
        table.with(Column::right("busy or waiting"), move |name| {
            find(name).map(|demand| figure_cell(demand.busy))
        });
        table.with(Column::right("operations"), move |name| {
            find(name).and_then(|demand| demand.operations).map(figure_cell)
        });
    }
    section.table(table);
    section.note(
        "Busy: share of time that a resource works (utilisation law); for a device, that any I/O \
         is in flight; for waits, the mean number of waiting sessions (Little's law).",
    );
}

fn figure_cell(value: f64) -> Cell {
    Cell::from(value).shown(number::figure(value))
}

/// Little's Law against the connections, group commit, and what is missing.
fn checked(section: &mut Section, name: &str, level_demands: &LevelDemands) {
    let mut parts: Vec<String> = Vec::new();
    let little =
        level_demands.demands.as_ref().and_then(|demands| Some((demands, demands.little?)));
    if let Some((demands, little)) = little {
        let agrees = demands.agrees() == Some(true);
        let says = if agrees { "agrees with" } else { "does not agree with" };
        parts.push(format!(
            "throughput x response time is {} sessions, which {says} {} (Little's law)",
            number::figure(little),
            number::figure(demands.customers)
        ));
    }
    for (sync, transactions) in &level_demands.batches {
        parts.push(format!("{} transactions per {sync}", number::figure(*transactions)));
    }
    for missing in &level_demands.missing {
        parts.push(format!("not recorded: {missing}"));
    }
    if !parts.is_empty() {
        section.note(format!("{name}={}: {}.", number::whole(level_demands.n), parts.join("; ")));
    }
}

/// Measured and predicted throughput, the law with its band and its peak.
fn figure(name: &str, model: &ModelSummary) -> Figure {
    let point = |n: f64, value: f64, interval: Option<Interval>| {
        let ends = interval.map(|interval| [interval.low, interval.high].map(coordinate));
        let [low, high] = ends.unwrap_or([Value::Null, Value::Null]);
        vec![coordinate(n), coordinate(value), low, high]
    };
    let measured = model.levels.iter().map(|level| {
        let mut dot = point(level.n, level.measured.mean, level.measured.interval);
        dot.push(string(&tip(name, level)));
        Value::from(dot)
    });
    let predicted = model
        .curve
        .iter()
        .map(|curve| Value::from(point(curve.n, curve.predicted, Some(curve.interval))));
    let law = model.scalability.as_ref();
    let peak = law.and_then(|law| law.peak_interval.and(law.peak));
    let held = model.levels.iter().filter(|level| level.tested.is_some());
    let drawn = law.into_iter().flat_map(|law| &law.curve);
    let described = model
        .levels
        .iter()
        .map(|level| format!("{}: {}", number::whole(level.n), number::estimate(&level.measured)));
    Figure {
        spec: json!({
            "kind": "model",
            "x": string(name),
            "y": string(&model.unit),
            "measured": measured.collect::<Vec<_>>(),
            "model": string(model.candidates.first().map_or("", |best| best.model.name())),
            "predicted": predicted.collect::<Vec<_>>(),
            "law": drawn.map(|(n, x, _)| json!([coordinate(*n), coordinate(*x)]))
                .collect::<Vec<_>>(),
            "peak": peak.map_or(Value::Null, coordinate),
            "heldOut": held.map(|level| coordinate(level.n)).collect::<Vec<_>>(),
        }),
        caption: "Dots: measured means with 95 % CIs; hollow: held out from the model. Line with \
                  band: the model with its 95 % intervals. Dashed: the Universal Scalability Law \
                  over all levels; a vertical line marks its peak."
            .into(),
        alternative: format!("Throughput against {name}: {}.", joined(described, "; ")).into(),
        data: data(name, model),
        data_heading: "Predictions between the levels".into(),
        chart: None,
    }
}

fn tip(name: &str, level: &ModelLevel) -> String {
    let predicted = level.tested.as_ref().map_or_else(String::new, |test| {
        let unit = &level.measured.unit;
        format!("\npredicted: {}", number::quantity(test.prediction.predicted, unit))
    });
    format!("{name}={}: {}{predicted}", number::whole(level.n), number::estimate(&level.measured))
}

fn data(name: &str, model: &ModelSummary) -> Table<'static> {
    let mut table = Columns::for_rows(&model.curve);
    table.name(name, |row| number::whole(row.n));
    table.with(Column::left("predicted, 95 % interval"), |row| {
        Cell::prediction(row.predicted, row.interval, &model.unit)
    });
    table.into()
}
