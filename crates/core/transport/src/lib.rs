//! Many connections to servers, driven by one thread, for any protocol.
//!
//! A protocol implements [`Wire`]: it encodes requests, takes the bytes that were received, and
//! gives answers. [`Connections`] sends, receives and waits for it: with `io_uring(7)` where the
//! kernel permits it, else and with TLS with `epoll(7)`. All of it is compiled for one protocol: no
//! call of the hot path is dynamic, and none allocates once the buffers have grown.
//!
//! - `stream`: a socket, encrypted or not, which also serves blocking clients; `patience`: for how
//!   long these wait
//! - `connection`: what one connection has left to send and has received
//! - `connections`: the connections of a thread
//! - `ring`: `io_uring(7)` and the buffers that it receives into
//! - `epoll`: the other way
//! - [`relay`]: a link between a load and its server that is slowed, limited or cut
//! - `tls`: what encryption takes; `files`: files that a connection string names

mod connection;
mod connections;
mod epoll;
pub mod files;
mod patience;
pub mod relay;
mod ring;
mod stream;
#[cfg(test)]
mod tests;
pub mod tls;

pub use connections::{Connections, Wire};
pub use patience::{Patience, Stopped};
pub use stream::Stream;
