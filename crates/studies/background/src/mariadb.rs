//! Actions of MariaDB beside a load.

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: "mariadb-dump",
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
        },
        BackupTool {
            name: "mariadb-backup",
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: true,
            is_of_server: false,
        },
    ],
    actions: &[
        StatementAction {
            name: "analyze",
            statements: &["ANALYZE TABLE {table}"],
            undo: &[],
            has_workers: false,
        },
        StatementAction {
            name: "index-build",
            statements: &["CREATE INDEX steelbench_background ON {table} ({column})"],
            undo: &["DROP INDEX IF EXISTS steelbench_background ON {table}"],
            has_workers: false,
        },
    ],
    loads_beside: true,
};
