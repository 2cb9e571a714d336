//! From one total to another, change by change.

use crate::model::Bar;

/// Fill of totals, of changes that take away and of changes that add: told apart without colour.
const WHOLE: char = '█';
const FALL: char = '░';
const RISE: char = '▓';

/// One line a bar; the first and the last are totals, the others begin where the one before ended.
///
/// What would be less than a column is drawn as one.
pub(super) fn lines(bars: &[&Bar], room: usize) -> Vec<String> {
    let steps = steps(bars);
    let most = steps.iter().flat_map(|(a, b)| [*a, *b]).fold(0.0, f64::max);
    let scale = if most > 0.0 { room as f64 / most } else { 0.0 };
    let column = |value: f64| ((value * scale).round().max(0.0) as usize).min(room);
    let last = steps.len().saturating_sub(1);
    let draw = |(i, (from, to)): (usize, &(f64, f64))| {
        let fill = match (i == 0 || i == last, to < from) {
            (true, _) => WHOLE,
            (_, true) => FALL,
            _ => RISE,
        };
        let (low, high) = (column(from.min(*to)), column(from.max(*to)));
        let low = if room > 0 { low.min(room - 1) } else { 0 };
        let columns = if from.total_cmp(to).is_eq() { 0 } else { (high - low.min(high)).max(1).min(room) };
        format!("{}{}", " ".repeat(low), fill.to_string().repeat(columns))
    };
    steps.iter().enumerate().map(draw).collect()
}

/// Where each bar begins and ends.
fn steps(bars: &[&Bar]) -> Vec<(f64, f64)> {
    let last = bars.len().saturating_sub(1);
    let mut at = 0.0;
    let step = |(i, bar): (usize, &&Bar)| {
        let value = if bar.value.is_finite() { bar.value } else { 0.0 };
        if i == 0 || i == last {
            at = value;
            return (0.0, value);
        }
        let from = at;
        at += value;
        (from, at)
    };
    bars.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64) -> Bar {
        Bar { value, ..Bar::default() }
    }

    #[test]
    fn each_change_begins_where_the_one_before_ended() {
        let bars = [bar(10.0), bar(-4.0), bar(-3.0), bar(2.0), bar(0.001), bar(0.0), bar(5.0)];
        let drawn = lines(&bars.iter().collect::<Vec<_>>(), 10);
        assert_eq!(drawn, ["██████████", "      ░░░░", "   ░░░", "   ▓▓", "     ▓", "     ", "█████"]);
    }

    #[test]
    fn nothing_is_wider_than_its_room() {
        for values in [[0.0; 4], [1.0, 1e9, -1e9, 1.0], [5.0, -9.0, 4.5, 0.5], [f64::NAN, 1.0, -1.0, 0.0]] {
            let bars = values.map(bar);
            for room in [0, 1, 7, 40] {
                let drawn = lines(&bars.iter().collect::<Vec<_>>(), room);
                assert!(drawn.iter().all(|line| line.chars().count() <= room), "{values:?} {drawn:?}");
            }
        }
    }
}
