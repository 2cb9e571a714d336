//! The engines and probes of this binary. Adding or deleting one is its folder and a line here.

use runner::Registry;

/// Engines and probes in the order in which help and documentation list them.
pub const REGISTRY: Registry = Registry {
    engines: &[
        &engines::sqlite::Sqlite,
        &engines::duckdb::DuckDb,
        &engines::postgres::Postgres,
        &engines::mariadb::MariaDb,
        &engines::sqlserver::SqlServer,
        &engines::files::Files,
        &engines::nothing::Nothing,
        &engines::null::Null,
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

#[cfg(test)]
mod tests {
    use super::REGISTRY;
    use std::collections::HashSet;

    #[test]
    fn every_setting_is_declared_once_and_its_type_holds_its_default() {
        let catalog = REGISTRY.catalog();
        for (owner, settings) in catalog.engines.iter().chain(&catalog.probes) {
            let mut paths = HashSet::new();
            for setting in *settings {
                assert!(
                    setting.is_consistent(),
                    "{owner}: {}: {:?}",
                    setting.path,
                    setting.default
                );
                assert!(paths.insert(setting.path), "{owner} declares {} twice", setting.path);
                assert!(!setting.doc.is_empty(), "{owner}: {} says nothing", setting.path);
            }
        }
    }
}
