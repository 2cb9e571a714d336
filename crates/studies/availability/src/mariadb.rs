//! MariaDB and MySQL.

use crate::log::{Position, Replication};

/// How its log and its replication are read.
#[rustfmt::skip]
pub const REPLICATION: Replication = Replication {
    written: Position { sql: "SHOW MASTER STATUS", bytes: 1, file: Some(0) },
    // Relay_Master_Log_File, Exec_Master_Log_Pos.
    applied: Position { sql: "SHOW SLAVE STATUS", bytes: 21, file: Some(9) },
    since_checkpoint: "SELECT variable_value FROM information_schema.global_status WHERE \
                       variable_name = 'INNODB_CHECKPOINT_AGE'",
    own_settings: &[
        "log_bin", "log_slave_updates", "read_only", "rpl_semi_sync_master_enabled",
        "rpl_semi_sync_slave_enabled", "server_id", "skip_name_resolve",
    ],
};
