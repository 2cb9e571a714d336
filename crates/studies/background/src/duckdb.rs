//! Actions of DuckDB beside a load.

use crate::tools::{Background, BackupTool};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[BackupTool::new("export", &["gzip", "zstd"])],
    actions: &[],
    loads_beside: false,
    server: None,
};
