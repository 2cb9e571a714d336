//! MariaDB servers of our own: cloned from a template, started, set and removed.
//!
//! - [`Installation`]: which versions are there
//! - `template`: `mariadb-install-db` once, copies from then on
//! - [`PrivateServer`]: makes, starts, asks, stops and removes
//! - `variables`: `target.settings.*`, applied and read back

mod installation;
mod private_server;
mod template;
pub mod variables;

pub use installation::Installation;
pub use private_server::{PrivateServer, ServerOptions, Stop, reclaim};

/// The account of MariaDB's packages.
pub const PACKAGES_ACCOUNT: &str = "mysql";
