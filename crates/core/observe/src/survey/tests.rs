use super::{machine, machine_in};
use crate::inspect::volumes;
use observations::{Cache, Mitigation};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The files of a machine, made by hand.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn has(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// 2 sockets of 8 cores with 2 threads each, in 4 nodes: cores are numbered by node, second
    /// threads come after all first ones, as Linux does it on such machines.
    fn two_sockets() -> Self {
        let machine = Self::new();
        machine.has("sys/devices/system/cpu/online", "0-31\n");
        machine.has("sys/devices/system/cpu/smt/control", "on\n");
        for cpu in 0..32 {
            let (core, folder) = (cpu % 16, format!("sys/devices/system/cpu/cpu{cpu}"));
            let (socket, pair) = (core / 8, format!("{core},{}\n", core + 16));
            machine.has(&format!("{folder}/topology/physical_package_id"), &format!("{socket}\n"));
            // Numbers of cores restart in each socket.
            machine.has(&format!("{folder}/topology/core_id"), &format!("{}\n", core % 8));
            machine.has(&format!("{folder}/topology/thread_siblings_list"), &pair);
            let cache = |index: u32, level: &str, kind: &str, size: &str, shared: &str| {
                let index = format!("{folder}/cache/index{index}");
                let files =
                    [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)];
                for (name, text) in files {
                    machine.has(&format!("{index}/{name}"), text);
                }
            };
            cache(0, "1", "Data", "48K", &pair);
            cache(1, "2", "Unified", "2048K", &pair);
            let of_socket = format!(
                "{0}-{1},{2}-{3}",
                socket * 8,
                socket * 8 + 7,
                socket * 8 + 16,
                socket * 8 + 23
            );
            cache(2, "3", "Unified", "30M", &of_socket);
            let governor = if cpu == 5 { "powersave\n" } else { "performance\n" };
            machine.has(&format!("{folder}/cpufreq/scaling_governor"), governor);
        }
        for node in 0..4 {
            let folder = format!("sys/devices/system/node/node{node}");
            let cpus =
                format!("{}-{},{}-{}\n", node * 4, node * 4 + 3, node * 4 + 16, node * 4 + 19);
            machine.has(&format!("{folder}/cpulist"), &cpus);
            machine.has(&format!("{folder}/distance"), "10 12 20 20\n");
            let memory =
                format!("Node {node} MemTotal:       16777216 kB\nNode {node} MemFree:  100 kB\n");
            machine.has(&format!("{folder}/meminfo"), &memory);
        }
        machine.has(
            "proc/meminfo",
            "MemTotal:       67108864 kB\nMemAvailable:   50000000 kB\nSwapTotal:        8388604 \
             kB\nHugePages_Total:    8192\nHugePages_Free:      100\nHugepagesize:       2048 kB\n",
        );
        machine.has("proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1\n");
        machine.has(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Xeon\nflags\t\t: fpu hypervisor\n\n",
        );
        machine.has("sys/class/dmi/id/sys_vendor", "QEMU\n");
        machine
    }
}

#[test]
fn sockets_cores_threads_nodes_and_caches_are_told_apart() {
    let taken = machine_in(Machine::two_sockets().0.path());
    let machine = &taken.machine;
    let cpus = &machine.processors;
    assert_eq!((cpus.logical, cpus.cores, cpus.sockets), (Some(32), Some(16), Some(2)));
    assert_eq!((cpus.smt.as_deref(), cpus.model.as_deref()), (Some("on"), Some("Xeon")));
    let cache =
        |level, kind: &str, bytes, instances| Cache { level, kind: kind.into(), bytes, instances };
    let caches = [
        cache(1, "Data", 48 << 10, 16),
        cache(2, "Unified", 2 << 20, 16),
        cache(3, "Unified", 30 << 20, 2),
    ];
    assert_eq!(cpus.caches, caches);
    assert_eq!(machine.nodes.len(), 4);
    let node = &machine.nodes[3];
    assert_eq!((node.node, node.cpus.as_str(), node.cpu_count), (3, "12-15,28-31", 8));
    assert_eq!(
        (node.memory_bytes, node.distances.as_slice()),
        (Some(16 << 30), &[10, 12, 20, 20][..])
    );
    assert_eq!(
        (machine.memory.total_bytes, machine.memory.huge_pages),
        (Some(64 << 30), Some(8192))
    );
    assert_eq!(
        (machine.memory.huge_page_bytes, machine.memory.huge_pages_free),
        (Some(2 << 20), Some(100))
    );
    assert_eq!(machine.steal_share, Some(0.1));
    assert_eq!(machine.virtualization.as_deref(), Some("virtual machine (QEMU)"));
    let governor =
        taken.settings.iter().find(|setting| setting.name == "cpufreq.governor").unwrap();
    assert_eq!(governor.value.as_deref(), Some("performance (31), powersave (1)"));
}

#[test]
fn a_processor_that_hides_its_topology_leaves_it_open() {
    let machine = Machine::new();
    machine.has("sys/devices/system/cpu/online", "0-3");
    for cpu in 0..4 {
        machine.has(&format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"), "-1");
    }
    let processors = machine_in(machine.0.path()).machine.processors;
    assert_eq!((processors.logical, processors.cores, processors.sockets), (Some(4), None, None));
}

#[test]
fn settings_are_read_as_they_are_and_what_is_missing_is_said() {
    let machine = Machine::new();
    machine.has("proc/sys/vm/swappiness", "60\n");
    machine.has("proc/sys/kernel/sem", "32000\t1024000000\t500\t32000\n");
    machine.has("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    machine.has("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    // A folder where a file should be cannot be read, which is more than "not there".
    machine.has("proc/sys/kernel/numa_balancing/x", "");
    machine.has("proc/sys/kernel/hostname", "db\u{1b}[2J\n");
    let taken = machine_in(machine.0.path());
    let settings: BTreeMap<&str, Option<&str>> = taken
        .settings
        .iter()
        .map(|setting| (setting.name.as_str(), setting.value.as_deref()))
        .collect();
    assert_eq!(settings["vm.swappiness"], Some("60"));
    assert_eq!(settings["kernel.sem"], Some("32000 1024000000 500 32000"));
    assert_eq!(settings["transparent_hugepage.enabled"], Some("madvise"));
    assert_eq!(settings["clocksource.current"], Some("tsc"));
    assert_eq!(settings["vm.dirty_ratio"], None, "every kernel has it");
    assert!(!settings.contains_key("kernel.sched_migration_cost_ns"), "only some kernels have it");
    let why =
        |what: &str| taken.unread.iter().find(|gap| gap.what == what).map(|gap| gap.why.as_str());
    assert_eq!(why("/proc/sys/vm/dirty_ratio"), Some("not there"));
    assert!(
        why("/proc/sys/kernel/numa_balancing").unwrap().contains("directory"),
        "{:?}",
        taken.unread
    );
    assert_eq!(why("/proc/sys/kernel/sched_migration_cost_ns"), None);
    assert_eq!(taken.machine.host.as_deref(), Some("db\u{1b}[2J"), "shown as `report::Text` only");
}

#[test]
fn the_narrowest_control_group_counts() {
    let machine = Machine::new();
    machine.has("proc/self/cgroup", "0::/system.slice/db.service\n");
    machine.has("sys/fs/cgroup/system.slice/db.service/memory.max", "max\n");
    machine.has("sys/fs/cgroup/system.slice/db.service/cpu.max", "400000 100000\n");
    machine.has("sys/fs/cgroup/system.slice/memory.max", "4294967296\n");
    machine.has("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
    machine.has("sys/fs/cgroup/cpu.max", "max 100000\n");
    machine.has("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-2,7\n");
    let limits = machine_in(machine.0.path()).machine.limits;
    assert_eq!(
        (limits.memory_bytes, limits.cpus, limits.allowed_cpus),
        (Some(4 << 30), Some(1.5), Some(4))
    );

    let first = Machine::new();
    first.has("proc/self/cgroup", "4:memory:/docker/1\n2:cpu,cpuacct:/docker/1\n0::/\n");
    first.has("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    first.has("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "1073741824\n");
    first.has("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "50000\n");
    first.has("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
    first.has("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    first.has("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    let limits = machine_in(first.0.path()).machine.limits;
    assert_eq!((limits.memory_bytes, limits.cpus), (Some(1 << 30), Some(0.5)));

    let none = Machine::new();
    none.has("proc/self/cgroup", "0::/../../other\nnonsense\n");
    assert_eq!(machine_in(none.0.path()).machine.limits, observations::Limits::default());
}

#[test]
fn only_flaws_that_the_processor_has_are_listed() {
    let machine = Machine::new();
    machine.has("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    machine.has("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
    let found = machine_in(machine.0.path()).machine.mitigations;
    assert_eq!(found, [Mitigation { flaw: "meltdown".into(), state: "Mitigation: PTI".into() }]);
}

#[test]
fn an_empty_folder_is_no_machine_and_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let taken = machine_in(folder.path());
    assert_eq!(taken.machine.processors, observations::Processors::default());
    assert!(taken.settings.iter().all(|setting| setting.value.is_none()));
    assert!(taken.unread.iter().any(|gap| gap.what == "/proc/meminfo" && gap.why == "not there"));
}

/// Returns a tool's output, in the C locale.
fn printed(command: &str) -> Option<String> {
    let mut parts = command.split(' ');
    let output = Command::new(parts.next()?).args(parts).env("LC_ALL", "C").output();
    let output = output.ok().filter(|output| output.status.success());
    if output.is_none() {
        println!("SKIPPED: {command} does not work here");
    }
    Some(String::from_utf8_lossy(&output?.stdout).into_owned())
}

#[test]
fn this_machine_is_what_its_tools_say() {
    let taken = machine();
    let cpus = &taken.machine.processors;
    // One line a processor: socket, core (numbered through), node.
    if let Some(text) = printed("lscpu -p=SOCKET,CORE,NODE") {
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(',').collect())
            .collect();
        let distinct = |column: usize| {
            let set: std::collections::BTreeSet<&str> =
                rows.iter().map(|row| row[column]).collect();
            Some(set.len() as u32)
        };
        assert_eq!(cpus.logical, Some(rows.len() as u32));
        assert_eq!((cpus.sockets, cpus.cores), (distinct(0), distinct(1)));
        if !rows[0][2].is_empty() {
            let with_cpus = taken.machine.nodes.iter().filter(|node| node.cpu_count > 0).count();
            assert_eq!(Some(with_cpus as u32), distinct(2));
        }
    }
    if let Some(text) = printed("lscpu -B -C=ALL-SIZE,LEVEL") {
        let total: u64 = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok())
            .sum();
        assert_eq!(
            cpus.caches.iter().map(|cache| cache.bytes * u64::from(cache.instances)).sum::<u64>(),
            total
        );
    }
    if let Some(text) = printed("nproc") {
        assert_eq!(taken.machine.limits.allowed_cpus, text.trim().parse().ok());
    }
    if let Some(text) = printed("free -b") {
        let figure = |row: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(row)).unwrap();
            line.split_ascii_whitespace().next().unwrap().parse::<u64>().ok()
        };
        assert_eq!(
            (taken.machine.memory.total_bytes, taken.machine.memory.swap_bytes),
            (figure("Mem:"), figure("Swap:"))
        );
    }
    if let Some(text) = printed("uname -sr") {
        assert_eq!(taken.machine.kernel.as_deref(), Some(text.trim()));
    }
    if let Some(text) = printed("sysctl -n vm.swappiness") {
        let ours = taken.settings.iter().find(|setting| setting.name == "vm.swappiness").unwrap();
        assert_eq!(ours.value.as_deref(), Some(text.trim()));
    }
}

#[test]
fn the_volume_of_this_folder_is_among_the_volumes() {
    let here = crate::inspect::volume(Path::new(".")).unwrap();
    let (found, failed) = volumes();
    assert!(failed.iter().all(|gap| !gap.why.is_empty()));
    let Some(mount) = here.mount.filter(|_| !here.devices.is_empty()) else {
        println!("SKIPPED: this folder is on no block device");
        return;
    };
    let devices = |facts: &observations::VolumeFacts| {
        facts.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>()
    };
    assert!(
        found.iter().any(
            |facts| devices(facts) == devices(&crate::inspect::volume(Path::new(".")).unwrap())
        ),
        "{mount:?}"
    );
}
