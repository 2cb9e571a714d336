//! What `[target]` can say of PostgreSQL.

use super::compression;
use super::server::{Installation, installed_programs, validate_setup};
use crate::client::{Config, Environment};
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{CacheState, EngineError};
use experiment::{Configuration, Declaration, Invalid, Kind, Value, declarations, settings};
use servers::altered::{self, ALLOW_RESTART, ALLOW_SERVER_SETTINGS};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What can be put back between two trials, besides dropping what the trial made.
const RESETS: &[&str] = &["checkpoint", "os-cache", "restart", "cluster"];

settings! {
    pub const SETTINGS = [SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES, ALLOW_SERVER_SETTINGS,
        ALLOW_RESTART];
    /// A server that runs already: postgres://user@host/database, or keywords as libpq has them; ""
    /// takes all from the PG* variables. The password comes from PGPASSWORD or ~/.pgpass, never
    /// from the file. Without it a private server is started for the run and thrown away.
    pub URL: Option<String> = "target.url", Kind::MaybeEmptyText;
    /// Version of the private server: 15, "15.4"; default: the newest that is installed.
    pub VERSION: Option<Value> = "target.version", Kind::Scalar => Engine;
    /// Folder (or list of folders) with the programs of PostgreSQL, besides PATH and the usual
    /// places.
    pub BINDIR: Vec<String> = "target.bindir", Kind::TextList;
    /// As which user of the system a private server runs when we are root; default: postgres, else
    /// nobody.
    pub USER: Option<String> = "target.user", Kind::Text;
    /// Number of hash partitions that the table is spread over, each with files and an index of its
    /// own, and on a tablespace of its own when volumes are given.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) that the data files of a private server are put on.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// Volume that the write-ahead log of a private server is put on.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace;
    /// How texts are compressed that make a row longer than 2 kB (TOAST): none, pglz, or lz4 where
    /// the server has it. Default: as default_toast_compression of the server says.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(compression::METHODS);
    /// The same of a column, by its name: target.column_compression.body = "lz4".
    pub COLUMN_COMPRESSION: Option<String> =
        "target.column_compression.*", Kind::Choice(compression::METHODS);
    /// Any setting of the server: shared_buffers, synchronous_commit, ...; applied, restarted for
    /// only when it must be, and read back. On a server by URL: settings that a session may change,
    /// others as target.allow_server_settings and target.allow_restart permit.
    pub SERVER_SETTINGS: Option<Value> = "target.settings.*", Kind::Scalar;
    /// Whether the pages of a private server have checksums; default: as its version does it.
    pub DATA_CHECKSUMS: Option<bool> = "target.data_checksums", Kind::Bool;
    /// Size of a file of the write-ahead log of a private server: a power of two.
    pub WAL_SEGMENT_SIZE: Option<u64> =
        "target.wal_segment_size", Kind::Size { min: 1 << 20, max: 1 << 30 };
    /// State of the caches when measuring begins: cold (server restarted, nothing of its files in
    /// memory), warm (as loading left them), hot (all files in the operating system's page cache).
    /// Made so and verified; cold and hot need a private server.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// What is done between two trials besides dropping the tables, none of it measured:
    /// checkpoint, os-cache (files out of the page cache), restart, cluster (a new one).
    pub RESET: Vec<String> = "target.reset", Kind::TextList, "checkpoint";
    /// A statement that takes longer fails its trial.
    pub STATEMENT_TIMEOUT: Option<f64> = "target.statement_timeout", Kind::PositiveDuration;
    /// Whether the measurement ends with a checkpoint, so that no configuration leaves work undone.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
    /// How often the waits of sessions are sampled.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}

/// Settings that only a private server has.
const PRIVATE_ONLY: &[Declaration] =
    declarations![VERSION, BINDIR, USER, VOLUME, LOG_VOLUME, DATA_CHECKSUMS, WAL_SEGMENT_SIZE];

/// Objections that need no server.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    let resets = configuration.get(RESET);
    for reset in resets.iter().filter(|reset| !RESETS.contains(&reset.as_str())) {
        let message = format!("unknown `{reset}`; known are: {}", RESETS.join(", "));
        invalid.push(Invalid::new(RESET.path(), message));
    }
    if let Some(url) = configuration.get(URL) {
        validate_url(&url, configuration, &mut invalid);
        for reset in resets.iter().filter(|reset| *reset != "checkpoint") {
            let message = format!("`{reset}` cannot be done by Steelbench on a server by URL");
            invalid.push(Invalid::new(RESET.path(), message));
        }
    }
    invalid.extend(altered::validate(configuration, configuration.get(URL).is_some(), None));
    if configuration.get(WAL_SEGMENT_SIZE).is_some_and(|size| !size.is_power_of_two()) {
        invalid.push(Invalid::new(WAL_SEGMENT_SIZE.path(), "must be a power of two"));
    }
    invalid.extend(Setup::validate(configuration));
    if let Some(own) = Setup::from_settings(configuration) {
        validate_own_tables(&own, configuration, &mut invalid);
    }
    invalid
}

fn validate_own_tables(own: &Setup, configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    if configuration.get(VOLUME).len() > 1 {
        let message = "the tables of target.setup lie with all of the server on one volume";
        invalid.push(Invalid::new(VOLUME.path(), message));
    }
    let bindir = if configuration.get(URL).is_some() {
        installed_programs()
    } else {
        // Where there is no server, the run says so.
        let Ok(installation) = installation(configuration) else { return };
        Some(installation.bindir)
    };
    let needs = validate_setup(own, bindir.as_deref()).err();
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
    let private = PRIVATE_ONLY.iter().filter(|setting| configuration.value(setting.path).is_some());
    let message = "only a private server has this, and target.url names a running server";
    invalid.extend(private.map(|setting| Invalid::new(setting.path, message)));
    if configuration.get(CACHE) != CacheState::Warm {
        let message = "the caches of a server by URL cannot be changed by Steelbench";
        invalid.push(Invalid::new(CACHE.path(), message));
    }
}

/// Whether the text itself gives a password.
fn names_password(url: &str) -> bool {
    Config::parse_in(url, &Environment::default()).is_ok_and(|config| config.has_password())
}

/// The programs of the private server.
pub fn installation(configuration: &Configuration) -> Result<Installation, EngineError> {
    let bindirs: Vec<PathBuf> = configuration.get(BINDIR).into_iter().map(PathBuf::from).collect();
    let version = configuration.get(VERSION).map(|version| version.to_string());
    Installation::find(&bindirs, version.as_deref())
}

/// The server's settings, as its configuration file writes them.
pub fn server_settings(configuration: &Configuration) -> BTreeMap<String, String> {
    let settings = configuration.below("target.settings.");
    settings.map(|(name, value)| (name.to_owned(), text(value))).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "on".into(),
        Value::Bool(false) => "off".into(),
        other => other.to_string(),
    }
}
