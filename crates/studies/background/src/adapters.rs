//! The engines that have actions beside a load.

use crate::tools::Background;
use crate::{duckdb, mariadb, postgres, sqlite, sqlserver};

/// The actions of each engine.
const ADAPTERS: [(&str, &Background); 5] = [
    ("sqlite", &sqlite::BACKGROUND),
    ("duckdb", &duckdb::BACKGROUND),
    ("postgres", &postgres::BACKGROUND),
    ("mariadb", &mariadb::BACKGROUND),
    ("sqlserver", &sqlserver::BACKGROUND),
];

/// The actions of the engine with this name; `None`: it has none.
pub fn for_engine(name: &str) -> Option<&'static Background> {
    ADAPTERS.iter().find(|(engine, _)| *engine == name).map(|(_, background)| *background)
}
