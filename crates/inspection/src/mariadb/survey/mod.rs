//! Servers of MariaDB and MySQL.

mod rules;

use crate::survey::ServerSurvey;
use engine::{AdminOptions, Row, Server, ServerError, View, while_doing};
use observations::{Database, Extension, ServerSetting, SurveyedServer, Unread};
use work::Stop;

/// The survey of these servers.
pub const SURVEY: ServerSurvey = ServerSurvey { read: survey, advice: rules::advice };

/// The queries.
const FILE: &str = include_str!("survey.sql");

/// Variables in this order: name, value, default (NULL: unknown), where the value is from, file,
/// whether it is a text. <https://mariadb.com/kb/en/information-schema-system_variables-table/>
const OF_MARIADB: View = View::new("variables of MariaDB", FILE);

/// MySQL shows no defaults. Values other than numbers and switches count as texts.
/// <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-variables-info-table.html>
const OF_MYSQL: View = View::new("variables of MySQL", FILE);

/// Settings that are shown of every server, whether they are changed or not: they decide its
/// memory, how it writes, and which statistics it has.
#[rustfmt::skip]
const OF_EVERY_SERVER: &[&str] = &[
    "binlog_format", "innodb_buffer_pool_instances", "innodb_buffer_pool_size",
    "innodb_checksum_algorithm",
    "innodb_data_file_buffering", "innodb_doublewrite", "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max", "innodb_log_buffer_size", "innodb_log_file_buffering",
    "innodb_log_file_size",
    "innodb_page_size", "innodb_read_io_threads", "innodb_redo_log_capacity",
    "innodb_use_native_aio",
    "innodb_write_io_threads", "join_buffer_size", "large_pages", "log_bin", "max_connections",
    "max_heap_table_size", "performance_schema", "query_cache_size", "query_cache_type",
    "read_only",
    "sort_buffer_size", "sync_binlog", "table_open_cache", "thread_cache_size", "thread_handling",
    "tmp_table_size", "version_comment", "version_malloc_library",
];

/// Texts without personal data; other texts may be names, folders or secrets.
const TEXTS: [&str; 5] = [
    "innodb_flush_method",
    "thread_handling",
    "version_comment",
    "version_malloc_library",
    "binlog_format",
];

/// Amounts of memory and of storage, in bytes, whose names end so.
const IN_BYTES: [&str; 2] = ["_size", "_capacity"];
/// Others that end so and are numbers of something.
const NOT_IN_BYTES: [&str; 6] = [
    "_cache_size",
    "_digests_size",
    "_history_size",
    "_io_capacity",
    "_long_size",
    "thread_pool_size",
];
/// And amounts of memory among these.
const CACHES_IN_BYTES: [&str; 4] =
    ["binlog_cache_size", "binlog_stmt_cache_size", "query_cache_size", "innodb_ft_cache_size"];

/// Surveys a server. Reports what this user may not see beside what it sees. Fails when the server
/// cannot be reached, or does not show its settings.
fn survey(server: &dyn Server, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
    let mut session = server.session(&AdminOptions::default(), stop)?;
    let is_mariadb = session.server().product == "MariaDB";
    let variables = if is_mariadb { OF_MARIADB } else { OF_MYSQL };
    let rows = session.query(&variables.sql()).map_err(while_doing("reading its settings"))?;
    let settings: Vec<ServerSetting> = rows.iter().filter_map(setting).collect();
    let mut unread = Vec::new();
    let mut ask = |what: &str, sql: &str| {
        session
            .query(sql)
            .map_err(|error| unread.push(Unread { what: what.into(), why: error.to_string() }))
            .ok()
    };
    let databases = ask("databases", &View::new("databases", FILE).sql()).unwrap_or_default();
    let plugins = ask("plugins", &View::new("plugins", FILE).sql()).unwrap_or_default();
    let replication = if is_mariadb { "SHOW ALL SLAVES STATUS" } else { "SHOW REPLICA STATUS" };
    let replicas = ask("replication state", replication);
    let is_local = session.local_process().is_some();
    let identity = session.server();
    let server = SurveyedServer {
        engine: server.engine().into(),
        address: identity.address.clone(),
        version: identity.version.clone(),
        is_local,
        is_replica: replicas.map(|rows| !rows.is_empty()),
        huge_pages_used: None,
        settings,
        extensions: plugins
            .iter()
            .map(|row| Extension { name: row.text(0), version: row.text(1) })
            .collect(),
        databases: databases
            .iter()
            .map(|row| Database { name: row.text(0), bytes: row.parse(1) })
            .collect(),
    };
    Ok((server, unread))
}

fn setting(row: Row<'_>) -> Option<ServerSetting> {
    let default = row.get(2).map(str::to_owned);
    let [name, value, _, source, file, is_text] = row.texts();
    let is_plain = is_text != "1" || TEXTS.contains(&name.as_str());
    let is_ours = !["compile-time", "auto", "compiled", "environment"].contains(&source.as_str());
    let is_changed = is_ours && default.as_ref().is_none_or(|default| *default != value);
    if !is_changed && !OF_EVERY_SERVER.contains(&name.as_str()) {
        return None;
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let is_bytes =
        CACHES_IN_BYTES.contains(&name.as_str()) || (ends(&IN_BYTES) && !ends(&NOT_IN_BYTES));
    Some(ServerSetting {
        unit: (is_bytes && value.parse::<u64>().is_ok()).then(|| "B".into()),
        value: is_plain.then_some(value),
        default: default.filter(|_| is_plain),
        source,
        file: Some(file).filter(|file| !file.is_empty()),
        is_changed,
        pending_restart: false,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::setting;
    use engine::Rows;

    fn parse(cells: [Option<&str>; 6]) -> Option<observations::ServerSetting> {
        let mut rows = Rows::with_columns(vec![String::new(); 6]);
        rows.push(cells);
        rows.first().and_then(setting)
    }

    #[test]
    fn changed_settings_and_those_of_every_server_are_taken_and_texts_are_not() {
        let pool = parse([
            Some("innodb_buffer_pool_size"),
            Some("134217728"),
            Some("134217728"),
            Some("compile-time"),
            None,
            Some("0"),
        ]);
        let pool = pool.unwrap();
        assert_eq!((pool.bytes(), pool.is_changed), (Some(128 << 20), false));
        let changed = parse([
            Some("table_definition_cache"),
            Some("9"),
            Some("400"),
            Some("config"),
            Some("my.cnf"),
            Some("0"),
        ]);
        let changed = changed.unwrap();
        assert!(
            changed.is_changed
                && changed.file.as_deref() == Some("my.cnf")
                && changed.bytes().is_none()
        );
        let connect = parse([
            Some("init_connect"),
            Some("SET secret"),
            Some(""),
            Some("config"),
            None,
            Some("1"),
        ]);
        let connect = connect.unwrap();
        assert!(connect.is_changed && connect.value.is_none() && connect.default.is_none());
        assert_eq!(
            parse([
                Some("div_precision_increment"),
                Some("4"),
                Some("4"),
                Some("compile-time"),
                None,
                Some("0")
            ]),
            None
        );
        let threads = parse([
            Some("thread_cache_size"),
            Some("151"),
            Some("151"),
            Some("auto"),
            None,
            Some("0"),
        ]);
        assert_eq!(threads.unwrap().unit, None);
    }
}
