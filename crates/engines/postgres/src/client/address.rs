//! The other end of one socket, and the way there.

use crate::client::error::Error;
use socket2::SockAddr;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use transport::{Patience, Stream};

/// The message with which a client leaves.
const TERMINATE: &[u8] = b"X\0\0\0\x04";

/// The other end of one socket.
#[derive(Debug, Clone)]
pub enum Address {
    Unix(PathBuf),
    Tcp { host: String, address: SocketAddr },
}

impl Address {
    /// Returns whether the server shares our kernel: a unix socket or the loopback interface.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp { address, .. } => address.ip().to_canonical().is_loopback(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix socket {}", path.display()),
            Self::Tcp { host, address } if *host == address.ip().to_string() => {
                write!(f, "host {host}, port {}", address.port())
            }
            Self::Tcp { host, address } => {
                write!(f, "host {host} ({}), port {}", address.ip(), address.port())
            }
        }
    }
}

/// A connected socket.
pub fn open(address: &Address, patience: Patience) -> Result<Stream, Error> {
    let connect = || match address {
        Address::Unix(path) => Stream::connect(&SockAddr::unix(path)?, TERMINATE, patience),
        Address::Tcp { address, .. } => {
            let stream = Stream::connect(&(*address).into(), TERMINATE, patience)?;
            stream.socket().set_tcp_nodelay(true)?;
            Ok(stream)
        }
    };
    connect().map_err(|source| failed(address, source))
}

pub fn failed(address: &Address, source: io::Error) -> Error {
    Error::Connect(address.to_string(), source)
}
