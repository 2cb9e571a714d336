/// Meaning of an operating-system setting, and the value that databases want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The name, as in [`observations::SystemSetting`].
    pub name: &'static str,
    /// The meaning.
    pub is: &'static str,
    /// Value that databases want; empty if the setting is informative only.
    pub advice: &'static str,
}

const fn setting(name: &'static str, is: &'static str, text: &'static str) -> Meaning {
    Meaning { name, is, advice: text }
}

/// Returns the entry of a setting.
///
/// Sources: of Linux's Documentation/admin-guide the parts sysctl (vm, kernel, fs, net),
/// mm/transhuge.rst and pm; PostgreSQL's chapter "Managing Kernel Resources".
pub fn meaning(name: &str) -> Option<&'static Meaning> {
    MEANINGS.iter().find(|known| known.name == name)
}

#[rustfmt::skip]
const MEANINGS: &[Meaning] = &[
    setting("vm.nr_hugepages", "reserved explicit huge pages",
        "enough for large shared memory of servers"),
    setting("vm.nr_overcommit_hugepages", "explicit huge pages allocated on demand", ""),
    setting("transparent_hugepage.enabled", "processes that get huge pages automatically",
        "PostgreSQL: madvise or never; SQL Server: always or madvise"),
    setting("transparent_hugepage.defrag", "processes that stall while memory is compacted for a \
                                            huge page",
        "not always: allocations stall"),
    setting("vm.swappiness", "preference for swapping program memory over dropping page cache",
        "low (1 to 10) where there is swap"),
    setting("vm.dirty_background_ratio",
        "% of available memory that may be dirty before background writing starts",
        "small, or use the setting in bytes"),
    setting("vm.dirty_background_bytes", "the same in bytes; 0: the ratio applies",
        "about one second of storage writes"),
    setting("vm.dirty_ratio", "% of available memory that may be dirty before writers block",
        "well above the background limit"),
    setting("vm.dirty_bytes", "the same in bytes; 0: the ratio applies", ""),
    setting("vm.dirty_expire_centisecs", "age at which dirty data is written, in 0.01 s", ""),
    setting("vm.dirty_writeback_centisecs", "interval of background writing, in 0.01 s", ""),
    setting("vm.overcommit_memory", "0: heuristic, 1: always overcommit, 2: never",
        "PostgreSQL: 2 on dedicated machines"),
    setting("vm.overcommit_ratio", "% of memory that may be committed with mode 2",
        "enough for servers and their sessions"),
    setting("vm.overcommit_kbytes", "the same in KiB; 0: the ratio applies", ""),
    setting("vm.min_free_kbytes", "KiB kept free", ""),
    setting("vm.max_map_count", "memory mappings per process", "SQL Server: at least 262144"),
    setting("vm.zone_reclaim_mode",
        "reclaim a NUMA node's own cache before using another node's memory", "0"),
    setting("kernel.numa_balancing", "migrate memory to the CPUs that use it",
        "0 where servers place memory themselves"),
    setting("cpufreq.driver", "driver of the CPU frequency", ""),
    setting("cpufreq.governor", "policy of the CPU frequency", "performance"),
    setting("cpufreq.energy_performance_preference", "CPU's own preference between performance \
                                                      and energy",
        "performance"),
    setting("cpufreq.max_khz", "maximum frequency, in kHz", "the same on all cores"),
    setting("cpufreq.boost", "allow frequencies above nominal (turbo)", ""),
    setting("intel_pstate.status", "active: the CPU decides, the governor only hints", ""),
    setting("intel_pstate.no_turbo", "1: turbo disabled", ""),
    setting("amd_pstate.status", "active: the CPU decides, the governor only hints", ""),
    setting("cpuidle.driver", "driver of CPU idle states",
        "intel_idle or acpi_idle with shallow states only, for latency"),
    setting("clocksource.current", "clock source in use",
        "tsc or the hypervisor's clock: servers read the time very often"),
    setting("clocksource.available", "clock sources available", ""),
    setting("net.core.somaxconn", "limit of unaccepted connections", "as many as arrive \
        in a burst"),
    setting("fs.file-max", "limit of open files, system-wide", ""),
    setting("fs.nr_open", "upper bound of a process's open-file limit", ""),
    setting("fs.aio-max-nr", "limit of asynchronous I/Os, system-wide",
        "1048576 for servers that use native AIO"),
    setting("fs.aio-nr", "asynchronous I/Os in use", ""),
    setting("kernel.io_uring_disabled", "0: io_uring allowed for all, 1: for a group, 2: disabled",
        "0 for servers that use it"),
    setting("kernel.shmmax", "largest System V segment, in bytes", "larger than a server's \
                                                                    shared memory"),
    setting("kernel.shmall", "System V shared memory limit, in pages", "larger than that of all \
                                                                  servers together"),
    setting("kernel.shmmni", "System V segments, system-wide", ""),
    setting("kernel.sem", "semaphores: per set, total, operations per call, sets",
        "older servers: more with many connections"),
    setting("kernel.pid_max", "highest process ID", "more than processes and threads \
                                                              together"),
    setting("kernel.threads-max", "limit of threads, system-wide", ""),
    setting("kernel.sched_autogroup_enabled", "share CPU time by terminal session",
        "no effect on services"),
    setting("kernel.sched_rt_runtime_us", "us per second for real-time processes", ""),
    setting("kernel.sched_migration_cost_ns", "time for which a thread counts as cache-hot", ""),
    setting("kernel.sched_min_granularity_ns", "minimum time slice", ""),
    setting("kernel.sched_wakeup_granularity_ns", "preemption threshold of a woken thread", ""),
    setting("kernel.perf_event_paranoid", "restriction of profiling: lower allows more",
        "for profiles: at most 1, or root"),
];
