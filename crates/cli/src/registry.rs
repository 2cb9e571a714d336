//! The engines and probes of this binary. Adding or deleting one is its folder and a line here.

use runner::Registry;

/// Engines and probes in the order in which help and documentation list them.
pub const REGISTRY: Registry = Registry {
    engines: &[
        &sqlite::Sqlite,
        &duckdb::DuckDb,
        &postgres::Postgres,
        &mariadb::MariaDb,
        &sqlserver::SqlServer,
        &files::Files,
        &null::Nothing,
        &null::Null,
    ],
    probes: &[
        &insert::Insert,
        &script::ScriptProbe,
        &scan::Scan,
        &lookup::Lookup,
        &update::Update,
        &sort_order::SortOrder,
        &bulk_load::BulkLoad,
        &disk::DiskProbe,
        &sync::SyncProbe,
        &command_study::CommandProbe,
    ],
};
