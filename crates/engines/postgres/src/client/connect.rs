//! From a host to a socket, and from a configuration to a connection that is logged in.

use crate::client::address::{Address, failed, open};
use crate::client::client::{Canceller, Client};
use crate::client::config::{Config, Host, KeepAlive, Place, TlsMode};
use crate::client::encryption::Encryption;
use crate::client::error::{EncryptionError, Error, LoginError};
use crate::client::login::Exchange;
use crate::client::messages::Messages;
use engine::ServerError;
use servers::network::Relayed;
use socket2::{Domain, SockRef, TcpKeepalive};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use transport::{Patience, Stream};

/// A server that is starting up or shutting down: another host may be ready.
const CANNOT_CONNECT_NOW: &str = "57P03";

impl Client {
    /// Connects and logs in; the error has the reason of each host. Tries the hosts in order, and
    /// each of a host's addresses, as libpq does: what cannot be reached is passed over; a server
    /// that refuses the login ends the search.
    pub fn connect(config: &Config) -> Result<Self, Error> {
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
}

impl Relayed for Config {
    fn address(&self) -> Result<Option<SocketAddr>, ServerError> {
        let Some(host) = self.hosts.first() else { return Ok(None) };
        let mut found = addresses(host)?.into_iter();
        Ok(found.find_map(|address| match address {
            Address::Tcp { address, .. } => Some(address),
            Address::Unix(_) => None,
        }))
    }

    fn at_socket_in(mut self, folder: &Path) -> Self {
        for host in &mut self.hosts {
            host.place = Place::Unix(folder.to_owned());
        }
        self
    }

    /// To the first host, whose name still decides about certificates and passwords.
    fn relayed_by(mut self, port: u16) -> Self {
        self.hosts.truncate(1);
        // A password file knows the port of the server.
        let password = self.hosts.first().and_then(|host| self.password_for(host)).cloned();
        self.password = password;
        for host in &mut self.hosts {
            host.place =
                Place::Tcp { name: host.name(), address: Some(Ipv4Addr::LOCALHOST.into()) };
            host.port = port;
        }
        self
    }
}

/// Combines several errors, without repetitions.
fn all(mut errors: Vec<Error>) -> Error {
    errors.dedup_by_key(|error| error.to_string());
    if errors.len() > 1 {
        return Error::Attempts(errors);
    }
    errors.pop().unwrap_or(Error::NoAddress)
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
        let requested = Encryption::new(config, host, address)?;
        *declined = !requested.start(&mut stream, address)?;
        if !*declined {
            encryption = Some(requested);
        } else if !or_plain {
            return Err(EncryptionError::Declined.at(address));
        }
    }
    let (messages, key) =
        Exchange { messages: Messages::new(stream), config, host, address }.login()?;
    Ok(Client::new(messages, Canceller { address: address.clone(), encryption, key }))
}

fn keep_alive(stream: &Stream, keep_alive: &KeepAlive) -> io::Result<()> {
    let socket = SockRef::from(stream.socket());
    if keep_alive.is_off || socket.domain()? == Domain::UNIX {
        return Ok(());
    }
    let mut parameters = TcpKeepalive::new();
    if let Some(idle) = keep_alive.idle {
        parameters = parameters.with_time(idle);
    }
    if let Some(interval) = keep_alive.interval {
        parameters = parameters.with_interval(interval);
    }
    if let Some(count) = keep_alive.count {
        parameters = parameters.with_retries(count);
    }
    socket.set_keepalive(true)?;
    socket.set_tcp_keepalive(&parameters)?;
    socket.set_tcp_user_timeout(keep_alive.user_timeout)
}
