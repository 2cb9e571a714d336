//! The relay between a load and its server: `[network]`.

use crate::link::{self, Way};
use crate::pair::{Pair, Replicating};
use engine::{EngineError, Node, Nodes, Result};
use experiment::common::{
    NETWORK_BANDWIDTH, NETWORK_JITTER, NETWORK_LATENCY, NETWORK_RATE, NETWORK_RELAY,
    NETWORK_RESET_PEER, NETWORK_SLOW_CLOSE,
};
use experiment::{Configuration, Setting};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use transport::relay::{Relay, Toxics};

/// The relays that a load connects through; they end with this.
pub struct Relays {
    _all: Vec<Relay>,
}

/// Names what a configuration needs for its link and this machine lacks.
pub fn missing(configuration: &Configuration) -> Option<String> {
    configuration.get(NETWORK_BANDWIDTH).and_then(|_| link::missing())
}

/// Returns how a configuration has the link treated; `None`: the load connects directly.
pub fn toxics(configuration: &Configuration) -> Option<Toxics> {
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
///
/// # Errors
/// When its socket or the link cannot be made.
pub fn to_private<P: Replicating>(
    pair: &Pair<P>,
    toxics: Toxics,
    configuration: &Configuration,
) -> Result<(Relays, PathBuf)> {
    let route = pair.route(Node::Primary)?;
    let folder = route.relay.parent().map(PathBuf::from).unwrap_or_default();
    let all = match configuration.get(NETWORK_BANDWIDTH) {
        Some(bytes_per_s) => {
            let second = pair.add_route_beside(&folder)?;
            let ways = [Way { route, toxics }, Way { route: second, toxics: Toxics::default() }];
            link::start(bytes_per_s, &ways)?
        }
        None => vec![Relay::between(&route.relay, &route.server, toxics).map_err(failed)?],
    };
    Ok((Relays { _all: all }, folder))
}

/// Starts a relay to a server by TCP. The server's own login protects it. Returns it with its
/// port on 127.0.0.1.
///
/// # Errors
/// When no port is free, or the configuration has a link with a bandwidth of its own.
pub fn to_address(
    server: SocketAddr,
    toxics: Toxics,
    configuration: &Configuration,
) -> Result<(Relays, u16)> {
    if configuration.get(NETWORK_BANDWIDTH).is_some() {
        let message = "network.bandwidth needs a private server: remove target.url, or limit each \
                       connection by network.rate";
        return Err(EngineError::failed("starting the relay of [network]", message));
    }
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = Relay::start(&listen.into(), server.into(), toxics).map_err(failed)?;
    let port = relay.address().as_socket().map_or(0, |address| address.port());
    Ok((Relays { _all: vec![relay] }, port))
}

fn failed(error: std::io::Error) -> EngineError {
    EngineError::failed("starting the relay of [network]", error)
}
