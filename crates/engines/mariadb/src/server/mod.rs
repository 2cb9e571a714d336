//! MariaDB servers of our own: cloned from a template, started, set and removed.
//!
//! - [`Installation`]: which versions are there
//! - `template`: `mariadb-install-db` once, copies from then on; `setup`: the same with a dump and
//!   SQL of the user; `data_sets`: the same with a data set, which stays between trials
//! - [`PrivateServer`]: makes, starts, asks, stops and removes
//! - `variables`: `target.settings.*`, applied and read back

mod data_sets;
mod installation;
mod private_server;
mod setup;
mod template;
pub mod variables;

pub use installation::Installation;
pub use private_server::{PrivateServer, ServerOptions, Stop, reclaim};
pub use setup::ServerSetup;
pub(super) use setup::{fill, validate as validate_setup};

/// The account of MariaDB's packages.
pub const PACKAGES_ACCOUNT: &str = "mysql";
