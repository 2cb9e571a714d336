//! The connections of a load: many of them on one thread, each with at most one request under way.
//!
//! - `message`: the bytes of the protocol's messages that a load needs
//! - `task`: what a request makes a connection send, exchange by exchange
//! - `connection`: one connection: what it has to send, what it has received
//! - `connection_set`: the connections of a thread
//! - `ring`, `epoll`: sending, receiving and waiting for any of them
//! - `pool`: buffers of a ring

mod connection;
mod connection_set;
mod epoll;
mod message;
mod pool;
mod ring;
mod task;

pub use connection_set::{Backends, Flush, PostgresConnections};
pub use task::{OperationText, Texts};
