//! The parts that engines with servers share: private servers and servers by URL.
//!
//! - [`private`]: a private server of any product
//! - [`hosted`]: the parts of an engine that hosts of its servers need, and the engine that is made
//!   of them; [`host`]: the server of consecutive trials, a private one or yours
//! - [`instance`]: the schema of a trial on it; [`administration`]: the connection that holds it;
//!   [`load`]: the connections of its load
//! - [`preflight`]: the check of trials before the first of them
//! - [`attached`]: a target that another process has prepared
//! - [`node`]: a private server as studies use it: its programs, its copies and its failures
//! - [`programs`]: psql, `pg_dump`, the `mariadb` client and others, for which our client logs in
//! - [`network`]: the relay between a load and its server; `link`: one with a bandwidth of its own
//! - `account`: the user that a private server runs as, never root; `process`: starting, finding
//!   and ending it
//! - [`command`]: programs that prepare it; [`printed_version`]: their versions, among which
//!   [`choose`] takes one
//! - `files`: its directory; `sockets`: theirs, and their `owner`; `template`: the copy
//!   that it is cloned from; `data_sets`: data sets that it keeps between trials
//! - [`settings`]: the server's settings of a configuration; `url`: percent-encoding
//! - [`altered`]: settings of servers by URL that a run changes and puts back; [`applied`]: those
//!   that stay until they are undone
//! - [`activity`]: sampling the sessions of a server

pub mod account;
pub mod activity;
pub mod administration;
pub mod altered;
pub mod applied;
pub mod attached;
pub mod command;
pub mod data_sets;
pub mod files;
pub mod host;
pub mod hosted;
pub mod instance;
mod link;
pub mod load;
pub mod network;
pub mod node;
mod owner;
pub mod preflight;
pub mod private;
pub mod process;
pub mod programs;
mod progress;
pub mod settings;
mod sockets;
pub mod template;
pub mod url;
mod version;

pub use version::{choose, printed_version, substitution, versions, versions_of};
