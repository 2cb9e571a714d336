//! A client of PostgreSQL's protocol, version 3: what a laboratory needs of it and no more.
//!
//! [`Config`] understands what libpq understands (URLs, `keyword=value`, `PG*` variables, `.pgpass`,
//! service files). [`Client`] is blocking, for preparing, observing and asking. Once it has logged in
//! and prepared its statements, [`Client::into_stream`] gives its socket and encryption to a load
//! generator, which does its own waiting.
//!
//! Messages are written and read by `postgres-protocol`, encryption is `rustls` with `ring`.

mod breaker;
mod cancel;
mod client;
mod config;
mod connect;
mod copy;
mod error;
mod login;
mod messages;
mod quote;
mod rows;
mod statement;
mod tls;

pub use breaker::Breaker;
pub use cancel::Canceller;
pub use client::Client;
pub use config::{Config, ConfigError, Environment};
pub use copy::CopyIn;
pub use error::{Error, LoginError, ServerError};
pub use quote::{quote_identifier, quote_literal};
pub use rows::{Row, Rows};
pub use statement::Statement;
