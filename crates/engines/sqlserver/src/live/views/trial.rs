//! Queries about the database of a trial, and about the server that it is on.

use engine::View;

/// The statements of views.
const FILE: &str = include_str!("trial.sql");

/// How our database is marked, and what its run has changed on the server.
pub const MARKS: View = View::new("sys.extended_properties", FILE);

/// The files of the database that the session is in.
pub(crate) const OWN_FILES: View = View::new("sys.database_files", FILE);

/// The first file of the model database, of which a new database begins as a copy.
pub const MODEL_FILE: View = View::new("sys.master_files", FILE);

/// Kind of the server's engine; 5 is Azure SQL Database.
pub const ENGINE_EDITION: View = View::new("the server's properties", FILE);

/// Instant file initialization: data files are allocated without being written.
pub(crate) const INSTANT_FILES: View = View::new("sys.dm_server_services", FILE);

/// Space of the tables in the session's database.
pub(crate) const OWN_TABLES: View = View::new("sys.dm_db_partition_stats", FILE);

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 8192;

/// Pages of the session's database in the server's memory.
pub(crate) const OWN_BUFFERS: View = View::new("sys.dm_os_buffer_descriptors", FILE);

/// Sessions of users that are in another database than ours and those of the server itself (master,
/// tempdb, model, msdb).
pub const OTHERS: View = View::new("sys.dm_exec_sessions", FILE);

/// How the rows of the tables are compressed.
pub(crate) const OWN_COMPRESSION: View = View::new("sys.partitions", FILE);

/// `OPTIMIZE_FOR_SEQUENTIAL_KEY` of the tables' clustered indexes; from SQL Server 2019 on.
pub(crate) const OWN_SEQUENTIAL_KEYS: View = View::new("sys.indexes", FILE);

/// Rows of the tables in row groups that are not compressed; from SQL Server 2016 on.
pub(crate) const OWN_ROW_GROUPS: View =
    View::new("sys.dm_db_column_store_row_group_physical_stats", FILE);

/// The statement with which full recovery begins: until a first backup, the log is truncated as
/// under simple recovery. The backup goes nowhere.
pub(crate) const FIRST_BACKUP: &str = "BACKUP DATABASE [steelbench] TO DISK = N'NUL'";

/// Log backups of the session's database have something to begin from.
pub(crate) const OWN_LOG_CHAIN: View = View::new("sys.database_recovery_status", FILE);

/// Reads and writes of our database's files, by kind.
pub(crate) const OWN_IO: View = View::new("sys.dm_io_virtual_file_stats", FILE);
