//! The response against the main factor, one series for each combination of the others' levels.

use super::book::{Book, Size};
use crate::Text;
use crate::data::Columns;
use analysis::{ConfigurationRow, Estimate, ResponseChoice, Summary};
use observations::{Direction, Recording};
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartRange, ChartType, Worksheet, XlsxError,
};

/// Size of charts in pixels.
const CHART: (u32, u32) = (900, 480);
/// With more lines than this nobody tells them apart: then the factor's own effect is drawn, over
/// all levels of the others.
const SERIES_MAX: usize = 8;
/// Columns of each series: mean, low, high, and what is below and above the mean.
const SERIES_COLUMNS: u16 = 5;

/// A line: its name, and an estimate for each level of the main factor.
struct Line<'a> {
    name: String,
    estimates: Vec<Option<&'a Estimate>>,
}

pub fn sheet(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let main = summary.main_factor.and_then(|main| recording.factors.get(main));
    let unit = summary.response.as_ref().map_or("", |response| response.unit.as_str());
    let lines = lines(summary);
    let rows = main.map_or(summary.configurations.len(), |factor| factor.levels.len());
    let mut columns: Columns<'_, usize> = Columns::new();
    match main {
        Some(factor) => drop(columns.factor(factor, |at: &usize| factor.levels.get(*at).map(String::as_str))),
        None => drop(columns.add("configuration", "", |at| summary.configurations[*at].label.as_str())),
    }
    for line in &lines {
        let mut figure = |heading: String, figure: fn(&Estimate) -> Option<f64>| {
            let value = move |at: &usize| line.estimates.get(*at).copied().flatten().and_then(figure);
            columns.add(heading, "", value).of("response");
        };
        let name = &line.name;
        figure(format!("{name}: mean ({unit})"), |e| Some(e.mean));
        figure(format!("{name}: low"), |e| e.interval.map(|i| i.low));
        figure(format!("{name}: high"), |e| e.interval.map(|i| i.high));
        figure(format!("{name}: mean - low"), |e| e.interval.map(|i| e.mean - i.low));
        figure(format!("{name}: high - mean"), |e| e.interval.map(|i| i.high - e.mean));
    }
    book.table(Size::Small, &columns.table("response", || 0..rows))?;
    match &summary.response {
        Some(response) if rows > 1 => {
            chart(book.sheet("Response")?, response, main.map(|f| f.name.as_str()), &lines, rows)
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

/// Means with intervals as error bars. The data begin below the heading, the levels are the first column.
fn chart(
    sheet: &mut Worksheet,
    response: &ResponseChoice,
    factor: Option<&str>,
    lines: &[Line],
    rows: usize,
) -> Result<(), XlsxError> {
    let name = sheet.name();
    let last = rows as u32;
    let range = |column: u16| ChartRange::new_from_range(&name, 1, column, last, column);
    // Levels without an order are no line.
    let mut chart = Chart::new(if factor.is_some() { ChartType::Line } else { ChartType::Column });
    for (line, first) in lines.iter().zip((1..).step_by(usize::from(SERIES_COLUMNS))) {
        let bars = ChartErrorBarsType::Custom(range(first + 4), range(first + 3));
        chart
            .add_series()
            .set_name(Text::from(line.name.as_str()).as_str())
            .set_categories(&range(0))
            .set_values(&range(first))
            .set_y_error_bars(ChartErrorBars::new().set_type(bars));
    }
    let better = match response.direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    };
    let title = format!("{} ({}), {better} is better; bars: 95 % intervals", response.name, response.unit);
    chart.title().set_name(Text::from(title).as_str());
    chart.x_axis().set_name(Text::from(factor.unwrap_or("configuration")).as_str());
    chart.y_axis().set_name(Text::from(response.unit.as_str()).as_str()).set_min(0);
    place(sheet, &mut chart, rows)
}

/// Columns stacked, one a row of the table; the parts are these columns.
pub fn stacked(
    sheet: &mut Worksheet,
    title: &str,
    parts: &[(u16, String)],
    rows: usize,
) -> Result<(), XlsxError> {
    let name = sheet.name();
    let range = |column: u16| ChartRange::new_from_range(&name, 1, column, rows as u32, column);
    let mut chart = Chart::new(ChartType::ColumnStacked);
    for (column, part) in parts {
        chart.add_series().set_name(part).set_categories(&range(0)).set_values(&range(*column));
    }
    chart.title().set_name(title);
    chart.y_axis().set_num_format("0%");
    place(sheet, &mut chart, rows)
}

/// Below the table.
fn place(sheet: &mut Worksheet, chart: &mut Chart, rows: usize) -> Result<(), XlsxError> {
    chart.set_width(CHART.0).set_height(CHART.1);
    sheet.insert_chart(rows as u32 + 3, 0, chart)?;
    Ok(())
}
