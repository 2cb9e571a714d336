//! Trials that failed, and trials with warnings.

use crate::model::{Section, Tone};
use crate::number;
use analysis::{Failure, Summary, WarningCount};

/// Causes of failure; `None` when nothing failed.
pub(crate) fn failures(_: &Summary, failures: &[Failure]) -> Option<Section> {
    let mut section = Section::new("Failed trials");
    for failure in failures {
        let attempts = number::plural(failure.attempts, "attempt");
        // The first line says why; what a server's log says about it may follow.
        let mut lines = failure.cause.lines();
        section.toned(format!("{attempts}: {}", lines.next().unwrap_or_default()), Tone::Bad);
        lines.for_each(|line| section.detail(line));
        section.detail(failure.configurations.join(", "));
    }
    section.unless_empty()
}

/// Warnings by kind with an example, and where they are; `None` without any.
pub(crate) fn warnings(summary: &Summary, warnings: &[WarningCount]) -> Option<Section> {
    let mut section = Section::new("Warnings");
    for warning in warnings {
        let trials = number::plural(warning.trials, "trial");
        section.toned(
            format!("{}: {trials}, for example: {}", warning.kind.name(), warning.detail),
            Tone::Warning,
        );
    }
    for row in summary.configurations.iter().filter(|row| !row.warnings.is_empty()) {
        let trials = number::plural(row.done, "trial");
        let one = |warning: &WarningCount| format!("{} {}", warning.trials, warning.kind.name());
        let counts: Vec<String> = row.warnings.iter().map(one).collect();
        section.detail(format!("{}: of {trials} {}", row.label, counts.join(", ")));
    }
    section.unless_empty()
}
