/// What a setting of the operating system is, and what databases want of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name, as in [`observations::SystemSetting`].
    pub name: &'static str,
    /// What it decides.
    pub is: &'static str,
    /// What databases want of it; empty: it is to be known only.
    pub wanted: &'static str,
}

const fn setting(name: &'static str, is: &'static str, wanted: &'static str) -> Known {
    Known { name, is, wanted }
}

/// What is known of a setting.
///
/// Sources: of Linux's Documentation/admin-guide the parts sysctl (vm, kernel, fs, net),
/// mm/transhuge.rst and pm; PostgreSQL's chapter "Managing Kernel Resources".
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    setting("vm.nr_hugepages", "explicit huge pages set aside",
        "as many as the shared memory of servers takes, when that is large"),
    setting("vm.nr_overcommit_hugepages", "explicit huge pages that may be made on demand", ""),
    setting("transparent_hugepage.enabled", "who gets huge pages without asking",
        "PostgreSQL: madvise or never; SQL Server: always or madvise"),
    setting("transparent_hugepage.defrag", "who waits while memory is tidied for one",
        "not always: allocations stall"),
    setting("vm.swappiness", "how readily memory of programs is swapped for page cache",
        "low (1 to 10) where there is swap"),
    setting("vm.dirty_background_ratio",
        "% of available memory that may be unwritten before the kernel begins to write",
        "little, or bytes below"),
    setting("vm.dirty_background_bytes", "the same in bytes; 0: the ratio counts",
        "what storage writes in a second or so"),
    setting("vm.dirty_ratio", "% of available memory that may be unwritten before writers are \
        stopped",
        "well above the background"),
    setting("vm.dirty_bytes", "the same in bytes; 0: the ratio counts", ""),
    setting("vm.dirty_expire_centisecs", "how old unwritten data may become, in 0.01 s", ""),
    setting("vm.dirty_writeback_centisecs", "how often the kernel looks for it, in 0.01 s", ""),
    setting("vm.overcommit_memory", "0: guess, 1: always promise memory, 2: never more than there \
        is",
        "PostgreSQL: 2 on machines of its own"),
    setting("vm.overcommit_ratio", "% of memory that may be promised, with 2",
        "enough for servers and their sessions"),
    setting("vm.overcommit_kbytes", "the same in KiB; 0: the ratio counts", ""),
    setting("vm.min_free_kbytes", "KiB that are kept free", ""),
    setting("vm.max_map_count", "mappings that a process may have", "SQL Server: 262144 and more"),
    setting("vm.zone_reclaim_mode",
        "whether a NUMA node gives up its cache before memory is taken from another", "0"),
    setting("kernel.numa_balancing", "whether the kernel moves memory to the processors that use \
        it",
        "0 where servers place memory themselves"),
    setting("cpufreq.driver", "who sets the processor's frequency", ""),
    setting("cpufreq.governor", "how the frequency follows the load", "performance"),
    setting("cpufreq.energy_performance_preference", "what the processor prefers where it decides \
        itself",
        "performance"),
    setting("cpufreq.max_khz", "the highest frequency allowed, in kHz", "the same on all cores"),
    setting("cpufreq.boost", "whether frequencies above the nominal one are allowed", ""),
    setting("intel_pstate.status", "active: the processor decides, the governor only hints", ""),
    setting("intel_pstate.no_turbo", "1: no frequencies above the nominal one", ""),
    setting("amd_pstate.status", "active: the processor decides, the governor only hints", ""),
    setting("cpuidle.driver", "who puts idle processors to sleep",
        "intel_idle or acpi_idle with shallow states only, for latency"),
    setting("clocksource.current", "where the time is read from",
        "tsc, or that of the hypervisor: servers ask for the time very often"),
    setting("clocksource.available", "where it could be read from", ""),
    setting("net.core.somaxconn", "connections that may wait to be accepted", "as many as arrive \
        in a burst"),
    setting("fs.file-max", "files that may be open in all", ""),
    setting("fs.nr_open", "files that a process can be allowed to open", ""),
    setting("fs.aio-max-nr", "asynchronous I/Os that may be set up in all",
        "1048576 for servers that use native AIO"),
    setting("fs.aio-nr", "asynchronous I/Os that are set up now", ""),
    setting("kernel.io_uring_disabled", "0: io_uring for all, 1: for a group, 2: for nobody",
        "0 for servers that use it"),
    setting("kernel.shmmax", "largest System V segment, in bytes", "above the shared memory of a \
        server"),
    setting("kernel.shmall", "System V memory in all, in pages", "above that of all servers"),
    setting("kernel.shmmni", "System V segments in all", ""),
    setting("kernel.sem", "semaphores: a set, in all, operations a call, sets",
        "older servers: more with many connections"),
    setting("kernel.pid_max", "highest number of a process", "above processes and threads \
        together"),
    setting("kernel.threads-max", "threads in all", ""),
    setting("kernel.sched_autogroup_enabled", "whether processor time is shared by terminal \
        session",
        "no effect on services"),
    setting("kernel.sched_rt_runtime_us", "us of each second for real-time processes", ""),
    setting("kernel.sched_migration_cost_ns", "how long a thread that ran counts as cache-hot", ""),
    setting("kernel.sched_min_granularity_ns", "least time that a thread runs", ""),
    setting("kernel.sched_wakeup_granularity_ns", "how much a woken thread must be owed to take \
        over", ""),
    setting("kernel.perf_event_paranoid", "who may take profiles: the lower, the more",
        "for profiles 1 or less, or root"),
];
