//! Queries on a server. Every column is cast, so that its type is the same in all versions. A query
//! that the server rejects because a column or table is too new has an older form, which is tried
//! next: features are queried, never inferred from the version.

use engine::{AdminSession, Rows, ServerError};

/// A statement, and its replacement for servers that lack some of its columns or views.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The subject, for messages about unreadable items.
    pub name: &'static str,
    /// The statement.
    pub sql: &'static str,
    /// The form for older servers.
    pub older: Option<&'static str>,
}

/// The code of the error that a statement has no result.
pub const NO_RESULT: &str = "0";

impl View {
    /// Reads the view, in its older form where the server does not have all of it.
    ///
    /// # Errors
    /// When the connection is lost. The server's objections are the inner error.
    pub fn read(
        &self,
        session: &mut dyn AdminSession,
    ) -> Result<Result<Rows, String>, ServerError> {
        let is_refused = |answer: &Result<Rows, ServerError>| {
            answer.as_ref().is_err_and(|error| !error.is_silence())
        };
        let mut answer = session.query(self.sql);
        if let Some(older) = self.older.filter(|_| is_refused(&answer)) {
            let of_older = session.query(older);
            if !is_refused(&of_older) {
                answer = of_older;
            }
        }
        match answer {
            Err(error) if !error.is_silence() => {
                // Messages of the server are sentences.
                let sentence = |text: &str| text.trim_end_matches('.').to_owned();
                let advice = error.advice.map(|advice| format!(". {}", sentence(advice)));
                let (name, what) = (self.name, sentence(&error.what));
                Ok(Err(format!("{name}: {what}{}", advice.unwrap_or_default())))
            }
            answer => answer.map(Ok),
        }
    }
}

/// Settings of the server.
pub const CONFIGURATIONS: View = View {
    name: "sys.configurations",
    sql: "SELECT CAST(name AS nvarchar(35)) AS name, CAST(CAST(value AS bigint) AS nvarchar(20)) \
          AS configured, CAST(CAST(value_in_use AS bigint) AS nvarchar(20)) AS in_use FROM \
          sys.configurations ORDER BY name",
    older: None,
};

/// The machine as the server sees it.
pub const MACHINE: View = View {
    name: "sys.dm_os_sys_info",
    sql: "SELECT cpu_count, scheduler_count, CAST(physical_memory_kb AS bigint) AS \
          physical_memory_kb, CAST(committed_target_kb AS bigint) AS committed_target_kb, \
          max_workers_count, numa_node_count, socket_count, cores_per_socket, \
          CAST(softnuma_configuration_desc AS nvarchar(60)) AS softnuma_configuration_desc, \
          CAST(sql_memory_model_desc AS nvarchar(60)) AS sql_memory_model_desc, \
          CAST(virtual_machine_type_desc AS nvarchar(60)) AS virtual_machine_type_desc FROM \
          sys.dm_os_sys_info",
    older: Some(
        "SELECT cpu_count, scheduler_count, CAST(physical_memory_kb AS bigint) AS \
         physical_memory_kb, CAST(committed_target_kb AS bigint) AS committed_target_kb, \
         max_workers_count, CAST(virtual_machine_type_desc AS nvarchar(60)) AS \
         virtual_machine_type_desc FROM sys.dm_os_sys_info",
    ),
};

/// Databases, the largest first; templates and the like are the server's own.
pub const DATABASES: View = View {
    name: "sys.databases",
    sql: "SELECT CAST(d.name AS nvarchar(128)) AS name, SUM(CAST(f.size AS bigint)) * 8192 AS \
          bytes FROM sys.databases AS d LEFT JOIN sys.master_files AS f ON f.database_id = \
          d.database_id GROUP BY d.name ORDER BY bytes DESC, name",
    older: Some("SELECT CAST(name AS nvarchar(128)) AS name FROM sys.databases ORDER BY name"),
};

/// Trace flags of the whole server.
pub const TRACE_FLAGS: &str = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS";
