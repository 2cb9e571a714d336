//! The response against the main factor, one series for each combination of the others' levels.

use super::book::{Book, Size};
use super::cell::Value;
use super::charts;
use super::columns::{Columns, named_level};
use analysis::{ConfigurationRow, Estimate, Summary};
use observations::Recording;
use rust_xlsxwriter::XlsxError;

/// With more lines than this nobody tells them apart: then the factor's own effect is drawn, over
/// all levels of the others.
const SERIES_MAX: usize = 8;
/// Columns of each series: mean, low, high, and what is below and above the mean.
pub const SERIES_COLUMNS: u16 = 5;

/// A line: its name, and an estimate for each level of the main factor.
pub struct Line<'a> {
    pub name: String,
    estimates: Vec<Option<&'a Estimate>>,
}

pub fn sheet(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let main = summary.main_factor.and_then(|main| recording.factors.get(main));
    let unit = summary.response.as_ref().map_or("", |response| response.unit.as_str());
    let lines = lines(summary);
    let rows = main.map_or(summary.configurations.len(), |factor| factor.levels.len());
    let mut columns: Columns<'_, usize> = Columns::new();
    columns.add(main.map_or("configuration", |factor| factor.name.as_str()), |at| match main {
        Some(factor) => named_level(factor, &factor.levels[*at]),
        None => Value::text(&summary.configurations[*at].label),
    });
    for line in &lines {
        let mut figure = |heading: String, figure: fn(&Estimate) -> Option<f64>| {
            columns.add(heading, move |at: &usize| {
                Value::number(line.estimates.get(*at).copied().flatten().and_then(figure))
            });
        };
        let name = &line.name;
        figure(format!("{name}: mean ({unit})"), |e| Some(e.mean));
        figure(format!("{name}: low"), |e| e.interval.map(|i| i.low));
        figure(format!("{name}: high"), |e| e.interval.map(|i| i.high));
        figure(format!("{name}: mean - low"), |e| e.interval.map(|i| e.mean - i.low));
        figure(format!("{name}: high - mean"), |e| e.interval.map(|i| i.high - e.mean));
    }
    book.table("Response", Size::Small, &columns, 0..rows)?;
    match &summary.response {
        Some(response) if rows > 1 => {
            charts::response(book.sheet("Response")?, response, main.map(|f| f.name.as_str()), &lines, rows)
        }
        _ => Ok(()),
    }
}

fn lines<'s>(summary: &'s Summary) -> Vec<Line<'s>> {
    let name = || summary.response.as_ref().map_or_else(|| "response".to_owned(), |it| it.name.clone());
    let Some(effect) = summary.main_effect() else {
        let estimates = summary.configurations.iter().map(|row| row.response.as_ref()).collect();
        return vec![Line { name: name(), estimates }];
    };
    let factor = effect.factor.as_str();
    let mut lines: Vec<Line<'s>> = Vec::new();
    for row in &summary.configurations {
        let Some(level) = row.levels.iter().find(|level| level.factor == factor) else { continue };
        let Some(at) = effect.levels.iter().position(|known| known.level == level.level) else { continue };
        let others = others(row, factor).unwrap_or_else(name);
        if !lines.iter().any(|line| line.name == others) {
            lines.push(Line { name: others.clone(), estimates: vec![None; effect.levels.len()] });
        }
        if let Some(line) = lines.iter_mut().find(|line| line.name == others) {
            line.estimates[at] = row.response.as_ref();
        }
    }
    if lines.len() > SERIES_MAX {
        let estimates = effect.levels.iter().map(|level| level.response.as_ref()).collect();
        lines = vec![Line { name: format!("{} over all other factors", name()), estimates }];
    }
    lines
}

/// The levels of the other factors.
fn others(row: &ConfigurationRow, factor: &str) -> Option<String> {
    let others = row.levels.iter().filter(|level| level.factor != factor);
    let named: Vec<String> = others.map(|level| format!("{}={}", level.factor, level.level)).collect();
    (!named.is_empty()).then(|| named.join(" "))
}
