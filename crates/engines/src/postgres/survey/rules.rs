//! Rules about servers: PostgreSQL's chapter "Server Configuration" is the source unless another is named.

use observations::Weight::{self, Note, Problem};
use observations::number::{bytes, short_percent};
use observations::{Advice, Rule, RuleFinding, Survey, SurveyedServer};

/// From this memory on, PostgreSQL's documentation gives figures for `shared_buffers`.
const MEMORY_BYTES_MIN: u64 = 1 << 30;
/// A quarter of the memory is the documentation's starting value; this is far below it.
const SHARED_SHARE_MIN: f64 = 0.10;
/// More than this, it says, is unlikely to help.
const SHARED_SHARE_MAX: f64 = 0.40;
/// Page tables of this share of the memory are worth the trouble of huge pages: our choice.
const PAGE_TABLES_SHARE_MAX: f64 = 0.05;
/// An entry of a page table has 8 bytes for a page of 4096.
const BYTES_AN_ENTRY_MAPS: f64 = 512.0;

/// A server, and the survey of the machine that it may run on.
struct OnMachine<'a> {
    server: &'a SurveyedServer,
    survey: &'a Survey,
}

impl OnMachine<'_> {
    /// Memory of the machine, if the server runs on it.
    fn memory_bytes(&self) -> Option<u64> {
        self.survey.machine.memory.total_bytes.filter(|bytes| self.server.is_local && *bytes > 0)
    }
}

/// What the rules find about a server.
pub(in crate::postgres) fn advice(server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    let place = OnMachine { server, survey };
    RULES.iter().filter_map(|rule| Some(rule.advice((rule.find)(&place)?))).collect()
}

type Find = fn(&OnMachine<'_>) -> Option<RuleFinding>;

const fn rule(name: &'static str, weight: Weight, find: Find, reason: &'static str) -> Rule<Find> {
    Rule { name, weight, find, reason }
}

#[rustfmt::skip]
const RULES: [Rule<Find>; 14] = [
    rule("postgres-fsync", Problem, fsync,
        "a crash of the machine can leave a database that cannot be repaired (fsync)"),
    rule("postgres-full-page-writes", Problem, full_page_writes,
        "a crash of the machine can leave pages that are half old, half new, unless the file system never \
         tears them (full_page_writes)"),
    rule("postgres-parallel-limit", Problem, parallel_limit,
        "parallel workers are taken from those of max_parallel_workers, and these from the processes of \
         max_worker_processes: what is above the next limit has no effect (max_parallel_workers)"),
    rule("postgres-pending-restart", Problem, pending_restart,
        "the configuration file and the running server differ: the next restart changes how the server behaves \
         (pg_settings.pending_restart)"),
    // It replaces the rule of the same name about machines without a server.
    rule("transparent-huge-pages", Note, transparent_huge_pages,
        "a process that touches memory waits while the kernel makes a huge page of it. PostgreSQL discourages \
         them (huge_pages)"),
    rule("postgres-shared-buffers-small", Note, shared_buffers_small,
        "on a dedicated machine a quarter of the memory is a reasonable starting value; the default is made for \
         any machine (shared_buffers)"),
    rule("postgres-shared-buffers-large", Note, shared_buffers_large,
        "PostgreSQL reads through the operating system's cache too, so pages are in memory twice; more than \
         40 % is unlikely to work better (shared_buffers)"),
    rule("postgres-cache-size", Note, cache_size,
        "the planner assumes that this much of an index is in memory, and prefers index scans accordingly \
         (effective_cache_size)"),
    rule("postgres-session-memory", Note, session_memory,
        "each sort and hash of each session may use this much, several at once in one query; when many sessions \
         do, the kernel may kill processes (work_mem)"),
    rule("postgres-huge-pages", Note, huge_pages,
        "each session has page tables of its own for the shared memory: 8 bytes for each 4 KiB it has \
         touched. Huge pages need 512 times less, and fewer misses of the TLB (Managing Kernel Resources, \
         Linux Huge Pages)"),
    rule("postgres-overcommit", Note, overcommit,
        "the kernel promises more memory than there is, and when it runs out may kill the whole server, not \
         only the session that asked (Managing Kernel Resources, Linux Memory Overcommit)"),
    rule("postgres-workers", Note, workers,
        "large queries run in no more processes than this, however many cores the machine has \
         (max_parallel_workers). For many short transactions that is no loss"),
    rule("postgres-io-concurrency", Note, io_concurrency,
        "bitmap scans ask for one page ahead; SSDs and arrays serve many at once (effective_io_concurrency)"),
    rule("postgres-io-timing", Note, io_timing,
        "without it the server's statistics cannot tell how long reads and writes take; pg_test_timing \
         tells what it costs here (track_io_timing)"),
];

fn found(place: &OnMachine<'_>, fact: String, action: &str) -> RuleFinding {
    let subject = format!("{} at {}", place.server.version, place.server.address);
    RuleFinding { subject, fact, action: action.into() }
}

fn is_off(place: &OnMachine<'_>, name: &str) -> Option<()> {
    (place.server.setting(name)?.value.as_deref()? == "off").then_some(())
}

fn fsync(place: &OnMachine<'_>) -> Option<RuleFinding> {
    is_off(place, "fsync")?;
    Some(found(place, "has fsync off".into(), "set fsync = on, unless all of its data may be lost"))
}

fn full_page_writes(place: &OnMachine<'_>) -> Option<RuleFinding> {
    is_off(place, "full_page_writes")?;
    let action = "set full_page_writes = on, unless the file system is one that copies on write";
    Some(found(place, "has full_page_writes off".into(), action))
}

fn parallel_limit(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let names = ["max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes"];
    let values = names.map(|name| place.server.number(name));
    let above =
        (0..2).find(|index| values[*index].zip(values[index + 1]).is_some_and(|(one, next)| one > next))?;
    let (one, next) = (values[above]?, values[above + 1]?);
    let fact = format!("has {} = {one}, above {} = {next}", names[above], names[above + 1]);
    Some(found(place, fact, "raise the limit, or lower what is above it"))
}

fn pending_restart(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let waiting = place.server.settings.iter().filter(|setting| setting.pending_restart);
    let names: Vec<String> = waiting.map(|setting| setting.name.clone()).collect();
    (!names.is_empty()).then_some(())?;
    let fact = format!("waits for a restart to take new values of {}", names.join(", "));
    Some(found(place, fact, "restart the server when convenient, or revert the changes"))
}

fn transparent_huge_pages(place: &OnMachine<'_>) -> Option<RuleFinding> {
    place.survey.setting("transparent_hugepage.enabled").filter(|value| *value == "always")?;
    let subject = "transparent_hugepage.enabled".into();
    let action = "set it to madvise or never for this PostgreSQL server, and give it explicit huge pages";
    place.server.is_local.then(|| RuleFinding { subject, fact: "is always".into(), action: action.into() })
}

/// Bytes of `shared_buffers`, and their share of the machine's memory.
fn shared_buffers(place: &OnMachine<'_>) -> Option<(f64, f64)> {
    let memory = place.memory_bytes().filter(|bytes| *bytes >= MEMORY_BYTES_MIN)?;
    let shared = place.server.bytes("shared_buffers")? as f64;
    Some((shared, shared / memory as f64))
}

fn shared_buffers_fact(shared: f64, share: f64) -> String {
    format!("has shared_buffers of {}, {} of the memory", bytes(shared as u64), short_percent(share))
}

fn shared_buffers_small(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let (shared, share) = shared_buffers(place).filter(|(_, share)| *share < SHARED_SHARE_MIN)?;
    let action = "try a quarter of the memory, if the machine is for this server alone";
    Some(found(place, shared_buffers_fact(shared, share), action))
}

fn shared_buffers_large(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let (shared, share) = shared_buffers(place).filter(|(_, share)| *share > SHARED_SHARE_MAX)?;
    Some(found(
        place,
        shared_buffers_fact(shared, share),
        "compare with less, down to a quarter of the memory",
    ))
}

fn cache_size(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let (cache, memory) = (place.server.bytes("effective_cache_size")?, place.memory_bytes()?);
    (cache > memory).then_some(())?;
    let fact = format!("has effective_cache_size of {}, above the memory of {}", bytes(cache), bytes(memory));
    Some(found(place, fact, "set it to what shared_buffers and the page cache have together"))
}

fn session_memory(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let memory = place.memory_bytes()? as f64;
    let work = place.server.bytes("work_mem")? as f64;
    let connections = place.server.number("max_connections")?;
    let all = connections as f64 * work + place.server.bytes("shared_buffers")? as f64;
    (all > memory).then_some(())?;
    let fact = format!(
        "could take {} with one work_mem ({}) in each of {connections} connections, above the memory of {}",
        bytes(all as u64),
        bytes(work as u64),
        bytes(memory as u64)
    );
    Some(found(
        place,
        fact,
        "lower work_mem or max_connections, or put a connection pool in front of the server",
    ))
}

fn huge_pages(place: &OnMachine<'_>) -> Option<RuleFinding> {
    place.server.huge_pages_used.filter(|used| !used)?;
    let (memory, shared) = (place.memory_bytes()? as f64, place.server.bytes("shared_buffers")? as f64);
    let connections = place.server.number("max_connections")?;
    let tables = connections as f64 * shared / BYTES_AN_ENTRY_MAPS;
    (tables > PAGE_TABLES_SHARE_MAX * memory).then_some(())?;
    let fact = format!(
        "uses no huge pages: page tables of {connections} connections can take {}",
        bytes(tables as u64)
    );
    let action = "set vm.nr_hugepages to what `postgres -C shared_memory_size_in_huge_pages` says, then \
                  huge_pages = on";
    Some(found(place, fact, action))
}

fn overcommit(place: &OnMachine<'_>) -> Option<RuleFinding> {
    place.memory_bytes()?;
    let mode = place.survey.setting("vm.overcommit_memory").filter(|mode| *mode != "2")?;
    let action = "on a machine for servers alone set vm.overcommit_memory = 2 with a fitting \
                  vm.overcommit_ratio, or shield the postmaster with OOMScoreAdjust";
    Some(found(place, format!("runs with vm.overcommit_memory = {mode}"), action))
}

fn workers(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let cores = place.survey.machine.processors.cores.filter(|_| place.server.is_local)?;
    let setting = place.server.setting("max_parallel_workers")?;
    let workers = place.server.number("max_parallel_workers")?;
    (setting.source == "default" && workers < i64::from(cores) / 2).then_some(())?;
    let fact = format!("has the default max_parallel_workers = {workers} on {cores} cores");
    Some(found(
        place,
        fact,
        "for large queries, raise it and max_worker_processes towards the number of cores, and compare",
    ))
}

fn io_concurrency(place: &OnMachine<'_>) -> Option<RuleFinding> {
    let value = place.server.number("effective_io_concurrency").filter(|value| *value <= 1)?;
    let mut devices = place.survey.volumes.iter().flat_map(|volume| &volume.devices);
    let has_ssd = place.server.is_local && devices.any(|device| device.rotational == Some(false));
    has_ssd.then_some(())?;
    let fact = format!("has effective_io_concurrency = {value}, and there are drives without a moving head");
    Some(found(place, fact, "try 16 (the default from version 18 on) to 200"))
}

fn io_timing(place: &OnMachine<'_>) -> Option<RuleFinding> {
    is_off(place, "track_io_timing")?;
    Some(found(
        place,
        "has track_io_timing off".into(),
        "run pg_test_timing, and turn it on if reading the clock takes tens of nanoseconds",
    ))
}
