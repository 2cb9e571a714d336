//! DuckDB as an engine: its abilities, objections to its settings, and prerequisites of trials.

use super::instance::DuckDbHost;
use super::settings::{self, DATA_FILES, LIBRARY, VOLUME};
use super::{compression, find, options, waits};
use engine::Prerequisites;
use engine::compression::validate_columns;
use engine::setup::Setup;
use engine::{Ability, Engine, Folders, Need, Preflight, Space};
use experiment::{Configuration, ExampleLevels, Invalid};
use observations::EngineVersion;
use work::{Stop, Table};

/// Bytes of rows for each byte in the file, at most: what needs more space than this leaves does
/// not fit. TPC-H's LINEITEM has about 4.
const COMPRESSION_MAX: u64 = 10;

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct DuckDb;

/// The embedded column store, from version 1.2 up.
pub const DUCKDB: Engine = Engine {
    settings: settings::SETTINGS,
    example_levels: Some(ExampleLevels { path: "workload.connections", levels: [1, 2, 4] }),
    abilities: &[
        Ability::Embedded,
        Ability::Tables,
        Ability::Statements,
        Ability::BulkLoad,
        Ability::Parallel,
        Ability::Columns,
        Ability::TimeLimits,
    ],
    validate,
    wait_types: waits::WAIT_TYPES,
    prerequisites: Some(&DuckDb),
    database_files: Some(&DuckDb),
    ..Engine::new("duckdb", version, |folders| Box::new(DuckDbHost(folders)))
};

fn version(configurations: &[&Configuration], _: &Stop) -> EngineVersion {
    let mut values: Vec<Option<String>> = Vec::new();
    for configuration in configurations {
        let configuration = configuration.get(LIBRARY);
        if !values.contains(&configuration) {
            values.push(configuration);
        }
    }
    let found = values.iter().map(|text| match find::library(text.as_deref()) {
        Ok((name, library)) => (library.version.clone(), name.to_string_lossy().into_owned()),
        Err(error) => ("none".into(), error.to_string()),
    });
    let (versions, options): (Vec<String>, Vec<String>) = found.unzip();
    EngineVersion { version: versions.join(", "), options }
}

fn validate(configuration: &Configuration, _: u32, tables: &[Table]) -> Vec<Invalid> {
    let mut invalid = options::validate(configuration);
    invalid.extend(Setup::validate(configuration));
    if configuration.get(DATA_FILES) > 1 {
        let message = "DuckDB keeps a database in one file; set target.data_files = 1";
        invalid.push(Invalid::new(DATA_FILES.path(), message));
    }
    if configuration.get(VOLUME).len() > 1 {
        let message = "DuckDB keeps a database in one file; give one volume";
        invalid.push(Invalid::new(VOLUME.path(), message));
    }
    let library = configuration.get(LIBRARY);
    if let Some(objection) = library.as_deref().and_then(find::objection) {
        invalid.push(Invalid::new(LIBRARY.path(), objection));
    }
    invalid.extend(validate_columns(configuration, tables, |_| None));
    invalid
}

impl Prerequisites for DuckDb {
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        let found = find::library(configuration.get(LIBRARY).as_deref());
        found.err().map(|error| format!("duckdb is not installed: {error}"))
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, _: &Stop) -> Preflight {
        let mut found = Preflight::default();
        for need in needs {
            match find::library(need.configuration.get(LIBRARY).as_deref()) {
                Ok((_, library)) => {
                    found.invalid.extend(compression::refused(need.configuration, library));
                    found.invalid.extend(options::refused(need.configuration, library));
                }
                Err(error) => found.misses(error.to_string()),
            }
            let rows = need.of_rows(&need.configuration.get(VOLUME), folders);
            found.needs(
                rows.into_iter().map(|rows| Space { bytes: rows.bytes / COMPRESSION_MAX, ..rows }),
            );
        }
        found
    }
}
