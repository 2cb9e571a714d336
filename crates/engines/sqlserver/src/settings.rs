//! What `[target]` can say of SQL Server.

use engine::CacheState;
use experiment::{Configuration, Invalid, Kind, Value, settings};
use servers::altered::{ALLOW_SERVER_SETTINGS, is_permitted};
use std::collections::BTreeMap;

/// The most bytes of a file (16 TiB), and the fewest of one that `CREATE DATABASE` makes.
const FILE_BYTES_MAX: i64 = 16 << 40;
const FILE_BYTES_MIN: i64 = 1 << 20;

settings! {
    pub const SETTINGS = [ALLOW_SERVER_SETTINGS];
    /// A server that runs already: mssql://user@host:port/ or a connection string of ADO.NET, ODBC
    /// or JDBC; without it sqlcmd's variable SQLCMDSERVER. The password comes from SQLCMDPASSWORD
    /// or a file (PasswordFile=), never from the file.
    pub URL: Option<String> = "target.url", Kind::Text;
    /// Data files of the database, all of one size, which SQL Server fills in proportion to their
    /// free space.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Folder (or list of folders, round robin) for data files, as the server sees it; default: the
    /// server's own.
    pub DATA_PATH: Vec<String> = "target.data_path", Kind::TextList => DataPlace;
    /// Initial size of all data files together, in equal parts; default: as the server's model
    /// database has it.
    pub DATA_SIZE: Option<u64> =
        "target.data_size", Kind::Size { min: FILE_BYTES_MIN, max: FILE_BYTES_MAX };
    /// By how much a data file grows when it is full; "0" keeps it as it is.
    pub DATA_GROWTH: Option<u64> = "target.data_growth", Kind::Size { min: 0, max: FILE_BYTES_MAX };
    /// Where the data files are: with the catalog (primary), or in a filegroup without it (own).
    pub FILEGROUP: Option<String> = "target.filegroup", Kind::Choice(&["primary", "own"]) => Layout;
    /// Folder for the log file, as the server sees it; default: the server's own.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text => LogPlace;
    /// Initial size of the log file.
    pub LOG_SIZE: Option<u64> =
        "target.log_size", Kind::Size { min: FILE_BYTES_MIN, max: FILE_BYTES_MAX };
    /// By how much the log file grows when it is full.
    pub LOG_GROWTH: Option<u64> = "target.log_growth", Kind::Size { min: 0, max: FILE_BYTES_MAX };
    /// Recovery model of the database; default: the server's (full). Without a backup, full
    /// truncates the log as simple does.
    pub RECOVERY: Option<String> =
        "target.recovery", Kind::Choice(&["full", "bulk-logged", "simple"]) => Durability;
    /// How a page that was written in part is recognised.
    pub PAGE_VERIFY: Option<String> =
        "target.page_verify", Kind::Choice(&["checksum", "torn-page-detection", "none"]);
    /// Whether a commit returns before its log records are on disk: by no means, where a
    /// transaction asks for it, always.
    pub DELAYED_DURABILITY: Option<String> =
        "target.delayed_durability", Kind::Choice(&["disabled", "allowed", "forced"]);
    /// Whether readers under READ COMMITTED read versions of rows instead of waiting for writers.
    pub READ_COMMITTED_SNAPSHOT: Option<bool> = "target.read_committed_snapshot", Kind::Bool;
    /// Whether transactions may ask for the isolation level SNAPSHOT.
    pub SNAPSHOT_ISOLATION: Option<bool> = "target.snapshot_isolation", Kind::Bool;
    /// How tables are compressed; columnstore makes the clustered index one of columns, and the key
    /// a second one.
    pub COMPRESSION: Option<String> =
        "target.compression", Kind::Choice(&["none", "row", "page", "columnstore"]);
    /// Whether inserts at the end of the clustered index are let through in turns (SQL Server 2019
    /// and up).
    pub SEQUENTIAL_KEY: Option<bool> = "target.optimize_for_sequential_key", Kind::Bool;
    /// Settings of the whole server, as sp_configure has them, with underscores:
    /// max_degree_of_parallelism, cost_threshold_for_parallelism, max_server_memory_mb. They need
    /// target.allow_server_settings, and are put back.
    pub SERVER_SETTINGS: Option<Value> =
        "target.settings.*", Kind::Count { min: 0, max: 2_147_483_647 };
    /// What of the tables is in the server's memory when measuring begins: nothing (cold), what
    /// preparation left (warm), all of it (hot). Cold takes the pages of all databases from memory:
    /// it needs target.allow_server_settings, and a server on which nobody else works.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// Whether the measurement ends with a checkpoint of the database, so that no configuration
    /// leaves work undone.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "false" => Durability;
}

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
        let message = "target.settings change the server for all who use it; \
                       target.allow_server_settings = true permits it";
        invalid.push(Invalid::new(ALLOW_SERVER_SETTINGS.path(), message));
    }
    if configuration.get(CACHE) == CacheState::Cold && !is_permitted(configuration) {
        let message = "cold caches take the pages of all databases from the server's memory; \
                       target.allow_server_settings = true permits it";
        invalid.push(Invalid::new(CACHE.path(), message));
    }
    let files = u64::from(configuration.get(DATA_FILES));
    if configuration.get(DATA_SIZE).is_some_and(|bytes| bytes / files < FILE_BYTES_MIN as u64) {
        let message = format!("less than 1 MiB for each of {files} data files");
        invalid.push(Invalid::new(DATA_SIZE.path(), message));
    }
    let is_columns = configuration.get(COMPRESSION).as_deref() == Some("columnstore");
    if is_columns && configuration.get(SEQUENTIAL_KEY).is_some() {
        let message = "the clustered index of columns has no order of keys";
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
            let own = Configuration { settings: settings.collect(), ..Configuration::default() };
            validate(&own).into_iter().map(|one| one.path).collect()
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
