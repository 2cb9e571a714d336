//! Servers of PostgreSQL.

mod rules;

use crate::postgres::session::leave_no_statistics;
use crate::survey::ServerSurvey;
use engine::{AdminOptions, AdminSession, Row, Rows, Server, ServerError, View, while_doing};
use observations::{Database, Extension, ServerSetting, SurveyedServer, Unread};
use std::time::Duration;
use work::Stop;

/// The survey of these servers.
pub const SURVEY: ServerSurvey = ServerSurvey { read: survey, advice: rules::advice };

/// The queries.
const FILE: &str = include_str!("survey.sql");

/// Columns read for each setting, in this order. Settings that this session changed itself
/// (`client`, `session`) tell nothing about the server.
const SETTINGS: View = View::new("settings", FILE);

/// Databases that we may not connect to have no size for us.
const DATABASES: View = View::new("databases", FILE);

const EXTENSIONS: View = View::new("extensions", FILE);

const STATE: View = View::new("replication state", FILE);

/// Settings that are shown of every server, whether they are changed or not: what decides how
/// parallel it works, what memory it takes, and how it writes.
#[rustfmt::skip]
const OF_EVERY_SERVER: &[&str] = &[
    "autovacuum_max_workers", "bgwriter_delay", "bgwriter_lru_maxpages", "block_size",
    "checkpoint_completion_target", "checkpoint_timeout", "data_checksums", "debug_assertions",
    "effective_cache_size", "effective_io_concurrency", "fsync", "full_page_writes",
    "hash_mem_multiplier",
    "huge_page_size", "huge_pages", "huge_pages_status", "io_combine_limit", "io_max_concurrency",
    "io_method", "io_workers", "jit", "maintenance_io_concurrency", "maintenance_work_mem",
    "max_connections", "max_parallel_maintenance_workers", "max_parallel_workers",
    "max_parallel_workers_per_gather", "max_wal_size", "max_worker_processes", "min_wal_size",
    "parallel_setup_cost", "parallel_tuple_cost", "random_page_cost", "seq_page_cost",
    "server_version_num",
    "shared_buffers", "shared_memory_size", "shared_memory_type", "shared_preload_libraries",
    "synchronous_commit", "temp_buffers", "track_io_timing", "wal_buffers", "wal_compression",
    "wal_level",
    "wal_segment_size", "wal_sync_method", "work_mem",
];

/// Texts without personal data. The values of other texts may be names, addresses, commands or
/// secrets (`primary_conninfo`, `ssl_passphrase_command`).
const TEXTS: [&str; 2] = ["shared_preload_libraries", "huge_pages_status"];

/// `initdb` writes those of this category, and the one below, as it finds the machine: they say
/// nothing of how a server is tuned.
const LOCALE: &str = "Client Connection Defaults / Locale and Formatting";
const LOG_TIMEZONE: &str = "log_timezone";

/// Surveys a server. Reports what this role may not see beside what it sees. Fails when the server
/// cannot be reached, or does not show its settings.
fn survey(server: &dyn Server, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
    let options = AdminOptions { application: "steelbench survey", ..AdminOptions::default() };
    let mut session = server.session(&options, stop)?;
    // Settings first: what we set for the session below would hide what the server gives to
    // sessions.
    let rows = session.query(&SETTINGS.sql()).map_err(while_doing("reading its settings"))?;
    let settings: Vec<ServerSetting> = rows.iter().filter_map(setting).collect();
    leave_no_statistics(&mut *session);
    prepare(&mut *session).map_err(while_doing("preparing the connection"))?;

    let mut unread = Vec::new();
    let mut ask = |view: View| match session.query(&view.sql()) {
        // A server that is silent is not asked again.
        Err(error) if !error.is_silence() => {
            unread.push(Unread { what: view.name.into(), why: error.to_string() });
            Ok(Rows::default())
        }
        answer => answer.map_err(while_doing("reading its state")),
    };
    let (databases, extensions) = (ask(DATABASES)?, ask(EXTENSIONS)?);
    let state = ask(STATE)?;
    let state = state.first();
    let is_true = |index: usize| state.and_then(|row| row.get(index)).map(|text| text == "t");
    let process = session.local_process();
    let identity = session.server();
    let server = SurveyedServer {
        engine: server.engine().into(),
        address: identity.address.clone(),
        version: identity.version.clone(),
        is_local: process.is_some(),
        is_replica: is_true(0),
        huge_pages_used: huge_pages_used(&settings, process),
        settings,
        extensions: extensions
            .iter()
            .filter_map(|row| Some(Extension { name: row.parse(0)?, version: row.parse(1)? }))
            .collect(),
        databases: databases
            .iter()
            .filter_map(|row| Some(Database { name: row.parse(0)?, bytes: row.parse(1) }))
            .collect(),
    };
    if is_true(1) == Some(false) {
        let why = "this role is not a member of pg_read_all_settings".to_owned();
        unread.push(Unread {
            what: "settings visible to superusers only, and the files of settings".into(),
            why,
        });
    }
    Ok((server, unread))
}

/// Lets the session change nothing and wait for nothing.
fn prepare(session: &mut dyn AdminSession) -> Result<(), ServerError> {
    session.limit(Duration::from_secs(30))?;
    session.run("SET default_transaction_read_only = on; SET lock_timeout = '5s'").map(drop)
}

fn setting(row: Row<'_>) -> Option<ServerSetting> {
    let (name, source) = (row.get(0)?, row.get(5)?);
    let is_plain = row.get(4) != Some("string") || TEXTS.contains(&name);
    // The server itself sets those from `override`; those of context `internal` cannot be set.
    let is_set = !["default", "override"].contains(&source) && row.get(8) != Some("internal");
    let is_changed =
        is_set && row.get(1) != row.get(2) && row.get(9) != Some(LOCALE) && name != LOG_TIMEZONE;
    let pending_restart = row.get(7) == Some("t");
    if !is_changed && !pending_restart && !OF_EVERY_SERVER.contains(&name) {
        return None;
    }
    let plain = |index| row.parse(index).filter(|_| is_plain);
    let text = |index| row.parse(index).filter(|text: &String| !text.is_empty());
    Some(ServerSetting {
        name: name.into(),
        value: plain(1),
        unit: text(3),
        default: plain(2),
        source: source.into(),
        file: text(6),
        is_changed,
        pending_restart,
    })
}

/// From version 17 on the server says so. Of an older one on this machine, the kernel does: a
/// mapping of huge pages has a name of its own among those of our session's process
/// (`fs/hugetlbfs/inode.c`).
fn huge_pages_used(settings: &[ServerSetting], process: Option<i32>) -> Option<bool> {
    let status = settings.iter().find(|setting| setting.name == "huge_pages_status");
    match status.and_then(|setting| setting.value.as_deref()) {
        Some("on") => Some(true),
        Some("off") => Some(false),
        None => {
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", process?)).ok()?;
            (!maps.is_empty()).then(|| maps.lines().any(|line| line.contains("/anon_hugepage")))
        }
        Some(_) => None,
    }
}
