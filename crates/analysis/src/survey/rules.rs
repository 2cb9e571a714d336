//! Rules about the machine.

use crate::wording::percent;
use observations::Weight::{self, Note, Problem};
use observations::{Rule, RuleFinding, Survey, number};

/// Above this, memory of programs is swapped before the page cache has given much: SQL Server on Linux asks
/// for 1, the kernel's default is 60.
const SWAPPINESS_MAX: u32 = 10;
/// What storage of today takes a second or so to write: our choice.
const UNWRITTEN_BYTES_MAX: f64 = (1_u64 << 30) as f64;
/// Time given to others above this share of all time was not a moment's: our choice.
const STEAL_SHARE_MAX: f64 = 0.01;
/// Above this share of the asynchronous I/Os that may be set up, the next server may find none left.
const AIO_SHARE_MAX: f64 = 0.9;
/// Clock sources whose reading is a slow trip to a chip (`pg_test_timing`).
const SLOW_CLOCKS: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

type Find = fn(&Survey) -> Option<RuleFinding>;

const fn rule(name: &'static str, weight: Weight, find: Find, reason: &'static str) -> Rule<Find> {
    Rule { name, weight, find, reason }
}

#[rustfmt::skip]
pub(super) const RULES: [Rule<Find>; 13] = [
    rule("zone-reclaim", Problem, zone_reclaim,
        "a node that gives up its own cache before it takes memory of another reads from storage what could \
         have stayed; the kernel's documentation wants it off where caching matters more than locality \
         (sysctl/vm.rst)"),
    rule("clock-source", Problem, clock_source,
        "each reading of this clock accesses a chip and takes about a microsecond instead of tens of nanoseconds; \
         servers that time their work read it very often (PostgreSQL: pg_test_timing, \
         track_io_timing)"),
    rule("governor", Note, governor,
        "a processor that is slowed down to save energy is slow when a request comes, and measurements \
         depend on what ran before; vendors recommend performance (Microsoft: Performance \
         best practices for SQL Server on Linux; Documentation/admin-guide/pm/cpufreq.rst)"),
    rule("aio-limit", Problem, aio_limit,
        "a server that finds no asynchronous I/Os left does not start, or falls back to synchronous ones \
         (MySQL: innodb_use_native_aio)"),
    rule("swappiness", Note, swappiness,
        "memory of a server that was swapped out costs reads in the middle of requests; with a large page \
         cache, as databases have it, the kernel's default of 60 swaps early (sysctl/vm.rst; Microsoft: \
         Performance best practices for SQL Server on Linux has 1)"),
    rule("transparent-huge-pages", Note, transparent_huge_pages,
        "a process that touches memory waits while the kernel makes a huge page of it. PostgreSQL \
         discourages them (runtime configuration, huge_pages), SQL Server wants them (Performance best \
         practices for SQL Server on Linux): it is one or the other"),
    rule("huge-page-defrag", Note, huge_page_defrag,
        "every allocation stalls while memory is compacted for a huge page \
         (Documentation/admin-guide/mm/transhuge.rst)"),
    rule("numa-balancing", Note, numa_balancing,
        "pages are unmapped from time to time to see who uses them, which costs faults; memory that all \
         processors share, as a database's, has no right place (sysctl/kernel.rst; Microsoft: Performance \
         best practices for SQL Server on Linux)"),
    rule("unwritten-data", Note, unwritten_data,
        "the kernel collects this much before it begins to write; a checkpoint that syncs waits for all of it, and \
         so do commits behind it (PostgreSQL: checkpoint_flush_after)"),
    rule("memory-limit", Note, memory_limit,
        "what is sized by the memory of the machine is too large here: the group is stopped at its limit \
         (cgroup-v2.rst)"),
    rule("processor-limit", Note, processor_limit,
        "what is sized by the number of processors is too large here: when the group's time is used up, all \
         its threads stop until the next period (cgroup-v2.rst)"),
    rule("stolen-time", Note, stolen_time,
        "the hypervisor gave the processors to other guests while work was waiting here: measurements vary with \
         what those do (proc(5), steal)"),
    rule("clock-synchronized", Note, clock_synchronized,
        "no time service reports to the kernel: times of several machines cannot be compared, and certificates and \
         replicas may fail (adjtimex(2)). Some hypervisors keep the clock right without reporting it"),
];

fn found(subject: &str, fact: String, action: &str) -> RuleFinding {
    RuleFinding { subject: subject.into(), fact, action: action.into() }
}

fn number<T: std::str::FromStr>(survey: &Survey, name: &str) -> Option<T> {
    survey.setting(name)?.parse().ok()
}

fn has_nodes(survey: &Survey) -> bool {
    survey.machine.nodes.len() > 1
}

fn zone_reclaim(survey: &Survey) -> Option<RuleFinding> {
    let mode = number(survey, "vm.zone_reclaim_mode").filter(|mode: &u32| *mode != 0 && has_nodes(survey))?;
    let nodes = survey.machine.nodes.len();
    Some(found("vm.zone_reclaim_mode", format!("is {mode} with {nodes} NUMA nodes"), "set it to 0"))
}

fn clock_source(survey: &Survey) -> Option<RuleFinding> {
    let clock = survey.setting("clocksource.current").filter(|clock| SLOW_CLOCKS.contains(clock))?;
    let others = survey.setting("clocksource.available").unwrap_or("no other known");
    let action = "choose tsc, or the hypervisor's own, if it is available; the kernel's log says why it was \
                  not chosen";
    Some(found("clocksource", format!("is {clock} (available: {others})"), action))
}

fn governor(survey: &Survey) -> Option<RuleFinding> {
    let governor = survey.setting("cpufreq.governor").filter(|governor| *governor != "performance")?;
    let driver = survey.setting("cpufreq.driver").unwrap_or("unknown");
    let preference = survey.setting("cpufreq.energy_performance_preference");
    let preference = preference.map(|text| format!(", energy preference {text}")).unwrap_or_default();
    let action =
        "set the governor, and the energy preference where there is one, to performance, and compare";
    Some(found("cpufreq.governor", format!("is {governor} (driver {driver}{preference})"), action))
}

fn aio_limit(survey: &Survey) -> Option<RuleFinding> {
    let (used, most): (f64, f64) = (number(survey, "fs.aio-nr")?, number(survey, "fs.aio-max-nr")?);
    (most > 0.0 && used >= AIO_SHARE_MAX * most).then_some(())?;
    Some(found(
        "fs.aio-max-nr",
        format!("is {most}, of which {used} are taken"),
        "raise it, for example to 1048576",
    ))
}

fn swappiness(survey: &Survey) -> Option<RuleFinding> {
    let value = number(survey, "vm.swappiness").filter(|value: &u32| *value > SWAPPINESS_MAX)?;
    survey.machine.memory.swap_bytes.filter(|bytes| *bytes > 0)?;
    let action = "set it to 1 (swap only before memory runs out) to 10; 0 can end processes earlier";
    Some(found("vm.swappiness", format!("is {value}, and there is swap"), action))
}

fn transparent_huge_pages(survey: &Survey) -> Option<RuleFinding> {
    survey.setting("transparent_hugepage.enabled").filter(|value| *value == "always")?;
    let action = "choose by the engine: madvise or never for PostgreSQL, always for SQL Server";
    Some(found("transparent_hugepage.enabled", "is always".into(), action))
}

fn huge_page_defrag(survey: &Survey) -> Option<RuleFinding> {
    survey.setting("transparent_hugepage.defrag").filter(|value| *value == "always")?;
    survey.setting("transparent_hugepage.enabled").filter(|value| *value != "never")?;
    Some(found("transparent_hugepage.defrag", "is always".into(), "set it to madvise or defer+madvise"))
}

fn numa_balancing(survey: &Survey) -> Option<RuleFinding> {
    let mode =
        number(survey, "kernel.numa_balancing").filter(|mode: &u32| *mode != 0 && has_nodes(survey))?;
    let nodes = survey.machine.nodes.len();
    Some(found(
        "kernel.numa_balancing",
        format!("is {mode} with {nodes} NUMA nodes"),
        "set it to 0, and compare",
    ))
}

fn unwritten_data(survey: &Survey) -> Option<RuleFinding> {
    let fixed: Option<f64> = number(survey, "vm.dirty_background_bytes").filter(|bytes| *bytes > 0.0);
    // The ratio is one of what could be had, free memory and page cache (sysctl/vm.rst).
    let of_memory = || {
        let ratio: f64 = number(survey, "vm.dirty_background_ratio")?;
        Some(ratio / 100.0 * survey.machine.memory.available_bytes? as f64)
    };
    let bytes = fixed.or_else(of_memory).filter(|bytes| *bytes > UNWRITTEN_BYTES_MAX)?;
    let fact =
        format!("allow {} of unwritten data before the kernel begins to write", number::bytes(bytes as u64));
    let action = "set vm.dirty_background_bytes to what the storage writes in about a second, and \
                  vm.dirty_bytes to some times that";
    Some(found("vm.dirty_background_*", fact, action))
}

fn memory_limit(survey: &Survey) -> Option<RuleFinding> {
    let (limit, total) = (survey.machine.limits.memory_bytes?, survey.machine.memory.total_bytes?);
    (limit < total).then_some(())?;
    let fact = format!("may use {} of {} of memory", number::bytes(limit), number::bytes(total));
    Some(found("this control group", fact, "size servers in it by the limit"))
}

fn processor_limit(survey: &Survey) -> Option<RuleFinding> {
    let (limit, online) = (survey.machine.limits.cpus?, survey.machine.processors.logical?);
    (limit < f64::from(online)).then_some(())?;
    let fact = format!("may use the time of {limit} of {online} processors");
    Some(found("this control group", fact, "size servers in it by the limit"))
}

fn stolen_time(survey: &Survey) -> Option<RuleFinding> {
    let share = survey.machine.steal_share.filter(|share| *share > STEAL_SHARE_MAX)?;
    let fact = format!("lost {} of all processor time since boot", percent(share));
    Some(found(
        "this virtual machine",
        fact,
        "measure on a host without neighbours, or repeat at other times of day",
    ))
}

fn clock_synchronized(survey: &Survey) -> Option<RuleFinding> {
    survey.machine.clock_synchronized.filter(|is_synchronized| !is_synchronized)?;
    Some(found(
        "the clock",
        "is not known to be synchronized".into(),
        "run chrony, systemd-timesyncd or ptp4l, or check the hypervisor's clock",
    ))
}
