//! Actions of SQL Server beside a load.

use crate::tools::{Background, BackupTool};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[BackupTool {
        name: "backup-database",
        compressions: &["native", "zstd"],
        // Files over which a backup is striped: the server has a writer for each.
        has_workers: true,
        has_rate_limit: false,
        is_of_server: true,
    }],
    actions: &[],
    loads_beside: false,
};
