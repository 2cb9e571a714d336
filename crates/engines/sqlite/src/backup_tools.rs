//! Backup tools of SQLite and statements beside a load, as settings are checked against them.

use engine::backups::{Background, BackupTool, StatementAction};

/// The backup interface, in steps.
pub(crate) const BACKUP_API: &str = "backup-api";
/// A compacted copy by one statement.
const VACUUM_INTO: &str = "vacuum-into";

/// Actions beside a load.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: BACKUP_API,
            compressions: &[],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
            missing: |_| None,
        },
        BackupTool {
            name: VACUUM_INTO,
            compressions: &[],
            has_workers: false,
            has_rate_limit: false,
            is_of_server: false,
            missing: |_| None,
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
