//! The inventory of this machine: processors, memory, settings of the kernel, limits, volumes. Nothing is
//! written.
//!
//! - this file: what is asked; processors are in `topology`, volumes in `inspect`
//! - `settings`: the table of settings that are read

mod settings;

use crate::sysfs::{self, Tree};
use crate::topology;
use observations::{Limits, Memory, Mitigation, SurveyedMachine, SystemSetting, Unread};
use std::path::{Path, PathBuf};

/// What the operating system tells of this machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taken {
    /// The machine.
    pub machine: SurveyedMachine,
    /// Settings that matter to databases.
    pub settings: Vec<SystemSetting>,
    /// What could not be read, and why.
    pub unread: Vec<Unread>,
}

/// Takes the inventory of this machine.
pub fn machine() -> Taken {
    let mut taken = machine_in(Path::new("/"));
    taken.machine.clock_synchronized = clock_synchronized();
    taken.machine.limits.open_files = soft_limit(libc::RLIMIT_NOFILE);
    taken.machine.limits.locked_bytes = soft_limit(libc::RLIMIT_MEMLOCK);
    taken
}

/// The inventory of the machine whose `/proc`, `/sys` and `/etc` are in this folder. What only a system call
/// tells is left out.
fn machine_in(root: &Path) -> Taken {
    let tree = Tree::new(root);
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let online = topology::online(&tree);
    let machine = SurveyedMachine {
        host: tree.text("proc/sys/kernel/hostname"),
        kernel: kernel(&tree),
        distribution: distribution(&tree),
        architecture: tree.if_there("proc/sys/kernel/arch").or_else(|| Some(std::env::consts::ARCH.into())),
        virtualization: virtualization(&tree, &cpuinfo),
        steal_share: tree.text("proc/stat").as_deref().and_then(steal_share),
        processors: topology::processors(&tree, &cpuinfo, &online),
        nodes: topology::nodes(&tree),
        memory: tree.text("proc/meminfo").as_deref().map(memory).unwrap_or_default(),
        mitigations: mitigations(&tree),
        limits: limits(&tree),
        clock_synchronized: None,
    };
    let settings = settings::all(&tree, &online);
    Taken { machine, settings, unread: tree.unread() }
}

pub(crate) fn kernel(tree: &Tree) -> Option<String> {
    Some(format!("{} {}", tree.text("proc/sys/kernel/ostype")?, tree.text("proc/sys/kernel/osrelease")?))
}

pub(crate) fn distribution(tree: &Tree) -> Option<String> {
    let text = tree.text("etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

/// What stands between us and the hardware, the nearest to us first, as far as it shows itself.
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

/// The same in words; `None` where the processor does not show its flags.
fn virtualization(tree: &Tree, cpuinfo: &str) -> Option<String> {
    topology::fields(cpuinfo, "flags").next()?;
    let layers = layers(tree, cpuinfo);
    Some(if layers.is_empty() { "none seen".into() } else { layers.join(" in ") })
}

/// Time that a hypervisor gave to others, as a share of all time of all processors since boot (see proc(5)).
fn steal_share(stat: &str) -> Option<f64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    // user nice system idle iowait irq softirq steal (guest is counted in user)
    let all = ticks.first_chunk::<8>()?;
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

/// Flaws that this processor has (Documentation/ABI/testing/sysfs-devices-system-cpu).
fn mitigations(tree: &Tree) -> Vec<Mitigation> {
    const FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";
    let flaws = tree.names(FOLDER).into_iter();
    let all = flaws.filter_map(|flaw| {
        let state = tree.text(format!("{FOLDER}/{flaw}"))?;
        Some(Mitigation { flaw, state })
    });
    all.filter(|one| one.state != "Not affected").collect()
}

/// Whether the kernel's clock follows another one (see adjtimex(2)).
fn clock_synchronized() -> Option<bool> {
    // SAFETY: all zeros is a valid timex, which asks for nothing to be set and is filled by the call.
    let (state, clock) = unsafe {
        let mut clock: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut clock), clock)
    };
    (state >= 0).then_some(clock.status & libc::STA_UNSYNC == 0)
}

/// The first version of control groups has no word for "no limit": a number of bytes that no machine has.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The soft limit of this process on a resource; `u64::MAX` is no limit.
pub fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let rc = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (rc == 0).then_some(limit.rlim_cur)
}

/// What the control groups that this process is in allow (Documentation/admin-guide/cgroup-v2.rst,
/// cgroup-v1). The narrowest limit on the way up to the root counts.
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
    let above = || path.ancestors().filter(|path| !path.starts_with(".."));
    mounts.iter().flat_map(|mount| above().map(|path| mount.join(path))).collect()
}

fn narrow(limits: &mut Limits, tree: &Tree, folder: &Path) {
    let text = |name: &str| tree.if_there(folder.join(name));
    let bytes = [text("memory.max"), text("memory.limit_in_bytes")].into_iter().flatten();
    let bytes = bytes.filter_map(|text| text.parse().ok()).filter(|bytes| *bytes < NO_LIMIT_BYTES);
    limits.memory_bytes = limits.memory_bytes.into_iter().chain(bytes).min();

    // `max 100000`, or two files, in which -1 is no limit.
    let second = || text("cpu.max");
    let first = || Some(format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?));
    let Some(quota) = second().or_else(first) else { return };
    let mut numbers = quota.split_ascii_whitespace().map(str::parse::<f64>);
    if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next())
        && quota > 0.0
        && period > 0.0
    {
        limits.cpus = Some(limits.cpus.map_or(quota / period, |least| least.min(quota / period)));
    }
}

#[cfg(test)]
mod tests;
