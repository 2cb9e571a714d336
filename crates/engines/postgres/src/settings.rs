//! Settings of `[target]` for PostgreSQL.

use super::dialect::COMPRESSIONS;
use super::server::settings::line;
use super::server::{Installation, Version, dumped_version, validate_setup};
use crate::client::{Config, Environment};
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{CacheState, Result, SettingsForm};
use experiment::durability::DURABILITY;
use experiment::settings;
use experiment::{Configuration, DurabilityRule, Invalid, Kind, Risk, Value};
use servers::altered::{self, ALLOW_RESTART, ALLOW_SERVER_SETTINGS};
use servers::hosted::HostSettings;
use std::path::PathBuf;

/// Resets between two trials, in addition to dropping the trial's tables.
const RESETS: &[&str] = &["checkpoint", "os-cache", "restart", "cluster"];

settings! {
    pub const SETTINGS = [DURABILITY, SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES,
        ALLOW_SERVER_SETTINGS, ALLOW_RESTART];
    /// URL of an existing server: postgres://user@host/database, or libpq keywords; "" uses the PG*
    /// variables. The password comes from PGPASSWORD or ~/.pgpass, never from this file. Default: a
    /// private server, started for the run and deleted afterwards.
    pub URL: Option<String> = "target.url", Kind::MaybeEmptyText => @Url;
    /// Version of the private server: 15, "15.4"; default: the version of the server in
    /// target.setup.dump, else the newest installed version.
    pub VERSION: Option<Value> = "target.version", Kind::Scalar => Engine;
    /// Folder (or list of folders) with PostgreSQL's programs, searched in addition to PATH and the
    /// usual folders.
    pub BINDIR: Vec<String> = "target.bindir", Kind::TextList;
    /// System user for a private server when Steelbench runs as root. Default: postgres; if it does
    /// not exist, the system's unprivileged user.
    pub USER: Option<String> = "target.user", Kind::Text;
    /// Number of hash partitions of the table. Each has its own files and index and, if volumes are
    /// given, its own tablespace.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) for the data files of a private server.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// Volume for the write-ahead log of a private server.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace @Trial;
    /// Compression of texts in rows longer than 2 kB (TOAST): none, pglz, or lz4 if the server has
    /// it. Default: the server's default_toast_compression.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(COMPRESSIONS);
    /// Compression of one column, by its name: target.column_compression.body = "lz4".
    pub COLUMN_COMPRESSION: Option<String> =
        "target.column_compression.*", Kind::Choice(COMPRESSIONS);
    /// Any server setting: shared_buffers, synchronous_commit, ...; Steelbench applies it, restarts
    /// the server only if necessary, and reads it back. On a server by URL: session settings;
    /// others need target.allow_server_settings and, for a restart, target.allow_restart.
    pub SERVER_SETTINGS: Option<Value> = "target.settings.*", Kind::Scalar => @Trial;
    /// Page checksums of a private server; default: the default of its version.
    pub DATA_CHECKSUMS: Option<bool> = "target.data_checksums", Kind::Bool;
    /// WAL segment size of a private server: a power of two.
    pub WAL_SEGMENT_SIZE: Option<u64> =
        "target.wal_segment_size", Kind::Size { min: 1 << 20, max: 1 << 30 };
    /// State of the caches at the start of the measurement: cold (server restarted, its files not
    /// in memory), warm (as loading left them), hot (all files in the page cache). Steelbench
    /// establishes and verifies it; cold and hot need a private server.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// Actions between trials, in addition to dropping the tables; not measured: checkpoint,
    /// os-cache (evict files from the page cache), restart, cluster (recreate it).
    pub RESET: Vec<String> = "target.reset", Kind::TextList, "checkpoint" => @Trial;
    /// Longest time of a statement; a longer one fails its trial.
    pub STATEMENT_TIMEOUT: Option<f64> = "target.statement_timeout", Kind::PositiveDuration;
    /// End the measurement with a checkpoint, so that no configuration defers its writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
    /// Sampling rate for session waits.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}

/// With `synchronous_commit` off the last commits are lost, with the others all data may be.
pub const DURABILITY_RULES: &[DurabilityRule] = &[
    DurabilityRule {
        path: "target.settings.synchronous_commit",
        risk: Risk::Commits,
        keeps: &["on", "1", "local", "remote_write", "remote_apply"],
        applied: [Some("on"), Some("off")],
    },
    DurabilityRule {
        path: "target.settings.fsync",
        risk: Risk::Both,
        keeps: &["on", "1"],
        applied: [None; 2],
    },
    DurabilityRule {
        path: "target.settings.full_page_writes",
        risk: Risk::Pages,
        keeps: &["on", "1"],
        applied: [None; 2],
    },
];

/// A file that the server reads after postgresql.conf, and statements that write it.
pub const FORMS: &[SettingsForm] = &[
    SettingsForm { name: "postgresql.auto.conf", write: |settings| lines(settings, line) },
    SettingsForm {
        name: "ALTER SYSTEM",
        write: |settings| {
            lines(settings, |name, value| format!("ALTER SYSTEM SET {};", line(name, value)))
        },
    },
];

fn lines(settings: &[(String, String)], line: impl Fn(&str, &str) -> String) -> String {
    settings.iter().map(|(name, value)| line(name, value) + "\n").collect()
}

/// The settings that hosts read.
pub const HOST: HostSettings = HostSettings {
    url: URL,
    version: VERSION,
    bindirs: BINDIR,
    user: USER,
    volumes: VOLUME,
    data_files: DATA_FILES,
    log_volume: LOG_VOLUME,
    cache: CACHE,
    resets: RESET,
    final_checkpoint: FINAL_CHECKPOINT,
    sample_rate: SAMPLE_RATE,
};

/// Objections that need no server.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    let resets = configuration.get(RESET);
    for reset in resets.iter().filter(|reset| !RESETS.contains(&reset.as_str())) {
        let message = format!("unknown reset `{reset}`; expected one of {}", RESETS.join(", "));
        invalid.push(Invalid::new(RESET.path(), message));
    }
    if let Some(url) = configuration.get(URL) {
        validate_url(&url, configuration, &mut invalid);
        for reset in resets.iter().filter(|reset| *reset != "checkpoint") {
            let message =
                format!("`{reset}` needs a private server; target.url names an existing server");
            invalid.push(Invalid::new(RESET.path(), message));
        }
    }
    invalid.extend(altered::validate(configuration, configuration.get(URL).is_some(), None));
    if configuration.get(WAL_SEGMENT_SIZE).is_some_and(|size| !size.is_power_of_two()) {
        invalid.push(Invalid::new(WAL_SEGMENT_SIZE.path(), "must be a power of two"));
    }
    invalid.extend(Setup::validate(configuration));
    if let Some(settings) = Setup::from_settings(configuration) {
        validate_own_tables(&settings, configuration, &mut invalid);
    }
    invalid
}

fn validate_own_tables(setup: &Setup, configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    invalid.extend(HOST.objection_to_volumes(configuration));
    let bindir = if configuration.get(URL).is_some() {
        None
    } else {
        // Without an installation, the run reports the error.
        let Ok(installation) = installation(configuration) else { return };
        Some(installation.bindir)
    };
    let needs = validate_setup(setup, bindir.as_deref()).err();
    invalid.extend(needs.map(|(setting, message)| Invalid::new(setting, message)));
}

fn validate_url(url: &str, configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    match Config::parse(url) {
        Err(error) => invalid.push(Invalid::new(URL.path(), error.to_string())),
        Ok(_) if names_password(url) => invalid.push(Invalid::new(
            URL.path(),
            "a password in the file would end up in results and reports; use PGPASSWORD or \
             ~/.pgpass",
        )),
        Ok(_) => {}
    }
    let more = [DATA_CHECKSUMS.path(), WAL_SEGMENT_SIZE.path()];
    invalid.extend(HOST.objections_by_url(configuration, &more));
}

/// Returns whether the text itself contains a password.
fn names_password(url: &str) -> bool {
    Config::parse_in(url, &Environment::default()).is_ok_and(|config| config.has_password())
}

/// The programs of the private server: of its version, else of that of the server that was dumped,
/// else the newest.
pub fn installation(configuration: &Configuration) -> Result<Installation> {
    let bindirs: Vec<PathBuf> = configuration.get(BINDIR).into_iter().map(PathBuf::from).collect();
    let version = configuration.get(VERSION).map(|version| version.to_string());
    match source_version(configuration).filter(|_| version.is_none()) {
        Some(source) => Installation::for_source(&bindirs, source),
        None => Installation::find(&bindirs, version.as_deref()),
    }
}

/// States which version is measured instead of that of the server that was dumped.
pub fn substitution(configuration: &Configuration) -> Option<String> {
    let source = source_version(configuration).filter(|_| configuration.get(VERSION).is_none())?;
    installation(configuration).ok()?.substitution(source)
}

/// The version of the server that the dump of a configuration was made of.
fn source_version(configuration: &Configuration) -> Option<Version> {
    dumped_version(&Setup::from_settings(configuration)?.dump?.place())
}
