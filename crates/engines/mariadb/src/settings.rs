//! What `[target]` can say of MariaDB and MySQL.

use super::compression;
use super::server::{Installation, validate_setup, variables};
use crate::client::{Config, Environment};
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{CacheState, EngineError};
use experiment::{Configuration, Declaration, Invalid, Kind, Value, declarations, settings};
use servers::altered::{self, ALLOW_RESTART, ALLOW_SERVER_SETTINGS};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What can be put back between two trials, besides dropping what the trial made.
const RESETS: [&str; 3] = ["restart", "os-cache", "server"];

settings! {
    pub const SETTINGS = [SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES, ALLOW_SERVER_SETTINGS,
        ALLOW_RESTART];
    /// A server that runs already: mariadb://user@host/ or mysql://...; localhost means its unix
    /// socket. The password comes from ~/.my.cnf or MYSQL_PWD, never from the file. Without it a
    /// private server is started for the run and thrown away.
    pub URL: Option<String> = "target.url", Kind::Text;
    /// Version of the private server: 10.11, "10.11.6", of MySQL 9.7; default: the newest of
    /// MariaDB that is installed, else of MySQL.
    pub VERSION: Option<Value> = "target.version", Kind::Scalar => Engine;
    /// Folder (or list of folders) with the programs of MariaDB or MySQL. Besides PATH and the
    /// usual places when target.version chooses one, else in their place.
    pub BINDIR: Vec<String> = "target.bindir", Kind::TextList;
    /// As which user of the system a private server runs when we are root; default: mysql, else
    /// nobody.
    pub USER: Option<String> = "target.user", Kind::Text;
    /// Number of partitions (BY KEY) that the table is spread over, each with a file and an index
    /// of its own, and on a folder of its own when volumes are given.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) that the data files of a private server are put on
    /// (DATA DIRECTORY).
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// Volume that the redo log and the binary log of a private server are put on.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace;
    /// Any variable of the server: innodb_buffer_pool_size, sync_binlog, ...; applied by SET GLOBAL
    /// where the server takes it and by a restart where not, and read back. On a server by URL:
    /// variables that a session may set, others as target.allow_server_settings and
    /// target.allow_restart permit.
    pub SERVER_SETTINGS: Option<Value> = "target.settings.*", Kind::Scalar;
    /// Option file that the server by URL reads when it starts and that Steelbench may write, on
    /// this machine: "/etc/mysql/mariadb.conf.d/99-steelbench.cnf". What it held is put back when
    /// the run ends.
    pub OPTION_FILE: Option<String> =
        "target.option_file", Kind::Text, Shown "\"/etc/mysql/mariadb.conf.d/99-steelbench.cnf\"";
    /// How InnoDB compresses the tables: none, by rows in pages of 16, 8 or 4 KiB (compressed-8k),
    /// or by pages with holes behind them (page-zlib, and page-lz4, ... where the server has them).
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(compression::METHODS);
    /// State of the caches when measuring begins: cold (server restarted, buffer pool empty,
    /// nothing of its files in memory), warm (as loading left them), hot (the tables read into the
    /// buffer pool). Made so and verified; cold and hot need a private server.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// What is done between two trials besides dropping the tables, none of it measured: restart
    /// (which writes all dirty pages and begins with an empty buffer pool), os-cache (files out of
    /// the page cache), server (a new one).
    pub RESET: Vec<String> = "target.reset", Kind::TextList, "restart";
    /// A statement that takes longer fails its trial (max_statement_time; MySQL:
    /// max_execution_time, of SELECT alone).
    pub STATEMENT_TIMEOUT: Option<f64> = "target.statement_timeout", Kind::PositiveDuration;
    /// Whether the measurement ends when all changed pages of the tables are written, so that no
    /// configuration leaves work undone.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
    /// How often sessions are sampled for what the server does not time.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}

/// Settings that only a private server has.
const PRIVATE_ONLY: &[Declaration] = declarations![VERSION, BINDIR, USER, VOLUME, LOG_VOLUME];

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
    for (name, value) in server_settings(configuration) {
        invalid.extend(
            variables::objection(&name, &value)
                .map(|why| Invalid::new(variables::path(&name), why)),
        );
    }
    invalid.extend(Setup::validate(configuration));
    if let Some(own) = Setup::from_settings(configuration) {
        if configuration.get(VOLUME).len() > 1 {
            let message = "the tables of target.setup lie with all of the server on one volume";
            invalid.push(Invalid::new(VOLUME.path(), message));
        }
        let needs = validate_setup(&own).err();
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
                "name in target.option_file where the variables are to stand that need the restart";
            invalid.push(Invalid::new(ALLOW_RESTART.path(), message));
        }
        (None, Some(_)) => {
            let message = "what stands there needs a restart; permit it by target.allow_restart";
            invalid.push(Invalid::new(OPTION_FILE.path(), message));
        }
        _ => {}
    }
    if file.is_some_and(|file| !file.starts_with('/')) {
        invalid.push(Invalid::new(OPTION_FILE.path(), "must be the whole path, from / on"));
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
    let private = PRIVATE_ONLY.iter().filter(|setting| configuration.value(setting.path).is_some());
    let message = "only a private server has this, and target.url names a running server";
    invalid.extend(private.map(|setting| Invalid::new(setting.path, message)));
    if configuration.get(CACHE) != CacheState::Warm {
        let message = "the caches of a server by URL cannot be changed by Steelbench";
        invalid.push(Invalid::new(CACHE.path(), message));
    }
}

/// The programs of the private server.
pub fn installation(configuration: &Configuration) -> Result<Installation, EngineError> {
    let bindirs: Vec<PathBuf> = configuration.get(BINDIR).into_iter().map(PathBuf::from).collect();
    let version = configuration.get(VERSION).map(|version| version.to_string());
    Installation::find(&bindirs, version.as_deref())
}

/// The server's settings: names as `SHOW VARIABLES` writes them.
pub fn server_settings(configuration: &Configuration) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::Bool(true) => "ON".into(),
        Value::Bool(false) => "OFF".into(),
        other => other.to_string(),
    };
    let settings = configuration.below("target.settings.");
    settings.map(|(name, value)| (name.to_lowercase().replace('-', "_"), text(value))).collect()
}
