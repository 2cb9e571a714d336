//! PostgreSQL servers of our own: private clusters that are cloned, started, set and removed.
//!
//! - [`Installation`]: which versions are there
//! - `template`: `initdb` once, copies from then on; `setup`: the same with a dump and SQL of the
//!   user; `data_sets`: with the rows of a data set
//! - [`Cluster`]: makes, starts, asks, stops and removes; `files`: what is in its directory
//! - `settings`: `target.settings.*`, applied and read back; `tried_settings`: tried before a
//!   server runs
//! - [`reclaim`]: stops what a run that was killed left

mod cluster;
mod data_sets;
mod files;
mod installation;
mod left;
pub(super) mod settings;
mod setup;
mod template;
pub mod tried_settings;

pub use cluster::{Cluster, ClusterOptions, Stop};
pub(super) use installation::installed_programs;
pub use installation::{Installation, Version};
pub(super) use left::PROGRAM;
pub use left::reclaim;
pub use servers::account::Account;
pub use servers::files::clone_folder;
pub(super) use settings::is_of_module;
pub use setup::{ServerSetup, dump};
pub(super) use setup::{fill, validate as validate_setup};
pub use template::{DataOptions, find_or_make};
