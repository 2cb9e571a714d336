use super::pivot::{Line, SERIES_COLUMNS};
use crate::Text;
use analysis::ResponseChoice;
use observations::Direction;
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartRange, ChartType, Worksheet, XlsxError,
};

/// Pixels.
const SIZE: (u32, u32) = (900, 480);

/// Means with intervals as error bars. The data begin below the heading, the levels are the first column.
pub fn response(
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
    chart.set_width(SIZE.0).set_height(SIZE.1);
    sheet.insert_chart(rows as u32 + 3, 0, chart)?;
    Ok(())
}
