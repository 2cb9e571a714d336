//! Actions of MariaDB beside a load.

mod backups;

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool::new(backups::DUMP, &["gzip", "lz4", "zstd"]).with_rate_limit(),
        BackupTool::new(backups::COPY, &["gzip", "lz4", "zstd"]).with_workers().with_rate_limit(),
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
    server: Some(&backups::PRODUCT),
};
