//! The rules by which texts of PostgreSQL's statements are compared and indexes advised.

use plans::Terms;
use sql::Syntax;
use statements::{NewIndex, Rules, Upkeep, drop_by_name};

/// PostgreSQL's rules.
pub const RULES: Rules = Rules {
    syntax: Syntax::Postgres,
    names_keep_case: true,
    keeps_statistics: true,
    estimates_scans: true,
    terms: Terms::NONE,
    sort_memory: "work_mem",
    // A version of a row that is not on the page of the one before (HOT) has new entries in all
    // indexes.
    upkeep: Upkeep { update: "update that is not HOT", counted: "such changes" },
    create_index,
    drop_index: drop_by_name,
};

/// The server chooses the name. Columns are in quotes already where they need them.
fn create_index(index: &NewIndex<'_>) -> String {
    format!("CREATE INDEX ON {} ({})", index.table.quoted, index.columns.join(", "))
}
