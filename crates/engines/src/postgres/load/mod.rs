//! The connections of a load: many of them on one thread, each with at most one request in flight.
//!
//! - `message`: the bytes of the protocol's messages that a load needs
//! - `wire`: what a request makes a connection send, exchange by exchange, and what the server answers
//! - `connection_set`: the connections of a thread, driven by the crate `transport`

mod connection_set;
mod message;
mod wire;

pub use connection_set::{Backends, PostgresConnections};
pub use wire::{StatementText, statements};
