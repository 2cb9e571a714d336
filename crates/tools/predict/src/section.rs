//! Models of the throughput: what a law says of scalability, what the model that predicts best says
//! of levels that it has not seen, and what a transaction needs.

use crate::models::demands::Demand;
use crate::models::hold_out::{Candidate, FACTOR_MAX, FAR, HoldOut};
use crate::throughput::{self, LevelDemands, ModelLevel, ModelSummary, Scalability};
use analysis::{Estimate, Interval, Summary, response};
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
    let heading = if group.is_empty() { "Model".to_owned() } else { format!("Model: {group}") };
    let name = text::factor(summary, &model.factor);
    let mut section = Section::new(heading);
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
    let covered = best.tested.iter().filter(|prediction_test| prediction_test.covered).count();
    let all = best.tested.len();
    let law = best.model.name();
    let article = if law.contains("'s ") { "" } else { "The " };
    let line = format!(
        "{article}{law}, fitted to the other levels of {name}, predicts {} with a median error of \
         {}; its 95 % intervals contain {covered} of {all}, their ends a factor of {} apart \
         (median).",
        number::plural(all, "level"),
        number::short_percent(best.error_median),
        number::ratio(best.factor_median),
    );
    let useful = best.tested.iter().all(|prediction_test| prediction_test.prediction.is_useful());
    let misses = covered < all || best.error_median > 0.1 || !useful;
    section.toned(line, if misses { Tone::Warning } else { Tone::Plain });
    let mut levels = Columns::for_rows(&model.levels);
    levels.name(name, |level| number::whole(level.n));
    levels.left("measured", |level| &level.measured);
    let unit = model.unit.clone();
    levels.with(Column::left("predicted [95 % CI]"), move |level| {
        level.tested.as_ref().map(|test| predicted(test, &unit))
    });
    levels.right("error", |level| level.tested.as_ref().map(|test| signed(test.error)));
    levels
        .left("in the interval", |level| {
            level.tested.as_ref().map(|test| if test.covered { "yes" } else { "no" })
        })
        .optional(1);
    section.table(levels);
    let others = best_of(model);
    section.note(format!(
        "The model is fitted to the levels without a prediction. {others} Intervals include the \
         change of the fit when one level is left out, differences between the models, their \
         error at higher levels (growing with each doubling) and the spread of trials. A level \
         whose interval spans more than a factor of {FACTOR_MAX} is not predicted. `steelbench \
         predict` predicts other levels and warns beyond {FAR}x of the measured range."
    ));
}

/// Returns the errors of the models of the average by themselves.
fn best_of(model: &ModelSummary) -> String {
    match &model.candidates[1..] {
        [] => String::new(),
        others => {
            let errors = others.iter().map(|candidate| {
                format!(
                    "{} by {}",
                    candidate.model.name(),
                    number::short_percent(candidate.error_median)
                )
            });
            format!(
                "It weights {} by how they predict the highest of these levels from those below; \
                 errors of each on the held-out levels: {}.",
                number::plural(others.len(), "model"),
                joined(errors, ", ")
            )
        }
    }
}

fn predicted(test: &HoldOut, unit: &str) -> Cell {
    if !test.prediction.is_useful() {
        let factor = number::figure(test.prediction.factor());
        return Cell::new(format!("not from these levels (factor {factor})"), Tone::Warning);
    }
    Cell::prediction(test.prediction.predicted, test.prediction.interval, unit)
}

fn signed(share: f64) -> Cell {
    Cell::percent(share, 1).shown(format!("{} %", number::signed(100.0 * share, 1)))
}

fn scalability(section: &mut Section, name: &str, model: &ModelSummary, law: &Scalability) {
    let figure = |value: f64, interval: Option<Interval>| {
        let ends = interval.map(|interval| {
            format!(" [{}, {}]", number::figure(interval.low), number::figure(interval.high))
        });
        format!("{}{}", number::figure(value), ends.unwrap_or_default())
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
                "Throughput peaks at {} [{}, {}]{beyond} and then falls, because of coherency \
                 (the cost of each pair).{limit}",
                number::figure(peak),
                number::figure(peak_interval.low),
                number::figure(peak_interval.high)
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
    let rows: Vec<(&str, [Option<&Demand>; 2])> = names
        .into_iter()
        .map(|name| {
            let demands =
                [first, last].map(|level| level.demands.iter().find(|demand| demand.name == name));
            (name, demands)
        })
        .collect();
    let mut table = Columns::for_rows(&rows);
    table.name(format!("of each {}", low.unit), |row| row.0);
    for (at, level) in [low.n, high.n].into_iter().enumerate() {
        let heading = format!("{name}={}", number::whole(level));
        table.with(Column::right(heading), move |row| {
            row.1[at].map(|demand| Cell::seconds(demand.demand_s))
        });
        table.with(Column::right("busy or waiting"), move |row| {
            row.1[at].map(|demand| Cell::from(demand.busy).shown(number::figure(demand.busy)))
        });
        table.with(Column::right("operations"), move |row| {
            let count = row.1[at].and_then(|demand| demand.operations);
            count.map(|count| Cell::from(count).shown(number::figure(count)))
        });
    }
    section.table(table);
    section.note(
        "Busy: share of time that a resource works (utilisation law); for a device, that any I/O \
         is in flight; for waits, the mean number of waiting sessions (Little's law).",
    );
}

/// Little's Law against the connections, group commit, and what is missing.
fn checked(section: &mut Section, name: &str, level_demands: &LevelDemands) {
    let mut parts: Vec<String> = Vec::new();
    if let Some((demands, little)) =
        level_demands.demands.as_ref().and_then(|demands| Some((demands, demands.little?)))
    {
        let says =
            if demands.agrees() == Some(true) { "agrees with" } else { "does not agree with" };
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
    let ends = |interval: Option<Interval>| {
        interval.map_or([Value::Null, Value::Null], |interval| {
            [coordinate(interval.low), coordinate(interval.high)]
        })
    };
    let measured: Vec<Value> = model
        .levels
        .iter()
        .map(|level| {
            let [low, high] = ends(level.measured.interval);
            json!([
                coordinate(level.n),
                coordinate(level.measured.mean),
                low,
                high,
                string(&tip(name, level))
            ])
        })
        .collect();
    let best = model.candidates.first();
    let predicted: Vec<Value> = model
        .curve
        .iter()
        .map(|curve| {
            let [low, high] = ends(Some(curve.interval));
            json!([coordinate(curve.n), coordinate(curve.predicted), low, high])
        })
        .collect();
    let law = model.scalability.as_ref();
    let peak = law.and_then(|law| law.peak_interval.and(law.peak));
    let held: Vec<Value> = model
        .levels
        .iter()
        .filter(|level| level.tested.is_some())
        .map(|level| coordinate(level.n))
        .collect();
    Figure {
        spec: json!({
                "kind": "model",
                "x": string(name),
                "y": string(&model.unit),
                "measured": measured,
                "model": string(best.map_or("", |best| best.model.name())),
                "predicted": predicted,
                "law": law.map_or_else(Vec::new, |law: &Scalability| -> Vec<Value> {
            law.curve.iter().map(|(n, x, _)| json!([coordinate(*n), coordinate(*x)])).collect()
        }),
                "peak": peak.map_or(Value::Null, coordinate),
                "heldOut": held,
            }),
        caption: "Dots: measured means with 95 % CIs; hollow: held out from the model. Line with \
                  band: the model with its 95 % intervals. Dashed: the Universal Scalability Law \
                  over all levels; a vertical line marks its peak."
            .into(),
        alternative: format!(
            "Throughput against {name}: {}.",
            joined(model.levels.iter().map(|level| description(level, &level.measured)), "; ")
        )
        .into(),
        data: data(name, model),
        data_heading: "Predictions between the levels".into(),
        chart: None,
    }
}

fn tip(name: &str, level: &ModelLevel) -> String {
    let predicted = level.tested.as_ref().map_or_else(String::new, |test| {
        format!(
            "\npredicted: {}",
            number::quantity(test.prediction.predicted, &level.measured.unit)
        )
    });
    format!("{name}={}: {}{predicted}", number::whole(level.n), number::estimate(&level.measured))
}

fn description(level: &ModelLevel, measured: &Estimate) -> String {
    format!("{}: {}", number::whole(level.n), number::estimate(measured))
}

fn data(name: &str, model: &ModelSummary) -> Table<'static> {
    let mut table = Columns::for_rows(&model.curve);
    table.name(name, |row| number::whole(row.n));
    let unit = model.unit.clone();
    table.with(Column::left("predicted, 95 % interval"), move |row| {
        Cell::prediction(row.predicted, row.interval, &unit)
    });
    table.into()
}
