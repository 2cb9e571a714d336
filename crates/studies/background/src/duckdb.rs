//! Actions of DuckDB beside a load.

use crate::tools::{Background, BackupTool};

/// Backup tools and statements.
pub const BACKGROUND: Background = Background {
    tools: &[BackupTool {
        name: "export",
        compressions: &["gzip", "zstd"],
        has_workers: false,
        has_rate_limit: false,
        is_of_server: false,
    }],
    actions: &[],
    loads_beside: false,
};
