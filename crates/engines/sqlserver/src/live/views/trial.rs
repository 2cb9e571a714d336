//! Queries about the database of a trial, and about the server that it is on.

use engine::View;

/// How our database is marked, and what its run has changed on the server.
pub const MARKS: View = View::new(
    "sys.extended_properties",
    "SELECT CAST(name AS nvarchar(128)) AS name, CAST(value AS nvarchar(4000)) AS value FROM \
     [steelbench].sys.extended_properties WHERE class = 0",
);

/// The files of the database that the session is in.
pub(crate) const OWN_FILES: View = View::new(
    "sys.database_files",
    "SELECT CAST(type AS int) AS kind, CAST(name AS nvarchar(128)) AS name, CAST(physical_name AS \
     nvarchar(260)) AS path, CAST(size AS bigint) AS pages, CAST(growth AS bigint) AS \
     growth_pages, CAST(is_percent_growth AS int) AS is_percent FROM sys.database_files",
);

/// The first file of the model database, of which a new database begins as a copy.
pub const MODEL_FILE: View = View::new(
    "sys.master_files",
    "SELECT CAST(size AS bigint) AS pages FROM sys.master_files WHERE database_id = 3 AND file_id \
     = 1",
);

/// Kind of the server's engine; 5 is Azure SQL Database.
pub const ENGINE_EDITION: View = View::new(
    "the server's properties",
    "SELECT CAST(SERVERPROPERTY('EngineEdition') AS int) AS engine_edition",
);

/// Instant file initialization: data files are allocated without being written.
pub(crate) const INSTANT_FILES: View = View::new(
    "sys.dm_server_services",
    "SELECT CAST(instant_file_initialization_enabled AS nvarchar(1)) AS instant FROM \
     sys.dm_server_services WHERE servicename LIKE N'SQL Server (%'",
);

/// Space of the tables in the session's database.
pub(crate) const OWN_TABLES: View = View::new(
    "sys.dm_db_partition_stats",
    "SELECT CAST(t.name AS nvarchar(128)) AS name, p.index_id AS index_id, \
     CAST(p.in_row_data_page_count AS bigint) AS data_pages, CAST(p.used_page_count AS bigint) AS \
     used_pages FROM sys.dm_db_partition_stats AS p JOIN sys.tables AS t ON t.object_id = \
     p.object_id WHERE t.is_ms_shipped = 0",
);

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 8192;

/// Pages of the session's database in the server's memory.
pub(crate) const OWN_BUFFERS: View = View::new(
    "sys.dm_os_buffer_descriptors",
    "SELECT CAST(COUNT_BIG(*) AS bigint) * 8192 AS bytes FROM sys.dm_os_buffer_descriptors WHERE \
     database_id = DB_ID()",
);

/// Sessions of users that are in another database than ours and those of the server itself (master,
/// tempdb, model, msdb).
pub const OTHERS: View = View::new(
    "sys.dm_exec_sessions",
    "SELECT session_id AS session_id, CAST(DB_NAME(database_id) AS nvarchar(128)) AS \
     database_name, CAST(login_name AS nvarchar(128)) AS login_name, CAST(program_name AS \
     nvarchar(128)) AS program_name FROM sys.dm_exec_sessions WHERE is_user_process = 1 AND \
     database_id > 4 AND database_id <> DB_ID()",
);

/// How the rows of the tables are compressed.
pub(crate) const OWN_COMPRESSION: View = View::new(
    "sys.partitions",
    "SELECT CAST(t.name AS nvarchar(128)) AS name, CAST(p.data_compression_desc AS nvarchar(60)) \
     AS value FROM sys.partitions AS p JOIN sys.tables AS t ON t.object_id = p.object_id WHERE \
     p.index_id < 2",
);

/// `OPTIMIZE_FOR_SEQUENTIAL_KEY` of the tables' clustered indexes; from SQL Server 2019 on.
pub(crate) const OWN_SEQUENTIAL_KEYS: View = View::new(
    "sys.indexes",
    "SELECT CAST(t.name AS nvarchar(128)) AS name, CAST(CAST(i.optimize_for_sequential_key AS \
     int) AS nvarchar(1)) AS value FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = \
     i.object_id WHERE i.index_id = 1",
);

/// Rows of the tables in row groups that are not compressed; from SQL Server 2016 on.
pub(crate) const OWN_ROW_GROUPS: View = View::new(
    "sys.dm_db_column_store_row_group_physical_stats",
    "SELECT CAST(t.name AS nvarchar(128)) AS name, CAST(g.state_desc AS nvarchar(60)) AS state, \
     CAST(SUM(g.total_rows) AS bigint) AS rows_in_state FROM \
     sys.dm_db_column_store_row_group_physical_stats AS g JOIN sys.tables AS t ON t.object_id = \
     g.object_id WHERE g.state_desc IN (N'OPEN', N'CLOSED') GROUP BY t.name, g.state_desc",
);

/// The statement with which full recovery begins: until a first backup, the log is truncated as
/// under simple recovery. The backup goes nowhere.
pub(crate) const FIRST_BACKUP: &str = "BACKUP DATABASE [steelbench] TO DISK = N'NUL'";

/// Log backups of the session's database have something to begin from.
pub(crate) const OWN_LOG_CHAIN: View = View::new(
    "sys.database_recovery_status",
    "SELECT CAST(CASE WHEN last_log_backup_lsn IS NULL THEN 0 ELSE 1 END AS int) AS has_begun \
     FROM sys.database_recovery_status WHERE database_id = DB_ID()",
);
