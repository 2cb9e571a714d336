//! How sections word a class of scaling.

use crate::Cell;
use crate::number;
use analysis::{Interval, ScalingClass};

/// `87 % [85, 89]`
pub fn efficiency(share: f64, interval: Option<Interval>) -> Cell {
    let cell = Cell::percent(share, 0);
    let Some(Interval { low, high }) = interval else { return cell };
    let end = |share: f64| number::fixed(100.0 * share, 0);
    let text = format!("{} [{}, {}]", number::percent(share, 0), end(low), end(high));
    cell.shown(text)
}

/// By the ends of an interval: `flat`; `negative to flat` where it has both.
pub fn class(low: ScalingClass, high: ScalingClass) -> String {
    match (low, high) {
        (ScalingClass::Negative, ScalingClass::Linear) => "unknown".to_owned(),
        _ if low != high => format!("{} to {}", low.name(), high.name()),
        _ => low.name().to_owned(),
    }
}
