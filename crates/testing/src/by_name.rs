//! The engines by name.

use engine::Engine;

/// The engine with this name, of those that tests name.
///
/// # Panics
/// When there is none.
pub fn engine(name: &str) -> &'static Engine {
    ENGINES.iter().copied().find(|engine| engine.name == name).unwrap()
}

/// The engines that tests use by name.
pub const ENGINES: &[&Engine] = &[
    &sqlite::SQLITE,
    &duckdb::DUCKDB,
    &postgres::POSTGRES,
    &mariadb::MARIADB,
    &sqlserver::SQL_SERVER,
    &disk::FILES,
    &null::NONE,
    &null::NULL,
];
