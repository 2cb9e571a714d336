//! Actions of PostgreSQL beside a load.

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: "pg_basebackup",
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
        },
        BackupTool {
            name: "pg_dump",
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: false,
            is_of_server: false,
        },
        BackupTool {
            name: "pgbackrest",
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: false,
            is_of_server: false,
        },
    ],
    actions: &[
        StatementAction {
            name: "analyze",
            statements: &["ANALYZE {table}"],
            undo: &[],
            has_workers: false,
        },
        StatementAction {
            name: "vacuum",
            statements: &["VACUUM (PARALLEL {workers}) {table}"],
            undo: &[],
            has_workers: true,
        },
        StatementAction {
            name: "index-build",
            statements: &[
                "SET max_parallel_maintenance_workers = {workers}",
                "CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
            ],
            undo: &["DROP INDEX IF EXISTS {schema}.{name}"],
            has_workers: true,
        },
    ],
    loads_beside: true,
};
