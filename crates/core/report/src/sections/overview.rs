//! Question, failures and environment.

use crate::model::{Place, Section, Tone};
use crate::text::{joined, listed};
use crate::{number, text};
use analysis::{Environments, Failure, Overview, Summary, WarningCount};
use observations::{Direction, Environment};

/// Configurations that are named one by one.
const NAMED_MAX: usize = 100;

/// The question, the run, and what it is compared on.
pub(crate) fn section(summary: &Summary, overview: &Overview) -> [Section; 1] {
    let mut section = Section::default().at(Place::Question);
    if let Some(question) = &overview.run.question {
        section.line(question.as_str());
    }
    let futile = summary.futile().count();
    let failed = overview.failed.saturating_sub(futile);
    let failed = (failed > 0).then(|| format!("{} failed", number::plural(failed, "attempt")));
    let futile = (futile > 0).then(|| format!("{futile} ended early by the search"));
    let compared = overview.response.as_ref().map(|response| {
        format!(
            "compared on {} ({}, {} is better)",
            response.name,
            response.unit,
            better(response.direction)
        )
    });
    let parts = [
        Some(format!("Run {}, {}", overview.run.id, text::utc(overview.run.started_ms))),
        text::origin(overview.run.label.as_deref(), overview.run.git.as_ref()),
        Some(format!("{} done", number::plural(overview.done, "trial"))),
        futile,
        failed,
        compared,
    ];
    section.note(joined(parts.into_iter().flatten(), "; "));
    [section]
}

/// Returns the direction in which a response is better.
pub fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    }
}

/// Causes of failure; `None` when nothing failed.
pub(crate) fn failures(_: &Summary, failures: &[Failure]) -> Option<Section> {
    let mut section = Section::new("Failed trials");
    for failure in failures {
        let attempts = number::plural(failure.attempts, "attempt");
        // The first line says why; what a server's log says about it may follow.
        let mut lines = failure.cause.lines();
        section.toned(format!("{attempts}: {}", lines.next().unwrap_or_default()), Tone::Bad);
        lines.for_each(|line| section.detail(line));
        let configuration = failure.configurations.iter().take(NAMED_MAX).map(String::as_str);
        let others =
            failure.configurations.len().checked_sub(NAMED_MAX).filter(|others| *others > 0);
        let others = others.map(|others| format!("{} more", number::count(others as u64)));
        section.detail(joined(configuration.chain(others.as_deref()), ", "));
    }
    section.unless_empty()
}

/// Warnings by kind with an example, and where they are; `None` without any.
pub(crate) fn warnings(summary: &Summary, warnings: &[WarningCount]) -> Option<Section> {
    let mut section = Section::new("Warnings");
    for warning in warnings {
        let trials = match warning.trials {
            all if all > 1 && all == summary.done() => "every trial of the run".to_owned(),
            trials => number::plural(trials, "trial"),
        };
        section.warn(format!("{}: {trials}, for example: {}", warning.kind.name(), warning.detail));
    }
    let of_run = summary.run_warnings();
    let rows = || {
        let all = summary.configurations.iter().map(|row| (row, row.own_warnings(&of_run)));
        all.filter(|(_, kinds)| !kinds.is_empty())
    };
    for (row, kinds) in rows().take(NAMED_MAX) {
        let trials = number::plural(row.done, "trial");
        let counts =
            kinds.iter().map(|warning| format!("{} {}", warning.trials, warning.kind.name()));
        let counts = joined(counts, ", ");
        section.detail(format!("{}: of {trials} {counts}", text::label(&row.label)));
    }
    if let Some(others @ 1..) = rows().count().checked_sub(NAMED_MAX) {
        let others = number::plural(others, "other configuration");
        section.detail(format!("{others}: see the JSON output."));
    }
    section.unless_empty()
}

/// The machine and software; `None` when it was not recorded.
pub(crate) fn environment(_: &Summary, environments: Option<&Environments>) -> Option<Section> {
    let Environments { first, others } = environments?;
    let mut section = Section::new("Environment");
    section.line(machine(first));
    for volume in &first.volumes {
        let parts = [
            Some(volume.path.as_str()),
            volume.file_system.as_deref(),
            volume.device.as_deref(),
            volume.scheduler.as_deref(),
        ];
        let known = joined(parts.into_iter().flatten().filter(|part| !part.is_empty()), ", ");
        section.detail(format!("volume {}: {known}", volume.name));
    }
    if *others > 0 {
        let others = number::plural(*others, "other environment");
        section.warn(format!("The run was resumed in {others}."));
    }
    Some(section)
}

fn machine(environment: &Environment) -> String {
    let count = |n: Option<u32>, name: &str| n.map(|n| number::plural(n as usize, name));
    let layout = [
        count(environment.cores, "core"),
        count(environment.sockets, "socket"),
        count(environment.numa_nodes, "NUMA node"),
    ];
    let layout = listed(layout.into_iter().flatten())
        .map_or_else(String::new, |layout| format!(" ({layout})"));
    let cpus = format!("{}{layout}", number::plural(environment.cpus as usize, "CPU"));
    let memory = environment.memory_bytes.map(|bytes| format!("{} memory", number::bytes(bytes)));
    // An engine of the operating system has its version, which is shown already.
    let engines = environment.engines.iter().filter(|(_, engine)| {
        environment.kernel.as_ref().is_none_or(|kernel| *kernel != engine.version)
    });
    let engines = engines.map(|(name, engine)| format!("{name} {}", engine.version));
    let parts = [environment.host.clone(), environment.cpu_model.clone(), Some(cpus), memory];
    let software = [environment.kernel.clone(), environment.virtualization.clone()];
    let parts = parts.into_iter().chain(software).flatten().chain(engines);
    let version = &environment.steelbench;
    let ours = (!version.is_empty()).then(|| format!("Steelbench {version}"));
    joined(parts.chain(ours), ", ")
}
