//! The machine under a run, read from `/proc` and `/sys`. What cannot be read stays `None`.

use crate::mounts::{self, Mount};
use crate::sysfs::{self, selected};
use observations::{Environment, VolumeEnvironment};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Describes the machine and these volumes (name and path). Engines and our version are left to the caller.
pub fn capture(volumes: &[(String, PathBuf)]) -> Environment {
    let cpuinfo = sysfs::text("/proc/cpuinfo").unwrap_or_default();
    let (cores, sockets) = cores_and_sockets(&cpuinfo);
    let mounts = mounts::all().unwrap_or_default();
    Environment {
        host: sysfs::text("/proc/sys/kernel/hostname"),
        cpu_model: cpuinfo_field(&cpuinfo, "model name").next().map(str::to_owned),
        cpus: crate::machine::processors_online(),
        cores,
        sockets,
        numa_nodes: numa_nodes(),
        memory_bytes: sysfs::text("/proc/meminfo").as_deref().and_then(memory_bytes),
        kernel: kernel(),
        virtualization: virtualization(&cpuinfo),
        governor: sysfs::text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        transparent_huge_pages: sysfs::text("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| selected(&text)),
        swappiness: sysfs::text("/proc/sys/vm/swappiness").and_then(|text| text.parse().ok()),
        volumes: volumes.iter().map(|(name, path)| volume(name, path, &mounts)).collect(),
        ..Environment::default()
    }
}

fn cpuinfo_field<'a>(cpuinfo: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines.filter(move |(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Physical cores and sockets: distinct pairs of socket and core, distinct sockets.
fn cores_and_sockets(cpuinfo: &str) -> (Option<u32>, Option<u32>) {
    let sockets: Vec<&str> = cpuinfo_field(cpuinfo, "physical id").collect();
    let cores: BTreeSet<(&str, &str)> =
        sockets.iter().copied().zip(cpuinfo_field(cpuinfo, "core id")).collect();
    let count = |number: usize| (number > 0).then_some(number as u32);
    (count(cores.len()), count(sockets.iter().collect::<BTreeSet<_>>().len()))
}

fn numa_nodes() -> Option<u32> {
    let entries = std::fs::read_dir("/sys/devices/system/node").ok()?;
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    let nodes = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_node)).count();
    (nodes > 0).then_some(nodes as u32)
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

fn kernel() -> Option<String> {
    let (system, release) =
        (sysfs::text("/proc/sys/kernel/ostype")?, sysfs::text("/proc/sys/kernel/osrelease")?);
    let distribution = sysfs::text("/etc/os-release").and_then(|text| {
        let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(format!(" ({})", name.trim_matches('"')))
    });
    Some(format!("{system} {release}{}", distribution.unwrap_or_default()))
}

fn virtualization(cpuinfo: &str) -> Option<String> {
    if Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists() {
        return Some("container".into());
    }
    let hypervisor = cpuinfo_field(cpuinfo, "flags").next()?.split(' ').any(|flag| flag == "hypervisor");
    hypervisor
        .then(|| sysfs::text("/sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "virtual machine".into()))
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
    use super::{capture, cores_and_sockets, memory_bytes};

    #[test]
    fn counts_cores_and_sockets_with_hyper_threads() {
        let cpu =
            |socket: u32, core: u32| format!("processor: 0\nphysical id\t: {socket}\ncore id\t: {core}\n\n");
        let cpuinfo: String = [cpu(0, 0), cpu(0, 1), cpu(1, 0), cpu(1, 1), cpu(0, 0), cpu(1, 1)].concat();
        assert_eq!(cores_and_sockets(&cpuinfo), (Some(4), Some(2)));
        assert_eq!(cores_and_sockets("processor : 0\n"), (None, None));
    }

    #[test]
    fn reads_the_size_of_memory() {
        assert_eq!(memory_bytes("MemTotal:       16384 kB\nMemFree: 1 kB"), Some(16_777_216));
    }

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
