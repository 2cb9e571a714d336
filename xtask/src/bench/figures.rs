//! Figures of trials: pairs, their medians and intervals, and what is printed of them.

use super::table::{Comparison, Figure, Goal};
use serde_json::Value;
use statistics::{mean, median, t_quantile};
use std::collections::BTreeMap;

/// A finished trial, as `run --json` announces it.
pub struct Trial {
    configuration: String,
    block: u64,
    responses: BTreeMap<String, f64>,
}

impl Trial {
    pub fn from_event(event: &Value) -> Option<Self> {
        let responses = event["responses"].as_array()?.iter().filter_map(|response| {
            Some((response["name"].as_str()?.to_owned(), response["value"].as_f64()?))
        });
        Some(Self {
            configuration: event["trial"]["configuration"].as_str()?.to_owned(),
            block: event["trial"]["block"].as_u64()?,
            responses: responses.collect(),
        })
    }

    fn value(&self, figure: &Figure) -> Option<f64> {
        let sum: Option<f64> = figure.sum.iter().map(|name| self.responses.get(*name)).sum();
        let per = figure.per.map_or(Some(1.0), |name| self.responses.get(name).copied());
        Some(figure.scale * sum? / per?)
    }
}

/// Values of a configuration by block.
type Blocks = BTreeMap<u64, f64>;

/// Prints a figure of each configuration, or the ratios of their pairs.
pub fn print(figure: &Figure, trials: &[Trial]) {
    let mut configurations: BTreeMap<&str, Blocks> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.configuration.contains(figure.only)) {
        if let Some(value) = trial.value(figure) {
            configurations.entry(&trial.configuration).or_default().insert(trial.block, value);
        }
    }
    for (label, values) in &configurations {
        let (base, is_speed) = match figure.comparison {
            Comparison::Alone => {
                let values: Vec<f64> = values.values().copied().collect();
                println!("{}{}: {}", prefix(label), figure.name, spread(&values, figure.unit));
                print_goal(figure.goal, &values);
                continue;
            }
            Comparison::RatioTo(base) => (base, false),
            Comparison::SpeedOver(base) => (base, true),
        };
        let Some((_, base_values)) = configurations
            .iter()
            .find(|(other, _)| *other != label && is_base_of(other, base, label))
        else {
            continue;
        };
        let pairs =
            values.iter().filter_map(|(block, value)| Some((value, base_values.get(block)?)));
        let ratios: Vec<f64> = pairs.map(|(a, b)| if is_speed { b / a } else { a / b }).collect();
        let [ours, peer] = [values, base_values].map(|blocks| {
            median(&blocks.values().copied().collect::<Vec<_>>()).unwrap_or(f64::NAN)
        });
        let rest = without_factor(label, base).join(" ");
        let factor = base.split_once('=').map_or(base, |(factor, _)| factor);
        let level = label.split(' ').find(|level| level.starts_with(factor)).unwrap_or_default();
        println!(
            "{}{}, {level} / {base} ({ours:.4} and {peer:.4}{}): {}, {}",
            prefix(&rest),
            figure.name,
            figure.unit,
            spread(&ratios, ""),
            intervals(&ratios)
        );
        print_goal(figure.goal, &ratios);
    }
}

/// The levels of a configuration, if it has any, before a figure.
fn prefix(levels: &str) -> String {
    if levels.is_empty() { String::new() } else { format!("{levels}: ") }
}

/// Returns whether a label is another one but for the level of one factor, which is `base`.
fn is_base_of(label: &str, base: &str, of: &str) -> bool {
    label.split(' ').any(|level| level == base)
        && without_factor(label, base) == without_factor(of, base)
}

/// The levels of a label without that of the factor of a level.
fn without_factor<'a>(label: &'a str, level: &str) -> Vec<&'a str> {
    let factor = &level[..=level.find('=').unwrap_or(0)];
    label.split(' ').filter(|level| !level.starts_with(factor)).collect()
}

fn print_goal(goal: Option<Goal>, values: &[f64]) {
    let median = median(values).unwrap_or(f64::NAN);
    let (is_reached, words, limit) = match goal {
        None => return,
        Some(Goal::AtLeast(limit)) => (median >= limit, "at least", limit),
        Some(Goal::AtMost(limit)) => (median <= limit, "at most", limit),
    };
    println!("    goal: {words} {limit}{}", if is_reached { "" } else { ": not reached" });
}

/// `median 1.2 ms (1.1 to 1.4, n = 21)`
fn spread(values: &[f64], unit: &str) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (median, n) = (median(values).unwrap_or(f64::NAN), values.len());
    format!("median {median:.3}{unit} ({low:.3} to {high:.3}, n = {n})")
}

/// The geometric mean of ratios with its 95 % interval, Student's t of their logarithms; and the
/// 95 % interval of their median, which assumes no distribution.
fn intervals(ratios: &[f64]) -> String {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let freedom = logs.len().saturating_sub(1) as f64;
    let center = mean(&logs);
    let variance = logs.iter().map(|log| (log - center).powi(2)).sum::<f64>() / freedom;
    let half = if freedom < 1.0 {
        f64::INFINITY
    } else {
        t_quantile(0.025, freedom) * (variance / (freedom + 1.0)).sqrt()
    };
    let [middle, low, high] = [center, center - half, center + half].map(f64::exp);
    let of_median = match interval_of_median(ratios) {
        Some((low, high)) => format!(", of the median [{low:.4}, {high:.4}]"),
        None => String::new(),
    };
    format!("geometric mean {middle:.4} [{low:.4}, {high:.4}]{of_median}")
}

/// Between which two values the median lies that they are drawn around: fewer are below the lower
/// one than heads come up in 2.5 % of as many throws of a coin (David and Nagaraja, "Order
/// Statistics", 7.1). `None` of fewer than six.
fn interval_of_median(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (mut below, mut heads, mut at_most) = (0, 0.5_f64.powi(n as i32), 0.0);
    while at_most + heads <= 0.025 {
        at_most += heads;
        heads *= (n - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let rank = below.checked_sub(1)?;
    Some((sorted[rank], sorted[n - 1 - rank]))
}

#[cfg(test)]
mod tests {
    use super::{interval_of_median, is_base_of};

    /// Ranks from tables of the sign test (Conover, "Practical Nonparametric Statistics", A3).
    #[test]
    fn the_interval_of_a_median_is_that_of_the_sign_test() {
        for (n, rank) in
            [(5, None), (6, Some(1)), (10, Some(2)), (20, Some(6)), (50, Some(18)), (100, Some(40))]
        {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let expected = rank.map(|rank| (f64::from(rank), f64::from(n + 1 - rank)));
            assert_eq!(interval_of_median(&values), expected, "{n}");
        }
    }

    #[test]
    fn a_pair_differs_in_one_factor() {
        assert!(is_base_of("a=1 program=peer", "program=peer", "a=1 program=ours"));
        assert!(!is_base_of("a=2 program=peer", "program=peer", "a=1 program=ours"));
        assert!(!is_base_of("a=1 program=ours", "program=peer", "a=1 program=peer"));
    }
}
