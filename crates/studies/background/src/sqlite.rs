//! Actions of SQLite beside a load.

use crate::tools::{Background, BackupTool, StatementAction};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool::new("backup-api", &[]).with_rate_limit(),
        BackupTool::new("vacuum-into", &[]),
    ],
    actions: &[
        StatementAction::new("analyze", &["ANALYZE {table}"]),
        StatementAction::new(
            "index-build",
            &["CREATE INDEX steelbench_background_{table} ON {table} ({column})"],
        )
        .undone_by(&["DROP INDEX IF EXISTS steelbench_background_{table}"]),
    ],
    loads_beside: false,
    server: None,
};
