//! Rules about servers of MariaDB and MySQL. The source of each is named beside it: the page of
//! MariaDB's documentation about the variable (<https://mariadb.com/kb/en/innodb-system-variables/>
//! and `replication-and-binary-log-system-variables`) unless it is another.

use observations::Weight::{Note, Problem};
use observations::number::bytes;
use observations::{Advice, Survey, SurveyedServer};
use servers::survey_rules::{self, OnMachine, Rule};

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

/// What the rules find about a server.
pub fn advice(server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    survey_rules::advice(&RULES, server, survey)
}

#[rustfmt::skip]
const RULES: [Rule; 13] = [
    (Problem, "mariadb-doublewrite",
        "set innodb_doublewrite = ON, unless the storage never tears a page",
        "a crash of the machine can leave pages that are half old, half new, which the redo log \
         cannot repair (innodb_doublewrite)",
        |place| has(place, "innodb_doublewrite", &["OFF", "0"])),
    (Problem, "mariadb-flush-log",
        "set innodb_flush_log_at_trx_commit = 1, unless the last second of transactions may be \
         lost",
        "with 2 a crash of the machine, with 0 also one of the server, loses transactions that \
         clients believe to be committed, up to a second of them (innodb_flush_log_at_trx_commit)",
        |place| has(place, "innodb_flush_log_at_trx_commit", &["0", "2"])),
    (Problem, "mariadb-sync-binlog",
        "set sync_binlog = 1 where replicas or restores need the binary log",
        "after a crash of the machine the binary log can lack transactions that InnoDB has \
         committed: replicas and restores to a point in time then differ from the server \
         (sync_binlog)",
        |place| {
            let is_written = place.server.setting("log_bin")?.value.as_deref()? == "ON";
            has(place, "sync_binlog", &["0"]).filter(|_| is_written)
        }),
    (Problem, "mariadb-memory",
        "lower innodb_buffer_pool_size, or move the server to a machine with more memory",
        "what does not fit is swapped, or the kernel kills the server (innodb_buffer_pool_size: \
         up to 80 % of memory on a server of its own)",
        |place| place.share_of_memory("innodb_buffer_pool_size", |share| share > POOL_SHARE_MAX)),
    (Note, "mariadb-buffer-pool-small",
        "try half of the memory and more, if the machine is for this server alone",
        "pages that are not in the buffer pool are read from disk; the default of 128 MiB is made \
         for any machine (innodb_buffer_pool_size)",
        |place| place.share_of_memory("innodb_buffer_pool_size", |share| share < POOL_SHARE_MIN)),
    (Note, "mariadb-redo-log-small",
        "for many changes try a redo log of a quarter of the buffer pool and more, and compare",
        "before the redo log can be written again, the pages that it is about must be; a small \
         one makes them be written often. A larger one makes recovery after a crash longer \
         (innodb_log_file_size; MySQL: innodb_redo_log_capacity)",
        redo_log),
    (Note, "mariadb-flush-method",
        "compare with innodb_flush_method = O_DIRECT",
        "without it pages are in the buffer pool and in the page cache of the system too \
         (innodb_flush_method; from MariaDB 11.0 on innodb_data_file_buffering)",
        |place| has(place, "innodb_flush_method", &["fsync", "O_DSYNC", "littlesync", "nosync"])),
    (Note, "mariadb-flush-neighbors",
        "set innodb_flush_neighbors = 0",
        "with a page the pages beside it are written too, which saves seeks on drives that rotate \
         and is work for nothing on others (innodb_flush_neighbors)",
        |place| {
            has(place, "innodb_flush_neighbors", &["1", "2"]).filter(|_| place.has_ssd())
        }),
    (Note, "mariadb-session-memory",
        "lower the buffers of sessions or max_connections",
        "each session may take these buffers, join_buffer_size several times in one query \
         (https://mariadb.com/kb/en/mariadb-memory-allocation/)",
        session_memory),
    (Note, "mariadb-swappiness",
        "set vm.swappiness = 1 on a machine for servers",
        "the kernel may swap the buffer pool out for page cache; reading it back is slower than \
         reading the page anew (https://mariadb.com/kb/en/configuring-swappiness/)",
        |place| {
            place.memory_bytes()?;
            let has_swap = place.survey.machine.memory.swap_bytes.is_some_and(|bytes| bytes > 0);
            let value: u32 = place.survey.setting("vm.swappiness")?.parse().ok()?;
            (has_swap && value > SWAPPINESS_MAX).then(|| format!("runs with vm.swappiness \
                = {value}"))
        }),
    (Note, "mariadb-performance-schema",
        "set performance_schema = ON with performance_schema_instrument = 'wait/%=ON' where waits \
         are to be known, and measure what it costs",
        "without it the server does not count what sessions wait for; only the states of the \
         process list can be sampled (https://mariadb.com/kb/en/performance-schema-overview/)",
        |place| has(place, "performance_schema", &["OFF", "0"])),
    (Note, "mariadb-query-cache",
        "set query_cache_type = OFF and query_cache_size = 0, and compare",
        "all sessions share one lock of the query cache: it does not scale with many processors \
         (https://mariadb.com/kb/en/query-cache/)",
        |place| {
            let bytes_of = place.server.bytes("query_cache_size").filter(|bytes| *bytes > 0)?;
            place.server.setting("query_cache_type")?.value.as_deref()
                .filter(|value| *value != "OFF")?;
            Some(format!("has a query cache of {}", bytes(bytes_of)))
        }),
    (Note, "mariadb-temporary-tables",
        "set both to the smaller amount that queries need",
        "temporary tables in memory are limited by the smaller of the two (tmp_table_size, \
         max_heap_table_size)",
        |place| {
            let of = |name| place.server.bytes(name);
            let (table, heap) = (of("tmp_table_size")?, of("max_heap_table_size")?);
            let fact = || format!("has tmp_table_size of {}, but max_heap_table_size of {}",
                bytes(table), bytes(heap));
            (table != heap).then(fact)
        }),
];

/// A server, and the survey of the machine that it may run on.
/// That a setting has one of these values.
fn has(place: &OnMachine<'_>, name: &str, values: &[&str]) -> Option<String> {
    let value = place.server.setting(name)?.value.as_deref()?;
    values.contains(&value).then(|| format!("has {name} = {value}"))
}

fn redo_log(place: &OnMachine<'_>) -> Option<String> {
    let pool = place.server.bytes("innodb_buffer_pool_size")?;
    let of = |name| place.server.bytes(name);
    let (name, log) = of("innodb_redo_log_capacity")
        .map(|log| ("innodb_redo_log_capacity", log))
        .or_else(|| Some(("innodb_log_file_size", of("innodb_log_file_size")?)))?;
    let is_small = log < REDO_BYTES_SMALL || (log as f64) < REDO_SHARE_MIN * pool as f64;
    is_small.then(|| format!("has {name} of {}, with a buffer pool of {}", bytes(log), bytes(pool)))
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
            "could take {shown} with sort_buffer_size and join_buffer_size ({session}) in each of \
             {connections} connections, above the memory of {memory_shown}"
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
