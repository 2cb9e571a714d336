//! PostgreSQL: private servers that are thrown away, and servers by URL.
//!
//! - `postgres`: the engine; `by_url`: servers that run already; `errors`: what servers and
//!   connections say
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private servers
//! - `preflight`: problems found before a first trial
//! - `host`: the server of consecutive trials; `instance`: the schema that a trial works on
//! - `altered`: settings of servers by URL that are changed and put back
//! - `own_database`: on servers by URL, databases for tables of the user
//! - `connecting`: how long sessions wait, those that observe, advice on failed connections
//! - `admin`: the connection that holds it, marked as ours
//! - `dialect`: how its tables and operations are written; `compression`: which method compresses
//!   which column
//! - `fill`: the bulk load of its tables; `explain`: plans and sizes
//! - `load`: connections of a load; `wire`: what they send and hear; `clients`: sessions and
//!   programs for studies
//! - `waits`: what sessions wait for
//! - `session`: sessions for administration

mod admin;
mod altered;
mod by_url;
pub mod client;
mod clients;
mod compression;
mod connecting;
mod dialect;
mod errors;
mod explain;
mod fill;
mod host;
mod instance;
mod load;
mod own_database;
mod postgres;
mod preflight;
mod sample;
pub mod server;
mod session;
mod settings;
pub mod waits;
mod wire;

pub use dialect::PostgresDialect;
pub use postgres::POSTGRES;
pub use settings::URL;
