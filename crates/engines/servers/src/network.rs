//! The relay between a load and its server: `[network]`.

use crate::link::{self, Way};
use crate::node::{Clients, ServerNode};
use engine::{EngineError, Node as _, Result, ServerError, failed_at};
use experiment::common::{
    NETWORK_BANDWIDTH, NETWORK_JITTER, NETWORK_LATENCY, NETWORK_RATE, NETWORK_RELAY,
    NETWORK_RESET_PEER, NETWORK_SLOW_CLOSE,
};
use experiment::{Configuration, Setting};
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use transport::relay::{Relay, Toxics};

/// The relays that a load connects through; they end with this.
pub struct Relays {
    _all: Vec<Relay>,
}

/// How a load connects, as far as a relay changes it.
pub trait Relayed: Sized {
    /// Returns the first address of the server; `None`: it is at a unix socket.
    ///
    /// # Errors
    /// When its host is unknown.
    fn address(&self) -> Result<Option<SocketAddr>, ServerError>;
    /// Connects to the socket of the same name in another folder.
    #[must_use]
    fn at_socket_in(self, folder: &Path) -> Self;
    /// Connects over a relay at this port of 127.0.0.1.
    #[must_use]
    fn relayed_by(self, port: u16) -> Self;
}

/// Returns how a load connects over the relay that a configuration asks for, and the relay. `node`:
/// a private server.
///
/// # Errors
/// When the relay cannot be started, or the server cannot have one.
pub fn relayed<C: Relayed, P: Clients>(
    config: C,
    node: Option<&ServerNode<P>>,
    configuration: &Configuration,
) -> Result<(C, Option<Relays>)> {
    let Some(toxics) = toxics(configuration) else { return Ok((config, None)) };
    if let Some(node) = node {
        let (relays, folder) = to_private(node, toxics, configuration)?;
        return Ok((config.at_socket_in(&folder), Some(relays)));
    }
    let found = config.address().map_err(failed_at("looking up the host of target.url"))?;
    let Some(server) = found else {
        let message = "target.url names a unix socket; name a host and a port, so that a relay \
                       can be between the load and the server";
        return Err(failed(message));
    };
    let (relays, port) = to_address(server, toxics, configuration)?;
    Ok((config.relayed_by(port), Some(relays)))
}

/// Names what a configuration needs for its link and this machine lacks.
pub fn missing(configuration: &Configuration) -> Option<String> {
    configuration.get(NETWORK_BANDWIDTH).and_then(|_| link::missing())
}

/// Returns how a configuration has the link treated; `None`: the load connects directly.
fn toxics(configuration: &Configuration) -> Option<Toxics> {
    let seconds =
        |setting: Setting<Option<f64>>| configuration.get(setting).map(Duration::from_secs_f64);
    let toxics = Toxics {
        latency: seconds(NETWORK_LATENCY).unwrap_or_default(),
        jitter: seconds(NETWORK_JITTER).unwrap_or_default(),
        rate: configuration.get(NETWORK_RATE),
        reset_peer: seconds(NETWORK_RESET_PEER),
        slow_close: seconds(NETWORK_SLOW_CLOSE).unwrap_or_default(),
    };
    let is_asked = configuration.get(NETWORK_RELAY) == Some(true)
        || configuration.get(NETWORK_BANDWIDTH).is_some();
    (is_asked || toxics != Toxics::default()).then_some(toxics)
}

/// Starts a relay to a private server, over sockets that only we can enter, and over a link with a
/// bandwidth of its own where the configuration has one. Returns it with the folder of its socket.
fn to_private<P: Clients>(
    node: &ServerNode<P>,
    toxics: Toxics,
    configuration: &Configuration,
) -> Result<(Relays, PathBuf)> {
    let route = node.route()?;
    let folder = route.relay.parent().map(PathBuf::from).unwrap_or_default();
    let all = match configuration.get(NETWORK_BANDWIDTH) {
        Some(bytes_per_s) => {
            let second = node.add_route_beside(&folder)?;
            let ways = [Way { route, toxics }, Way { route: second, toxics: Toxics::default() }];
            link::start(bytes_per_s, &ways)?
        }
        None => vec![Relay::between(&route.relay, &route.server, toxics).map_err(failed)?],
    };
    Ok((Relays { _all: all }, folder))
}

/// Starts a relay to a server by TCP. The server's own login protects it. Returns it with its
/// port on 127.0.0.1.
fn to_address(
    server: SocketAddr,
    toxics: Toxics,
    configuration: &Configuration,
) -> Result<(Relays, u16)> {
    if configuration.get(NETWORK_BANDWIDTH).is_some() {
        let message = "network.bandwidth needs a private server: remove target.url, or limit each \
                       connection by network.rate";
        return Err(failed(message));
    }
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = Relay::start(&listen.into(), server.into(), toxics).map_err(failed)?;
    let port = relay.address().as_socket().map_or(0, |address| address.port());
    Ok((Relays { _all: vec![relay] }, port))
}

fn failed(error: impl Display) -> EngineError {
    EngineError::failed("starting the relay of [network]", error)
}
