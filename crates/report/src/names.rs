//! What configurations and factors are called in reports.

use analysis::{ConfigurationRow, Summary};

/// The last part of a dotted path where it names one factor only, else the whole path.
pub(crate) fn short_name<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let short = last(path);
    let namesakes = all.iter().filter(|other| other.rsplit('.').next() == Some(short)).count();
    if namesakes > 1 { path } else { short }
}

/// The short name of a factor of a run.
pub(crate) fn factor<'a>(summary: &Summary, path: &'a str) -> &'a str {
    let all: Vec<&str> = summary.recording.factors.iter().map(|factor| factor.name.as_str()).collect();
    short_name(path, &all)
}

/// An experiment without factors has one configuration, without a name.
pub(crate) fn label(label: &str) -> &str {
    if label.is_empty() { "the configuration" } else { label }
}

/// The label of a configuration: its levels, but for those of the factor `without`.
pub(crate) fn label_without(summary: &Summary, row: &ConfigurationRow, without: &str) -> String {
    let others = row.levels.iter().filter(|level| level.factor != without);
    let others = others.map(|level| format!("{}={}", factor(summary, &level.factor), level.level));
    crate::text::joined(others, " ")
}
