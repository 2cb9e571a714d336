//! Actions of SQLite beside a load.

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: "backup-api",
            compressions: &[],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
        },
        BackupTool {
            name: "vacuum-into",
            compressions: &[],
            has_workers: false,
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
            name: "index-build",
            statements: &["CREATE INDEX steelbench_background_{table} ON {table} ({column})"],
            undo: &["DROP INDEX IF EXISTS steelbench_background_{table}"],
            has_workers: false,
        },
    ],
    loads_beside: false,
};
