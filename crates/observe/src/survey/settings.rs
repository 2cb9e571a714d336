//! What is read of the settings of the kernel. Why each matters is said by `analysis::survey`, by name.

use crate::sysfs::{Tree, selected};
use observations::SystemSetting;
use std::collections::BTreeMap;

/// Where a setting is.
#[derive(Clone, Copy)]
enum Source {
    /// Below `/proc/sys`, at its name.
    Sysctl,
    /// The same, but only some kernels have it; the others do not miss it.
    SysctlIfThere,
    /// In a file, which only some kernels have.
    IfThere(&'static str),
    /// In a file.
    File(&'static str),
    /// The choice in brackets in a file.
    Choice(&'static str),
    /// In a file of each processor.
    EachCpu(&'static str),
}

use Source::{Choice, EachCpu, File, IfThere, Sysctl, SysctlIfThere};

#[rustfmt::skip]
const SETTINGS: &[(&str, Source)] = &[
    ("vm.nr_hugepages", Sysctl),
    ("vm.nr_overcommit_hugepages", Sysctl),
    ("transparent_hugepage.enabled", Choice("sys/kernel/mm/transparent_hugepage/enabled")),
    ("transparent_hugepage.defrag", Choice("sys/kernel/mm/transparent_hugepage/defrag")),
    ("vm.swappiness", Sysctl),
    ("vm.dirty_background_ratio", Sysctl),
    ("vm.dirty_background_bytes", Sysctl),
    ("vm.dirty_ratio", Sysctl),
    ("vm.dirty_bytes", Sysctl),
    ("vm.dirty_expire_centisecs", Sysctl),
    ("vm.dirty_writeback_centisecs", Sysctl),
    ("vm.overcommit_memory", Sysctl),
    ("vm.overcommit_ratio", Sysctl),
    ("vm.overcommit_kbytes", Sysctl),
    ("vm.min_free_kbytes", Sysctl),
    ("vm.max_map_count", Sysctl),
    ("vm.zone_reclaim_mode", SysctlIfThere),
    ("kernel.numa_balancing", SysctlIfThere),
    ("cpufreq.driver", EachCpu("cpufreq/scaling_driver")),
    ("cpufreq.governor", EachCpu("cpufreq/scaling_governor")),
    ("cpufreq.energy_performance_preference", EachCpu("cpufreq/energy_performance_preference")),
    ("cpufreq.max_khz", EachCpu("cpufreq/scaling_max_freq")),
    ("cpufreq.boost", IfThere("sys/devices/system/cpu/cpufreq/boost")),
    ("intel_pstate.status", IfThere("sys/devices/system/cpu/intel_pstate/status")),
    ("intel_pstate.no_turbo", IfThere("sys/devices/system/cpu/intel_pstate/no_turbo")),
    ("amd_pstate.status", IfThere("sys/devices/system/cpu/amd_pstate/status")),
    ("cpuidle.driver", IfThere("sys/devices/system/cpu/cpuidle/current_driver")),
    ("clocksource.current", File("sys/devices/system/clocksource/clocksource0/current_clocksource")),
    ("clocksource.available", File("sys/devices/system/clocksource/clocksource0/available_clocksource")),
    ("net.core.somaxconn", Sysctl),
    ("fs.file-max", Sysctl),
    ("fs.nr_open", Sysctl),
    ("fs.aio-max-nr", Sysctl),
    ("fs.aio-nr", Sysctl),
    ("kernel.io_uring_disabled", SysctlIfThere),
    ("kernel.shmmax", Sysctl),
    ("kernel.shmall", Sysctl),
    ("kernel.shmmni", Sysctl),
    ("kernel.sem", Sysctl),
    ("kernel.pid_max", Sysctl),
    ("kernel.threads-max", Sysctl),
    ("kernel.sched_autogroup_enabled", SysctlIfThere),
    ("kernel.sched_rt_runtime_us", SysctlIfThere),
    ("kernel.sched_migration_cost_ns", SysctlIfThere),
    ("kernel.sched_min_granularity_ns", SysctlIfThere),
    ("kernel.sched_wakeup_granularity_ns", SysctlIfThere),
    ("kernel.perf_event_paranoid", SysctlIfThere),
];

/// All settings that this kernel has, and those that every kernel should have.
pub(super) fn all(tree: &Tree, online: &[u32]) -> Vec<SystemSetting> {
    let mut settings = Vec::new();
    for (name, source) in SETTINGS {
        let value = read(tree, online, name, *source);
        if value.is_some() || !matches!(source, SysctlIfThere | IfThere(_)) {
            settings.push(SystemSetting { name: (*name).into(), value });
        }
    }
    settings
}

fn read(tree: &Tree, online: &[u32], name: &str, source: Source) -> Option<String> {
    let sysctl = || format!("proc/sys/{}", name.replace('.', "/"));
    let text = match source {
        Sysctl => tree.text(sysctl()),
        SysctlIfThere => tree.if_there(sysctl()),
        IfThere(path) => tree.if_there(path),
        File(path) => tree.text(path),
        Choice(path) => tree.text(path).and_then(|text| selected(&text)),
        EachCpu(path) => each(tree, online, path),
    }?;
    // Several numbers of one setting are apart by tabs.
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The value that all processors have, or each value with how many have it, the most frequent first.
fn each(tree: &Tree, online: &[u32], path: &str) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cpu in online {
        if let Some(value) = tree.if_there(format!("sys/devices/system/cpu/cpu{cpu}/{path}")) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [] => None,
        [(value, _)] => Some(value.clone()),
        several => {
            let each = several.iter().map(|(value, count)| format!("{value} ({count})"));
            Some(each.collect::<Vec<_>>().join(", "))
        }
    }
}
