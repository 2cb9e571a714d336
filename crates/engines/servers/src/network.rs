//! The relay between a load and its server: `[network]`.

use crate::pair::{Pair, Replicating};
use engine::{EngineError, Node, Nodes};
use experiment::common::{
    NETWORK_JITTER, NETWORK_LATENCY, NETWORK_RATE, NETWORK_RELAY, NETWORK_RESET_PEER,
    NETWORK_SLOW_CLOSE,
};
use experiment::{Configuration, Setting};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use transport::relay::{Relay, Toxics};

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
    let is_asked = configuration.get(NETWORK_RELAY) == Some(true);
    (is_asked || toxics != Toxics::default()).then_some(toxics)
}

/// Starts a relay to a private server, over sockets that only we can enter. Returns it with the
/// folder of its socket.
///
/// # Errors
/// When its socket cannot be made.
pub fn to_private<P: Replicating>(
    pair: &Pair<P>,
    toxics: Toxics,
) -> Result<(Relay, PathBuf), EngineError> {
    let route = pair.route(Node::Primary)?;
    let relay = Relay::between(&route.relay, &route.server, toxics).map_err(failed)?;
    Ok((relay, route.relay.parent().map(PathBuf::from).unwrap_or_default()))
}

/// Starts a relay to a server by TCP. The server's own login protects it. Returns it with its
/// port on 127.0.0.1.
///
/// # Errors
/// When no port is free.
pub fn to_address(server: SocketAddr, toxics: Toxics) -> Result<(Relay, u16), EngineError> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = Relay::start(&listen.into(), server.into(), toxics).map_err(failed)?;
    let port = relay.address().as_socket().map_or(0, |address| address.port());
    Ok((relay, port))
}

fn failed(error: std::io::Error) -> EngineError {
    EngineError::failed("starting the relay of [network]", error)
}
