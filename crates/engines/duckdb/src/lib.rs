//! DuckDB, embedded: libduckdb is found and loaded when a trial needs it.
//!
//! - `find`: which library; `library`: its C interface, and all that is unsafe
//! - `engine`: its abilities, objections to settings, prerequisites of trials
//! - `settings`: what `[target]` can say; `options`: `target.settings`, given and read back;
//!   `compression`: how columns are compressed, likewise
//! - `target`: the database of a trial and its files; `instance`: the subject of a trial
//! - `load`: filling tables; `bulk`: rows into them by DuckDB's appender
//! - `session`: a connection of the load; `interrupt`: how its statements are stopped
//! - `dialect`: how tables and operations are written; `explain`: their plans, and profiles by
//!   operator
//! - `confinement`: the limits of statements of untrusted experiments
//! - `setup`: tables of one's own, made once
//! - `export`: rows of a user's table as a Parquet file; `backups`: all tables beside a load
//! - `stored`: how tables lie column by column, as tables and as Parquet files
//! - `waits`: what sessions wait for; `threads`: what DuckDB's own threads have used
//!
//! There is one database in one file. Each load thread has a connection to it; DuckDB's worker
//! threads serve them all.

mod backups;
mod bulk;
mod compression;
mod confinement;
mod dialect;
mod engine;
mod explain;
mod export;
mod find;
mod instance;
mod interrupt;
mod library;
mod load;
mod options;
mod session;
mod settings;
mod setup;
mod stored;
mod target;
mod threads;
mod waits;

pub use self::engine::DUCKDB;
pub use dialect::DuckDbDialect;
