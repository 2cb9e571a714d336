//! Rules about servers of MariaDB and MySQL. The source of each is named beside it: the page of
//! MariaDB's documentation about the variable (<https://mariadb.com/kb/en/innodb-system-variables/>
//! and `replication-and-binary-log-system-variables`) unless it is another.

use crate::server_rules::{self, OnMachine, Rule};
use observations::Weight::{Note, Problem};
use observations::number::bytes;
use observations::{Advice, Survey, SurveyedServer};

/// The documentation says "up to 80 % of the total memory" of a server that has a machine for
/// itself; this is far below it.
const POOL_SHARE_MIN: f64 = 0.25;
/// More than this leaves too little for sessions and the system.
const POOL_SHARE_MAX: f64 = 0.80;
/// A redo log smaller than this share of the buffer pool makes pages be written before the pool
/// needs their room: our choice.
const REDO_SHARE_MIN: f64 = 0.10;
/// A redo log of this size is enough for small buffer pools.
const REDO_BYTES_SMALL: u64 = 96 << 20;
/// More than this the kernel may swap a buffer pool out for page cache: the documentation advises
/// 1.
const SWAPPINESS_MAX: u32 = 10;

/// Returns the rules' advice on a server.
pub fn advice(server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    server_rules::advice(&RULES, server, survey)
}

#[rustfmt::skip]
const RULES: [Rule; 13] = [
    (Problem, "mariadb-doublewrite",
        "set innodb_doublewrite = ON, unless the storage guarantees atomic page writes",
        "a crash of the operating system can leave torn (half-written) pages, which the redo log \
         cannot repair (innodb_doublewrite)",
        |place| place.has("innodb_doublewrite", &["OFF", "0"])),
    (Problem, "mariadb-flush-log",
        "set innodb_flush_log_at_trx_commit = 1, unless losing the last second of transactions \
         is acceptable",
        "an operating system crash (with 0 also a server crash) can lose about a second of \
         committed transactions (innodb_flush_log_at_trx_commit)",
        |place| place.has("innodb_flush_log_at_trx_commit", &["0", "2"])),
    (Problem, "mariadb-sync-binlog",
        "set sync_binlog = 1 if replication or point-in-time recovery uses the binary log",
        "after an operating system crash, the binary log can lack transactions that InnoDB has \
         committed; replicas and point-in-time recovery then diverge from the server \
         (sync_binlog)",
        |place| {
            let is_written = place.server.setting("log_bin")?.value.as_deref()? == "ON";
            place.has("sync_binlog", &["0"]).filter(|_| is_written)
        }),
    (Problem, "mariadb-memory",
        "lower innodb_buffer_pool_size, or move the server to a machine with more memory",
        "if memory runs out, the kernel swaps or kills the server (innodb_buffer_pool_size: up \
         to 80 % of the memory of a dedicated machine)",
        |place| place.share_of_memory("innodb_buffer_pool_size", |share| share > POOL_SHARE_MAX)),
    (Note, "mariadb-buffer-pool-small",
        "try half of the memory or more, if this machine is dedicated to the server",
        "InnoDB reads pages outside the buffer pool from disk; the default of 128 MiB must work \
         on any machine (innodb_buffer_pool_size)",
        |place| place.share_of_memory("innodb_buffer_pool_size", |share| share < POOL_SHARE_MIN)),
    (Note, "mariadb-redo-log-small",
        "for write-heavy loads, try a redo log of a quarter of the buffer pool or more, and \
         measure",
        "before InnoDB can reuse redo log space, it must flush the pages that the space covers; \
         a small log causes frequent flushing. A larger log lengthens crash recovery \
         (innodb_log_file_size; MySQL: innodb_redo_log_capacity)",
        redo_log),
    (Note, "mariadb-flush-method",
        "test innodb_flush_method = O_DIRECT",
        "without it, pages are cached twice: in the buffer pool and in the page cache \
         (innodb_flush_method; from MariaDB 11.0 on innodb_data_file_buffering)",
        |place| place.has("innodb_flush_method", &["fsync", "O_DSYNC", "littlesync", "nosync"])),
    (Note, "mariadb-flush-neighbors",
        "set innodb_flush_neighbors = 0",
        "InnoDB also writes the dirty neighbors of a page, which saves seeks on rotating drives \
         but only adds writes on others (innodb_flush_neighbors)",
        |place| {
            place.has("innodb_flush_neighbors", &["1", "2"]).filter(|_| place.has_ssd())
        }),
    (Note, "mariadb-session-memory",
        "lower the session buffers or max_connections",
        "each session can allocate these buffers, join_buffer_size several times in one query \
         (https://mariadb.com/kb/en/mariadb-memory-allocation/)",
        session_memory),
    (Note, "mariadb-swappiness",
        "set vm.swappiness = 1 on a database server",
        "the kernel may swap out parts of the buffer pool in favor of page cache; swapping in is \
         slower than reading the page again (https://mariadb.com/kb/en/configuring-swappiness/)",
        |place| {
            place.memory_bytes()?;
            let has_swap = place.survey.machine.memory.swap_bytes.is_some_and(|bytes| bytes > 0);
            let value: u32 = place.survey.setting("vm.swappiness")?.parse().ok()?;
            (has_swap && value > SWAPPINESS_MAX).then(|| format!("runs with vm.swappiness \
                = {value}"))
        }),
    (Note, "mariadb-performance-schema",
        "to measure waits, set performance_schema = ON and performance_schema_instrument = \
         'wait/%=ON', and measure the overhead",
        "without it, the server does not count waits; only the states in the process list can be \
         sampled (https://mariadb.com/kb/en/performance-schema-overview/)",
        |place| place.has("performance_schema", &["OFF", "0"])),
    (Note, "mariadb-query-cache",
        "set query_cache_type = OFF and query_cache_size = 0, and measure",
        "all sessions share one lock on the query cache, which does not scale to many CPUs \
         (https://mariadb.com/kb/en/query-cache/)",
        |place| {
            let bytes_of = place.server.bytes("query_cache_size").filter(|bytes| *bytes > 0)?;
            place.server.setting("query_cache_type")?.value.as_deref()
                .filter(|value| *value != "OFF")?;
            Some(format!("has a query cache of {}", bytes(bytes_of)))
        }),
    (Note, "mariadb-temporary-tables",
        "set both to the same value, the size that queries need",
        "the smaller of the two limits in-memory temporary tables (tmp_table_size, \
         max_heap_table_size)",
        |place| {
            let of = |name| place.server.bytes(name);
            let (table, heap) = (of("tmp_table_size")?, of("max_heap_table_size")?);
            (table != heap).then(|| format!("has tmp_table_size = {}, but max_heap_table_size = {}",
                bytes(table), bytes(heap)))
        }),
];

/// A server, and the survey of the machine that it may run on.
fn redo_log(place: &OnMachine<'_>) -> Option<String> {
    let pool = place.server.bytes("innodb_buffer_pool_size")?;
    let of = |name| place.server.bytes(name);
    let (name, log) = of("innodb_redo_log_capacity")
        .map(|log| ("innodb_redo_log_capacity", log))
        .or_else(|| Some(("innodb_log_file_size", of("innodb_log_file_size")?)))?;
    let is_small = log < REDO_BYTES_SMALL || (log as f64) < REDO_SHARE_MIN * pool as f64;
    is_small.then(|| format!("has {name} = {} for a buffer pool of {}", bytes(log), bytes(pool)))
}

fn session_memory(place: &OnMachine<'_>) -> Option<String> {
    let memory = place.memory_bytes()?;
    let buffers = ["sort_buffer_size", "join_buffer_size"];
    let session: u64 = buffers.iter().filter_map(|name| place.server.bytes(name)).sum();
    let connections = u64::try_from(place.server.number("max_connections")?).ok()?;
    let all = connections
        .saturating_mul(session)
        .saturating_add(place.server.bytes("innodb_buffer_pool_size")?);
    let [shown, session, memory_shown] = [all, session, memory].map(bytes);
    (all > memory).then(|| {
        format!(
            "could use {shown}, more than the memory of {memory_shown}: the buffer pool plus \
             sort_buffer_size and join_buffer_size ({session}) for each of {connections} \
             connections"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::advice;
    use observations::{
        DeviceFacts, ServerSetting, Survey, SurveyedServer, SystemSetting, VolumeFacts,
    };

    const GIB: u64 = 1 << 30;

    /// A local server with nothing to be said, on a machine of 64 GiB with an SSD.
    fn calm() -> (SurveyedServer, Survey) {
        let plain = [
            ("innodb_doublewrite", "ON"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("log_bin", "ON"),
            ("sync_binlog", "1"),
            ("innodb_flush_method", "O_DIRECT"),
            ("innodb_flush_neighbors", "0"),
            ("max_connections", "151"),
            ("performance_schema", "ON"),
            ("query_cache_type", "OFF"),
        ];
        let sizes = [
            ("innodb_buffer_pool_size", 32 * GIB),
            ("innodb_log_file_size", 8 * GIB),
            ("sort_buffer_size", 2 << 20),
            ("join_buffer_size", 256 << 10),
            ("query_cache_size", 1 << 20),
            ("tmp_table_size", 16 << 20),
            ("max_heap_table_size", 16 << 20),
        ];
        let setting = |name: &str, value: String, unit: Option<&str>| ServerSetting {
            name: name.into(),
            value: Some(value),
            unit: unit.map(str::to_owned),
            ..ServerSetting::default()
        };
        let plain = plain.map(|(name, value)| setting(name, value.into(), None));
        let sizes = sizes.map(|(name, value)| setting(name, value.to_string(), Some("B")));
        let server = SurveyedServer {
            engine: "mariadb".into(),
            is_local: true,
            settings: plain.into_iter().chain(sizes).collect(),
            ..SurveyedServer::default()
        };
        let mut survey = Survey::default();
        survey.machine.memory.total_bytes = Some(64 * GIB);
        survey.machine.memory.swap_bytes = Some(GIB);
        survey.settings =
            vec![SystemSetting { name: "vm.swappiness".into(), value: Some("1".into()) }];
        let ssd = DeviceFacts { rotational: Some(false), ..DeviceFacts::default() };
        survey.volumes = vec![VolumeFacts { devices: vec![ssd], ..VolumeFacts::default() }];
        (server, survey)
    }

    fn rules(changes: &[(&str, &str)]) -> Vec<&'static str> {
        let (mut server, mut survey) = calm();
        for (name, value) in changes {
            if *name == "vm.swappiness" {
                survey.settings[0].value = Some((*value).into());
                continue;
            }
            let setting = server.settings.iter_mut().find(|setting| setting.name == *name).unwrap();
            setting.value = Some((*value).into());
        }
        advice(&server, &survey).iter().map(|advice| advice.rule).collect()
    }

    #[test]
    fn each_rule_finds_what_it_looks_for_and_only_then() {
        assert_eq!(rules(&[]), [""; 0]);
        assert!(advice(&SurveyedServer::default(), &Survey::default()).is_empty());
        for (name, value, rule) in [
            ("innodb_doublewrite", "OFF", "mariadb-doublewrite"),
            ("innodb_flush_log_at_trx_commit", "2", "mariadb-flush-log"),
            ("sync_binlog", "0", "mariadb-sync-binlog"),
            ("innodb_buffer_pool_size", "60129542144", "mariadb-memory"),
            ("innodb_buffer_pool_size", "8589934592", "mariadb-buffer-pool-small"),
            ("innodb_log_file_size", "1073741824", "mariadb-redo-log-small"),
            ("innodb_flush_method", "fsync", "mariadb-flush-method"),
            ("innodb_flush_neighbors", "1", "mariadb-flush-neighbors"),
            ("max_connections", "20000", "mariadb-session-memory"),
            ("vm.swappiness", "60", "mariadb-swappiness"),
            ("performance_schema", "OFF", "mariadb-performance-schema"),
            ("query_cache_type", "ON", "mariadb-query-cache"),
            ("tmp_table_size", "33554432", "mariadb-temporary-tables"),
        ] {
            assert_eq!(rules(&[(name, value)]), [rule], "{name}");
        }
        assert_eq!(rules(&[("sync_binlog", "0"), ("log_bin", "OFF")]), [""; 0]);
    }
}
