//! A gate's decision in one line.

use crate::model::Tone;
use crate::names::label;
use crate::{Text, number};
use analysis::Interval;
use analysis::runs::{Decision, Gate, Judged, LimitJudged};

/// Why a gate is passed or not, in one line.
///
/// `Gate failed: elapsed of data_files=1 rose by 10.0 % [9.1, 10.9], beyond slower:3% (1 of 2 configurations).`
pub fn gate(gate: &Gate) -> Text {
    line(gate).into()
}

pub(crate) fn line(gate: &Gate) -> String {
    let limits: Vec<String> = gate.limits.iter().map(|it| it.limit.to_string()).collect();
    let worst: Vec<&LimitJudged> = gate.limits.iter().filter(|it| it.decision == gate.decision).collect();
    let Some(first) = worst.first().filter(|_| gate.decision != Decision::Kept) else {
        return format!("Gate passed: every configuration is within {}.", limits.join(", "));
    };
    let hit: Vec<&Judged> = first.configurations.iter().filter(|it| it.decision == gate.decision).collect();
    let furthest = hit.iter().copied().reduce(|a, b| if beyond(first, b) > beyond(first, a) { b } else { a });
    let what = furthest.map_or_else(String::new, |own| change(first, own));
    let share = format!("{} of {}", hit.len(), number::plural(first.configurations.len(), "configuration"));
    let others = if worst.len() > 1 {
        format!("; also {} not kept", number::plural(worst.len() - 1, "other limit"))
    } else {
        String::new()
    };
    let limit = &first.limit;
    match gate.decision {
        Decision::Broken => format!("Gate failed: {what}, beyond {limit} ({share}{others})."),
        _ => format!("Gate unsure: {what}, which may or may not be within {limit} ({share}{others})."),
    }
}

pub(crate) fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Kept => Tone::Good,
        Decision::Unsure => Tone::Warning,
        Decision::Broken => Tone::Bad,
    }
}

/// How far a change goes in the direction of the limit.
fn beyond(limit: &LimitJudged, own: &Judged) -> f64 {
    own.change.map_or(f64::NEG_INFINITY, |change| if limit.rise { change } else { -change })
}

fn change(limit: &LimitJudged, own: &Judged) -> String {
    let name = format!("{} of {}", limit.response.name, label(&own.label));
    let Some(change) = own.change else {
        return format!("{name} cannot be judged, a value is missing or not above 0");
    };
    let sign = if change < 0.0 { -1.0 } else { 1.0 };
    let word = if change < 0.0 { "fell" } else { "rose" };
    let percent = |value: f64| number::fixed(100.0 * sign * value, 1);
    let interval = match own.interval {
        None => " (one block, no interval)".to_owned(),
        Some(Interval { low, high }) if sign > 0.0 => format!(" [{}, {}]", percent(low), percent(high)),
        Some(Interval { low, high }) => format!(" [{}, {}]", percent(high), percent(low)),
    };
    format!("{name} {word} by {} %{interval}", percent(change))
}
