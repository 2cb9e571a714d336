//! Private servers: cloned from a template, started, set, asked, stopped and removed.
//!
//! - [`Product`], [`DataDirectory`], [`Reached`]: what MariaDB, MySQL and PostgreSQL differ in
//! - [`Server`]: one private server, made with [`Options`]; [`reclaim`]: those that a run which was
//!   killed left
//! - `setup`: tables of the user that a server begins with
//! - `templates`: data directories that are made once; `data_sets`: those that hold a data set,
//!   which stay between trials

mod data_sets;
mod server;
mod setup;
mod templates;

pub use server::{
    Constants, DataDirectory, Options, Product, Reached, Server, Settings, Stop, reclaim,
};
pub use setup::ServerSetup;
pub use templates::{Content, cache_folder, find_or_make};
