//! A response surface: its coefficients, its stationary point, the next trials and contour plots.

use super::analysis::{
    Answer, Coefficient, FittedSurface, Kind, NextTrial, StationaryPoint, SurfaceReport,
};
use ::analysis::{Interval, Summary};
use observations::order;
use report::{
    Cell, Column, Columns, Figure, Medium, Section, Table, Tone, coordinate, number, string, text,
};
use serde_json::{Value, json};

/// Cells on each side of a contour plot.
const CELLS: usize = 31;
/// Levels on each side of a table of predictions.
const TABLE_LEVELS: usize = 5;
/// Contour plots of pairs of factors.
const PAIRS_MAX: usize = 6;

pub(crate) fn sections(summary: &Summary, report: Option<&SurfaceReport>) -> Vec<Section> {
    let Some(report) = report else { return Vec::new() };
    let mut sections = vec![coefficients(summary, report)];
    let Some(fit) = &report.fit else { return sections };
    sections.push(optimum(report, fit));
    let planes: Vec<Plane> =
        pairs(report, fit).into_iter().map(|pair| Plane { report, fit, pair }).collect();
    sections.extend(planes.first().map(Plane::text));
    sections.extend(planes.iter().map(Plane::page));
    sections
}

fn coefficients(summary: &Summary, report: &SurfaceReport) -> Section {
    let mut section = Section::new(format!(
        "Response surface: {} in {}",
        number::plural(report.factors.len(), "factor"),
        number::plural(report.trials, "trial")
    ));
    if report.left_out > 0 {
        section.warn(format!(
            "{} without a value left out (failed, timed out or withheld): the surface does not \
             describe the levels around them.",
            number::plural(report.left_out, "trial")
        ));
    }
    match &report.fit {
        None => section.warn("The trials so far do not determine the surface."),
        Some(fit) => {
            let values = fit.coefficients.iter().map(|coefficient| coefficient.value);
            let scale = Scale::new(values, &report.unit);
            let mut table = Columns::for_rows(&fit.coefficients);
            table.name("term", |row| row.term.as_str());
            table.with(Column::right(scale.heading("coefficient")), |row| scale.signed(row.value));
            table.with(Column::left("95 % CI"), |row| row.interval.map(|row| scale.ends(row)));
            table.left("verdict", |row| verdict(row));
            section.table(table);
            for note in notes(fit) {
                section.note(note);
            }
        }
    }
    let mut legend = Columns::for_rows(report.factors.iter().enumerate());
    legend.name("x", |(at, _)| format!("x{}", at + 1));
    legend
        .with(Column::left("factor"), |(_, factor)| text::factor(summary, &factor.name).to_owned());
    legend.left("-1", |(_, factor)| factor.low.as_str());
    legend.left("+1", |(_, factor)| factor.high.as_str());
    legend.left("scale", |(_, factor)| if factor.is_log { "log" } else { "linear" });
    section.table(legend);
    section
}

/// The unit of the values of a column.
struct Scale {
    scale: f64,
    unit: String,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, unit: &str) -> Self {
        let (scale, unit) = number::common_unit(values.map(f64::abs).fold(0.0, f64::max), unit);
        Self { scale, unit }
    }

    fn heading(&self, name: &str) -> String {
        if self.unit.is_empty() { name.to_owned() } else { format!("{name} ({})", self.unit) }
    }

    fn signed(&self, value: f64) -> String {
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{sign}{}", number::figure(value * self.scale))
    }

    fn ends(&self, interval: Interval) -> String {
        format!("[{}, {}]", self.signed(interval.low), self.signed(interval.high))
    }
}

fn verdict(coefficient: &Coefficient) -> Cell {
    match coefficient.adjusted_p {
        None => Cell::new("not tested", Tone::Muted),
        Some(p) if p < 0.05 => Cell::from(format!("significant, {}", number::p_value(p))),
        Some(p) => Cell::new(format!("not significant, {}", number::p_value(p)), Tone::Muted),
    }
}

fn notes(fit: &FittedSurface) -> [String; 2] {
    let coefficients = format!(
        "Coefficients are per coded level: a slope is the change from the centre to +1. 95 % CI: t \
         with {} degrees of freedom, of each coefficient alone; p: Holm-adjusted for {}. The model \
         has a shift for each of {}; R2 {}.",
        fit.df,
        number::plural(fit.coefficients.len(), "coefficient"),
        number::plural(fit.blocks, "block"),
        number::fixed(fit.r_squared, 3)
    );
    let lack_of_fit = match fit.lack_of_fit {
        Some(lack_of_fit) => format!(
            "Lack of fit: F({}, {}) = {}, {}; {}.",
            lack_of_fit.df_misses,
            lack_of_fit.df_repeats,
            number::figure(lack_of_fit.f),
            number::p_value(lack_of_fit.p_value),
            if lack_of_fit.p_value < 0.05 {
                "the model misses more than repeats vary"
            } else {
                "the model misses no more than repeats vary"
            }
        ),
        None => "Lack of fit was not tested: no repeats with any spread.".to_owned(),
    };
    [coefficients, lack_of_fit]
}

fn optimum(report: &SurfaceReport, fit: &FittedSurface) -> Section {
    let mut section = Section::new("Stationary point and next trials");
    match &fit.stationary {
        None => section.line("The surface has no stationary point: it is a plane."),
        Some(found) => stationary(&mut section, report, found),
    }
    if fit.next.is_empty() {
        return section;
    }
    section.line(match fit.answer {
        Answer::Optimum => "Next trial: confirm the optimum in fresh blocks.",
        _ => {
            "Next trials: the best predicted value at each distance from the centre (steepest \
              ascent)."
        }
    });
    let mut table = Columns::for_rows(&fit.next);
    for (at, factor) in report.factors.iter().enumerate() {
        let column = Column::left(factor.short_name());
        table.with(column, move |trial: &&NextTrial| trial.levels[at].clone());
    }
    table.with(Column::left("predicted mean"), |row| {
        number::within(row.value, row.interval, &report.unit)
    });
    table.left("region", |row| if row.is_tested { "tested" } else { "extrapolated" });
    section.table(table);
    section.note(
        "±, [ ]: 95 % interval of the mean if the model holds; it does not account for the choice \
         of the point, nor for a model that does not hold outside the tested region.",
    );
    section
}

fn stationary(section: &mut Section, report: &SurfaceReport, stationary_point: &StationaryPoint) {
    let shape = match stationary_point.shape {
        Kind::Maximum => "a maximum",
        Kind::Minimum => "a minimum",
        Kind::Saddle => "a saddle",
        Kind::Ridge => "a ridge",
    };
    let codes = stationary_point.coded.iter().enumerate();
    let codes = codes.map(|(at, code)| format!("x{} {}", at + 1, number::signed(*code, 2)));
    let coded = codes.collect::<Vec<_>>().join(", ");
    if stationary_point.is_tested {
        section.line(format!(
            "Stationary point: {shape} at {} ({coded}), predicted mean {}.",
            report.named(&stationary_point.levels),
            number::within(stationary_point.value, stationary_point.interval, &report.unit)
        ));
    } else {
        section.line(format!(
            "Stationary point: {shape} at {coded} in coded levels, outside the tested region."
        ));
    }
    let scale = Scale::new(
        stationary_point.curvatures.iter().map(|curvature| curvature.value),
        &report.unit,
    );
    let mut table = Columns::for_rows(&stationary_point.curvatures);
    table.with(Column::right(scale.heading("curvature")), |row| scale.signed(row.value));
    table.with(Column::left("95 % CI"), |row| row.interval.map(|row| scale.ends(row)));
    table.left("along", |row| {
        let parts = row.direction.iter().enumerate();
        let parts = parts.map(|(at, part)| format!("{} x{}", number::signed(*part, 2), at + 1));
        parts.collect::<Vec<_>>().join(" ")
    });
    section.table(table);
    if let Some(region) = stationary_point.region.as_ref()
        && stationary_point.is_tested
    {
        let mut table = Columns::for_rows(report.factors.iter().zip(region));
        table.name("factor", |(factor, _)| factor.short_name());
        table.left("95 % confidence region", |(_, range)| range.text());
        section.table(table);
        section.note(
            "The region is joint: it holds the levels of all factors at the true stationary point \
             in 95 % of experiments.",
        );
    }
}

/// The pairs of factors, those with the largest coefficients first.
fn pairs(report: &SurfaceReport, fit: &FittedSurface) -> Vec<[usize; 2]> {
    let factors = report.factors.len();
    let mut pairs: Vec<[usize; 2]> = (0..factors)
        .flat_map(|index| (index + 1..factors).map(move |other| [index, other]))
        .collect();
    let size = |[first, other]: [usize; 2]| -> f64 {
        let terms = [vec![first], vec![other], vec![first, other], vec![first; 2], vec![other; 2]];
        terms.iter().map(|term| fit.surface.coefficient(term).abs()).sum()
    };
    order::largest_first(&mut pairs, &|row| size(*row));
    pairs.truncate(PAIRS_MAX);
    pairs
}

/// The surface over the levels of two factors.
struct Plane<'a> {
    report: &'a SurfaceReport,
    fit: &'a FittedSurface,
    pair: [usize; 2],
}

impl Plane<'_> {
    fn name(&self, side: usize) -> &str {
        self.report.factors[self.pair[side]].short_name()
    }

    /// The coded levels between which trials ran.
    fn ends(&self, side: usize) -> [f64; 2] {
        let coded = self.report.points.iter().map(|point| point.coded[self.pair[side]]);
        [coded.clone().fold(f64::INFINITY, f64::min), coded.fold(f64::NEG_INFINITY, f64::max)]
    }

    /// The levels of the other factors: those of an optimum, else the centre.
    fn others(&self) -> Vec<f64> {
        let optimum = self.fit.stationary.as_ref().filter(|_| self.fit.answer == Answer::Optimum);
        optimum
            .map_or_else(|| vec![0.0; self.report.factors.len()], |optimum| optimum.coded.clone())
    }

    fn point(&self, x: f64, y: f64) -> Vec<f64> {
        let mut point = self.others();
        (point[self.pair[0]], point[self.pair[1]]) = (x, y);
        point
    }

    fn value(&self, x: f64, y: f64) -> f64 {
        self.fit.surface.estimate(&self.point(x, y)).0
    }

    /// Evenly spaced coded levels of a side.
    fn spaced(&self, side: usize, number: usize, offset: f64) -> Vec<f64> {
        let [low, high] = self.ends(side);
        let spaces = number as f64 - 1.0 + 2.0 * offset;
        (0..number).map(|at| low + (high - low) * (at as f64 + offset) / spaces).collect()
    }

    fn heading(&self) -> String {
        format!("Predicted mean by {} and {}", self.name(0), self.name(1))
    }

    fn elsewhere(&self) -> String {
        let others = self.others();
        let all = self.report.levels(&others);
        let factors = self.report.factors.iter().zip(all).enumerate();
        let named: Vec<String> = factors
            .filter(|(at, _)| !self.pair.contains(at))
            .map(|(_, (factor, level))| format!("{} {level}", factor.short_name()))
            .collect();
        match &named[..] {
            [] => String::new(),
            named => format!(" Other factors: {}.", named.join(", ")),
        }
    }

    /// The predictions at a few levels: a row for each of the second factor, the highest first.
    fn table(&self) -> Table<'static> {
        let mut rows = self.spaced(1, TABLE_LEVELS, 0.0);
        rows.reverse();
        let label = |side: usize, at: f64| self.report.factors[self.pair[side]].factor.label(at);
        let mut table = Columns::for_rows(&rows);
        table.with(Column::name(format!("{} \\ {}", self.name(1), self.name(0))), |at| {
            label(1, **at)
        });
        for x in self.spaced(0, TABLE_LEVELS, 0.0) {
            let unit = &self.report.unit;
            table.with(Column::right(label(0, x)), move |at| {
                number::quantity(self.value(x, **at), unit)
            });
        }
        table.into()
    }

    fn text(&self) -> Section {
        let mut section = Section::new(self.heading());
        section.medium = Medium::Text;
        section.table(self.table());
        section.note(format!("Values of the fitted surface.{}", self.elsewhere()));
        section
    }

    fn page(&self) -> Section {
        let mut section = Section::page(self.heading());
        section.figure(Figure {
            spec: self.spec(),
            caption: format!(
                "Contours: fitted mean. Dots: tested levels. Cross: stationary point. Dashed: 95 % \
                 confidence region of the stationary point.{}",
                self.elsewhere()
            )
            .into(),
            alternative: format!(
                "Contour plot of the surface over {} and {}; the table below has its values.",
                self.name(0),
                self.name(1)
            )
            .into(),
            data: self.table(),
            data_heading: "Predictions".into(),
            chart: None,
        });
        section
    }

    fn spec(&self) -> Value {
        // The middles of cells.
        let (xs, ys) = (self.spaced(0, CELLS, 0.5), self.spaced(1, CELLS, 0.5));
        let cells = || ys.iter().flat_map(|y| xs.iter().map(|x| self.point(*x, *y)));
        let values = cells().map(|cell| self.fit.surface.estimate(&cell).0);
        let Scale { scale, unit } = Scale::new(values, &self.report.unit);
        let values = cells().map(|cell| coordinate(self.fit.surface.estimate(&cell).0 * scale));
        let is_known = self.fit.surface.stationary_p(&self.others()).is_some();
        let chances = cells()
            .map(|cell| self.fit.surface.stationary_p(&cell).map_or(Value::Null, coordinate));
        let region: Option<Vec<Value>> = is_known.then(|| chances.collect());
        json!({
            "kind": "contour",
            "x": self.axis(0), "y": self.axis(1), "cells": CELLS,
            "label": string(&unit),
            "values": values.collect::<Vec<_>>(),
            "region": region,
            "points": self.marks(scale, &unit),
            "stationary": self.stationary(),
        })
    }

    fn axis(&self, side: usize) -> Value {
        let factor = &self.report.factors[self.pair[side]];
        let ends = self.ends(side).map(|at| coordinate(factor.factor.number(at)));
        let unit = factor.factor.unit();
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        json!({
            "label": string(&format!("{}{unit}", self.name(side))), "ends": ends,
            "log": factor.is_log,
        })
    }

    /// The tested levels with the mean of their trials.
    fn marks(&self, scale: f64, unit: &str) -> Vec<Value> {
        let mut groups: Vec<(&Vec<f64>, Vec<f64>)> = Vec::new();
        for point in &self.report.points {
            match groups.iter_mut().find(|(coded, _)| *coded == &point.coded) {
                Some((_, values)) => values.push(point.value),
                None => groups.push((&point.coded, vec![point.value])),
            }
        }
        let marks = groups.into_iter().map(|(coded, values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64 * scale;
            let title = format!(
                "{}\nmean {} {unit}, {}",
                self.report.named(&self.report.levels(coded)),
                number::figure(mean),
                number::plural(values.len(), "trial")
            );
            json!([self.at(coded, 0), self.at(coded, 1), title])
        });
        marks.collect()
    }

    fn at(&self, coded: &[f64], side: usize) -> Value {
        let factor = self.pair[side];
        coordinate(self.report.factors[factor].factor.number(coded[factor]))
    }

    /// `null` where it is not in the plot.
    fn stationary(&self) -> Value {
        let tested = self.fit.stationary.as_ref().filter(|stationary| stationary.is_tested);
        tested.map_or(Value::Null, |stationary| {
            json!([self.at(&stationary.coded, 0), self.at(&stationary.coded, 1)])
        })
    }
}
