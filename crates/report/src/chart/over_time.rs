//! Figures over time in one line each.

use crate::model::{BarGroup, Tone};

/// No longer than this, so that lines end near their figures on wide terminals.
pub(super) const LINE_MAX: usize = 60;
/// From nothing to the most, an eighth each.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Between the warm-up and the measurement.
const GO: char = '│';

/// How many intervals are one column, so that every group fits into so many.
pub(super) fn bucket(groups: &[BarGroup], room: usize) -> usize {
    let columns = |group: &BarGroup, bucket: usize| {
        let warm_up = warm_up(group);
        let measured = group.bars.len() - warm_up;
        warm_up.div_ceil(bucket) + measured.div_ceil(bucket) + usize::from(warm_up > 0)
    };
    let longest = groups.iter().map(|group| group.bars.len()).max().unwrap_or(0);
    let fits = |bucket: &usize| groups.iter().all(|group| columns(group, *bucket) <= room);
    (1..=longest).find(fits).unwrap_or(longest.max(1))
}

fn warm_up(group: &BarGroup) -> usize {
    group.bars.iter().take_while(|bar| bar.tone == Tone::Muted).count()
}

/// The line of a group; `most` is the value of the highest block. Each column is the mean of `bucket` intervals.
pub(super) fn line(group: &BarGroup, most: f64, bucket: usize) -> String {
    let warm_up = warm_up(group);
    let values: Vec<f64> = group.bars.iter().map(|bar| bar.value).collect();
    let (before, after) = values.split_at(warm_up);
    let draw =
        |values: &[f64]| -> String { values.chunks(bucket).map(|chunk| level(mean(chunk), most)).collect() };
    if warm_up > 0 { format!("{}{GO}{}", draw(before), draw(after)) } else { draw(after) }
}

fn level(value: f64, most: f64) -> char {
    // Nothing at all is a gap: the lowest block stands for little.
    if value <= 0.0 || !value.is_finite() || most <= 0.0 {
        return ' ';
    }
    LEVELS[((8.0 * value / most).ceil() as usize).clamp(1, 8) - 1]
}

/// Mean of values that are not none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Bar;

    fn group(values: &[f64], warm_up: usize) -> BarGroup {
        let tone = |i| if i < warm_up { Tone::Muted } else { Tone::Plain };
        let bar = |(i, value): (usize, &f64)| Bar { value: *value, tone: tone(i), ..Bar::default() };
        BarGroup { bars: values.iter().enumerate().map(bar).collect(), ..BarGroup::default() }
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
}
