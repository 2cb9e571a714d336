//! What else a reader must know: what failed, what is warned, on which machine.

use crate::model::{Section, Tone};
use crate::{configurations, number};
use analysis::Summary;
use observations::Environment;

/// Causes of failure; `None` when nothing failed.
pub(crate) fn failures(summary: &Summary) -> Option<Section> {
    let mut section = Section::new("Failed trials");
    for failure in &summary.failures {
        let attempts = number::plural(failure.attempts, "attempt");
        // The first line says why; what a server's log says about it may follow.
        let mut lines = failure.cause.lines();
        section.toned(format!("{attempts}: {}", lines.next().unwrap_or_default()), Tone::Bad);
        lines.for_each(|line| section.detail(line));
        section.detail(failure.configurations.join(", "));
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// Marks by kind with an example, and where they are; `None` without any.
pub(crate) fn warnings(summary: &Summary) -> Option<Section> {
    let mut section = Section::new("Marks");
    for warning in &summary.warnings {
        let trials = number::plural(warning.trials, "trial");
        section.toned(
            format!("{}: {trials}, for example: {}", warning.kind.name(), warning.detail),
            Tone::Warning,
        );
    }
    for row in summary.configurations.iter().filter(|row| !row.warnings.is_empty()) {
        let trials = number::plural(row.done, "trial");
        section.detail(format!("{}: of {trials} {}", row.label, configurations::warnings(&row.warnings)));
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// The machine and software; `None` when it was not recorded.
pub(crate) fn environment(summary: &Summary) -> Option<Section> {
    let environment = summary.environment.as_ref()?;
    let mut section = Section::new("Environment");
    section.line(machine(environment));
    for volume in &environment.volumes {
        let parts = [
            Some(volume.path.as_str()),
            volume.file_system.as_deref(),
            volume.device.as_deref(),
            volume.scheduler.as_deref(),
        ];
        section.detail(format!("volume {}: {}", volume.name, known(parts).join(", ")));
    }
    if summary.other_environments > 0 {
        let others = number::plural(summary.other_environments, "other environment");
        section.toned(format!("The run was resumed in {others}."), Tone::Warning);
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
    let layout: Vec<String> = layout.into_iter().flatten().collect();
    let processors = number::plural(environment.cpus as usize, "processor");
    let processors =
        if layout.is_empty() { processors } else { format!("{processors} ({})", layout.join(", ")) };
    let memory = environment.memory_bytes.map(|bytes| format!("{} memory", number::bytes(bytes)));
    let engines = environment.engines.iter().map(|(name, engine)| format!("{name} {}", engine.version));
    let parts = [environment.host.clone(), environment.cpu_model.clone(), Some(processors), memory];
    let software = [environment.kernel.clone(), environment.virtualization.clone()];
    let parts = parts.into_iter().chain(software).flatten().chain(engines);
    let ours =
        Some(format!("Steelbench {}", environment.steelbench)).filter(|_| !environment.steelbench.is_empty());
    parts.chain(ours).collect::<Vec<_>>().join(", ")
}

fn known<const N: usize>(parts: [Option<&str>; N]) -> Vec<&str> {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}
