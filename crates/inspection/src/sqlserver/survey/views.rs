//! Queries on a server.

use engine::View;

/// The statements of views.
const FILE: &str = include_str!("views.sql");

/// Settings of the server.
pub const CONFIGURATIONS: View = View::new("sys.configurations", FILE);

/// The machine as the server sees it.
pub const MACHINE: View = View::new("sys.dm_os_sys_info", FILE);

/// Databases, the largest first; templates and the like are the server's own.
pub const DATABASES: View = View::new("sys.databases", FILE);

/// Trace flags of the whole server.
pub const TRACE_FLAGS: &str = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS";
