//! The rules by which texts of SQLite's statements are compared and indexes advised.

use crate::plans::Terms;
use crate::statements::{IndexAbilities, NewIndex, Rules, Upkeep, drop_by_name};
use work::sql::Syntax;

/// SQLite's rules.
pub const RULES: Rules = Rules {
    syntax: Syntax::Sqlite,
    names_keep_case: false,
    keeps_statistics: false,
    estimates_scans: false,
    terms: Terms::NONE,
    sort_memory: "sort_buffer_size, or tmp_table_size with max_heap_table_size,",
    give_memory: None,
    upkeep: Upkeep::BY_COLUMN,
    abilities: IndexAbilities {
        expressions: true,
        prefix: Some(" COLLATE NOCASE"),
        ..IndexAbilities::PLAIN
    },
    before_change: None,
    explain_grant: "",
    create_index,
    drop_index: drop_by_name,
};

/// Columns are in quotes already where they need them.
fn create_index(index: &NewIndex<'_>) -> String {
    index.named(|name| format!("\"{}\"", name.trim_matches('"').replace('"', "\"\"")))
}
