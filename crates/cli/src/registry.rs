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
        &probes::insert::Insert,
        &probes::script::ScriptProbe,
        &probes::scan::Scan,
        &probes::lookup::Lookup,
        &probes::update::Update,
        &probes::sort_order::SortOrder,
        &probes::bulk_load::BulkLoad,
        &probes::disk::DiskProbe,
        &probes::sync::SyncProbe,
        &probes::command::CommandProbe,
    ],
};
