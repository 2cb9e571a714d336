//! MariaDB and MySQL: private servers that are thrown away, and servers by URL.
//!
//! - `mariadb`: the engine
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private servers and their variables
//! - `preflight`: problems found before a first trial
//! - `host`: the server of consecutive trials; `instance`: what a trial works on, a database of our
//!   own
//! - `altered`: settings of servers by URL that are changed and put back
//! - `admin`: the connection that holds it, marked as ours
//! - `compression`: how InnoDB compresses its tables
//! - `dialect`: how its tables and operations are written
//! - `errors`: of the server and of connections
//! - `fill`: the bulk load of its tables; `explain`: plans and sizes
//! - `load`: connections of a load; `wire`: what they send and hear; `clients`: sessions and
//!   programs for studies
//! - `waits`: what sessions wait for; `by_url`: servers that run already, `observing` over which
//!   connections, `session` for administration

mod admin;
mod altered;
mod by_url;
pub mod client;
mod clients;
mod compression;
mod dialect;
mod errors;
mod explain;
mod fill;
mod host;
mod instance;
mod load;
mod mariadb;
mod observing;
mod preflight;
pub mod server;
mod session;
mod settings;
mod waits;
mod wire;

pub use compression::Compression;
pub use dialect::MariaDialect;
pub use mariadb::MARIADB;
