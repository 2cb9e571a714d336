//! What `[target]` can say of PostgreSQL.

use crate::CacheState;
use experiment::{Configuration, Declaration, Invalid, Kind, Value};
use pgclient::{Config, Environment};
use std::collections::BTreeMap;

/// What can be put back between two trials, besides dropping what the trial made.
const RESETS: &[&str] = &["checkpoint", "os-cache", "restart", "cluster"];

pub const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "target.url",
        Kind::MaybeEmptyText,
        None,
        "A server that runs already: postgres://user@host/database, or keywords as libpq has them; \"\" takes all from the PG* variables. The password comes from PGPASSWORD or ~/.pgpass, never from the file. Without it a private server is started for the run and thrown away.",
    ),
    Declaration::new(
        "target.version",
        Kind::Scalar,
        None,
        "Version of the private server: 15, \"15.4\"; default: the newest that is installed.",
    ),
    Declaration::new(
        "target.bindir",
        Kind::TextList,
        None,
        "Folder (or list of folders) with the programs of PostgreSQL, besides PATH and the usual places.",
    ),
    Declaration::new(
        "target.user",
        Kind::Text,
        None,
        "As which user of the system a private server runs when we are root; default: postgres, else nobody.",
    ),
    Declaration::new(
        "target.data_files",
        Kind::Count { min: 1, max: 1024 },
        Some("1"),
        "Number of hash partitions that the table is spread over, each with files and an index of its own, and on a tablespace of its own when volumes are given.",
    ),
    Declaration::new(
        "target.volume",
        Kind::TextList,
        None,
        "Volume (or list of volumes, round robin) that the data files of a private server are put on.",
    ),
    Declaration::new(
        "target.log_volume",
        Kind::Text,
        None,
        "Volume that the write-ahead log of a private server is put on.",
    ),
    Declaration::new(
        "target.settings.*",
        Kind::Scalar,
        None,
        "Any setting of the server: shared_buffers, synchronous_commit, ...; applied, restarted for only when it must be, and read back. On a server by URL: settings that a session may change.",
    ),
    Declaration::new(
        "target.data_checksums",
        Kind::Bool,
        None,
        "Whether the pages of a private server have checksums; default: as its version does it.",
    ),
    Declaration::new(
        "target.wal_segment_size",
        Kind::Size { min: 1 << 20, max: 1 << 30 },
        None,
        "Size of a file of the write-ahead log of a private server: a power of two.",
    ),
    Declaration::new(
        "target.cache",
        Kind::Choice(CacheState::NAMES),
        Some("warm"),
        "State of the caches when measuring begins: cold (server restarted, nothing of its files in memory), warm (as loading left them), hot (all files in the operating system's page cache). Made so and verified; cold and hot need a private server.",
    ),
    Declaration::new(
        "target.reset",
        Kind::TextList,
        Some("checkpoint"),
        "What is done between two trials besides dropping the tables, none of it measured: checkpoint, os-cache (files out of the page cache), restart, cluster (a new one).",
    ),
    Declaration::new(
        "target.statement_timeout",
        Kind::PositiveDuration,
        None,
        "A statement that takes longer fails its trial.",
    ),
    Declaration::new(
        "target.final_checkpoint",
        Kind::Bool,
        Some("false"),
        "Whether the measured part ends with a checkpoint, so that no configuration leaves work undone.",
    ),
    Declaration::new(
        "target.sample_rate",
        Kind::Rate,
        Some("100/s"),
        "How often the waits of sessions are sampled.",
    ),
];

/// Settings that only a private server has.
const PRIVATE_ONLY: &[&str] = &[
    "target.version",
    "target.bindir",
    "target.user",
    "target.volume",
    "target.log_volume",
    "target.data_checksums",
    "target.wal_segment_size",
];

/// Objections that need no server.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    if let Some(url) = url(configuration) {
        validate_url(url, configuration, &mut invalid);
    }
    for reset in resets(configuration) {
        if !RESETS.contains(&reset) {
            let message = format!("unknown `{reset}`; known are: {}", RESETS.join(", "));
            invalid.push(Invalid::new("target.reset", message));
        }
    }
    if configuration.integer("target.wal_segment_size").is_some_and(|size| !size.is_power_of_two()) {
        invalid.push(Invalid::new("target.wal_segment_size", "must be a power of two"));
    }
    if configuration.texts("target.log_volume").len() > 1 {
        invalid.push(Invalid::new("target.log_volume", "the log is on one volume"));
    }
    invalid
}

fn validate_url(url: &str, configuration: &Configuration, invalid: &mut Vec<Invalid>) {
    match Config::parse(url) {
        Err(error) => invalid.push(Invalid::new("target.url", error.to_string())),
        Ok(_) if names_password(url) => invalid.push(Invalid::new(
            "target.url",
            "a password in the file would end up in results and reports; use PGPASSWORD or ~/.pgpass",
        )),
        Ok(_) => {}
    }
    for path in PRIVATE_ONLY.iter().filter(|path| configuration.value(path).is_some()) {
        invalid.push(Invalid::new(*path, "only a private server has this, and target.url names another's"));
    }
    if configuration.text("target.cache") != "warm" && configuration.value("target.cache").is_some() {
        invalid.push(Invalid::new("target.cache", "the caches of a server by URL are not ours to change"));
    }
    for reset in resets(configuration).into_iter().filter(|reset| *reset != "checkpoint") {
        let message = format!("`{reset}` is not ours to do on a server by URL");
        invalid.push(Invalid::new("target.reset", message));
    }
}

/// Whether the text itself gives a password.
fn names_password(url: &str) -> bool {
    Config::parse_in(url, &Environment::default()).is_ok_and(|config| config.has_password())
}

/// The URL, if the server is not to be a private one.
pub fn url(configuration: &Configuration) -> Option<&str> {
    configuration.value("target.url").map(|_| configuration.text("target.url"))
}

/// What is done between two trials.
pub fn resets(configuration: &Configuration) -> Vec<&str> {
    configuration.texts("target.reset")
}

/// The version of the private server that is asked for.
pub fn version(configuration: &Configuration) -> Option<String> {
    configuration.value("target.version").map(ToString::to_string)
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
