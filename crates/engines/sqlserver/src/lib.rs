//! SQL Server: servers by URL, as the target of trials, observed and asked.
//!
//! - `engine`: its abilities as the target of trials
//! - `settings`: what `[target]` can say; `dialect`: how its tables and operations are written
//! - `wait_types`: names, classes, which are benign; `page`: pages and what they are for
//! - `showplan`: plans; `optimizer`: its hints; `statement_rules`: texts and indexes
//! - `prerequisites`: problems found before trials
//! - `by_url`: servers by URL
//! - with the feature `driver`: `live`, how servers are reached and what they are asked, and
//!   `target`, trials on them

mod by_url;
#[cfg_attr(not(feature = "driver"), expect(dead_code, reason = "some of it is for trials only"))]
mod dialect;
mod engine;
/// Shared with the stand-in, which refuses what exceeds them.
#[cfg(all(test, feature = "driver"))]
#[path = "../../../../xtask/sqlserver_stand_in/src/limits.rs"]
mod limits;
#[cfg(feature = "driver")]
pub mod live;
mod not_built;
mod page;
mod prerequisites;
mod settings;
#[cfg(feature = "driver")]
mod target;
mod wait_types;
#[cfg(all(test, not(feature = "driver")))]
mod without_driver;

pub use self::engine::SQL_SERVER;
pub use dialect::MssqlDialect;
pub use page::{NotAPage, PageId, PageKind};
pub use wait_types::{BENIGN_VERSION, BETWEEN_REQUESTS, WAIT_TYPES, class};
