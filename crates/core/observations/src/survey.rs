use crate::VolumeFacts;
use serde::{Deserialize, Serialize};

/// The inventory of a machine and of servers. Unreadable items are `None` or absent, and
/// [`Survey::unread`] has the reasons; nothing is guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Survey {
    /// When it was taken, in milliseconds since 1970 UTC.
    pub taken_ms: i64,
    /// Version of Steelbench that took it.
    pub steelbench: String,
    /// The machine.
    pub machine: SurveyedMachine,
    /// Settings of the operating system that matter to databases, in the order of the page.
    pub settings: Vec<SystemSetting>,
    /// Volumes, layer by layer.
    pub volumes: Vec<VolumeFacts>,
    /// Servers that were asked.
    pub servers: Vec<SurveyedServer>,
    /// Unreadable items with their reasons.
    pub unread: Vec<Unread>,
}

/// Something that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// The item: a file, a server, a view of it.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// Processors, memory and what surrounds them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurveyedMachine {
    /// Host name.
    pub host: Option<String>,
    /// System and release of the kernel: `Linux 6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// Distribution: `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
    /// Instruction set, as the kernel names it: `x86_64`.
    pub architecture: Option<String>,
    /// Hypervisor or container, where one can be seen.
    pub virtualization: Option<String>,
    /// Share of all processor time since boot that a hypervisor gave to others, from 0 to 1.
    pub steal_share: Option<f64>,
    /// Processors.
    pub processors: Processors,
    /// NUMA nodes; empty where the kernel knows none.
    pub nodes: Vec<NumaNode>,
    /// Memory.
    pub memory: Memory,
    /// The kernel's mitigations of CPU vulnerabilities: `spectre_v2` and its state. Those that do
    /// not affect this CPU are left out.
    pub mitigations: Vec<Mitigation>,
    /// Limits that this process runs under.
    pub limits: Limits,
    /// True if the kernel's clock is synchronized.
    pub clock_synchronized: Option<bool>,
}

/// Processors that are online.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processors {
    /// Model.
    pub model: Option<String>,
    /// Logical processors online.
    pub logical: Option<u32>,
    /// Physical cores: groups of logical processors that share one.
    pub cores: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// Simultaneous multithreading: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt: Option<String>,
    /// Caches, the nearest to a core first.
    pub caches: Vec<Cache>,
}

/// Caches of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Level: 1 is nearest to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size of one, in bytes.
    pub bytes: u64,
    /// The number of instances.
    pub instances: u32,
}

/// A NUMA node: processors and the memory that is near to them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// The number.
    pub node: u32,
    /// The processors: `0-7,16-23`; empty of a node that has only memory.
    pub cpus: String,
    /// The number of these.
    pub cpu_count: u32,
    /// The memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The distance of each node, in the order of the nodes; 10 is the node itself.
    pub distances: Vec<u32>,
}

/// Memory, as `/proc/meminfo` has it, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Memory usable by the kernel.
    pub total_bytes: Option<u64>,
    /// Memory available to programs without swapping.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// Size of an explicit huge page.
    pub huge_page_bytes: Option<u64>,
    /// Explicit huge pages that are set aside.
    pub huge_pages: Option<u64>,
    /// Explicit huge pages that are free.
    pub huge_pages_free: Option<u64>,
}

/// A flaw of the processor and what is done about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mitigation {
    /// The flaw, as the kernel names it.
    pub flaw: String,
    /// `Mitigation: ...` or `Vulnerable: ...`.
    pub state: String,
}

/// Limits of this process. A server that is started by another program has its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Files that it may have open; 2^64 - 1 means no limit.
    pub open_files: Option<u64>,
    /// Memory that it may lock, in bytes; 2^64 - 1 means no limit.
    pub locked_bytes: Option<u64>,
    /// Memory that its control group may use, in bytes; `None`: no limit is known.
    pub memory_bytes: Option<u64>,
    /// Processors' worth of time that its control group may use; `None`: no limit is known.
    pub cpus: Option<f64>,
    /// Logical processors that it may run on.
    pub allowed_cpus: Option<u32>,
}

/// A setting of the operating system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemSetting {
    /// The name: `vm.swappiness`.
    pub name: String,
    /// The value; where processors differ, each with how many have it. `None`: it could not be
    /// read.
    pub value: Option<String>,
}

/// A server that was asked what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurveyedServer {
    /// The engine's name: `postgres`.
    pub engine: String,
    /// Where it was reached, without user and password.
    pub address: String,
    /// The version: `PostgreSQL 15.18`.
    pub version: String,
    /// True if it is a process of the surveyed machine, as far as known.
    pub is_local: bool,
    /// True for a replica.
    pub is_replica: Option<bool>,
    /// True if its shared memory uses explicit huge pages; `None` if unknown.
    pub huge_pages_used: Option<bool>,
    /// The settings that matter to every server, and all that differ from the default.
    pub settings: Vec<ServerSetting>,
    /// Extensions in the database that was connected to: name and version.
    pub extensions: Vec<Extension>,
    /// The databases, the largest first.
    pub databases: Vec<Database>,
}

/// A setting of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSetting {
    /// The name.
    pub name: String,
    /// The value in `unit`; `None`: it is a text, which may tell of users or secrets, and is not
    /// recorded.
    pub value: Option<String>,
    /// Unit of value and default: `8kB`, `ms`.
    pub unit: Option<String>,
    /// The built-in value; `None` where the value is not recorded.
    pub default: Option<String>,
    /// The source of the value: `default`, `configuration file`, `command line`, `database`.
    pub source: String,
    /// Name of that file without its folder, where we may know it.
    pub file: Option<String>,
    /// True if it was changed from the default.
    pub is_changed: bool,
    /// True if a new value awaits a restart.
    pub pending_restart: bool,
}

/// An extension.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// A database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// The name.
    pub name: String,
    /// The size in bytes; `None`: we may not ask.
    pub bytes: Option<u64>,
}

impl Survey {
    /// The value of a setting of the operating system.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.name == name)?.value.as_deref()
    }
}

impl SurveyedServer {
    /// A setting.
    pub fn setting(&self, name: &str) -> Option<&ServerSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The value of a setting that is a number without a unit.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.setting(name)?.value.as_ref()?.parse().ok()
    }

    /// The value of a setting that is an amount of memory, in bytes; `None` also of values below 0,
    /// which stand for "chosen by the server".
    pub fn bytes(&self, name: &str) -> Option<u64> {
        self.setting(name)?.bytes()
    }
}

impl ServerSetting {
    /// The value in bytes, if it is an amount of memory that is not chosen by the server.
    pub fn bytes(&self) -> Option<u64> {
        self.value.as_ref()?.parse::<u64>().ok()?.checked_mul(unit_bytes(self.unit.as_deref()?)?)
    }
}

/// Bytes of a unit of `pg_settings`: `8kB`, `MB`.
fn unit_bytes(unit: &str) -> Option<u64> {
    let letters = unit.find(|sign: char| !sign.is_ascii_digit())?;
    let (count, name) = unit.split_at(letters);
    let count = if count.is_empty() { 1 } else { count.parse().ok()? };
    let factor: u64 = match name {
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    factor.checked_mul(count)
}

/// The importance of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It costs speed or safety, or distorts measurements.
    Problem,
    /// It is a property to know, or a choice that other loads may make otherwise.
    Note,
}

/// A problem to check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Name of the rule, the same in every version: `partition-sector`.
    pub rule: &'static str,
    /// The importance.
    pub weight: Weight,
    /// The subject: a device, a mounted folder, a setting, a server.
    pub subject: String,
    /// The finding, with figures.
    pub fact: String,
    /// Why it matters, with the source where there is one.
    pub reason: &'static str,
    /// The remedy.
    pub action: String,
}

#[cfg(test)]
mod tests {
    use super::{ServerSetting, unit_bytes};

    #[test]
    fn knows_the_units_of_memory() {
        let units =
            ["8kB", "MB", "B", "ms", "", "99999999999999999999kB", "18446744073709551615TB"];
        let expected = [Some(8192), Some(1 << 20), Some(1), None, None, None, None];
        assert_eq!(units.map(unit_bytes), expected);
        let setting = |value: &str| {
            ServerSetting {
                value: Some(value.into()),
                unit: Some("8kB".into()),
                ..ServerSetting::default()
            }
            .bytes()
        };
        assert_eq!((setting("16384"), setting("-1")), (Some(128 << 20), None));
    }
}
