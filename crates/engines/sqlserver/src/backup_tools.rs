//! Backups beside a load, as settings are checked against them.

use engine::backups::{Background, BackupTool};

/// `BACKUP DATABASE` to files of the server.
pub const BACKGROUND: Background = Background {
    tools: &[BackupTool {
        name: "backup-database",
        compressions: &["native", "zstd"],
        // Files over which a backup is striped: the server has a writer for each.
        has_workers: true,
        has_rate_limit: false,
        is_of_server: true,
        missing: |_| None,
    }],
    actions: &[],
    loads_beside: false,
};
