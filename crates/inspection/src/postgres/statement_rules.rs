//! The rules by which texts of PostgreSQL's statements are compared and indexes advised.

use crate::plans::Terms;
use crate::statements::{
    Index, IndexAbilities, InfixIndex, NewIndex, Rules, Table, Upkeep, key_name,
};
use work::sql::Syntax;

/// The engine's name in snapshots.
pub const ENGINE: &str = "postgres";

/// PostgreSQL's rules.
pub const RULES: Rules = Rules {
    syntax: Syntax::Postgres,
    names_keep_case: true,
    keeps_statistics: true,
    estimates_scans: true,
    terms: Terms {
        cost_source: "PostgreSQL's costsize.c, with the constants among the plan's settings, else \
                      their defaults",
        ..Terms::NONE
    },
    sort_memory: "work_mem",
    give_memory: Some(give_memory),
    // A version of a row that is not on the page of the one before (HOT) has new entries in all
    // indexes.
    upkeep: Upkeep { update: "update that is not HOT", counted: "such changes" },
    abilities: IndexAbilities {
        expressions: true,
        prefix: Some(" text_pattern_ops"),
        inverted,
        infix: Some(InfixIndex {
            method: "gin",
            class: " gin_trgm_ops",
            needs: "CREATE EXTENSION IF NOT EXISTS pg_trgm",
        }),
        statistics: Some(statistics),
        numbers_miss_texts: false,
        add_key: Some(add_key),
        engine_names_missing: false,
    },
    before_change: Some("SET lock_timeout = '2s'"),
    explain_grant: "GRANT pg_read_all_data TO ROLE",
    create_index,
    drop_index,
};

/// A build or a drop that blocks no writer; of partitioned tables the server does neither.
fn concurrently(table: &Table) -> &'static str {
    if table.storage == PARTITIONED { "" } else { " CONCURRENTLY" }
}

/// The storage of partitioned tables, as `queries/tables.sql` names it.
const PARTITIONED: &str = "partitioned";

/// The server chooses the name. Columns are in quotes already where they need them.
fn create_index(index: &NewIndex<'_>) -> String {
    let how = index.method.map(|method| format!(" USING {method}")).unwrap_or_default();
    let (table, columns) = (index.table, index.columns.join(", "));
    format!("CREATE INDEX{} ON {}{how} ({columns})", concurrently(table), table.quoted)
}

fn drop_index(table: &Table, index: &Index) -> String {
    format!("DROP INDEX{} {}", concurrently(table), index.quoted)
}

/// The built-in classes of GIN and `GiST`
/// (<https://www.postgresql.org/docs/current/gin-builtin-opclasses.html>).
fn inverted(operator: &str, kind: &str) -> Option<(&'static str, &'static str)> {
    match (kind, operator) {
        ("jsonb", "@>" | "?" | "?|" | "?&" | "@?" | "@@") | ("tsvector", "@@") => Some(("gin", "")),
        (kind, "@>" | "&&") if kind.ends_with("[]") => Some(("gin", "")),
        (kind, "@>" | "&&") if kind.ends_with("range") => Some(("gist", "")),
        _ => None,
    }
}

/// Version 14 and 15 want a name.
fn statistics(table: &Table, columns: &[String]) -> String {
    let name = format!("{}_{}", table.name, columns.join("_").replace('"', ""));
    let name = name.replace(|c: char| !c.is_alphanumeric() && c != '_', "_").to_lowercase();
    format!("CREATE STATISTICS {name} ON {} FROM {}", columns.join(", "), table.quoted)
}

fn add_key(table: &Table) -> String {
    let name = key_name(table);
    let kind = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
    format!("ALTER TABLE {} ADD COLUMN {name} {kind}", table.quoted)
}

/// Memory above which a setting for all sorts of a role helps no more.
const WORK_MEM_MAX_MIB: u64 = 512;

/// Whole powers of two of MiB.
fn give_memory(user: &str, bytes: u64) -> Option<String> {
    let mib = bytes.div_ceil(1 << 20).max(4).next_power_of_two();
    let role = format!("\"{}\"", user.replace('"', "\"\""));
    (!user.is_empty() && mib <= WORK_MEM_MAX_MIB)
        .then(|| format!("ALTER ROLE {role} SET work_mem = '{mib}MB'"))
}
