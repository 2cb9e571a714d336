//! From a host to a socket, and from a configuration to a connection that is logged in.

use crate::client::client::{Canceller, Client};
use crate::client::config::{Config, Host, KeepAlive, Place};
use crate::client::login::Exchange;
use crate::client::messages::Messages;
use crate::client::tls::{Encryption, TlsMode};
use crate::client::{Error, LoginError};
use socket2::{Domain, SockAddr, SockRef, TcpKeepalive};
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use transport::{Patience, Stream};

/// A server that is starting up or shutting down: another host may be ready.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// The message with which a client leaves.
const TERMINATE: &[u8] = b"X\0\0\0\x04";

/// Where one socket leads.
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

/// Tries the hosts in order, and each of a host's addresses, as libpq does: what cannot be reached
/// is passed over; a server that refuses the login ends the search.
pub fn connect(config: &Config) -> Result<Client, Error> {
    let mut errors = Vec::new();
    'hosts: for host in &config.hosts {
        let found = addresses(host).map_err(|error| errors.push(error));
        for address in found.unwrap_or_default() {
            match connect_to(config, host, &address) {
                Ok(client) => return Ok(client),
                Err(error) => {
                    let refused = error.code().is_some_and(|code| code != CANNOT_CONNECT_NOW)
                        || error.is_stopped();
                    errors.push(error);
                    if refused {
                        break 'hosts;
                    }
                }
            }
        }
    }
    Err(all(errors))
}

/// One error for several, without repeating what is the same.
fn all(mut errors: Vec<Error>) -> Error {
    errors.dedup_by_key(|error| error.to_string());
    if errors.len() > 1 {
        return Error::Attempts(errors);
    }
    errors.pop().unwrap_or_else(|| Error::Protocol("the host name has no address".to_owned()))
}

fn addresses(host: &Host) -> Result<Vec<Address>, Error> {
    let tcp = |address| Address::Tcp { host: host.name(), address };
    match &host.place {
        Place::Unix(directory) => Ok(vec![Address::Unix(host.socket_in(directory))]),
        Place::Tcp { address: Some(address), .. } => {
            Ok(vec![tcp(SocketAddr::new(*address, host.port))])
        }
        Place::Tcp { name, address: None } => (name.as_str(), host.port)
            .to_socket_addrs()
            .map(|addresses| addresses.map(tcp).collect())
            .map_err(|source| Error::Connect(format!("host {name}, port {}", host.port), source)),
    }
}

/// How to try next, and whether the server may decline to encrypt.
enum Attempt {
    Plain,
    Encrypted { or_plain: bool },
}

/// The attempts at one address that a mode allows, in order
/// (<https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION>).
fn attempts(mode: TlsMode, address: &Address) -> Vec<Attempt> {
    match (address, mode) {
        (Address::Unix(_), _) | (_, TlsMode::Disable) => vec![Attempt::Plain],
        (_, TlsMode::Allow) => vec![Attempt::Plain, Attempt::Encrypted { or_plain: false }],
        (_, TlsMode::Prefer) => vec![Attempt::Encrypted { or_plain: true }, Attempt::Plain],
        _ => vec![Attempt::Encrypted { or_plain: false }],
    }
}

fn connect_to(config: &Config, host: &Host, address: &Address) -> Result<Client, Error> {
    let mut errors = Vec::new();
    for attempt in attempts(config.tls.mode, address) {
        let mut declined = false;
        match connect_as(config, host, address, &attempt, &mut declined) {
            Ok(client) => return Ok(client),
            Err(error) => {
                let refused =
                    matches!(error, Error::Tls(..) | Error::Login(_, LoginError::Server(_)));
                errors.push(error);
                // A server that declined to encrypt would see the same again.
                if !refused || declined {
                    break;
                }
            }
        }
    }
    Err(all(errors))
}

/// `declined`: whether the server does not encrypt although it was asked to.
fn connect_as(
    config: &Config,
    host: &Host,
    address: &Address,
    attempt: &Attempt,
    declined: &mut bool,
) -> Result<Client, Error> {
    // Each address has the whole timeout, as in libpq.
    let mut stream =
        open(address, Patience::for_time(config.connect_timeout, config.stop.clone()))?;
    keep_alive(&stream, &config.keep_alive).map_err(|error| failed(address, error))?;
    let mut encryption = None;
    if let Attempt::Encrypted { or_plain } = *attempt {
        let wanted = Encryption::new(config, host, address)?;
        *declined = !wanted.start(&mut stream, address)?;
        if !*declined {
            encryption = Some(wanted);
        } else if !or_plain {
            return Err(Encryption::declined(address));
        }
    }
    let (messages, key) =
        Exchange { messages: Messages::new(stream), config, host, address }.login()?;
    Ok(Client::new(messages, Canceller { address: address.clone(), encryption, key }))
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

fn keep_alive(stream: &Stream, wanted: &KeepAlive) -> io::Result<()> {
    let socket = SockRef::from(stream.socket());
    if wanted.is_off || socket.domain()? == Domain::UNIX {
        return Ok(());
    }
    let parameters = wanted.idle.into_iter().fold(TcpKeepalive::new(), TcpKeepalive::with_time);
    let parameters = wanted.interval.into_iter().fold(parameters, TcpKeepalive::with_interval);
    let parameters = wanted.count.into_iter().fold(parameters, TcpKeepalive::with_retries);
    socket.set_keepalive(true)?;
    socket.set_tcp_keepalive(&parameters)?;
    socket.set_tcp_user_timeout(wanted.user_timeout)
}
