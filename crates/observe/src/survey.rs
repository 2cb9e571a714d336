//! The inventory of this machine: processors, memory, settings of the kernel, limits, volumes. Nothing is
//! written.
//!
//! - `tree`: the files of `/proc`, `/sys` and `/etc`, and what of them could not be read
//! - `processors`: topology, caches, NUMA nodes
//! - `settings`: the table of settings that are read
//! - `limits`: what this process may use
//! - `volumes`: what is mounted

mod limits;
pub(crate) mod list;
pub(crate) mod processors;
mod settings;
mod tree;
mod volumes;

pub use volumes::all as volumes;

use observations::{Memory, Mitigation, SurveyedMachine, SystemSetting, Unread};
use std::path::Path;
pub(crate) use tree::Tree;

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
    taken.machine.limits.open_files = limits::of_process(libc::RLIMIT_NOFILE);
    taken.machine.limits.locked_bytes = limits::of_process(libc::RLIMIT_MEMLOCK);
    taken
}

/// The inventory of the machine whose `/proc`, `/sys` and `/etc` are in this folder. What only a system call
/// tells is left out.
fn machine_in(root: &Path) -> Taken {
    let tree = Tree::new(root);
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let online = processors::online(&tree);
    let machine = SurveyedMachine {
        host: tree.text("proc/sys/kernel/hostname"),
        kernel: kernel(&tree),
        distribution: distribution(&tree),
        architecture: tree.if_there("proc/sys/kernel/arch").or_else(|| Some(std::env::consts::ARCH.into())),
        virtualization: virtualization(&tree, &cpuinfo),
        steal_share: tree.text("proc/stat").as_deref().and_then(steal_share),
        processors: processors::of(&tree, &cpuinfo, &online),
        nodes: processors::nodes(&tree),
        memory: tree.text("proc/meminfo").as_deref().map(memory).unwrap_or_default(),
        mitigations: mitigations(&tree),
        limits: limits::of_groups(&tree),
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
    let mut flags = processors::fields(cpuinfo, "flags").flat_map(|flags| flags.split(' '));
    let machine = flags.any(|flag| flag == "hypervisor").then(|| {
        let vendor = tree.if_there("sys/class/dmi/id/sys_vendor");
        vendor.map_or("virtual machine".to_owned(), |vendor| format!("virtual machine ({vendor})"))
    });
    container.into_iter().chain(machine).collect()
}

/// The same in words; `None` where the processor does not show its flags.
fn virtualization(tree: &Tree, cpuinfo: &str) -> Option<String> {
    processors::fields(cpuinfo, "flags").next()?;
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

#[cfg(test)]
mod tests;
