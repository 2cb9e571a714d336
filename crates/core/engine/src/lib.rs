//! The seam between studies and engines: the traits that an engine implements, and what several
//! engines share. It names no engine.
//!
//! - `engine`: [`Engine`], [`Host`]; `facets`: parts that only some engines have; `polling`
//! - `instance`: [`Instance`] and its parts; `wait_collector`: [`WaitCollector`]
//! - `session`: [`ConnectionSet`], engines that work in the calling thread; `time_limit` of their
//!   statements
//! - `file_set`: files of targets, their folders and caches
//! - [`server`]: servers by URL, observed, and asked in sessions for administration; `rows`: their
//!   answers
//! - [`view`]: questions with forms for older servers
//! - [`dialect`]: tables and operations as SQL; [`planned`]: plans of the user's statements
//! - `private_server`: a private server's login, programs, copies and failures; [`programs`]: where
//!   client programs are
//! - [`setup`]: tables that a user's SQL or dump makes; [`compression`] of columns
//! - [`backups`]: backups and their restore, as engines make them; statements beside a load
//! - [`cache`]: files kept between runs; `parquet` and `sample`: Parquet files of tables

pub mod backups;
pub mod cache;
mod column_store;
pub mod compression;
pub mod dialect;
mod engine;
mod error;
mod facets;
pub mod file_set;
mod instance;
pub mod open_files;
pub mod parquet;
pub mod planned;
mod polling;
mod preflight;
mod private_server;
pub mod programs;
mod results;
mod rows;
pub mod sample;
pub mod server;
mod session;
pub mod setup;
mod time_limit;
pub mod view;
mod wait_collector;
mod wait_type;

pub use backups::BackgroundWork;
pub use column_store::{ColumnStore, Compressed, Stored};
pub use dialect::Dialect;
pub use engine::{Ability, Engine, Host, SettingsForm};
pub use error::{EngineError, Fault, Result, RetryCause, ServerError, failed_at, while_doing};
pub use facets::{Altering, DatabaseFiles, Prerequisites, Recovery, Restored, Sharing};
pub use file_set::{CacheReport, CacheState, FileSet, Folders, Permits, Role};
pub use instance::{Explainer, FileTarget, Instance, Parts, ServerProcess, Shared, Tables};
pub use planned::{Explained, NoPlan, PlanRequest, Planned};
pub use polling::wait_for;
pub use preflight::{Footprint, Need, Preflight, Space};
pub use private_server::{Disturbance, Node, PrivateFacts, PrivateServer, Route};
pub use programs::{Program, ProgramNames};
pub use results::Results;
pub use rows::{Column, Row, Rows};
pub use server::{
    AdminOptions, AdminSession, CopySource, CopyVersion, Dump, LiveObserver, ObserveOptions,
    Server, Servers,
};
pub use session::{Answer, ConnectionSet, Done, Session, SetOfOne};
pub use setup::{SETUP_DUMP, SETUP_SQL};
pub use time_limit::TimeLimit;
pub use view::View;
pub use wait_collector::{Collection, EngineUse, PageUse, SessionPart, WaitCollector};
pub use wait_type::{BenignGroup, WaitType};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex; recovers from lock poisoning.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
