//! Rules on the settings of a machine, with the advice of engines and on volumes.

use analysis::response::distinct;
use analysis::wording::percent;
use inspection::volume_advice;
use observations::Weight::{self, Note, Problem};
use observations::number::bytes;
use observations::{Advice, Survey, order};

/// Everything that should be looked at, problems first; of equal weight, servers as their engines
/// advise come before the machine and its volumes. A rule of the machine gives way to an engine's
/// rule of the same name.
pub fn advice(survey: &Survey, of_servers: Vec<Advice>) -> Vec<Advice> {
    let rules =
        RULES.iter().filter(|(_, rule, ..)| of_servers.iter().all(|advice| advice.rule != *rule));
    let of_machine: Vec<Advice> = rules
        .filter_map(|&(weight, rule, subject, action, reason, find)| {
            let fact = find(survey)?;
            Some(Advice {
                rule,
                weight,
                subject: subject.to_owned(),
                fact,
                reason,
                action: action.to_owned(),
            })
        })
        .collect();
    let mut all = [of_servers, of_machine].concat();
    // Volumes share disks: show the advice on a disk once.
    all.extend(distinct(survey.volumes.iter().flat_map(volume_advice)));
    order::by_key(&mut all, &|advice| advice.weight);
    all
}

/// Above this, memory of programs is swapped before the page cache has given much: SQL Server on
/// Linux asks for 1, the kernel's default is 60.
const SWAPPINESS_MAX: u32 = 10;
/// About one second of writes of present storage (our choice).
const UNWRITTEN_BYTES_MAX: f64 = (1_u64 << 30) as f64;
/// Time given to others above this share of all time was not a moment's: our choice.
const STEAL_SHARE_MAX: f64 = 0.01;
/// Above this share of the asynchronous I/Os that may be set up, the next server may find none
/// left.
const AIO_SHARE_MAX: f64 = 0.9;
/// Clock sources whose reading is a slow trip to a chip (`pg_test_timing`).
const SLOW_CLOCKS: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

/// A rule about the machine: weight, name, what it is about, what to do, why (with the source), and
/// what finds the fact, if it is one.
type Rule =
    (Weight, &'static str, &'static str, &'static str, &'static str, fn(&Survey) -> Option<String>);

#[rustfmt::skip]
const RULES: [Rule; 13] = [
    (Problem, "zone-reclaim", "vm.zone_reclaim_mode",
        "set it to 0",
        "a node drops its own page cache before using another node's memory, so data is read \
         from storage again; the kernel's documentation advises 0 where caching matters more \
         than locality (sysctl/vm.rst)",
        |survey| not_zero_with_nodes(survey, "vm.zone_reclaim_mode")),
    (Problem, "clock-source", "clocksource",
        "choose tsc or the hypervisor's clock if available; the kernel log says why it was not \
         chosen",
        "each reading of this clock takes about a microsecond instead of tens of nanoseconds, \
         and servers that time their work read it very often (PostgreSQL: pg_test_timing, \
         track_io_timing)",
        clock_source),
    (Note, "governor", "cpufreq.governor",
        "set the governor and the energy preference (if present) to performance, and compare",
        "a CPU at a reduced frequency is slow when a request arrives, and measurements depend on \
         earlier load; vendors recommend performance (Microsoft: Performance best practices for \
         SQL Server on Linux; Documentation/admin-guide/pm/cpufreq.rst)",
        governor),
    (Problem, "aio-limit", "fs.aio-max-nr",
        "increase it, for example to 1048576",
        "without free asynchronous I/Os a server fails to start or falls back to synchronous I/O \
         (MySQL: innodb_use_native_aio)",
        aio_limit),
    (Note, "swappiness", "vm.swappiness",
        "set it between 1 (swap only when memory runs out) and 10; with 0 the kernel may kill \
         processes earlier",
        "swapped-out server memory causes reads during requests; with a large page cache, usual \
         for databases, the kernel's default of 60 swaps early (sysctl/vm.rst; Microsoft \
         recommends 1: Performance best practices for SQL Server on Linux)",
        |survey| {
            let value = number(survey, "vm.swappiness")
                .filter(|value: &u32| *value > SWAPPINESS_MAX)?;
            survey.machine.memory.swap_bytes.filter(|bytes| *bytes > 0)?;
            Some(format!("is {value}, and swap is configured"))
        }),
    (Note, "transparent-huge-pages", "transparent_hugepage.enabled",
        "choose by the engine: madvise or never for PostgreSQL, always for SQL Server",
        "a process stalls while the kernel builds a huge page. PostgreSQL discourages them \
         (runtime configuration, huge_pages); SQL Server recommends them (Performance best \
         practices for SQL Server on Linux)",
        |survey| is_always(survey, "transparent_hugepage.enabled")),
    (Note, "huge-page-defrag", "transparent_hugepage.defrag",
        "set it to madvise or defer+madvise",
        "every allocation stalls while memory is compacted for a huge page \
         (Documentation/admin-guide/mm/transhuge.rst)",
        |survey| {
            survey.setting("transparent_hugepage.enabled").filter(|value| *value != "never")?;
            is_always(survey, "transparent_hugepage.defrag")
        }),
    (Note, "numa-balancing", "kernel.numa_balancing",
        "set it to 0, and compare",
        "the kernel unmaps pages periodically to see which CPUs use them, which causes faults; a \
         database's memory is shared by all CPUs, so moving it has no benefit \
         (sysctl/kernel.rst; Microsoft: Performance best practices for SQL Server on Linux)",
        |survey| not_zero_with_nodes(survey, "kernel.numa_balancing")),
    (Note, "unwritten-data", "vm.dirty_background_*",
        "set vm.dirty_background_bytes to about one second of storage writes, and vm.dirty_bytes \
         to a few times that",
        "the kernel collects this much dirty data before writing; a checkpoint's sync waits for \
         all of it, and so do commits behind it (PostgreSQL: checkpoint_flush_after)",
        unwritten_data),
    (Note, "memory-limit", "this control group",
        "size its servers by this limit",
        "settings sized by the machine's memory are too large here: the kernel stops the group \
         at its limit (cgroup-v2.rst)",
        |survey| {
            let limit = survey.machine.limits.memory_bytes?;
            let total = survey.machine.memory.total_bytes?;
            (limit < total)
                .then(|| format!("may use {} of {} memory", bytes(limit), bytes(total)))
        }),
    (Note, "processor-limit", "this control group",
        "size its servers by this limit",
        "settings sized by the number of CPUs are too large here: when the group's quota is used \
         up, all its threads stop until the next period (cgroup-v2.rst)",
        |survey| {
            let (limit, online) = (survey.machine.limits.cpus?, survey.machine.processors.logical?);
            (limit < f64::from(online)).then(|| format!("may use {limit} of {online} CPUs"))
        }),
    (Note, "stolen-time", "this virtual machine",
        "measure on a dedicated host, or repeat at other times of day",
        "the hypervisor ran other guests while work was waiting here, so measurements vary with \
         their load (proc(5), steal)",
        |survey| {
            let share = survey.machine.steal_share.filter(|share| *share > STEAL_SHARE_MAX)?;
            Some(format!("lost {} of its CPU time to steal since boot", percent(share)))
        }),
    (Note, "clock-synchronized", "the clock",
        "run chrony, systemd-timesyncd or ptp4l, or check the hypervisor's clock",
        "no time service reports to the kernel: times of several machines are not comparable, \
         and certificates and replicas may fail (adjtimex(2)). Some hypervisors keep the clock \
         right without reporting it",
        |survey| {
            survey.machine.clock_synchronized.filter(|is_synchronized| !is_synchronized)?;
            Some("is not reported as synchronized".to_owned())
        }),
];

fn number<T: std::str::FromStr>(survey: &Survey, name: &str) -> Option<T> {
    survey.setting(name)?.parse().ok()
}

fn is_always(survey: &Survey, name: &str) -> Option<String> {
    survey.setting(name).filter(|value| *value == "always").map(|_| "is always".to_owned())
}

fn not_zero_with_nodes(survey: &Survey, name: &str) -> Option<String> {
    let (mode, nodes): (u32, usize) = (number(survey, name)?, survey.machine.nodes.len());
    (mode != 0 && nodes > 1).then(|| format!("is {mode} with {nodes} NUMA nodes"))
}

fn clock_source(survey: &Survey) -> Option<String> {
    let clock =
        survey.setting("clocksource.current").filter(|clock| SLOW_CLOCKS.contains(clock))?;
    let others = survey.setting("clocksource.available").unwrap_or("no other listed");
    Some(format!("is {clock} (available: {others})"))
}

fn governor(survey: &Survey) -> Option<String> {
    let governor =
        survey.setting("cpufreq.governor").filter(|governor| *governor != "performance")?;
    let driver = survey.setting("cpufreq.driver").unwrap_or("unknown");
    let preference = survey.setting("cpufreq.energy_performance_preference");
    let preference =
        preference.map(|text| format!(", energy preference {text}")).unwrap_or_default();
    Some(format!("is {governor} (driver {driver}{preference})"))
}

fn aio_limit(survey: &Survey) -> Option<String> {
    let (used, most): (f64, f64) = (number(survey, "fs.aio-nr")?, number(survey, "fs.aio-max-nr")?);
    (most > 0.0 && used >= AIO_SHARE_MAX * most)
        .then(|| format!("is {most}, of which {used} are in use"))
}

fn unwritten_data(survey: &Survey) -> Option<String> {
    let fixed: Option<f64> =
        number(survey, "vm.dirty_background_bytes").filter(|bytes| *bytes > 0.0);
    // The ratio is one of what could be had, free memory and page cache (sysctl/vm.rst).
    let unwritten = fixed
        .or_else(|| {
            let ratio: f64 = number(survey, "vm.dirty_background_ratio")?;
            Some(ratio / 100.0 * survey.machine.memory.available_bytes? as f64)
        })
        .filter(|bytes| *bytes > UNWRITTEN_BYTES_MAX)?;
    Some(format!(
        "allow {} of dirty data before background writing starts",
        bytes(unwritten as u64)
    ))
}
