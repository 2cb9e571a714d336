//! The rules by which texts of statements of MariaDB and MySQL are compared and indexes advised.

use crate::plans::Terms;
use crate::statements::{Index, IndexAbilities, NewIndex, Rules, Table, Upkeep, key_name};
use work::sql::Syntax;

/// The engine's name in snapshots.
pub const ENGINE: &str = "mariadb";

/// The rules of MariaDB and MySQL.
pub const RULES: Rules = Rules {
    syntax: Syntax::MariaDb,
    names_keep_case: false,
    keeps_statistics: true,
    // The optimizer knows nothing of columns without statistics.
    estimates_scans: false,
    terms: Terms::NONE,
    sort_memory: "sort_buffer_size, or tmp_table_size with max_heap_table_size,",
    give_memory: None,
    upkeep: Upkeep::BY_COLUMN,
    abilities: IndexAbilities {
        numbers_miss_texts: true,
        add_key: Some(add_key),
        ..IndexAbilities::PLAIN
    },
    before_change: Some("SET SESSION lock_wait_timeout = 5"),
    explain_grant: "GRANT SELECT ON *.* TO ROLE",
    create_index,
    drop_index,
};

/// Returns true where the storage engine changes indexes while sessions write.
fn is_online(table: &Table) -> bool {
    table.storage.is_empty() || table.storage.eq_ignore_ascii_case("innodb")
}

/// A name in backquotes.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn create_index(index: &NewIndex<'_>) -> String {
    let how = if is_online(index.table) { " ALGORITHM=INPLACE LOCK=NONE" } else { "" };
    format!("{}{how}", index.named(quoted))
}

/// `DROP INDEX` of MariaDB takes no algorithm.
fn drop_index(table: &Table, index: &Index) -> String {
    let how = if is_online(table) { ", ALGORITHM=INPLACE, LOCK=NONE" } else { "" };
    format!("ALTER TABLE {} DROP INDEX {}{how}", table.quoted, index.quoted)
}

fn add_key(table: &Table) -> String {
    let name = key_name(table);
    let kind = "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST";
    format!("ALTER TABLE {} ADD COLUMN {name} {kind}", table.quoted)
}
