//! Rules about servers: PostgreSQL's chapter "Server Configuration" is the source unless another is
//! named.

use crate::server_rules::{self, OnMachine, Rule};
use observations::Weight::{Note, Problem};
use observations::number::bytes;
use observations::{Advice, Survey, SurveyedServer};

/// A quarter of the memory is the documentation's starting value; this is far below it.
const SHARED_SHARE_MIN: f64 = 0.10;
/// More than this, it says, is unlikely to help.
const SHARED_SHARE_MAX: f64 = 0.40;
/// Page tables of this share of the memory are worth the trouble of huge pages: our choice.
const PAGE_TABLES_SHARE_MAX: f64 = 0.05;
/// An entry of a page table has 8 bytes for a page of 4096.
const BYTES_AN_ENTRY_MAPS: f64 = 512.0;

/// It replaces the rule of the same name about machines without a server, and is about the same
/// setting.
const TRANSPARENT_HUGE_PAGES: &str = "transparent-huge-pages";
const TRANSPARENT_HUGE_PAGES_SETTING: &str = "transparent_hugepage.enabled";

/// Returns the rules' advice on a server.
pub fn advice(server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    let mut found = server_rules::advice(&RULES, server, survey);
    let of_machine = found.iter_mut().filter(|advice| advice.rule == TRANSPARENT_HUGE_PAGES);
    of_machine.for_each(|advice| advice.subject = TRANSPARENT_HUGE_PAGES_SETTING.into());
    found
}

#[rustfmt::skip]
const RULES: [Rule; 14] = [
    (Problem, "postgres-fsync",
        "set fsync = on, unless losing all data is acceptable",
        "a crash of the operating system or a power failure can corrupt the database beyond \
         repair (fsync)",
        |place| is_off(place, "fsync")),
    (Problem, "postgres-full-page-writes",
        "set full_page_writes = on, unless the file system prevents torn pages (copy on write)",
        "a crash of the operating system can leave torn (half-written) pages, unless the file \
         system prevents them (full_page_writes)",
        |place| is_off(place, "full_page_writes")),
    (Problem, "postgres-parallel-limit",
        "raise the limit, or lower the setting that exceeds it",
        "max_parallel_workers caps max_parallel_workers_per_gather, and max_worker_processes \
         caps both; a value above the next limit has no effect (max_parallel_workers)",
        parallel_limit),
    (Problem, "postgres-pending-restart",
        "restart the server when convenient, or revert the changes",
        "the configuration file and the running server differ; the next restart will change the \
         server's behavior (pg_settings.pending_restart)",
        |place| {
            let waiting = place.server.settings.iter().filter(|setting| setting.pending_restart);
            let names: Vec<&str> = waiting.map(|setting| setting.name.as_str()).collect();
            (!names.is_empty())
                .then(|| format!("needs a restart to apply new values of {}", names.join(", ")))
        }),
    (Note, TRANSPARENT_HUGE_PAGES,
        "set it to madvise or never for this PostgreSQL server, and configure explicit huge pages",
        "processes stall while the kernel assembles huge pages. The PostgreSQL documentation \
         discourages transparent huge pages (huge_pages)",
        |place| {
            let value = place.survey.setting(TRANSPARENT_HUGE_PAGES_SETTING)
                .filter(|_| place.server.is_local)?;
            (value == "always").then(|| "is always".into())
        }),
    (Note, "postgres-shared-buffers-small",
        "try a quarter of the memory, if this machine is dedicated to the server",
        "on a dedicated machine, a quarter of the memory is a reasonable starting value; the \
         default must work on any machine (shared_buffers)",
        |place| place.share_of_memory("shared_buffers", |share| share < SHARED_SHARE_MIN)),
    (Note, "postgres-shared-buffers-large",
        "test smaller values, down to a quarter of the memory",
        "PostgreSQL also relies on the page cache, so pages are cached twice; more than 40 % is \
         unlikely to work better than less (shared_buffers)",
        |place| place.share_of_memory("shared_buffers", |share| share > SHARED_SHARE_MAX)),
    (Note, "postgres-cache-size",
        "set it to the sum of shared_buffers and the expected page cache",
        "the planner assumes a cache of this size; a high value favors index scans \
         (effective_cache_size)",
        |place| {
            let cache = place.server.bytes("effective_cache_size")?;
            let memory = place.memory_bytes()?;
            (cache > memory).then(|| format!("has effective_cache_size = {}, more than the \
                                              memory of {}", bytes(cache), bytes(memory)))
        }),
    (Note, "postgres-session-memory",
        "lower work_mem or max_connections, or put a connection pool in front of the server",
        "each sort or hash operation may use this much memory, and one query can run several; \
         with many sessions the kernel may kill processes (work_mem)",
        session_memory),
    (Note, "postgres-huge-pages",
        "set vm.nr_hugepages to the output of `postgres -C shared_memory_size_in_huge_pages`, \
         then set huge_pages = on",
        "each session has its own page tables: 8 bytes per 4 KiB of shared memory that it has \
         touched. Huge pages need 1/512 of that and cause fewer TLB misses (Managing Kernel \
         Resources, Linux Huge Pages)",
        huge_pages),
    (Note, "postgres-overcommit",
        "on a dedicated machine, set vm.overcommit_memory = 2 and a suitable \
         vm.overcommit_ratio, or protect the postmaster with OOMScoreAdjust",
        "the kernel grants more memory than it has; when memory runs out, it may kill the \
         postmaster and with it all sessions (Managing Kernel Resources, Linux Memory Overcommit)",
        |place| {
            place.memory_bytes()?;
            let mode = place.survey.setting("vm.overcommit_memory").filter(|mode| *mode != "2")?;
            Some(format!("runs with vm.overcommit_memory = {mode}"))
        }),
    (Note, "postgres-workers",
        "for large queries, raise it and max_worker_processes towards the number of cores, and \
         measure",
        "it limits the parallel workers of all queries together, whatever the number of cores \
         (max_parallel_workers). Short transactions do not need more",
        workers),
    (Note, "postgres-io-concurrency",
        "try 16 (the default from version 18 on) to 200",
        "bitmap scans prefetch at most one page; SSDs and arrays serve many requests in parallel \
         (effective_io_concurrency)",
        |place| {
            let value = place.server.number("effective_io_concurrency")
                .filter(|value| *value <= 1)?;
            place.has_ssd().then(|| format!("has effective_io_concurrency = {value} on a machine \
                                             with non-rotational drives (SSDs, arrays)"))
        }),
    (Note, "postgres-io-timing",
        "run pg_test_timing; turn it on if one clock reading takes at most tens of nanoseconds",
        "without it, the server's statistics do not include the time of reads and writes; \
         pg_test_timing measures its overhead (track_io_timing)",
        |place| is_off(place, "track_io_timing")),
];

/// A server, and the survey of the machine that it may run on.
fn is_off(place: &OnMachine<'_>, name: &str) -> Option<String> {
    let value = place.server.setting(name)?.value.as_deref()?;
    (value == "off").then(|| format!("has {name} off"))
}

fn parallel_limit(place: &OnMachine<'_>) -> Option<String> {
    let names = ["max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes"];
    let values = names.map(|name| place.server.number(name));
    let above = (0..2).find(|index| {
        values[*index].zip(values[index + 1]).is_some_and(|(value, next)| value > next)
    })?;
    let (value, next) = (values[above]?, values[above + 1]?);
    Some(format!("has {} = {value}, above {} = {next}", names[above], names[above + 1]))
}

fn session_memory(place: &OnMachine<'_>) -> Option<String> {
    let memory = place.memory_bytes()?;
    let work = place.server.bytes("work_mem")?;
    let connections = place.server.number("max_connections")?;
    let all = connections as f64 * work as f64 + place.server.bytes("shared_buffers")? as f64;
    let [all_shown, work, memory_shown] = [all as u64, work, memory].map(bytes);
    (all > memory as f64).then(|| {
        format!(
            "could use {all_shown}, more than the memory of {memory_shown}: shared_buffers plus \
             one work_mem ({work}) for each of {connections} connections"
        )
    })
}

fn huge_pages(place: &OnMachine<'_>) -> Option<String> {
    place.server.huge_pages_used.filter(|used| !used)?;
    let (memory, shared) =
        (place.memory_bytes()? as f64, place.server.bytes("shared_buffers")? as f64);
    let connections = place.server.number("max_connections")?;
    let tables = connections as f64 * shared / BYTES_AN_ENTRY_MAPS;
    let shown = bytes(tables as u64);
    (tables > PAGE_TABLES_SHARE_MAX * memory).then(|| {
        format!(
            "does not use huge pages; the page tables of {connections} connections can \
                    take {shown}"
        )
    })
}

fn workers(place: &OnMachine<'_>) -> Option<String> {
    let cores = place.survey.machine.processors.cores.filter(|_| place.server.is_local)?;
    let setting = place.server.setting("max_parallel_workers")?;
    let workers = place.server.number("max_parallel_workers")?;
    (setting.source == "default" && workers < i64::from(cores) / 2)
        .then(|| format!("has the default max_parallel_workers = {workers} on {cores} cores"))
}
