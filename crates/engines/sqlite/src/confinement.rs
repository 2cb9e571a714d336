//! Statements of untrusted experiments: they reach the files that their connection has open.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// PRAGMAs that reach only the database: no file, and no memory of other connections.
const PRAGMAS: &str = "analysis_limit application_id auto_vacuum automatic_index busy_timeout \
                       cache_size cache_spill case_sensitive_like cell_size_check collation_list \
                       compile_options count_changes data_version database_list \
                       defer_foreign_keys encoding foreign_key_check foreign_key_list \
                       foreign_keys freelist_count function_list ignore_check_constraints \
                       incremental_vacuum index_info index_list index_xinfo integrity_check \
                       journal_mode journal_size_limit locking_mode max_page_count mmap_size \
                       module_list optimize page_count page_size pragma_list query_only \
                       quick_check read_uncommitted recursive_triggers \
                       reverse_unordered_selects secure_delete synchronous table_info \
                       table_list table_xinfo temp_store threads user_version \
                       wal_autocheckpoint wal_checkpoint";

/// Functions that load code.
const LOADERS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

/// Keeps the statements of a connection from other files, from code, and from the pages below the
/// tables (<https://www.sqlite.org/security.html>).
pub fn confine(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.authorizer(Some(|context: AuthContext<'_>| {
        if is_harmless(context.action) { Authorization::Allow } else { Authorization::Deny }
    }))
}

fn is_harmless(action: AuthAction<'_>) -> bool {
    match action {
        // VACUUM attaches an unnamed file of its own, and VACUUM INTO the one that it writes.
        AuthAction::Attach { filename } => ["", ":memory:"].contains(&filename),
        AuthAction::Pragma { pragma_name, .. } => {
            PRAGMAS.split(' ').any(|known| known.eq_ignore_ascii_case(pragma_name))
        }
        AuthAction::Function { function_name } => {
            !LOADERS.iter().any(|loader| loader.eq_ignore_ascii_case(function_name))
        }
        // An expression names the file to attach.
        AuthAction::Unknown { .. } => false,
        _ => true,
    }
}
