//! Engines under test: the traits that a probe sees, and one folder an engine.

mod cancel;
mod engine;
pub mod null;
pub mod sqlite;
mod table;

pub use cancel::{Cancel, CancelReason};
pub use engine::{
    CacheReport, CacheState, Capabilities, Collected, Done, Engine, EngineError, Instance, Place, Session,
    WaitCollector,
};
pub use table::{Key, Placement, Shape, Table, Transaction};

/// All engines, by the name that `target.engine` gives. The scripted one comes last; it is
/// there for tests and marks its results as synthetic.
pub fn all() -> [&'static dyn Engine; 2] {
    [&sqlite::Sqlite, &null::Null]
}

/// The engine with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Engine> {
    all().into_iter().find(|engine| engine.name() == name)
}
