//! The engines and probes of this binary. Adding or deleting one is its folder and a line here.

use report::StudySections;
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

/// What studies tell the analysis of their runs.
pub const STUDIES: &[&analysis::Study] = &[
    &scan::STUDY,
    &lookup::STUDY,
    &update::STUDY,
    &sort_order::STUDY,
    &bulk_load::STUDY,
    &disk::STUDY,
];

/// The sections of reports that studies have, in the order of the studies.
pub const SECTIONS: StudySections<'static> =
    &[compression::SECTIONS, scan::SECTIONS, sort_order::SECTIONS, disk::SECTIONS, sync::SECTIONS];
