//! Actions of PostgreSQL beside a load.

mod backups;
mod pgbackrest;

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool::new(backups::BASEBACKUP, &["gzip", "lz4", "zstd"]).with_rate_limit(),
        BackupTool::new(backups::DUMP, &["gzip", "lz4", "zstd"]).with_workers(),
        BackupTool::new(pgbackrest::PGBACKREST, &["gzip", "lz4", "zstd"]).with_workers(),
    ],
    actions: &[
        StatementAction::new("analyze", &["ANALYZE {table}"]),
        StatementAction::new("vacuum", &["VACUUM (PARALLEL {workers}) {table}"]).with_workers(),
        StatementAction::new(
            "index-build",
            &[
                "SET max_parallel_maintenance_workers = {workers}",
                "CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
            ],
        )
        .undone_by(&["DROP INDEX IF EXISTS {schema}.{name}"])
        .with_workers(),
    ],
    loads_beside: true,
    server: Some(&backups::PRODUCT),
};
