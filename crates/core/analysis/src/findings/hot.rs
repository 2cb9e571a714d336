//! Hot resources found by sampling waiting sessions.

use super::{Finding, FindingKind};
use crate::hot::HotResources;
use crate::{ConfigurationRow, Summary, wording};
use observations::order;

/// A wait below this share of the waits, in percent, is not worth the sentence.
const PERCENT_MIN: f64 = 5.0;

/// Finds, for each kind of contended object, the configuration in which its wait has the largest
/// share of all waits.
pub fn find(summary: &Summary) -> Vec<Finding> {
    let mut found: Vec<(f64, &ConfigurationRow, &HotResources)> = Vec::new();
    for configuration in &summary.configurations {
        for hot in &configuration.hot {
            let row = configuration.waits.rows.iter().find(|row| row.wait_type == hot.wait_type);
            let percent = row.map_or(0.0, |row| row.percentage);
            match found.iter_mut().find(|(_, _, other)| {
                (&other.wait_type, &other.kind) == (&hot.wait_type, &hot.kind)
            }) {
                Some(other) if percent > other.0 => *other = (percent, configuration, hot),
                None if percent >= PERCENT_MIN => found.push((percent, configuration, hot)),
                _ => {}
            }
        }
    }
    order::largest_first(&mut found, &|row| row.0);
    found.into_iter().map(|(percent, count, hot)| finding(percent / 100.0, count, hot)).collect()
}

fn finding(share: f64, configuration_row: &ConfigurationRow, hot: &HotResources) -> Finding {
    let of = if configuration_row.label.is_empty() {
        String::new()
    } else {
        format!("With {}, ", configuration_row.label)
    };
    let text = format!("{of}{}.", hot.finding());
    let evidence = format!(
        "{}; {} makes up {} of the waits of {}",
        hot.evidence(),
        hot.wait_type,
        wording::percent(share),
        wording::count(configuration_row.done, "trial")
    );
    Finding::new(FindingKind::Waits, text, evidence)
}
