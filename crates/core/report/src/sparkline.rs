//! A series in a line of text, and the tone of a verdict on it.

use crate::Tone;
use crate::chart::LEVELS;
use analysis::Verdict;

/// Columns of a sparkline; longer series are drawn in means of neighbours.
const SPARKS: usize = 32;
/// The sign for runs without a value.
const MISSING: char = '·';

/// The tone of a verdict.
pub fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// A line of bars between the smallest and the largest value.
pub fn sparkline(points: &[Option<f64>]) -> String {
    let columns = points.len().min(SPARKS);
    let edge = |column: usize| column * points.len() / columns;
    let means: Vec<Option<f64>> = (0..columns)
        .map(|column| {
            let known: Vec<f64> =
                points[edge(column)..edge(column + 1)].iter().copied().flatten().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect();
    let known = || means.iter().flatten().copied();
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    // What differs by rounding only is drawn as equal.
    let range =
        if high - low > high.abs().max(low.abs()) * 1e-9 { high - low } else { f64::INFINITY };
    means
        .iter()
        .map(|mean| {
            let level =
                |mean: f64| LEVELS[(7.0 * ((mean - low) / range)).round().min(7.0) as usize];
            mean.map_or(MISSING, level)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline as line;

    #[test]
    fn sparklines_go_from_the_smallest_to_the_largest() {
        assert_eq!(line(&[Some(1.0), Some(1.5), None, Some(2.0)]), "▁▅·█");
        assert_eq!(line(&[Some(3.0), Some(3.0)]), "▁▁");
        assert_eq!(line(&[]), "");
        let many: Vec<Option<f64>> = (0..320).map(|i| Some(f64::from(i / 160))).collect();
        assert_eq!(line(&many), format!("{}{}", "▁".repeat(16), "█".repeat(16)));
    }
}
