//! Queries on a server. Every column is cast, so that its type is the same in all versions.

mod trial;

pub use trial::*;

use engine::View;

/// The statements of views.
const FILE: &str = include_str!("views.sql");

/// Settings of each session of Steelbench: it never waits long for a lock, and takes none to read.
pub const SESSION: &str = "SET NOCOUNT ON; SET LOCK_TIMEOUT 1000; SET TRANSACTION ISOLATION LEVEL \
                           READ UNCOMMITTED; SELECT 1 AS ready";

/// Identity of the server.
pub const IDENTITY: View = View::new("the server's properties", FILE);

/// The start of the server, which stays the same while it runs.
pub const STARTED: View = View::new("sys.dm_os_sys_info", FILE);

/// Permission without which the views of sessions show only one's own, without an error. From SQL
/// Server 2022 on a part of VIEW SERVER STATE suffices; older servers know no such name.
pub const PERMISSION: View = View::new("VIEW SERVER STATE", FILE);

/// That of a database in Azure SQL Database.
pub(crate) const DATABASE_PERMISSION: View = View::new("VIEW DATABASE STATE", FILE);

/// Cumulative waits of the whole server.
pub const WAITS: View = View::new("sys.dm_os_wait_stats", FILE);

/// Waits of a database in Azure SQL Database, where the view above is that of the machine below it.
pub(crate) const DATABASE_WAITS: View = View::new("sys.dm_db_wait_stats", FILE);

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
    view: View::new("sys.dm_os_latch_stats", FILE),
    headings: &[("wait_ms", "Waited"), ("waits", "Waits")],
    quotients: &[("Each", "wait_ms", "waits")],
};

const FILES: CounterView = CounterView {
    title: "Files",
    rows_are: "File",
    view: View::new("sys.dm_io_virtual_file_stats", FILE),
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

const SCHEDULERS: CounterView = CounterView {
    title: "Schedulers",
    rows_are: "Scheduler",
    view: View::new("sys.dm_os_schedulers", FILE),
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
    view: View::new("sys.dm_os_spinlock_stats", FILE),
    headings: &[("spins", "Spins"), ("collisions", "Collisions"), ("backoffs", "Backoffs")],
    quotients: &[],
};

/// The work of users' sessions, once a sample; without ours.
pub const REQUESTS: View = View::new("sys.dm_exec_requests", FILE);

/// Returns the query for these sessions only.
pub(crate) fn requests_of(sessions: &str) -> String {
    format!("{} AND r.session_id IN ({sessions})", REQUESTS.sql())
}

/// Waiting tasks, their blockers and the statement of each.
pub const TASKS: View = View::new("sys.dm_os_waiting_tasks", FILE);

/// The sessions of users, to name those that wait and those that are in the way.
pub const SESSIONS: View = View::new("sys.dm_exec_sessions", FILE);

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
pub const CONFIGURATIONS: View = View::new("sys.configurations", FILE);

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
        let all = views.iter().chain(&counters).chain(&marked).copied();
        for view in all.chain(queries).chain(surveyed) {
            let newest = view.sql();
            let oldest = since(&view.older().unwrap_or_else(|| newest.clone()));
            assert!(since(&newest) <= 17, "{}", view.name);
            assert_eq!(oldest, 11, "{} in SQL Server 2012", view.name);
        }
        assert_eq!(
            since(&COUNTERS[2].view.sql()),
            13,
            "processor time of schedulers came with 2016"
        );
        assert_eq!((since(&page_owner(5, 1, 900)), since(&requests_of("51, 52"))), (15, 11));
        assert_eq!((since(&STATEMENTS.sql()), since(&format!("{PLAN}(0x06, 0, -1)"))), (13, 11));
        let stored = |sql: &str| since(&format!("{sql} 1 AND 9{}", queries::STORED_END));
        assert_eq!(
            (stored(&queries::STORED.sql()), stored(&queries::STORED.older().unwrap())),
            (14, 13)
        );
        let interval =
            format!("{} 5{}", queries::STORED_INTERVAL.sql(), queries::STORED_INTERVAL_END);
        let plan = format!("{}7", queries::STORED_PLAN);
        assert_eq!((since(&queries::STORE.sql()), since(&interval), since(&plan)), (13, 13, 13));
        assert_eq!((since(&OWN_SEQUENTIAL_KEYS.sql()), since(&OWN_ROW_GROUPS.sql())), (15, 13));
        assert_eq!(since(&OWN_LOG_CHAIN.sql()), 11);
        assert_eq!(
            (
                since(&INSTANT_FILES.sql()),
                since(&session_waits("51, 52")),
                since(&session_use("51"))
            ),
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
        let wrong = WAITS.sql().replace("waiting_tasks_count AS", "waiting_task_count AS");
        assert!(std::panic::catch_unwind(|| since(&wrong)).is_err());
    }

    #[test]
    fn headings_are_of_columns_that_are_read() {
        for counters in COUNTERS {
            for (column, _) in counters.headings {
                assert!(counters.view.sql().contains(&format!(" AS {column}")), "{column}");
            }
        }
    }
}
