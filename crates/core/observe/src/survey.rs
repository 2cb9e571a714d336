//! The inventory of this machine: processors, memory, settings of the kernel, limits, volumes.
//! Nothing is written.

use crate::sysfs::{self, Tree, selected};
use crate::topology;
use observations::{
    Limits, Memory, Mitigation, Processors, SurveyedMachine, SystemSetting, Unread,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The operating system's facts about this machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineFacts {
    /// The machine.
    pub machine: SurveyedMachine,
    /// Settings that matter to databases.
    pub settings: Vec<SystemSetting>,
    /// Unreadable items with their reasons.
    pub unread: Vec<Unread>,
}

/// Takes the inventory of this machine.
pub fn machine() -> MachineFacts {
    let mut taken = machine_in(Path::new("/"));
    taken.machine.clock_synchronized = clock_synchronized();
    taken.machine.limits.open_files = soft_limit(libc::RLIMIT_NOFILE);
    taken.machine.limits.locked_bytes = soft_limit(libc::RLIMIT_MEMLOCK);
    taken
}

/// The inventory of the machine whose `/proc`, `/sys` and `/etc` are in this folder, without facts
/// that need a system call.
fn machine_in(root: &Path) -> MachineFacts {
    let tree = Tree::new(root);
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let online = topology::online(&tree);
    let machine = SurveyedMachine {
        host: tree.text("proc/sys/kernel/hostname"),
        kernel: kernel(&tree),
        distribution: distribution(&tree),
        architecture: tree
            .if_there("proc/sys/kernel/arch")
            .or_else(|| Some(std::env::consts::ARCH.into())),
        virtualization: virtualization(&tree, &cpuinfo),
        steal_share: tree.text("proc/stat").as_deref().and_then(steal_share),
        processors: Processors {
            caches: topology::caches(&tree, &online),
            ..topology::processors(&tree, &cpuinfo, &online)
        },
        nodes: topology::nodes(&tree),
        memory: tree.text("proc/meminfo").as_deref().map(memory).unwrap_or_default(),
        mitigations: mitigations(&tree),
        limits: limits(&tree),
        clock_synchronized: None,
    };
    let settings = self::settings(&tree, &online);
    MachineFacts { machine, settings, unread: tree.unread() }
}

pub(crate) fn kernel(tree: &Tree) -> Option<String> {
    Some(format!(
        "{} {}",
        tree.text("proc/sys/kernel/ostype")?,
        tree.text("proc/sys/kernel/osrelease")?
    ))
}

pub(crate) fn distribution(tree: &Tree) -> Option<String> {
    let text = tree.text("etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

/// Returns the layers between this process and the hardware, nearest first, as far as visible.
pub(crate) fn layers(tree: &Tree, cpuinfo: &str) -> Vec<String> {
    let container = tree.if_there("run/systemd/container").or_else(|| {
        let markers = [".dockerenv", "run/.containerenv"];
        markers.iter().any(|marker| tree.exists(marker)).then(|| "container".to_owned())
    });
    let mut flags = topology::fields(cpuinfo, "flags").flat_map(|flags| flags.split(' '));
    let machine = flags.any(|flag| flag == "hypervisor").then(|| {
        let vendor = tree.if_there("sys/class/dmi/id/sys_vendor");
        vendor.map_or("virtual machine".to_owned(), |vendor| format!("virtual machine ({vendor})"))
    });
    container.into_iter().chain(machine).collect()
}

/// Describes virtualization; `None` where the CPU does not show its flags.
fn virtualization(tree: &Tree, cpuinfo: &str) -> Option<String> {
    topology::fields(cpuinfo, "flags").next()?;
    let layers = layers(tree, cpuinfo);
    Some(if layers.is_empty() { "none seen".into() } else { layers.join(" in ") })
}

/// Time that a hypervisor gave to others, as a share of all time of all processors since boot (see
/// proc(5)).
fn steal_share(stat: &str) -> Option<f64> {
    let all = crate::machine::ticks(stat)?;
    let sum: f64 = all.iter().sum();
    (sum > 0.0).then(|| all[7] / sum)
}

/// The figures of `/proc/meminfo` (see proc(5)), which are in KiB or are counts.
pub(crate) fn memory(meminfo: &str) -> Memory {
    let figure = |name: &str| -> Option<u64> {
        let lines = meminfo.lines().filter_map(|line| line.split_once(':'));
        let text = lines.into_iter().find(|(found, _)| *found == name)?.1.trim();
        match text.strip_suffix(" kB") {
            Some(kib) => kib.trim().parse::<u64>().ok()?.checked_mul(1024),
            None => text.parse().ok(),
        }
    };
    Memory {
        total_bytes: figure("MemTotal"),
        available_bytes: figure("MemAvailable"),
        swap_bytes: figure("SwapTotal"),
        huge_page_bytes: figure("Hugepagesize"),
        huge_pages: figure("HugePages_Total"),
        huge_pages_free: figure("HugePages_Free"),
    }
}

/// Bytes of memory that programs can still get without swapping, as the kernel estimates it.
pub fn available_memory_bytes() -> Option<u64> {
    memory(&std::fs::read_to_string("/proc/meminfo").ok()?).available_bytes
}

/// Flaws that this processor has (Documentation/ABI/testing/sysfs-devices-system-cpu).
fn mitigations(tree: &Tree) -> Vec<Mitigation> {
    const FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";
    let flaws = tree.names(FOLDER).into_iter();
    let all = flaws.filter_map(|flaw| {
        let state = tree.text(format!("{FOLDER}/{flaw}"))?;
        Some(Mitigation { flaw, state })
    });
    all.filter(|vulnerability| vulnerability.state != "Not affected").collect()
}

/// Returns whether the kernel's clock is synchronized (see adjtimex(2)).
fn clock_synchronized() -> Option<bool> {
    // SAFETY: all zeros is a valid timex, which asks for nothing to be set and is filled by the
    // call.
    let (state, clock) = unsafe {
        let mut clock: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut clock), clock)
    };
    (state >= 0).then_some(clock.status & libc::STA_UNSYNC == 0)
}

/// The first version of control groups has no word for "no limit": a number of bytes that no
/// machine has.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The soft limit of this process on a resource; `u64::MAX` means no limit.
pub fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let rc = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (rc == 0).then_some(limit.rlim_cur)
}

/// Reads the limits of this process's control groups (Documentation/admin-guide/cgroup-v2.rst,
/// cgroup-v1). The narrowest limit up to the root applies.
fn limits(tree: &Tree) -> Limits {
    let groups = tree.if_there("proc/self/cgroup").unwrap_or_default();
    let status = tree.if_there("proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let mut limits = Limits {
        allowed_cpus: allowed
            .and_then(sysfs::numbers)
            .map(|cpus| cpus.len() as u32)
            .filter(|count| *count > 0),
        ..Limits::default()
    };
    for group in groups.lines() {
        // Hierarchy, controllers, path: `0::/user.slice`, `4:memory:/docker/1`.
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        for folder in folders(controllers, path) {
            narrow(&mut limits, tree, &folder);
        }
    }
    limits
}

/// The folders of a group and of those above it.
fn folders(controllers: &str, path: &str) -> Vec<PathBuf> {
    let mounts: Vec<PathBuf> = match controllers {
        // Beside controllers of the first version, the second is mounted below.
        "" => vec!["sys/fs/cgroup".into(), "sys/fs/cgroup/unified".into()],
        controllers => vec![Path::new("sys/fs/cgroup").join(controllers)],
    };
    // A path that climbs out of what we see, `/../..`, names no folder here.
    let path = Path::new(path.trim_start_matches('/'));
    mounts
        .iter()
        .flat_map(|mount| {
            path.ancestors().filter(|path| !path.starts_with("..")).map(|path| mount.join(path))
        })
        .collect()
}

fn narrow(limits: &mut Limits, tree: &Tree, folder: &Path) {
    let text = |name: &str| tree.if_there(folder.join(name));
    let bytes = [text("memory.max"), text("memory.limit_in_bytes")].into_iter().flatten();
    let bytes = bytes.filter_map(|text| text.parse().ok()).filter(|bytes| *bytes < NO_LIMIT_BYTES);
    limits.memory_bytes = limits.memory_bytes.into_iter().chain(bytes).min();

    // `max 100000`, or two files, in which -1 means no limit.
    let Some(quota) = text("cpu.max")
        .or_else(|| Some(format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?)))
    else {
        return;
    };
    let mut numbers = quota.split_ascii_whitespace().map(str::parse::<f64>);
    if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next())
        && quota > 0.0
        && period > 0.0
    {
        limits.cpus = Some(limits.cpus.map_or(quota / period, |least| least.min(quota / period)));
    }
}

/// Where a setting is.
#[derive(Clone, Copy)]
enum Source {
    /// Below `/proc/sys`, at its name.
    Sysctl,
    /// A sysctl that only some kernels have; its absence is not noted.
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
    ("clocksource.current",
        File("sys/devices/system/clocksource/clocksource0/current_clocksource")),
    ("clocksource.available",
        File("sys/devices/system/clocksource/clocksource0/available_clocksource")),
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
fn settings(tree: &Tree, online: &[u32]) -> Vec<SystemSetting> {
    let mut settings = Vec::new();
    for (name, source) in SETTINGS {
        let value = setting(tree, online, name, *source);
        if value.is_some() || !matches!(source, SysctlIfThere | IfThere(_)) {
            settings.push(SystemSetting { name: (*name).into(), value });
        }
    }
    settings
}

fn setting(tree: &Tree, online: &[u32], name: &str, source: Source) -> Option<String> {
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

/// The value that all processors have, or each value with how many have it, the most frequent
/// first.
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

#[cfg(test)]
mod tests;
