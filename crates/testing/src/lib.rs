//! Shared parts of the crates' tests: recordings made by hand, real servers, and engines by name.
//! Crates use it as a dev-dependency only.
#![allow(
    missing_docs,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::duplicate_mod,
    reason = "a test that cannot continue has failed, and says why"
)]

pub mod block_disk;
#[cfg(feature = "engines")]
mod by_name;
pub mod faults;
#[cfg(feature = "engines")]
pub mod installed;
pub mod lane;
#[cfg(feature = "engines")]
pub mod mariadb_client;
#[cfg(feature = "engines")]
pub mod pgbench;
#[cfg(feature = "engines")]
pub mod postgres_client;
#[cfg(feature = "engines")]
mod process;
pub mod profiles;
mod published_plans;
pub mod ready;
#[cfg(feature = "engines")]
pub mod recordings;
pub mod relay;
#[cfg(feature = "engines")]
pub mod reports;
#[cfg(feature = "engines")]
pub mod rows;
pub mod sample;
pub mod t_sql;
#[cfg(feature = "engines")]
mod templates;
#[cfg(feature = "engines")]
pub mod trials;

#[cfg(feature = "engines")]
pub use by_name::{ENGINES, engine};
pub use published_plans::published_plans;
