//! Queries on a server's statements, plans and indexes. Each has a mark, by which it is excluded.
//!
//! <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views> and
//! <https://learn.microsoft.com/sql/relational-databases/performance/monitoring-performance-by-using-the-query-store>.

use engine::View;

/// The statements of views.
const FILE: &str = include_str!("views.sql");

/// Bytes of a page.
pub const PAGE: u64 = 8192;
/// Rows of [`STATEMENTS`] at most.
pub const ROWS_MAX: usize = 20_000;
/// `created_s` counts from 2000-01-01 UTC: seconds since 1970 then.
pub(crate) const CREATED_SINCE_S: i64 = 946_684_800;

/// Statements that are in the plan cache. Spills are counted from 2016 on.
pub const STATEMENTS: View = View::new("sys.dm_exec_query_stats", FILE);

/// The plan of a statement, behind its handle and offsets.
pub const PLAN: &str = "SELECT /* steelbench_queries */ CAST(query_plan AS nvarchar(max)) AS \
                        query_plan FROM sys.dm_exec_text_query_plan";

/// Indexes, and heaps, which have number 0.
pub const INDEXES: View = View::new("sys.indexes", FILE);

/// Columns of indexes.
pub const COLUMNS: View = View::new("sys.index_columns", FILE);

/// Pages and rows.
pub const SIZES: View = View::new("sys.dm_db_partition_stats", FILE);

/// The number of times that indexes were read, since the server started.
pub const USAGE: View = View::new("sys.dm_db_index_usage_stats", FILE);

/// The number of rows of tables that were changed, since they are in memory.
pub const CHANGES: View = View::new("sys.dm_db_index_operational_stats", FILE);

/// Indexes that the optimizer has missed in this database since the server started, 600 at most.
pub const MISSED: View = View::new("sys.dm_db_missing_index_group_stats", FILE);

/// The optimizer's statistics of tables of users. The time is the server's local one: see
/// `created_s`.
pub const STATISTICS: View = View::new("sys.dm_db_stats_properties", FILE);

/// Their columns.
pub const STATISTICS_COLUMNS: View = View::new("sys.stats_columns", FILE);

/// The steps of their histograms, from 2016 SP1 CU2 on. Values are those of users.
pub const HISTOGRAMS: View = View::new("sys.dm_db_stats_histogram", FILE);

/// Files of all databases and their I/O since the server started; of this database where the
/// server has no view of all.
pub const DATABASE_FILES: View = View::new("sys.master_files", FILE);

/// Query for the state of the database's Query Store and its intervals.
pub const STORE: View = View::new("sys.database_query_store_options", FILE);

/// Statements of the Query Store. The pages of tempdb are counted from 2017 on.
pub const STORED: View = View::new("sys.query_store_runtime_stats", FILE);
/// End of [`STORED`], behind the numbers of the first interval and the last.
pub const STORED_END: &str = " GROUP BY q.query_hash, p.plan_id ORDER BY elapsed_us DESC";

/// A plan of the Query Store, by its number.
pub const STORED_PLAN: &str = "SELECT /* steelbench_queries */ CAST(query_plan AS nvarchar(max)) \
                               AS query_plan FROM sys.query_store_plan WHERE plan_id = ";

/// The first interval of the Query Store that has ended and began at a time, which follows, or
/// later.
pub const STORED_INTERVAL: View = View::new("sys.query_store_runtime_stats_interval", FILE);
/// End of [`STORED_INTERVAL`], behind the time.
pub const STORED_INTERVAL_END: &str = " ORDER BY i.runtime_stats_interval_id";

/// Cumulative waits of the whole server.
pub const WAITS: View = View::new("sys.dm_os_wait_stats", FILE);
/// Waits of a database in Azure SQL Database.
pub const DATABASE_WAITS: View = View::new("sys.dm_db_wait_stats", FILE);
