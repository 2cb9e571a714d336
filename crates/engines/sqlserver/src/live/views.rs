//! Queries on a server. Every column is cast, so that its type is the same in all versions.

mod trial;

pub use trial::*;

use engine::View;

/// Settings of each session of Steelbench: it never waits long for a lock, and takes none to read.
pub const SESSION: &str = "SET NOCOUNT ON; SET LOCK_TIMEOUT 1000; SET TRANSACTION ISOLATION LEVEL \
                           READ UNCOMMITTED; SELECT 1 AS ready";

/// Identity of the server.
pub const IDENTITY: View = View::new(
    "the server's properties",
    "SELECT CAST(@@VERSION AS nvarchar(300)) AS version, CAST(SERVERPROPERTY('ProductVersion') AS \
     nvarchar(128)) AS product_version, CAST(SERVERPROPERTY('Edition') AS nvarchar(128)) AS \
     edition, CAST(SERVERPROPERTY('EngineEdition') AS int) AS engine_edition, @@SPID AS session_id",
);

/// The start of the server, which stays the same while it runs.
pub const STARTED: View = View::new(
    "sys.dm_os_sys_info",
    "SELECT CONVERT(nvarchar(33), sqlserver_start_time, 126) AS started FROM sys.dm_os_sys_info",
);

/// Permission without which the views of sessions show only one's own, without an error. From SQL
/// Server 2022 on a part of VIEW SERVER STATE suffices; older servers know no such name.
pub const PERMISSION: View = View::new(
    "VIEW SERVER STATE",
    "SELECT CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'), \
     HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')) AS int) AS may",
);

/// That of a database in Azure SQL Database.
pub(crate) const DATABASE_PERMISSION: View = View::new(
    "VIEW DATABASE STATE",
    "SELECT CAST(HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE') AS int) AS may",
);

macro_rules! waits {
    ($view:literal) => {
        View::new(
            $view,
            concat!(
                "SELECT CAST(wait_type AS nvarchar(60)) AS wait_type, CAST(waiting_tasks_count AS \
                 bigint) AS waits, CAST(wait_time_ms AS bigint) AS wait_ms, \
                 CAST(signal_wait_time_ms AS bigint) AS signal_ms FROM ",
                $view,
                " WHERE waiting_tasks_count > 0"
            ),
        )
    };
}

/// Cumulative waits of the whole server.
pub const WAITS: View = waits!("sys.dm_os_wait_stats");

/// Waits of a database in Azure SQL Database, where the view above is that of the machine below it.
pub(crate) const DATABASE_WAITS: View = waits!("sys.dm_db_wait_stats");

/// A table of counters, whose first column is `name`; the unit of the others is the end of their
/// name: `_ms`, `_bytes`, none for a number. Those that begin with `now_` are no counters but the
/// state when they are read.
#[derive(Debug, Clone, Copy)]
pub struct CounterView {
    /// The title in the report.
    pub title: &'static str,
    /// Name of its rows.
    pub rows_are: &'static str,
    /// The view in which it is read.
    pub view: View,
    /// Headings of its columns, by their names.
    pub headings: &'static [(&'static str, &'static str)],
    /// Columns of which the quotient is shown: the heading, what is divided, and by what.
    pub quotients: &'static [(&'static str, &'static str, &'static str)],
}

/// Tables of counters, in the order of the report.
pub const COUNTERS: [CounterView; 4] = [LATCHES, FILES, SCHEDULERS, SPINLOCKS];

const LATCHES: CounterView = CounterView {
    title: "Latch classes",
    rows_are: "Latch class",
    view: View::new(
        "sys.dm_os_latch_stats",
        "SELECT CAST(latch_class AS nvarchar(60)) AS name, CAST(wait_time_ms AS bigint) AS \
         wait_ms, CAST(waiting_requests_count AS bigint) AS waits FROM sys.dm_os_latch_stats \
         WHERE waiting_requests_count > 0",
    ),
    headings: &[("wait_ms", "Waited"), ("waits", "Waits")],
    quotients: &[("Each", "wait_ms", "waits")],
};

const FILES: CounterView = CounterView {
    title: "Files",
    rows_are: "File",
    view: View {
        name: "sys.dm_io_virtual_file_stats",
        sql: "SELECT COALESCE(DB_NAME(s.database_id), N'database ' + CAST(s.database_id AS \
              nvarchar(11))) + N', ' + CAST(COALESCE(f.type_desc, N'FILE') AS nvarchar(60)) + N' \
              ' + CAST(s.file_id AS nvarchar(11)) + COALESCE(N' ' + f.physical_name, N'') AS name, \
              CAST(s.io_stall_read_ms AS bigint) AS read_stall_ms, CAST(s.num_of_reads AS bigint) \
              AS reads, CAST(s.num_of_bytes_read AS \
              bigint) AS read_bytes, CAST(s.io_stall_write_ms AS bigint) AS write_stall_ms, \
              CAST(s.num_of_writes AS bigint) AS writes, CAST(s.num_of_bytes_written AS bigint) \
              AS written_bytes FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s LEFT JOIN \
              sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id",
        older: Some(
            "SELECT COALESCE(DB_NAME(database_id), N'database ' + CAST(database_id AS \
             nvarchar(11))) + N', FILE ' + CAST(file_id AS nvarchar(11)) AS name, \
             CAST(io_stall_read_ms AS bigint) AS read_stall_ms, \
             CAST(num_of_reads AS bigint) AS reads, CAST(num_of_bytes_read AS bigint) AS \
             read_bytes, CAST(io_stall_write_ms AS bigint) AS write_stall_ms, CAST(num_of_writes \
             AS bigint) AS writes, CAST(num_of_bytes_written AS bigint) AS written_bytes FROM \
             sys.dm_io_virtual_file_stats(NULL, NULL)",
        ),
    },
    headings: &[
        ("read_stall_ms", "Read stall"),
        ("reads", "Reads"),
        ("read_bytes", "Read"),
        ("write_stall_ms", "Write stall"),
        ("writes", "Writes"),
        ("written_bytes", "Written"),
    ],
    quotients: &[
        ("Each read", "read_stall_ms", "reads"),
        ("Each write", "write_stall_ms", "writes"),
    ],
};

macro_rules! schedulers {
    ($newer:literal) => {
        concat!(
            "SELECT N'scheduler ' + CAST(scheduler_id AS nvarchar(11)) + N' of node ' + \
             CAST(parent_node_id AS nvarchar(11)) AS name, ",
            $newer,
            "CAST(context_switches_count AS bigint) AS switches, CAST(yield_count AS bigint) AS \
             yields, CAST(runnable_tasks_count AS bigint) AS now_runnable, CAST(work_queue_count \
             AS bigint) AS now_queued, CAST(pending_disk_io_count AS bigint) AS now_io FROM \
             sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE'"
        )
    };
}

const SCHEDULERS: CounterView = CounterView {
    title: "Schedulers",
    rows_are: "Scheduler",
    view: View {
        name: "sys.dm_os_schedulers",
        sql: schedulers!(
            "CAST(total_cpu_usage_ms AS bigint) AS cpu_ms, CAST(total_scheduler_delay_ms AS \
             bigint) AS delay_ms, "
        ),
        // Before SQL Server 2016.
        older: Some(schedulers!("")),
    },
    headings: &[
        ("cpu_ms", "CPU"),
        ("delay_ms", "Delay"),
        ("switches", "Switches"),
        ("yields", "Yields"),
        ("now_runnable", "Runnable now"),
        ("now_queued", "Queued now"),
        ("now_io", "I/O now"),
    ],
    quotients: &[],
};

const SPINLOCKS: CounterView = CounterView {
    title: "Spinlocks",
    rows_are: "Spinlock",
    view: View::new(
        "sys.dm_os_spinlock_stats",
        "SELECT CAST(name AS nvarchar(256)) AS name, CAST(spins AS bigint) AS spins, \
         CAST(collisions AS bigint) AS collisions, CAST(backoffs AS bigint) AS backoffs FROM \
         sys.dm_os_spinlock_stats WHERE collisions > 0",
    ),
    headings: &[("spins", "Spins"), ("collisions", "Collisions"), ("backoffs", "Backoffs")],
    quotients: &[],
};

/// The work of users' sessions, once a sample; without ours.
pub const REQUESTS: View = View::new(
    "sys.dm_exec_requests",
    "SELECT r.session_id AS session_id, CAST(r.status AS nvarchar(30)) AS status, \
     CAST(r.wait_type AS nvarchar(60)) AS wait_type, CAST(r.wait_resource AS nvarchar(256)) AS \
     wait_resource, CONVERT(bigint, r.query_hash) AS query_id, CAST(DB_NAME(r.database_id) AS \
     nvarchar(128)) AS database_name, CAST(s.login_name AS nvarchar(128)) AS login_name, \
     CAST(s.program_name AS nvarchar(128)) AS program_name FROM sys.dm_exec_requests AS r JOIN \
     sys.dm_exec_sessions AS s ON s.session_id = r.session_id WHERE s.is_user_process = 1 AND \
     r.session_id <> @@SPID AND COALESCE(s.program_name, N'') <> N'steelbench observer'",
);

/// Returns the query for these sessions only.
pub(crate) fn requests_of(sessions: &str) -> String {
    format!("{} AND r.session_id IN ({sessions})", REQUESTS.sql)
}

/// Waiting tasks, their blockers and the statement of each.
pub const TASKS: View = View::new(
    "sys.dm_os_waiting_tasks",
    "SELECT TOP (1000) t.session_id AS session_id, t.exec_context_id AS exec_context_id, \
     CAST(t.wait_duration_ms AS bigint) AS wait_ms, CAST(t.wait_type AS nvarchar(60)) AS \
     wait_type, CAST(t.resource_description AS nvarchar(3072)) AS resource, t.blocking_session_id \
     AS blocking_session_id FROM sys.dm_os_waiting_tasks AS t JOIN sys.dm_exec_sessions AS s ON \
     s.session_id = t.session_id WHERE s.is_user_process = 1 AND t.session_id <> @@SPID AND \
     COALESCE(s.program_name, N'') <> N'steelbench observer' ORDER BY t.wait_duration_ms DESC",
);

/// The sessions of users, to name those that wait and those that are in the way.
pub const SESSIONS: View = View {
    name: "sys.dm_exec_sessions",
    sql: "SELECT s.session_id AS session_id, CAST(s.status AS nvarchar(30)) AS status, \
          CAST(s.login_name AS nvarchar(128)) AS login_name, CAST(s.program_name AS \
          nvarchar(128)) AS program_name, CAST(DB_NAME(s.database_id) AS nvarchar(128)) AS \
          database_name, s.open_transaction_count AS open_transactions, CAST(DATEDIFF(second, \
          s.last_request_end_time, SYSDATETIME()) AS bigint) AS idle_s, CAST(r.total_elapsed_time \
          AS bigint) AS statement_ms, CAST(DATEDIFF(second, t.began, SYSDATETIME()) AS bigint) AS \
          transaction_s, CAST(SUBSTRING(q.text, 1, 4000) AS nvarchar(4000)) AS statement FROM \
          sys.dm_exec_sessions AS s LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = \
          s.session_id LEFT JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id AND \
          c.parent_connection_id IS NULL LEFT JOIN (SELECT st.session_id AS session_id, \
          MIN(at.transaction_begin_time) AS began FROM sys.dm_tran_session_transactions AS st \
          JOIN sys.dm_tran_active_transactions AS at ON at.transaction_id = st.transaction_id \
          GROUP BY st.session_id) AS t ON t.session_id = s.session_id OUTER APPLY \
          sys.dm_exec_sql_text(COALESCE(r.sql_handle, c.most_recent_sql_handle)) AS q WHERE \
          s.is_user_process = 1 AND s.session_id <> @@SPID",
    // Without the columns of SQL Server 2012, and without views that others than SQL Server lack.
    older: Some(
        "SELECT s.session_id AS session_id, CAST(s.status AS nvarchar(30)) AS status, \
         CAST(s.login_name AS nvarchar(128)) AS login_name, CAST(s.program_name AS nvarchar(128)) \
         AS program_name FROM sys.dm_exec_sessions AS s WHERE s.is_user_process = 1 AND \
         s.session_id <> @@SPID",
    ),
};

/// Texts of statements in the cache of plans, by the numbers of [`REQUESTS`]: it ends with an open
/// parenthesis.
pub const TEXTS: &str = "SELECT CONVERT(bigint, s.query_hash) AS query_id, \
     CAST(MAX(SUBSTRING(q.text, s.statement_start_offset / 2 + 1, CASE s.statement_end_offset \
     WHEN -1 THEN 4000 ELSE (s.statement_end_offset - s.statement_start_offset) / 2 + 1 END)) AS \
     nvarchar(4000)) AS statement FROM sys.dm_exec_query_stats AS s CROSS APPLY \
     sys.dm_exec_sql_text(s.sql_handle) AS q WHERE CONVERT(bigint, s.query_hash) IN (";
/// End of [`TEXTS`], behind the numbers.
pub const TEXTS_END: &str = ") GROUP BY s.query_hash";

/// Settings of the server.
pub const CONFIGURATIONS: View = View::new(
    "sys.configurations",
    "SELECT CAST(name AS nvarchar(35)) AS name, CAST(CAST(value AS bigint) AS nvarchar(20)) AS \
     configured, CAST(CAST(value_in_use AS bigint) AS nvarchar(20)) AS in_use, \
     CAST(is_dynamic AS int) AS is_dynamic FROM sys.configurations ORDER BY name",
);

/// Trace flags of the whole server.
pub(crate) const TRACE_FLAGS: &str = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS";

/// How our database is set: one column of its row.
pub(crate) fn database_option(column: &str) -> String {
    format!(
        "SELECT CAST({column} AS nvarchar(60)) AS value FROM sys.databases WHERE name = \
         N'steelbench'"
    )
}

/// The waits of sessions, together; from SQL Server 2016 on.
pub(crate) fn session_waits(sessions: &str) -> String {
    format!(
        "SELECT CAST(wait_type AS nvarchar(60)) AS wait_type, CAST(SUM(waiting_tasks_count) AS \
         bigint) AS waits, CAST(SUM(wait_time_ms) AS bigint) AS wait_ms, \
         CAST(SUM(signal_wait_time_ms) AS bigint) AS signal_ms FROM \
         sys.dm_exec_session_wait_stats WHERE session_id IN ({sessions}) GROUP BY wait_type"
    )
}

/// Returns the query for the sessions' total use.
pub(crate) fn session_use(sessions: &str) -> String {
    format!(
        "SELECT CAST(COUNT(*) AS bigint) AS sessions, CAST(SUM(CAST(cpu_time AS bigint)) AS \
         bigint) AS cpu_ms, CAST(SUM(reads) AS bigint) AS page_reads, \
         CAST(SUM(logical_reads) AS bigint) AS logical_reads FROM \
         sys.dm_exec_sessions WHERE session_id IN ({sessions})"
    )
}

/// Reads and writes of our database's files, by kind.
pub(crate) const OWN_IO: View = View::new(
    "sys.dm_io_virtual_file_stats",
    "SELECT CAST(f.type_desc AS nvarchar(60)) AS kind, CAST(SUM(s.num_of_reads) AS bigint) AS \
     reads, CAST(SUM(s.num_of_bytes_read) AS bigint) AS read_bytes, CAST(SUM(s.io_stall_read_ms) \
     AS bigint) AS read_ms, CAST(SUM(s.num_of_writes) AS bigint) AS writes, \
     CAST(SUM(s.num_of_bytes_written) AS bigint) AS written_bytes, CAST(SUM(s.io_stall_write_ms) \
     AS bigint) AS write_ms FROM sys.dm_io_virtual_file_stats(DB_ID(N'steelbench'), NULL) AS s \
     JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id GROUP \
     BY f.type_desc",
);

/// The object that a page belongs to, from SQL Server 2019 on.
pub fn page_owner(database: u16, file: u16, page: u32) -> String {
    format!(
        "SELECT CAST(COALESCE(OBJECT_SCHEMA_NAME(object_id, database_id) + N'.' + \
         OBJECT_NAME(object_id, database_id), N'') AS nvarchar(257)) AS owner, index_id AS \
         index_id FROM sys.dm_db_page_info({database}, {file}, {page}, 'LIMITED')"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::exceeded;
    use inspection::sqlserver::queries::views as queries;
    use inspection::sqlserver::queries::views::{
        CHANGES, COLUMNS, INDEXES, MISSED, PLAN, SIZES, STATEMENTS, USAGE,
    };
    use inspection::sqlserver::survey::views as surveyed;
    use sqlparser::ast::{Expr, ObjectName, Visit, Visitor};
    use sqlparser::dialect::MsSqlDialect;
    use sqlparser::parser::Parser;
    use std::collections::{BTreeMap, BTreeSet};
    use std::ops::ControlFlow;

    /// Columns by view, each with the first major version that has it, as Microsoft documents them.
    fn catalogue() -> BTreeMap<&'static str, BTreeMap<&'static str, u32>> {
        let mut views: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for line in include_str!("catalogue.txt")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let (view, columns) = line.split_once(": ").unwrap();
            let columns = columns.split_whitespace().map(|column| match column.split_once('@') {
                Some((column, since)) => (column, since.parse().unwrap()),
                None => (column, 11),
            });
            views.entry(view).or_default().extend(columns);
        }
        views
    }

    #[derive(Default)]
    struct Names {
        relations: BTreeSet<String>,
        columns: BTreeSet<String>,
    }

    impl Visitor for Names {
        type Break = ();

        fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
            self.relations.insert(relation.to_string());
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
            let name = match expression {
                Expr::Identifier(name) => Some(name),
                Expr::CompoundIdentifier(names) => names.last(),
                _ => None,
            };
            self.columns.extend(name.map(|name| name.value.clone()));
            ControlFlow::Continue(())
        }
    }

    fn names(sql: &str) -> Names {
        let statements = Parser::parse_sql(&MsSqlDialect {}, sql)
            .unwrap_or_else(|error| panic!("{error}: {sql}"));
        assert_eq!(statements.len(), 1, "{sql}");
        let mut names = Names::default();
        let _ = statements.visit(&mut names);
        names
    }

    /// The first version that has all that a statement names.
    fn since(sql: &str) -> u32 {
        let views = catalogue();
        assert_eq!(exceeded(sql), None, "{sql}");
        let names = names(sql);
        let known: Vec<_> = names
            .relations
            .iter()
            .map(|relation| {
                let relation = relation.trim_start_matches("[steelbench].");
                views.get(relation).unwrap_or_else(|| panic!("{relation} is not in the catalogue"))
            })
            .collect();
        names
            .columns
            .iter()
            .map(|column| {
                // Named by a statement itself, or an argument of DATEDIFF.
                if ["began", "bytes", "elapsed_us", "second", "millisecond", "@@SPID", "@@VERSION"]
                    .contains(&column.as_str())
                {
                    return 11;
                }
                let found = known.iter().filter_map(|view| view.get(column.as_str())).min();
                *found.unwrap_or_else(|| panic!("{column} is not in any of {:?}", names.relations))
            })
            .max()
            .unwrap_or(11)
    }

    #[test]
    fn every_statement_names_only_documented_columns_and_has_a_form_for_2012() {
        let counters = COUNTERS.map(|counters| counters.view);
        let views = [
            IDENTITY,
            PERMISSION,
            DATABASE_PERMISSION,
            STARTED,
            WAITS,
            DATABASE_WAITS,
            REQUESTS,
            TASKS,
            SESSIONS,
            CONFIGURATIONS,
        ];
        let surveyed = [surveyed::CONFIGURATIONS, surveyed::MACHINE, surveyed::DATABASES];
        let queries = [STATEMENTS, INDEXES, COLUMNS, SIZES, USAGE, CHANGES, MISSED];
        let marked = [
            MARKS,
            MODEL_FILE,
            ENGINE_EDITION,
            OWN_FILES,
            OWN_TABLES,
            OWN_IO,
            OWN_COMPRESSION,
            OWN_BUFFERS,
            OTHERS,
        ];
        let all = views.iter().chain(&counters).chain(&marked);
        let all = all.map(|view| (view.name, view.sql, view.older));
        let examined = queries.into_iter().chain(surveyed);
        let examined = examined.map(|view| (view.name, view.sql, view.older));
        for (name, sql, older) in all.chain(examined) {
            let (newest, oldest) = (since(sql), since(older.unwrap_or(sql)));
            assert!(newest <= 17, "{name}");
            assert_eq!(oldest, 11, "{name} in SQL Server 2012");
        }
        assert_eq!(since(COUNTERS[2].view.sql), 13, "processor time of schedulers came with 2016");
        assert_eq!((since(&page_owner(5, 1, 900)), since(&requests_of("51, 52"))), (15, 11));
        assert_eq!((since(STATEMENTS.sql), since(&format!("{PLAN}(0x06, 0, -1)"))), (13, 11));
        let stored = |sql: &str| since(&format!("{sql}1 AND 9{}", queries::STORED_END));
        assert_eq!((stored(queries::STORED.sql), stored(queries::STORED.older.unwrap())), (14, 13));
        let interval = format!("{}5{}", queries::STORED_INTERVAL.sql, queries::STORED_INTERVAL_END);
        let plan = format!("{}7", queries::STORED_PLAN);
        assert_eq!((since(queries::STORE.sql), since(&interval), since(&plan)), (13, 13, 13));
        assert_eq!((since(OWN_SEQUENTIAL_KEYS.sql), since(OWN_ROW_GROUPS.sql)), (15, 13));
        assert_eq!(since(OWN_LOG_CHAIN.sql), 11);
        assert_eq!(
            (since(INSTANT_FILES.sql), since(&session_waits("51, 52")), since(&session_use("51"))),
            (13, 13, 11)
        );
        let options = [
            ("recovery_model_desc", 11),
            ("page_verify_option_desc", 11),
            ("delayed_durability_desc", 12),
            ("snapshot_isolation_state_desc", 11),
            ("is_read_committed_snapshot_on", 11),
        ];
        assert!(
            options.iter().all(|(column, version)| since(&database_option(column)) == *version)
        );
        assert_eq!(since(&format!("{TEXTS}1, -2{TEXTS_END}")), 11);
    }

    #[test]
    fn a_misspelt_column_is_found() {
        let wrong = WAITS.sql.replace("waiting_tasks_count AS", "waiting_task_count AS");
        assert!(std::panic::catch_unwind(|| since(&wrong)).is_err());
    }

    #[test]
    fn headings_are_of_columns_that_are_read() {
        for counters in COUNTERS {
            for (column, _) in counters.headings {
                assert!(counters.view.sql.contains(&format!(" AS {column}")), "{column}");
            }
        }
    }
}
