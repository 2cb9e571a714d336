//! The main figure: the response against the levels of the main factor.

use super::overview::better;
use crate::figure::{coordinate, string, strings};
use crate::model::{
    Bar, BarGroup, Cell, Chart, ChartKind, Columns, Figure, Place, Section, Table, Tone,
};
use crate::panels::{Panels, Position};
use crate::text::joined;
use crate::{number, text};
use analysis::{ConfigurationRow, Estimate, FactorEffect, ResponseChoice, Standing, Summary};
use serde_json::{Value, json};

/// Most bars of a figure: with more, the means over the other factors are shown instead.
const BARS_MAX: usize = 24;
/// Levels of one factor that are drawn as bars.
const LEVELS_MAX: usize = 100;
/// Most configurations that are described in words.
const DESCRIBED_MAX: usize = 12;
/// Single trials are drawn as long as they are no more than this.
const POINTS_MAX: usize = 5_000;

/// A configuration that has figures.
type Measured<'s> = (&'s ConfigurationRow, &'s Estimate);

/// On pages the means of a series with 95 % intervals, joined by a line along ordered levels, and
/// every trial as a point; in texts a bar a level; for pages a sentence where there is nothing to
/// draw.
pub(crate) fn section(summary: &Summary) -> [Section; 1] {
    let Some(response) = &summary.response else {
        let mut section = Section::page("Figures").at(Place::Chart);
        section.note("No completed trial to draw.");
        return [section];
    };
    let rows = summary.configurations.iter();
    let measured: Vec<Measured> =
        rows.filter_map(|row| Some((row, row.response.as_ref()?))).collect();
    let panels = Panels::with_series(summary).filter(|_| measured.len() > 1);
    let (Some(panels), Some(effect)) = (panels, summary.main_effect()) else {
        let mut section = Section::page("Response").at(Place::Chart);
        section.note(alone(&measured));
        return [section];
    };
    let heading = format!("{} against {}", response.name, panels.factor);
    let mut section = Section::new(heading).at(Place::Chart);
    section.figure(Figure {
        spec: spec(summary, response, &measured, &panels),
        caption: caption(&panels, response, summary.done()).into(),
        alternative: alternative(&panels, &response.name, &measured).into(),
        data: data(&measured),
        data_heading: "Means, intervals and n".into(),
        // The disk probe has charts of its own.
        chart: (!summary.study_draws_response())
            .then(|| chart(summary, response, effect, measured.len())),
    });
    [section]
}

fn spec(
    summary: &Summary,
    response: &ResponseChoice,
    measured: &[Measured],
    panels: &Panels,
) -> Value {
    let means = measured.iter().filter_map(|(row, estimate)| {
        let tip = format!(
            "{}\n{}, n = {}",
            text::label(&row.label),
            number::estimate(estimate),
            estimate.n
        );
        Some(mark(panels.position(row)?, &tip, estimate))
    });
    let drawn = if summary.done() <= POINTS_MAX { POINTS_MAX } else { 0 };
    let points = summary.recording.done().take(drawn).filter_map(|(trial, observations)| {
        let value = response.value(observations)?;
        let row = summary.configurations.get(trial.configuration)?;
        let Position { panel, series, level } = panels.position(row)?;
        let figure = number::quantity(value, &response.unit);
        let tip = format!("{}\nblock {}: {figure}", text::label(&row.label), trial.block);
        Some(json!([panel, series, level, coordinate(value), string(&tip)]))
    });
    let y =
        format!("{} ({}), {} is better", response.name, response.unit, better(response.direction));
    json!({
        "kind": "response",
        "x": panels.axis(),
        "y": string(&y),
        "seriesLabel": string(&panels.series_factor),
        "series": strings(panels.series.iter().map(String::as_str)),
        "panels": strings(panels.titles.iter().map(String::as_str)),
        "means": means.collect::<Vec<Value>>(),
        "points": points.collect::<Vec<Value>>(),
    })
}

/// A mean with its interval.
fn mark(position: Position, tip: &str, estimate: &Estimate) -> Value {
    let Position { panel, series, level } = position;
    let end = |pick: fn(analysis::Interval) -> f64| {
        estimate.interval.map_or(Value::Null, |i| coordinate(pick(i)))
    };
    let (low, high) = (end(|i| i.low), end(|i| i.high));
    json!([panel, series, level, coordinate(estimate.mean), low, high, string(tip)])
}

fn alone(measured: &[Measured]) -> String {
    match measured {
        [(_, estimate)] => format!(
            "Only one configuration has values: {} over {}.",
            number::estimate(estimate),
            number::plural(estimate.n, "block")
        ),
        _ => "No configuration has values to draw.".to_owned(),
    }
}

fn caption(panels: &Panels, response: &ResponseChoice, trials: usize) -> String {
    let series = match panels.series_factor.as_str() {
        "" => String::new(),
        factor if panels.is_ordered() => format!(", one line for each {factor}"),
        factor => format!(", one colour for each {factor}"),
    };
    let points = match trials {
        ..=POINTS_MAX => "small marks are single trials".to_owned(),
        _ => format!("the {} single trials are not drawn", number::count(trials as u64)),
    };
    let shared = if panels.titles.len() > 1 { " All panels share their axes." } else { "" };
    format!(
        "Mean {} against {}{series}; vertical lines are 95 % CIs over blocks, {points}. A {} \
         value is better. The vertical axis starts at zero and cuts intervals there.{shared}",
        response.name,
        panels.factor,
        better(response.direction),
    )
}

fn alternative(panels: &Panels, response: &str, measured: &[Measured]) -> String {
    let text = joined(
        measured.iter().take(DESCRIBED_MAX).map(|(row, estimate)| {
            format!("{}: {}", text::label(&row.label), number::estimate(estimate))
        }),
        "; ",
    );
    let more = if measured.len() > DESCRIBED_MAX { "; more in the table below" } else { "" };
    let kind = if panels.is_ordered() { "Line chart" } else { "Chart" };
    format!("{kind} of {response} against {}. {}{more}.", panels.factor, text)
}

fn data(measured: &[Measured]) -> Table<'static> {
    let mut table = Columns::for_rows(measured);
    table.name("configuration", |(row, _)| text::label(&row.label));
    table.right("n", |(_, estimate)| estimate.n);
    table.left("mean, 95 % interval", |(_, estimate)| *estimate);
    table.right("median", |(_, estimate)| Cell::quantity(estimate.median, &estimate.unit));
    table.right("smallest", |(_, estimate)| Cell::quantity(estimate.min, &estimate.unit));
    table.right("largest", |(_, estimate)| Cell::quantity(estimate.max, &estimate.unit));
    table.into()
}

/// A bar for each level, a group for each combination of the other factors' levels.
fn chart(
    summary: &Summary,
    response: &ResponseChoice,
    effect: &FactorEffect,
    measured: usize,
) -> Chart {
    let every = measured <= BARS_MAX;
    let mut groups = if every { series(summary, effect) } else { vec![means(effect)] };
    let largest =
        groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value.abs()).fold(0.0, f64::max);
    let (scale, unit) = number::common_unit(largest, &response.unit);
    for bar in groups.iter_mut().flat_map(|group| &mut group.bars) {
        bar.value *= scale;
        bar.interval = bar.interval.map(|interval| interval.times(scale));
    }
    let over =
        if every || summary.factors.effects.len() < 2 { "" } else { " over the other factors" };
    let some = match effect.levels.len() {
        ..=LEVELS_MAX => String::new(),
        all => format!(", the first {LEVELS_MAX} of {} levels", number::count(all as u64)),
    };
    let title = format!("Means{over} ± 95 % CI, {} is better{some}", better(response.direction));
    Chart { title: title.into(), unit: unit.into(), kind: ChartKind::Bars, groups }
}

/// The levels of the main factor for each combination of the others' levels.
fn series(summary: &Summary, effect: &FactorEffect) -> Vec<BarGroup> {
    let mut groups: Vec<BarGroup> = Vec::new();
    for row in &summary.configurations {
        let level = row.level(&effect.factor);
        let (Some(level), Some(estimate)) = (level, &row.response) else { continue };
        let worse =
            row.factor.as_ref().is_some_and(|factor| factor.supported() && !factor.is_better());
        let mut bar = bar(level, estimate, row.standing, worse);
        if row.baseline {
            let note = if bar.note.is_empty() { String::new() } else { format!(", {}", bar.note) };
            bar.note = format!("baseline{note}").into();
        }
        let label = text::label_without(summary, row, &effect.factor).into();
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup { label, bars: vec![bar] }),
        }
    }
    groups
}

fn means(effect: &FactorEffect) -> BarGroup {
    let bars = effect.levels.iter().take(LEVELS_MAX).filter_map(|level| {
        let worse = level.comparison.as_ref().is_some_and(|c| c.supported() && !c.is_better());
        Some(bar(&level.level, level.response.as_ref()?, level.standing, worse))
    });
    BarGroup { bars: bars.collect(), ..BarGroup::default() }
}

fn bar(level: &str, estimate: &Estimate, standing: Standing, worse: bool) -> Bar {
    let (note, tone) = match standing {
        Standing::Best => ("best", Tone::Good),
        Standing::Equivalent => ("equivalent", Tone::Good),
        _ if worse => ("worse than the baseline", Tone::Bad),
        _ => ("", Tone::Plain),
    };
    Bar { label: level.into(), note: note.into(), tone, ..Bar::from_estimate(estimate) }
}
