//! The engines whose plans can be explained with estimates in a session.

use crate::optimizer::Optimizer;
use crate::{duckdb, mariadb, postgres, sqlite, sqlserver};

/// Their optimizers, by the name of the engine.
const OPTIMIZERS: [(&str, &Optimizer); 5] = [
    ("sqlite", &sqlite::OPTIMIZER),
    ("duckdb", &duckdb::OPTIMIZER),
    ("postgres", &postgres::OPTIMIZER),
    ("mariadb", &mariadb::OPTIMIZER),
    ("sqlserver", &sqlserver::OPTIMIZER),
];

/// The optimizer of the engine with this name; `None`: the study has no adapter for it.
pub fn for_engine(engine: &str) -> Option<&'static Optimizer> {
    OPTIMIZERS.iter().find(|(name, _)| *name == engine).map(|(_, optimizer)| *optimizer)
}
