//! The machine under a run, read from `/proc` and `/sys`. Unreadable figures stay `None`.

use crate::sysfs::{Tree, selected};
use crate::{inspect, survey, topology};
use observations::{Environment, VolumeEnvironment};
use std::path::{Path, PathBuf};

/// Describes the machine and these volumes (name and path). Engines and our version are left to the
/// caller.
pub fn capture(volumes: &[(String, PathBuf)]) -> Environment {
    let tree = Tree::new(Path::new("/"));
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let processors = topology::processors(&tree, &cpuinfo, &topology::online(&tree));
    let nodes = topology::node_numbers(&tree).len() as u32;
    let layers = survey::layers(&tree, &cpuinfo);
    Environment {
        host: tree.text("proc/sys/kernel/hostname"),
        cpu_model: processors.model,
        cpus: crate::machine::processors_online(),
        cores: processors.cores,
        sockets: processors.sockets,
        numa_nodes: (nodes > 0).then_some(nodes),
        memory_bytes: tree.text("proc/meminfo").and_then(|text| survey::memory(&text).total_bytes),
        kernel: kernel(),
        virtualization: (!layers.is_empty()).then(|| layers.join(" in ")),
        governor: tree.if_there("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        transparent_huge_pages: tree
            .if_there("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| selected(&text)),
        swappiness: tree.if_there("proc/sys/vm/swappiness").and_then(|text| text.parse().ok()),
        volumes: volumes.iter().map(|(name, path)| volume(name, path)).collect(),
        ..Environment::default()
    }
}

/// The kernel and what distribution it is of.
pub fn kernel() -> Option<String> {
    let tree = Tree::new(Path::new("/"));
    let release = survey::distribution(&tree).map_or(String::new(), |name| format!(" ({name})"));
    survey::kernel(&tree).map(|kernel| kernel + &release)
}

fn volume(name: &str, path: &Path) -> VolumeEnvironment {
    // A folder that is yet to be made will be where the nearest one above it is.
    let facts = path.ancestors().find_map(|path| inspect::volume(path).ok()).unwrap_or_default();
    let device = facts.devices.into_iter().next().unwrap_or_default();
    let mut volume = VolumeEnvironment {
        name: name.into(),
        path: path.display().to_string(),
        scheduler: device.scheduler,
        rotational: device.rotational,
        ..VolumeEnvironment::default()
    };
    if let Some(mount) = facts.mount {
        (volume.file_system, volume.mount_options) = (Some(mount.file_system), Some(mount.options));
        volume.device = Some(mount.source);
        (volume.size_bytes, volume.free_bytes) = (mount.size_bytes, mount.free_bytes);
    }
    volume
}

#[cfg(test)]
mod tests {
    use super::capture;

    #[test]
    fn this_machine_can_be_described() {
        let environment = capture(&[("here".into(), ".".into())]);
        assert!(
            environment.cpus > 0 && environment.memory_bytes > Some(1 << 20),
            "{environment:?}"
        );
        assert!(
            environment.kernel.is_some() && environment.volumes[0].file_system.is_some(),
            "{environment:?}"
        );
        assert!(environment.volumes[0].free_bytes <= environment.volumes[0].size_bytes);
    }
}
