//! The server: connections, and their patience with slow visitors.

use crate::routes;
use crate::site::Site;
use command_line::Failure;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::AbortHandle;

/// The time that a visitor may take for the head of a request, and for taking what was sent:
/// connections that are open and say nothing must not keep others out for longer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Open connections; of more, the oldest is closed. Fewer than a process may have descriptors.
const CONNECTIONS_MAX: usize = 256;
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Listens on an address.
///
/// # Errors
/// When it is in use, is not an address of this machine, or may not be used.
pub fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let (port, ip) = (address.port(), address.ip());
        Failure::failed(match error.kind() {
            ErrorKind::AddrInUse => format!(
                "port {port} of {ip} is in use, perhaps by another `steelbench serve`; choose \
                 another with --port"
            ),
            ErrorKind::AddrNotAvailable => {
                format!(
                    "{ip} is not an address of this machine; give one of its addresses with \
                         --listen"
                )
            }
            ErrorKind::PermissionDenied => {
                format!(
                    "no permission to use port {port} of {ip}; choose one from 1024 up with \
                         --port"
                )
            }
            _ => format!("cannot listen on {address}: {error}"),
        })
    })
}

/// Answers requests until a signal ends the program.
///
/// # Errors
/// When signals or the listener fail.
pub async fn answer(listener: TcpListener, site: Site) -> std::io::Result<()> {
    let (site, ours) = (Arc::new(site), listener.local_addr()?.ip());
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (mut interrupt, mut end) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut open = VecDeque::<AbortHandle>::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = interrupt.recv() => return Ok(()),
            _ = end.recv() => return Ok(()),
        };
        open.retain(|connection| !connection.is_finished());
        if accepted.is_err() || open.len() >= CONNECTIONS_MAX {
            open.pop_front().inspect(AbortHandle::abort);
        }
        match accepted {
            Ok((visitor, _)) => {
                let conversation = converse(visitor, Arc::clone(&site), ours);
                open.push_back(tokio::spawn(conversation).abort_handle());
            }
            // No descriptor is free: that of the oldest connection will be.
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

/// Answers a visitor's requests. A broken connection is not an error.
async fn converse(visitor: TcpStream, site: Arc<Site>, ours: IpAddr) {
    // For what we have sent and it does not take; that the system refuses this changes nothing
    // else.
    let _ = SockRef::from(&visitor).set_tcp_user_timeout(Some(PATIENCE));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let pages = service_fn(|request| {
        let answer = routes::answer(Arc::clone(&site), ours, request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let _ = server.serve_connection(TokioIo::new(visitor), pages).await;
}
