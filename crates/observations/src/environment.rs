use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine and software under a run; captured once a run. `None` means "could not be read".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Model name of the processor.
    pub cpu_model: Option<String>,
    /// Logical processors online.
    pub cpus: u32,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Hypervisor or container, where one can be seen.
    pub virtualization: Option<String>,
    /// Frequency governor of processor 0.
    pub governor: Option<String>,
    /// Transparent huge pages setting.
    pub transparent_huge_pages: Option<String>,
    /// `vm.swappiness`.
    pub swappiness: Option<u32>,
    /// Volumes that the experiment uses.
    pub volumes: Vec<VolumeEnvironment>,
    /// Engine name to version and compile options.
    pub engines: BTreeMap<String, EngineVersion>,
    /// Version of Steelbench.
    pub steelbench: String,
}

/// What an engine says it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineVersion {
    /// `3.50.4`, `PostgreSQL 15.18`.
    pub version: String,
    /// Compile options or equivalent, one an entry.
    pub options: Vec<String>,
}

/// A volume: a named place for data or log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeEnvironment {
    /// Name in the experiment file; `default` for the work directory.
    pub name: String,
    /// The path.
    pub path: String,
    /// File system type.
    pub file_system: Option<String>,
    /// Mount options.
    pub mount_options: Option<String>,
    /// Device that is mounted.
    pub device: Option<String>,
    /// I/O scheduler of the device.
    pub scheduler: Option<String>,
    /// Whether the device says that it rotates.
    pub rotational: Option<bool>,
    /// Size of the file system in bytes.
    pub size_bytes: Option<u64>,
    /// Free bytes when the run started.
    pub free_bytes: Option<u64>,
    /// Limits that made it slower than it is: `reads 3000 IOPS`; `None`: as fast as it is.
    pub throttle: Option<String>,
}
