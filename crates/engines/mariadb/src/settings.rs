//! Settings of `[target]` for MariaDB and MySQL.

use super::server::{Installation, ServerVersion, dumped_version, validate_setup, variables};
use crate::client::{Config, Environment};
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{CacheState, Result, SettingsForm};
use experiment::durability::DURABILITY;
use experiment::settings;
use experiment::{Configuration, DurabilityRule, Invalid, Kind, Risk, Value};
use servers::altered::{self, ALLOW_RESTART, ALLOW_SERVER_SETTINGS};
use servers::hosted::HostSettings;
use servers::settings::path;
use std::path::PathBuf;

/// Resets between two trials, in addition to dropping the trial's tables.
const RESETS: [&str; 3] = ["restart", "os-cache", "server"];

/// Values of `target.compression`.
pub const COMPRESSIONS: &[&str] = &[
    "none",
    "compressed-16k",
    "compressed-8k",
    "compressed-4k",
    "page-zlib",
    "page-lz4",
    "page-lzo",
    "page-lzma",
    "page-bzip2",
    "page-snappy",
];

settings! {
    pub const SETTINGS = [DURABILITY, SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES,
        ALLOW_SERVER_SETTINGS, ALLOW_RESTART];
    /// URL of an existing server: mariadb://user@host/ or mysql://...; localhost means its unix
    /// socket. The password comes from ~/.my.cnf or MYSQL_PWD, never from this file. Default: a
    /// private server, started for the run and deleted afterwards.
    pub URL: Option<String> = "target.url", Kind::Text => @Url;
    /// Version of the private server: 10.11, "10.11.6", or 9.7 for MySQL. Default: the version of
    /// the server in target.setup.dump, else the newest installed MariaDB, else the newest MySQL.
    pub VERSION: Option<Value> = "target.version", Kind::Scalar => Engine;
    /// Folder (or list of folders) with MariaDB's or MySQL's programs. With target.version,
    /// searched in addition to PATH and the usual folders; otherwise instead of them.
    pub BINDIR: Vec<String> = "target.bindir", Kind::TextList;
    /// System user for a private server when Steelbench runs as root. Default: mysql; if it does
    /// not exist, the system's unprivileged user.
    pub USER: Option<String> = "target.user", Kind::Text;
    /// Number of partitions (BY KEY) of the table. Each has its own file and index and, if volumes
    /// are given, its own folder.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) for the data files of a private server (DATA
    /// DIRECTORY).
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// Volume for the redo log and the binary log of a private server.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace @Trial;
    /// Any server variable: innodb_buffer_pool_size, sync_binlog, ...; Steelbench applies it with
    /// SET GLOBAL, or with a restart if the server does not accept that, and reads it back. On a
    /// server by URL: session variables; others need target.allow_server_settings and, for a
    /// restart, target.allow_restart.
    pub SERVER_SETTINGS: Option<Value> = "target.settings.*", Kind::Scalar => @Trial;
    /// Option file on this machine that the server by URL reads at startup and that Steelbench may
    /// change: "/etc/mysql/mariadb.conf.d/99-steelbench.cnf". Steelbench restores its contents at
    /// the end of the run.
    pub OPTION_FILE: Option<String> =
        "target.option_file", Kind::Text, Shown "\"/etc/mysql/mariadb.conf.d/99-steelbench.cnf\"";
    /// InnoDB compression of the tables: none, ROW_FORMAT=COMPRESSED in pages of 16, 8 or 4 KiB
    /// (compressed-8k), or page compression (page-zlib; page-lz4, ... if the server has them).
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(COMPRESSIONS);
    /// State of the caches at the start of the measurement: cold (server restarted, buffer pool
    /// empty, its files not in memory), warm (as loading left them), hot (tables loaded into the
    /// buffer pool). Steelbench establishes and verifies it; cold and hot need a private server.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// Actions between trials, in addition to dropping the tables; not measured: restart (writes
    /// all dirty pages and starts with an empty buffer pool), os-cache (evict files from the page
    /// cache), server (recreate it).
    pub RESET: Vec<String> = "target.reset", Kind::TextList, "restart" => @Trial;
    /// Longest time of a statement; a longer one fails its trial (max_statement_time; MySQL:
    /// max_execution_time, SELECT only).
    pub STATEMENT_TIMEOUT: Option<f64> = "target.statement_timeout", Kind::PositiveDuration;
    /// End the measurement only when all dirty pages of the tables are written, so that no
    /// configuration defers its writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
    /// Sampling rate of sessions, for waits that the server does not time.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}

/// With `innodb_flush_log_at_trx_commit` = 2 a crash of the system loses about a second of commits.
pub const DURABILITY_RULES: &[DurabilityRule] = &[
    DurabilityRule {
        path: "target.settings.innodb_flush_log_at_trx_commit",
        risk: Risk::Commits,
        keeps: &["1", "3"],
        applied: [Some("1"), Some("2")],
    },
    DurabilityRule {
        path: "target.settings.sync_binlog",
        risk: Risk::Commits,
        keeps: &["1"],
        applied: [None; 2],
    },
    DurabilityRule {
        path: "target.settings.innodb_doublewrite",
        risk: Risk::Pages,
        keeps: &["on", "1", "fast", "detect_and_recover"],
        applied: [None; 2],
    },
    DurabilityRule {
        path: "target.settings.innodb_flush_method",
        risk: Risk::Both,
        keeps: &["fsync", "o_dsync", "o_direct", "o_direct_no_fsync", "littlesync"],
        applied: [None; 2],
    },
];

/// A section of an option file.
pub const FORMS: &[SettingsForm] = &[SettingsForm {
    name: "option file",
    write: |settings| {
        let lines = settings.iter().map(|(name, value)| format!("{name} = {value}\n"));
        std::iter::once("[mysqld]\n".to_owned()).chain(lines).collect()
    },
}];

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
    let mut invalid: Vec<Invalid> = Vec::new();
    if let Some(url) = configuration.get(URL) {
        validate_url(&url, configuration, &mut invalid);
    }
    validate_permissions(configuration, &mut invalid);
    let unknown =
        configuration.get(RESET).into_iter().find(|name| !RESETS.contains(&name.as_str()));
    invalid.extend(
        unknown.map(|name| {
            Invalid::new(RESET.path(), experiment::unknown_name("reset", &name, &RESETS))
        }),
    );
    for (name, value) in variables::from_configuration(configuration) {
        let objection = variables::objection(&name, &value);
        invalid.extend(objection.map(|why| Invalid::new(path(&name), why)));
    }
    invalid.extend(Setup::validate(configuration));
    if let Some(settings) = Setup::from_settings(configuration) {
        invalid.extend(HOST.objection_to_volumes(configuration));
        let needs = validate_setup(&settings).err();
        invalid.extend(needs.map(|(setting, message)| Invalid::new(setting, message)));
    }
    invalid
}

fn validate_permissions(configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    let (restart, file) = (configuration.get(ALLOW_RESTART), configuration.get(OPTION_FILE));
    let more = file.is_some().then_some(OPTION_FILE.path());
    invalid.extend(altered::validate(configuration, configuration.get(URL).is_some(), more));
    match (&restart, &file) {
        (Some(_), None) => {
            let message =
                "set target.option_file to the option file for variables that need the restart";
            invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
        }
        (None, Some(_)) => {
            let message = "the option file takes effect only after a restart; set \
                           target.allow_restart to permit it";
            invalid.push(Invalid::new(OPTION_FILE.path(), message));
        }
        _ => {}
    }
    if file.is_some_and(|file| !file.starts_with('/')) {
        invalid.push(Invalid::new(OPTION_FILE.path(), "must be an absolute path"));
    }
}

fn validate_url(url: &str, configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    match Config::parse_in(url, &Environment::default()) {
        Err(error) => invalid.push(Invalid::new(URL.path(), error.to_string())),
        Ok(config) if config.has_password() => invalid.push(Invalid::new(
            URL.path(),
            "a password in the file would end up in results and reports; use ~/.my.cnf or \
             MYSQL_PWD",
        )),
        Ok(_) => {}
    }
    invalid.extend(HOST.objections_by_url(configuration, &[]));
}

/// The programs of the private server: of its version, else of that of the server that was dumped,
/// else the newest.
pub fn installation(configuration: &Configuration) -> Result<Installation> {
    let bindirs: Vec<PathBuf> = configuration.get(BINDIR).into_iter().map(PathBuf::from).collect();
    let version = configuration.get(VERSION).map(|version| version.to_string());
    match source_version(configuration).filter(|_| version.is_none()) {
        Some(source) => Installation::for_source(&bindirs, &source),
        None => Installation::find(&bindirs, version.as_deref()),
    }
}

/// States which version is measured instead of that of the server that was dumped.
pub fn substitution(configuration: &Configuration) -> Option<String> {
    let source = source_version(configuration).filter(|_| configuration.get(VERSION).is_none())?;
    installation(configuration).ok()?.substitution(&source)
}

/// The version of the server that the dump of a configuration was made of.
fn source_version(configuration: &Configuration) -> Option<ServerVersion> {
    dumped_version(&Setup::from_settings(configuration)?.dump?.place())
}
