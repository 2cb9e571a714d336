//! Private servers of PostgreSQL.
//!
//! - [`Installation`]: which versions are there
//! - `product`: what a [`PrivateServer`] is made of; `private`: how it is started and asked;
//!   `data_directory`: how its data directory is made; `setup`: how it is filled by psql and
//!   `pg_restore`; `files`: what is in its directory
//! - `settings`: `target.settings.*`, applied and read back; `tried_settings`: tried before a
//!   server runs
//! - `left`: remains of a run that was killed

mod data_directory;
mod files;
mod filler;
mod installation;
mod left;
mod private;
mod product;
mod restore;
pub(super) mod settings;
mod setup;
pub mod tried_settings;

pub use installation::{Installation, Version};
pub use private::{checkpoint, drop_os_cache};
pub(super) use product::SUPERUSER;
pub use product::{DataOptions, PostgresProduct, PrivateServer, ServerOptions};
pub use servers::private::Stop;
pub(super) use settings::is_of_module;
pub use setup::{copy_version, dump, dumped_version};
pub(super) use setup::{fill_by_url, validate as validate_setup};
