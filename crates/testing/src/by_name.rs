//! The engines by name.

use engine::Engine;

/// The engine with this name, of those that tests name.
///
/// # Panics
/// When there is none.
pub fn engine(name: &str) -> &'static dyn Engine {
    ENGINES.iter().copied().find(|engine| engine.name() == name).unwrap()
}

/// The engines that tests use by name.
pub const ENGINES: &[&dyn Engine] = &[
    &sqlite::Sqlite,
    &duckdb::DuckDb,
    &postgres::Postgres,
    &mariadb::MariaDb,
    &sqlserver::SqlServer,
    &files::Files,
    &null::Nothing,
    &null::Null,
];
