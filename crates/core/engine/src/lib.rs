//! Engines under test: the traits that a probe sees, and one folder an engine.

pub mod activity;
mod altered;
mod cache;
mod cancel;
mod column_store;
mod command;
mod compression;
mod dialect;
pub mod duckdb;
mod engine;
pub mod files;
mod key;
pub mod mariadb;
pub mod nothing;
pub mod null;
mod open_files;
pub mod parquet;
mod planned;
pub mod postgres;
mod preflight;
mod private;
mod query_reader;
mod request;
mod rows;
pub mod sample;
pub mod server;
mod session;
mod setup;
pub mod sqlite;
pub mod sqlserver;
mod survey_rules;
mod wait_type;
mod work;

pub use cancel::{Cancel, CancelReason};
pub use column_store::{ColumnStore, Compressed, Stored};
pub use dialect::Dialect;
pub use engine::{
    Ability, Answer, CacheReport, CacheState, Collected, ConnectionSet, Done, Engine, EngineError,
    EngineUse, Explained, Folders, Host, Instance, PageUse, Permits, Results, WaitCollector,
};
pub use files::{FileSet, Role};
pub use key::{Key, Placement};
pub use planned::{Asked, Planned};
pub use preflight::{Footprint, Need, Preflight, Space};
pub use query_reader::{QueryLimits, QueryReader};
pub use request::{Parameter, Request, Statement};
pub use rows::{Rows, Texts, Values, day};
pub use server::{LiveObserver, ObserveOptions, Server, ServerError, Servers};
pub use session::{Session, SetOfOne};
pub use setup::{SETUP_DUMP, SETUP_SQL};
pub use wait_type::{BenignGroup, WaitType};
pub use work::{
    Column, DataType, DefaultValue, Fill, Filter, Kept, Operation, Output, Storage, Table,
    TableFormat, UserStatement, Work,
};

/// Says whether one who waits for a server is asked to stop.
pub use transport::Stop;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock; what a thread that panicked has left behind it is found out by using it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All engines, by the name that `target.engine` gives. The scripted one comes last; it is
/// there for tests and marks its results as synthetic.
pub fn all() -> impl Iterator<Item = &'static dyn Engine> {
    const ALL: &[&dyn Engine] = &[
        &sqlite::Sqlite,
        &duckdb::DuckDb,
        &postgres::Postgres,
        &mariadb::MariaDb,
        &sqlserver::SqlServer,
        &files::Files,
        &nothing::Nothing,
        &null::Null,
    ];
    ALL.iter().copied()
}

/// The engine with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Engine> {
    all().find(|engine| engine.name() == name)
}
