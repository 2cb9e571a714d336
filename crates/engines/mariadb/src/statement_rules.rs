//! The rules by which texts of statements of MariaDB and MySQL are compared and indexes advised.

use plans::Terms;
use sql::Syntax;
use statements::{NewIndex, Rules, Upkeep, drop_of_table};

/// The rules of MariaDB and MySQL.
pub const RULES: Rules = Rules {
    syntax: Syntax::MariaDb,
    names_keep_case: false,
    keeps_statistics: true,
    // The optimizer knows nothing of columns without statistics.
    estimates_scans: false,
    terms: Terms::NONE,
    sort_memory: "sort_buffer_size, or tmp_table_size with max_heap_table_size,",
    upkeep: Upkeep::BY_COLUMN,
    create_index,
    drop_index: drop_of_table,
};

fn create_index(index: &NewIndex<'_>) -> String {
    index.named(|name| format!("`{}`", name.replace('`', "``")))
}
