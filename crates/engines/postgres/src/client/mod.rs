//! A client of PostgreSQL's protocol, version 3: what a laboratory needs of it and no more.
//!
//! [`Config`] understands what libpq understands (URLs, `keyword=value`, `PG*` variables,
//! `.pgpass`, service files). [`Client`] is blocking, for preparing, observing and asking. Once it
//! has logged in, [`Client::into_stream`] gives its socket and encryption to a load, which does its
//! own waiting.
//!
//! Messages are written and read by `postgres-protocol`, encryption is `rustls` with `ring`.

mod address;
#[expect(clippy::module_inception, reason = "the blocking client of the protocol's module")]
mod client;
mod config;
mod connect;
mod encryption;
mod error;
mod login;
mod messages;
mod rows;

pub use client::{Canceller, Client, CopyIn, Disconnector};
pub use config::{Config, ConfigError, Environment};
pub use error::{EncryptionError, Error, LoginError, ProtocolError, ServerError};
pub use rows::Statement;
pub use work::Stop;

/// A name as SQL writes it, whatever it contains: `"my ""table"""`.
pub use postgres_protocol::escape::escape_identifier as quote_identifier;
/// A value as SQL writes it, whatever it contains: `'it''s'`. With a backslash in it, it
/// begins with a space, so that the `E''` cannot join a word before it.
pub use postgres_protocol::escape::escape_literal as quote_literal;
