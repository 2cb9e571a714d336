//! Actions of SQL Server beside a load.

use crate::tools::{Background, BackupTool};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        // Files over which a backup is striped: the server has a writer for each.
        BackupTool::new("backup-database", &["native", "zstd"]).with_workers().of_server(),
    ],
    actions: &[],
    loads_beside: false,
    server: None,
};
