//! PostgreSQL.

use crate::log::{Position, Replication};

/// How its log and its replication are read.
pub const REPLICATION: Replication = Replication {
    written: position("SELECT (pg_current_wal_lsn() - '0/0')::bigint"),
    applied: position("SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint"),
    since_checkpoint: "SELECT (pg_current_wal_lsn() - redo_lsn)::bigint FROM \
                       pg_control_checkpoint()",
    own_settings: &["primary_conninfo", "synchronous_standby_names"],
};

/// Positions count over all files.
const fn position(sql: &'static str) -> Position {
    Position { sql, bytes: 0, file: None }
}
