//! Private servers of MariaDB and MySQL.
//!
//! - [`Installation`]: which versions are there
//! - [`MariaProduct`]: how a [`PrivateServer`] is started and asked; `data_directory`: how its data
//!   directory is made; `setup`: how it is filled by the `mariadb` client
//! - [`ClientProgram`]: the client programs of a server's version
//! - `variables`: `target.settings.*`, applied and read back

mod data_directory;
mod installation;
mod product;
mod programs;
mod server_version;
mod setup;
pub mod variables;

pub use installation::Installation;
pub use product::{MariaProduct, PrivateServer, ServerOptions};
pub(super) use product::{SOCKET, SUPERUSER};
pub use programs::{CLIENT, ClientProgram};
pub use server_version::ServerVersion;
pub(super) use setup::{dumped_version, fill_by_url, validate as validate_setup};
