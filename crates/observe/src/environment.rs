//! The machine under a run, read from `/proc` and `/sys`. What cannot be read stays `None`.

use crate::mounts::{self, Mount};
use crate::survey::{self, Tree, processors};
use crate::sysfs::{self, selected};
use observations::{Environment, VolumeEnvironment};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Describes the machine and these volumes (name and path). Engines and our version are left to the caller.
pub fn capture(volumes: &[(String, PathBuf)]) -> Environment {
    let tree = Tree::new(Path::new("/"));
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let processors = processors::of(&tree, &cpuinfo, &processors::online(&tree));
    let nodes = processors::nodes(&tree).len() as u32;
    let release = survey::distribution(&tree).map_or(String::new(), |name| format!(" ({name})"));
    let layers = survey::layers(&tree, &cpuinfo);
    let mounts = mounts::all().unwrap_or_default();
    Environment {
        host: tree.text("proc/sys/kernel/hostname"),
        cpu_model: processors.model,
        cpus: crate::machine::processors_online(),
        cores: processors.cores,
        sockets: processors.sockets,
        numa_nodes: (nodes > 0).then_some(nodes),
        memory_bytes: tree.text("proc/meminfo").and_then(|text| survey::memory(&text).total_bytes),
        kernel: survey::kernel(&tree).map(|kernel| kernel + &release),
        virtualization: (!layers.is_empty()).then(|| layers.join(" in ")),
        governor: tree.if_there("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        transparent_huge_pages: tree
            .if_there("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| selected(&text)),
        swappiness: tree.if_there("proc/sys/vm/swappiness").and_then(|text| text.parse().ok()),
        volumes: volumes.iter().map(|(name, path)| volume(name, path, &mounts)).collect(),
        ..Environment::default()
    }
}

fn volume(name: &str, path: &Path, mounts: &[Mount]) -> VolumeEnvironment {
    let mut volume = VolumeEnvironment {
        name: name.into(),
        path: path.display().to_string(),
        ..VolumeEnvironment::default()
    };
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if let Some(mount) = mounts::holding(mounts, &real) {
        volume.file_system = Some(mount.file_system.clone());
        volume.mount_options = Some(mount.options.clone());
        let queue = queue_of(&mount.source);
        volume.scheduler = queue
            .as_ref()
            .and_then(|queue| sysfs::text(queue.join("scheduler")))
            .and_then(|text| selected(&text));
        volume.rotational =
            queue.and_then(|queue| sysfs::text(queue.join("rotational"))).map(|text| text == "1");
        volume.device = Some(mount.source.clone());
    }
    if let Some((size_bytes, free_bytes)) = space(&real) {
        volume.size_bytes = Some(size_bytes);
        volume.free_bytes = Some(free_bytes);
    }
    volume
}

/// The queue folder of a block device; that of the whole device for a partition.
fn queue_of(device: &str) -> Option<PathBuf> {
    let device = Path::new(device).canonicalize().ok()?;
    let class = Path::new("/sys/class/block").join(device.file_name()?).canonicalize().ok()?;
    let own = class.join("queue");
    let parent = class.parent()?.join("queue");
    [own, parent].into_iter().find(|queue| queue.is_dir())
}

/// Size of the file system that holds a path, and what is free for us, in bytes.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let stat = file_system(path)?;
    Some((stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize))
}

/// What the file system that holds a path says of itself (see statvfs(3)).
pub(crate) fn file_system(path: &Path) -> Option<libc::statvfs> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut stat = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with a zero and `stat` is a valid place; zeroed is a valid value of it.
    let (rc, stat) = unsafe { (libc::statvfs(path.as_ptr(), stat.as_mut_ptr()), stat.assume_init()) };
    (rc == 0).then_some(stat)
}

#[cfg(test)]
mod tests {
    use super::capture;

    #[test]
    fn this_machine_can_be_described() {
        let environment = capture(&[("here".into(), ".".into())]);
        assert!(environment.cpus > 0 && environment.memory_bytes > Some(1 << 20), "{environment:?}");
        assert!(
            environment.kernel.is_some() && environment.volumes[0].file_system.is_some(),
            "{environment:?}"
        );
        assert!(environment.volumes[0].free_bytes <= environment.volumes[0].size_bytes);
    }
}
