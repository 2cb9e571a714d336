//! Bars as text: how long they are, and what is written beside them.

use crate::model::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Table, Tone};
use crate::text::filled;
use crate::{Text, number};
use statistics::mean;
use unicode_width::UnicodeWidthStr;

/// Bars are no longer than this, so that they end near their figures on wide terminals.
const BAR_MAX: usize = 40;
/// The width below which bars show nothing and are left out.
const BAR_MIN: usize = 6;
/// Labels are cut to a third of the width, but no shorter than this.
const LABEL_MIN: usize = 8;
/// Blocks that fill one to seven eighths of a column from the left.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A line of a chart.
pub(crate) enum ChartRow {
    /// Heading of a group.
    Group(String),
    /// A bar with what stands before and behind it.
    Bar {
        /// Label, filled with blanks.
        label: String,
        /// The bar, filled with blanks.
        bar: String,
        /// The figure.
        figure: String,
        /// A further remark.
        note: String,
        /// How it is meant.
        tone: Tone,
    },
}

impl Chart {
    /// Title and unit in one line.
    pub fn heading(&self) -> Text {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{} ({})", self.title, self.unit).into()
        }
    }

    /// The value of a bar as it is written: `8,123`; of diverging bars with its sign, `+11.0`.
    pub fn value(&self, bar: &Bar) -> String {
        match self.kind {
            ChartKind::Bars | ChartKind::OverTime => number::grouped(bar.value),
            ChartKind::Diverging => percent(bar.value),
            ChartKind::Waterfall if self.is_total(bar) => number::fixed(bar.value, self.decimals()),
            ChartKind::Waterfall => number::signed(bar.value, self.decimals()),
        }
    }

    /// The 95 % interval as it is written: `± 2 %`, where it is as wide as the value `[0, 33.3]`;
    /// of diverging bars `[+10.2, +11.8]`.
    pub fn interval(&self, bar: &Bar) -> String {
        let Some(interval) = bar.interval else { return String::new() };
        match self.kind {
            ChartKind::Diverging => number::percent_ends(interval, percent),
            ChartKind::Waterfall => {
                let end = |value| number::signed(value, self.decimals());
                format!("[{}, {}]", end(interval.low), end(interval.high))
            }
            ChartKind::OverTime => String::new(),
            ChartKind::Bars => number::around(bar.value, interval),
        }
    }

    /// All its bars.
    pub fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    /// Returns whether a bar of a waterfall is one of its two totals.
    pub fn is_total(&self, bar: &Bar) -> bool {
        let ends = [self.bars().next(), self.bars().last()];
        ends.into_iter().flatten().any(|end| std::ptr::eq(end, bar))
    }

    /// Decimals that all values of a waterfall have: a fourth digit, so that small changes are not
    /// rounded away.
    fn decimals(&self) -> usize {
        number::places(self.bars().map(|bar| bar.value.abs()).fold(0.0, f64::max), 4)
    }
}

/// Signed, with three digits but at most one decimal.
fn percent(value: f64) -> String {
    number::signed(value, number::places(value, 3).min(1))
}

/// The lines of a chart in `width` columns.
pub fn rows(chart: &Chart, width: usize) -> Vec<ChartRow> {
    if chart.kind == ChartKind::OverTime {
        return series_rows(chart, width);
    }
    let widest = |text: &dyn Fn(&Bar) -> String| {
        chart.bars().map(|bar| text(bar).width()).max().unwrap_or(0)
    };
    let label_width = widest(&|bar| bar.label.to_string()).min((width / 3).max(LABEL_MIN));
    let value_width = widest(&|bar| chart.value(bar));
    let interval_width = 1 + widest(&|bar| chart.interval(bar));
    let note_width = widest(&|bar| bar.note.to_string());
    let note_width = if note_width > 0 { 2 + note_width } else { 0 };
    // Two blanks before the label, between the parts, and before a note.
    let with_value = 2 + label_width + 2 + value_width;
    // Where there is no room, first the bars are left out, then notes, then intervals; the tables
    // have them.
    let has_interval = with_value + interval_width <= width;
    let has_note = with_value + interval_width + note_width <= width;
    let room = width.saturating_sub(with_value + 2 + interval_width + note_width).min(BAR_MAX);
    let room = if room < BAR_MIN { 0 } else { room };
    let mut drawn = draw(chart, room).into_iter();
    let mut rows = Vec::new();
    for group in &chart.groups {
        if !group.label.is_empty() {
            rows.push(ChartRow::Group(group.label.to_string()));
        }
        rows.extend(group.bars.iter().map(|bar| {
            let interval = if has_interval { chart.interval(bar) } else { String::new() };
            ChartRow::Bar {
                label: filled(&crate::text::cut(bar.label.as_str(), label_width), label_width),
                bar: filled(&drawn.next().unwrap_or_default(), room),
                figure: format!("{:>value_width$} {interval}", chart.value(bar)),
                note: if has_note { bar.note.to_string() } else { String::new() },
                tone: bar.tone,
            }
        }));
    }
    let figure =
        |row: &ChartRow| if let ChartRow::Bar { figure, .. } = row { figure.width() } else { 0 };
    let figures = rows.iter().map(figure).max().unwrap_or(0);
    for row in &mut rows {
        if let ChartRow::Bar { figure, note, .. } = row
            && !note.is_empty()
        {
            *figure = filled(figure, figures + 2);
        }
    }
    rows
}

/// Bars to the right for values on one axis that begins at zero, in `room` columns.
pub fn bars(values: &[f64], room: usize) -> Vec<String> {
    let largest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let axis = Axis::to_the_right(largest, room);
    values.iter().map(|value| axis.draw(*value)).collect()
}

/// All bars in order, in `room` columns.
fn draw(chart: &Chart, room: usize) -> Vec<String> {
    if chart.kind == ChartKind::Waterfall {
        return waterfall(&chart.bars().collect::<Vec<_>>(), room);
    }
    let axis = Axis::for_chart(chart, room);
    chart.bars().map(|bar| axis.draw(bar.value)).collect()
}

/// A line for each series: its values over time, their mean and the lowest.
fn series_rows(chart: &Chart, width: usize) -> Vec<ChartRow> {
    let most =
        chart.bars().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let labels = chart.groups.iter().map(|group| group.label.as_str().width()).max().unwrap_or(0);
    let label_width = labels.min((width / 3).max(LABEL_MIN));
    let figures = |has_lowest: bool| -> Vec<String> {
        chart
            .groups
            .iter()
            .map(|group| {
                let Some(figures) = series_figures(group) else { return "no figure".to_owned() };
                let [mean, lowest] = figures.map(number::grouped);
                if has_lowest {
                    format!("mean {mean}, lowest {lowest}")
                } else {
                    format!("mean {mean}")
                }
            })
            .collect()
    };
    let room_beside = |figures: &[String]| {
        let figure_width = figures.iter().map(|figure| figure.width()).max().unwrap_or(0);
        width.saturating_sub(2 + label_width + 2 + 2 + figure_width).min(LINE_MAX)
    };
    let figures = Some(figures(true))
        .filter(|figure| room_beside(figure) >= BAR_MIN)
        .unwrap_or_else(|| figures(false));
    let room = room_beside(&figures);
    let room = if room < BAR_MIN { 0 } else { room };
    let bucket = bucket(&chart.groups, room);
    chart
        .groups
        .iter()
        .zip(figures)
        .map(|(group, figure)| {
            let line = if room == 0 { String::new() } else { line(group, most, bucket) };
            ChartRow::Bar {
                label: filled(&crate::text::cut(group.label.as_str(), label_width), label_width),
                bar: line,
                figure,
                note: String::new(),
                tone: Tone::Plain,
            }
        })
        .collect()
}

/// Mean and lowest value of the measurement, if it has any.
fn series_figures(group: &BarGroup) -> Option<[f64; 2]> {
    let measured = group.bars.iter().filter(|bar| bar.tone != Tone::Muted).map(|bar| bar.value);
    let measured: Vec<f64> = measured.filter(|value| value.is_finite()).collect();
    let lowest = measured.iter().copied().reduce(f64::min)?;
    Some([mean(&measured), lowest])
}

/// The position of zero, and the value of a column.
struct Axis {
    /// Columns for values below zero.
    left: usize,
    /// Columns for values above zero.
    right: usize,
    /// Columns for each unit.
    scale: f64,
    /// True if zero is drawn.
    zero: bool,
}

impl Axis {
    fn for_chart(chart: &Chart, room: usize) -> Self {
        let values = || chart.bars().map(|bar| bar.value).filter(|value| value.is_finite());
        let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let zero = chart.kind == ChartKind::Diverging && room > 0;
        let room = room.saturating_sub(usize::from(zero));
        if chart.kind == ChartKind::Bars {
            return Self::to_the_right(high, room);
        }
        let span = high - low;
        if span <= 0.0 {
            return Self { left: 0, right: 0, scale: 0.0, zero };
        }
        let left = (room as f64 * -low / span).round() as usize;
        let right = room.saturating_sub(left);
        // The side that rounding has made tighter gives the scale.
        let side = |columns: usize, extreme: f64| {
            if extreme > 0.0 { columns as f64 / extreme } else { f64::MAX }
        };
        Self { left, right, scale: side(left, -low).min(side(right, high)), zero }
    }

    /// An axis without columns for values below zero, which have no bar.
    fn to_the_right(largest: f64, room: usize) -> Self {
        let scale = if largest > 0.0 { room as f64 / largest } else { 0.0 };
        Self { left: 0, right: room, scale, zero: false }
    }

    fn draw(&self, value: f64) -> String {
        let columns = if value.is_finite() { value * self.scale } else { 0.0 };
        let left = if self.zero { leftward(-columns, self.left) } else { String::new() };
        let zero = if self.zero { "│" } else { "" };
        format!("{left}{zero}{}", rightward(columns, self.right))
    }
}

/// From zero to the right, to an eighth of a column; what is not nothing shows.
fn rightward(columns: f64, room: usize) -> String {
    let eighths = parts_of_columns(columns, 8, room);
    let mut bar = "█".repeat((eighths / 8).min(room));
    if !eighths.is_multiple_of(8) && eighths / 8 < room {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    filled(&bar, room)
}

/// The parts of columns that a bar fills, in a room of at least one column; what is not nothing
/// fills one.
fn parts_of_columns(columns: f64, parts: usize, room: usize) -> usize {
    let drawn = (columns * parts as f64).round() as usize;
    if columns > 0.0 { drawn.clamp(1, parts * room.max(1)) } else { 0 }
}

/// From zero to the left, to half a column: there are no finer blocks that begin at the right.
fn leftward(columns: f64, room: usize) -> String {
    let halves = parts_of_columns(columns, 2, room);
    let full = (halves / 2).min(room);
    let half = if !halves.is_multiple_of(2) && full < room { "▐" } else { "" };
    let bar = format!("{half}{}", "█".repeat(full));
    format!("{}{bar}", " ".repeat(room.saturating_sub(bar.width())))
}

/// Returns the figures as a table; of a series over time its mean and its lowest value.
pub fn table(chart: &Chart) -> Table<'static> {
    if chart.kind == ChartKind::OverTime {
        let mut table = Columns::for_rows(&chart.groups);
        table.name("", |group| group.label.clone());
        for (at, heading) in ["mean", "lowest"].into_iter().enumerate() {
            table.with(Column::right(heading), move |group| {
                Cell::from(series_figures(group).map(|figures| figures[at]))
            });
        }
        return table.into();
    }
    let bars =
        chart.groups.iter().flat_map(|group| group.bars.iter().map(|bar| (&group.label, bar)));
    let mut table = Columns::for_rows(bars);
    if chart.groups.iter().any(|group| !group.label.is_empty()) {
        table.name("group", |(group, _)| (*group).clone());
    }
    table.name("", |(_, bar)| bar.label.clone());
    let unit = if chart.unit.is_empty() { "value" } else { &*chart.unit };
    table.with(Column::right(unit), |(_, bar)| {
        Cell::from(bar.value).shown(chart.value(bar)).toned(bar.tone)
    });
    table.with(Column::left("95 % interval"), |(_, bar)| match bar.interval {
        Some(interval) => Cell::ends(interval, chart.interval(bar)),
        None => "".into(),
    });
    if chart.bars().any(|bar| !bar.note.is_empty()) {
        table.left("", |(_, bar)| bar.note.clone());
    }
    table.into()
}

/// No longer than this, so that lines end near their figures on wide terminals.
const LINE_MAX: usize = 60;
/// From nothing to the most, an eighth each.
pub const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Between the warm-up and the measurement.
const GO: char = '│';

/// Intervals that share a column, so that every group fits into `room` columns.
fn bucket(groups: &[BarGroup], room: usize) -> usize {
    let longest = groups.iter().map(|group| group.bars.len()).max().unwrap_or(0);
    (1..=longest)
        .find(|bucket: &usize| groups.iter().all(|group| columns(group, *bucket) <= room))
        .unwrap_or(longest.max(1))
}

fn columns(group: &BarGroup, bucket: usize) -> usize {
    let warm_up = warm_up(group);
    let measured = group.bars.len() - warm_up;
    warm_up.div_ceil(bucket) + measured.div_ceil(bucket) + usize::from(warm_up > 0)
}

fn warm_up(group: &BarGroup) -> usize {
    group.bars.iter().take_while(|bar| bar.tone == Tone::Muted).count()
}

/// The line of a group; `most` is the value of the highest block. Each column is the mean of
/// `bucket` intervals.
fn line(group: &BarGroup, most: f64, bucket: usize) -> String {
    let warm_up = warm_up(group);
    let values: Vec<f64> = group.bars.iter().map(|bar| bar.value).collect();
    let (before, after) = values.split_at(warm_up);
    let draw = |values: &[f64]| -> String {
        values.chunks(bucket).map(|chunk| level(mean(chunk), most)).collect()
    };
    if warm_up > 0 { format!("{}{GO}{}", draw(before), draw(after)) } else { draw(after) }
}

fn level(value: f64, most: f64) -> char {
    // Nothing at all is a gap: the lowest block stands for little.
    if value <= 0.0 || !value.is_finite() || most <= 0.0 {
        return ' ';
    }
    LEVELS[((8.0 * value / most).ceil() as usize).clamp(1, 8) - 1]
}

/// Fill of totals, of decreases and of increases, which differ without colour.
const WHOLE: char = '█';
const FALL: char = '░';
const RISE: char = '▓';

/// A line for each bar; the first and the last are totals, the others begin where the one before
/// ended.
///
/// Bars of less than a column are drawn as one column.
fn waterfall(bars: &[&Bar], room: usize) -> Vec<String> {
    let steps = steps(bars);
    let most = steps.iter().flat_map(|(a, b)| [*a, *b]).fold(0.0, f64::max);
    let scale = if most > 0.0 { room as f64 / most } else { 0.0 };
    let column = |value: f64| ((value * scale).round().max(0.0) as usize).min(room);
    let last = steps.len().saturating_sub(1);
    steps
        .iter()
        .enumerate()
        .map(|(i, (from, to))| {
            let fill = match (i == 0 || i == last, to < from) {
                (true, _) => WHOLE,
                (_, true) => FALL,
                _ => RISE,
            };
            let (low, high) = (column(from.min(*to)), column(from.max(*to)));
            let low = if room > 0 { low.min(room - 1) } else { 0 };
            let columns = if from.total_cmp(to).is_eq() {
                0
            } else {
                (high - low.min(high)).max(1).min(room)
            };
            format!("{}{}", " ".repeat(low), fill.to_string().repeat(columns))
        })
        .collect()
}

/// Returns the begin and the end of each bar.
pub fn steps(bars: &[&Bar]) -> Vec<(f64, f64)> {
    let last = bars.len().saturating_sub(1);
    let mut at = 0.0;
    bars.iter()
        .enumerate()
        .map(|(i, bar)| {
            let value = if bar.value.is_finite() { bar.value } else { 0.0 };
            if i == 0 || i == last {
                at = value;
                return (0.0, value);
            }
            let from = at;
            at += value;
            (from, at)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Bar;
    use analysis::Interval;

    #[test]
    fn bars_are_as_long_as_they_say() {
        assert_eq!(rightward(2.5, 4), "██▌ ");
        assert_eq!(rightward(4.0, 4), "████");
        assert_eq!(rightward(0.001, 4), "▏   ");
        assert_eq!(rightward(0.0, 2), "  ");
        assert_eq!(rightward(-3.0, 2), "  ");
        assert_eq!(rightward(9.0, 0), "");
        assert_eq!(leftward(2.5, 4), " ▐██");
        assert_eq!(leftward(0.001, 2), " ▐");
        assert_eq!(leftward(4.0, 4), "████");
        assert_eq!(leftward(-1.0, 3), "   ");
        for eighths in 0..=80 {
            let bar = rightward(f64::from(eighths) / 8.0, 10);
            let drawn: usize = bar
                .chars()
                .map(|c| {
                    if c == '█' {
                        8
                    } else {
                        EIGHTHS.iter().position(|e| *e == c).map_or(0, |e| e + 1)
                    }
                })
                .sum();
            assert_eq!((drawn, bar.width()), (eighths as usize, 10));
        }
    }

    #[test]
    fn percent_has_a_sign_and_a_decimal_where_it_says_something() {
        let cases = [
            (11.0, "+11.0"),
            (-62.54, "-62.5"),
            (0.04, "0.0"),
            (-0.04, "0.0"),
            (123.4, "+123"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(percent(value), text);
        }
    }

    #[test]
    fn an_interval_as_wide_as_its_value_has_ends() {
        let interval = |kind, value, (low, high)| {
            let interval = Some(Interval { low, high });
            let bar = Bar { value, interval, ..Bar::default() };
            let (title, unit, groups) = Default::default();
            Chart { title, unit, kind, groups }.interval(&bar)
        };
        assert_eq!(interval(ChartKind::Bars, 5.11, (4.77, 5.45)), "± 6.7 %");
        // Once ± 335 %, of which half would be below 0.
        assert_eq!(interval(ChartKind::Bars, 4.97, (0.0, 33.3)), "[0, 33.3]");
        assert_eq!(interval(ChartKind::Diverging, 60.0, (-99_900.0, 99.0)), "[<-1000, +99.0]");
    }

    fn group(values: &[f64], warm_up: usize) -> BarGroup {
        BarGroup {
            bars: values
                .iter()
                .enumerate()
                .map(|(i, value)| Bar {
                    value: *value,
                    tone: if i < warm_up { Tone::Muted } else { Tone::Plain },
                    ..Bar::default()
                })
                .collect(),
            ..BarGroup::default()
        }
    }

    #[test]
    fn stalls_are_gaps_and_warm_up_is_apart() {
        assert_eq!(line(&group(&[1.0, 4.0, 8.0, 0.0, 8.0], 0), 8.0, 1), "▁▄█ █");
        assert_eq!(line(&group(&[2.0, 4.0, 8.0, 8.0], 2), 8.0, 1), "▂▄│██");
        assert_eq!(line(&group(&[1.0, 1.0, 8.0, 8.0, 4.0], 0), 8.0, 2), "▁█▄");
        assert_eq!(line(&group(&[f64::NAN, 1.0], 0), 0.0, 1), "  ");
    }

    /// All lines have the same length of time in a column, and the longest fits.
    #[test]
    fn nothing_is_wider_than_its_room() {
        for n in 0..70_u32 {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            for (warm_up, room) in [(0, 10), (n as usize / 3, 10), (n as usize, 7), (1, 60)] {
                let groups = [group(&values, warm_up), group(&values[..n as usize / 2], 0)];
                let bucket = bucket(&groups, room);
                for group in &groups {
                    let drawn = line(group, 70.0, bucket);
                    assert!(drawn.chars().count() <= room, "{n} {warm_up} {room} {drawn:?}");
                }
            }
        }
    }

    fn bar(value: f64) -> Bar {
        Bar { value, ..Bar::default() }
    }

    #[test]
    fn each_change_begins_where_the_one_before_ended() {
        let bars = [bar(10.0), bar(-4.0), bar(-3.0), bar(2.0), bar(0.001), bar(0.0), bar(5.0)];
        let drawn = waterfall(&bars.iter().collect::<Vec<_>>(), 10);
        assert_eq!(
            drawn,
            ["██████████", "      ░░░░", "   ░░░", "   ▓▓", "     ▓", "     ", "█████"]
        );
    }

    #[test]
    fn a_waterfall_fits_its_room() {
        for values in
            [[0.0; 4], [1.0, 1e9, -1e9, 1.0], [5.0, -9.0, 4.5, 0.5], [f64::NAN, 1.0, -1.0, 0.0]]
        {
            let bars = values.map(bar);
            for room in [0, 1, 7, 40] {
                let drawn = waterfall(&bars.iter().collect::<Vec<_>>(), room);
                assert!(
                    drawn.iter().all(|line| line.chars().count() <= room),
                    "{values:?} {drawn:?}"
                );
            }
        }
    }
}
