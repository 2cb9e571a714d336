//! Settings of `[target]` for SQL Server.

use engine::CacheState;
use experiment::durability::DURABILITY;
use experiment::{Configuration, DurabilityRule, Invalid, Kind, Risk, Value, settings};
use servers::altered::{ALLOW_SERVER_SETTINGS, is_permitted};
use std::collections::BTreeMap;

/// The most bytes of a data file (16 TiB) and of a log file (2 TiB), and the fewest of one that
/// `CREATE DATABASE` makes.
const FILE_BYTES_MAX: i64 = 16 << 40;
const LOG_BYTES_MAX: i64 = 2 << 40;
const FILE_BYTES_MIN: i64 = 1 << 20;

settings! {
    pub const SETTINGS = [DURABILITY, ALLOW_SERVER_SETTINGS];
    /// URL of an existing server: mssql://user@host:port/, or an ADO.NET, ODBC or JDBC connection
    /// string; default: SQLCMDSERVER. The password comes from SQLCMDPASSWORD or a separate file
    /// (PasswordFile=), never from this file.
    pub URL: Option<String> = "target.url", Kind::Text => @Url;
    /// Number of data files of the database, all of one size. SQL Server fills them in proportion
    /// to their free space.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Folder (or list of folders, round robin) on the server for data files; default: the server's
    /// default folder.
    pub DATA_PATH: Vec<String> = "target.data_path", Kind::TextList => DataPlace @Trial;
    /// Initial total size of the data files, in equal parts; default: that of the server's model
    /// database, and 1 GiB where target.data_files is given.
    pub DATA_SIZE: Option<u64> =
        "target.data_size", Kind::Size { min: FILE_BYTES_MIN, max: FILE_BYTES_MAX };
    /// Growth increment of a full data file; "0" disables growth.
    pub DATA_GROWTH: Option<u64> = "target.data_growth", Kind::Size { min: 0, max: FILE_BYTES_MAX };
    /// Filegroup of the data files: with the catalog (primary), or separate from it (own).
    pub FILEGROUP: Option<String> = "target.filegroup", Kind::Choice(&["primary", "own"]) => Layout;
    /// Folder on the server for the log file; default: the server's default folder.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text => LogPlace @Trial;
    /// Initial size of the log file.
    pub LOG_SIZE: Option<u64> =
        "target.log_size", Kind::Size { min: FILE_BYTES_MIN, max: LOG_BYTES_MAX };
    /// Growth increment of a full log file.
    pub LOG_GROWTH: Option<u64> = "target.log_growth", Kind::Size { min: 0, max: LOG_BYTES_MAX };
    /// Recovery model of the database; default: the server's, which truncates the log as simple
    /// does until a first backup. With full and bulk-logged, Steelbench makes that backup, to NUL,
    /// after the tables are filled.
    pub RECOVERY: Option<String> =
        "target.recovery", Kind::Choice(&["full", "bulk-logged", "simple"]) => Durability;
    /// Detection of partially written pages.
    pub PAGE_VERIFY: Option<String> =
        "target.page_verify", Kind::Choice(&["checksum", "torn-page-detection", "none"]);
    /// Let commits return before their log records are on disk: never (disabled), if the
    /// transaction requests it (allowed), always (forced).
    pub DELAYED_DURABILITY: Option<String> =
        "target.delayed_durability", Kind::Choice(&["disabled", "allowed", "forced"]);
    /// Under READ COMMITTED, read row versions instead of waiting for writers.
    pub READ_COMMITTED_SNAPSHOT: Option<bool> = "target.read_committed_snapshot", Kind::Bool;
    /// Allow transactions to use the isolation level SNAPSHOT.
    pub SNAPSHOT_ISOLATION: Option<bool> = "target.snapshot_isolation", Kind::Bool;
    /// Table compression; columnstore creates a clustered columnstore index and makes the key a
    /// second index.
    pub COMPRESSION: Option<String> =
        "target.compression", Kind::Choice(&["none", "row", "page", "columnstore"]);
    /// OPTIMIZE_FOR_SEQUENTIAL_KEY: schedules contending inserts at the end of the clustered index
    /// (SQL Server 2019 and later).
    pub SEQUENTIAL_KEY: Option<bool> = "target.optimize_for_sequential_key", Kind::Bool;
    /// Server-wide settings of sp_configure, with underscores: max_degree_of_parallelism,
    /// cost_threshold_for_parallelism, max_server_memory_mb. They need
    /// target.allow_server_settings; Steelbench restores them.
    pub SERVER_SETTINGS: Option<Value> =
        "target.settings.*", Kind::Count { min: 0, max: 2_147_483_647 };
    /// Table pages in the buffer pool at the start of the measurement: none (cold), as preparation
    /// left them (warm), all (hot). Cold clears the pages of all databases: it needs
    /// target.allow_server_settings and a server without other users.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// End the measurement with a checkpoint of the database, so that no configuration defers its
    /// writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
}

/// Transactions may request what `allowed` permits; the load does not.
pub const DURABILITY_RULES: &[DurabilityRule] = &[DurabilityRule {
    path: "target.delayed_durability",
    risk: Risk::Commits,
    keeps: &["disabled", "allowed"],
    applied: [Some("disabled"), Some("forced")],
}];

/// Objections that need no server.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    #[cfg(feature = "driver")]
    if let Some(url) = configuration.get(URL) {
        use super::live::Config;
        use super::live::config::holds_password;
        if holds_password(&url) {
            let message = "a password in the file would end up in results and reports; use \
                           SQLCMDPASSWORD or PasswordFile=";
            invalid.push(Invalid::new(URL.path(), message));
        } else if let Err(error) = Config::parse(&url) {
            invalid.push(Invalid::new(URL.path(), error.to_string()));
        }
    }
    if !server_settings(configuration).is_empty() && !is_permitted(configuration) {
        let message = "target.settings affects all users of the server; set \
                       target.allow_server_settings = true to permit it";
        invalid.push(Invalid::new(ALLOW_SERVER_SETTINGS.path(), message));
    }
    if configuration.get(CACHE) == CacheState::Cold && !is_permitted(configuration) {
        let message = "cold caches clear the server's buffer pool for all databases; set \
                       target.allow_server_settings = true to permit it";
        invalid.push(Invalid::new(CACHE.path(), message));
    }
    let files = u64::from(configuration.get(DATA_FILES));
    if configuration.get(DATA_SIZE).is_some_and(|bytes| bytes / files < FILE_BYTES_MIN as u64) {
        let message = format!("too small: less than 1 MiB for each of {files} data files");
        invalid.push(Invalid::new(DATA_SIZE.path(), message));
    }
    let is_columns = configuration.get(COMPRESSION).as_deref() == Some("columnstore");
    if is_columns && configuration.get(SEQUENTIAL_KEY).is_some() {
        let message = "a clustered columnstore index has no key order";
        invalid.push(Invalid::new(SEQUENTIAL_KEY.path(), message));
    }
    invalid
}

/// Settings of the server, by the names of the file.
pub fn server_settings(configuration: &Configuration) -> BTreeMap<String, i64> {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number),
        _ => None,
    };
    let settings = configuration.below("target.settings.");
    settings.filter_map(|(name, value)| Some((name.to_owned(), number(value)?))).collect()
}

#[cfg(all(test, feature = "driver"))]
mod tests {
    use super::validate;
    use experiment::{Configuration, Value};

    #[test]
    fn a_password_a_change_that_is_not_permitted_and_too_small_files_are_objected_to() {
        let objections = |settings: &[(&str, Value)]| -> Vec<String> {
            let settings = settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone()));
            let configuration =
                Configuration { settings: settings.collect(), ..Configuration::default() };
            validate(&configuration).into_iter().map(|validate| validate.path).collect()
        };
        let url = |url: &str| ("target.url", Value::Text(url.to_owned()));
        let degree = ("target.settings.max_degree_of_parallelism", Value::Integer(1));
        assert_eq!(objections(&[url("mssql://sa@db1/")]), [""; 0]);
        assert_eq!(objections(&[url("mssql://sa:S3c@db1/")]), ["target.url"]);
        assert_eq!(objections(&[url("Server=db1;Uid=sa;Pwd=S3c")]), ["target.url"]);
        assert_eq!(objections(std::slice::from_ref(&degree)), ["target.allow_server_settings"]);
        assert_eq!(
            objections(&[degree, ("target.allow_server_settings", Value::Bool(true))]),
            [""; 0]
        );
        let cold = ("target.cache", Value::Text("cold".into()));
        assert_eq!(objections(std::slice::from_ref(&cold)), ["target.cache"]);
        assert_eq!(
            objections(&[cold, ("target.allow_server_settings", Value::Bool(true))]),
            [""; 0]
        );
        let small = ("target.data_size", Value::Integer(8 << 20));
        assert_eq!(
            objections(&[small, ("target.data_files", Value::Integer(16))]),
            ["target.data_size"]
        );
    }
}
