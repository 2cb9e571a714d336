//! Actions of MariaDB beside a load.

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool::new("mariadb-dump", &["gzip", "lz4", "zstd"]).with_rate_limit(),
        BackupTool::new("mariadb-backup", &["gzip", "lz4", "zstd"])
            .with_workers()
            .with_rate_limit(),
    ],
    actions: &[
        StatementAction::new("analyze", &["ANALYZE TABLE {table}"]),
        StatementAction::new(
            "index-build",
            &["CREATE INDEX steelbench_background ON {table} ({column})"],
        )
        .undone_by(&["DROP INDEX IF EXISTS steelbench_background ON {table}"]),
    ],
    loads_beside: true,
};
