//! A link with a bandwidth of its own between a load and a private server: a pair of virtual
//! Ethernet devices (veth(4)) between two network namespaces, each with a token bucket (tc-tbf(8)).
//!
//! The namespaces have no names. Only our relays are in them, and with the last of these the kernel
//! removes them and the devices, also when we are killed. Other processes cannot reach the link.

use crate::account::command;
use engine::{EngineError, Result, Route};
use observe::child::answer;
use observe::thread_id;
use socket2::SockAddr;
use std::fmt::Display;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::{Builder, scope};
use transport::relay::{Relay, Toxics};

/// The devices, each in its namespace.
const DEVICE: &str = "steelbench0";
/// Their addresses, of those that are reserved for benchmarks (RFC 2544).
const NEAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// The port of the first way over the link; the next one has the next port.
const FIRST_PORT: u16 = 7001;
/// The time that a packet waits in a bucket's queue at most.
const QUEUE: &str = "50ms";
/// Bytes of a bucket at least: a packet of the largest size.
const BUCKET_BYTES_MIN: f64 = 65_536.0;
/// The time in whose bytes a bucket fills.
const BUCKET_S: f64 = 0.004;
/// Folders of the programs of administrators, which may not be on the path.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A way over a link, with how it treats the bytes in addition.
pub struct Way {
    /// The sockets at its ends.
    pub route: Route,
    /// The treatment.
    pub toxics: Toxics,
}

/// Starts a link with this many bytes a second in each direction, and the relays of its ways. It is
/// there as long as they are.
///
/// # Errors
/// Without the rights, `ip` and `tc`, or support of the kernel.
pub fn start(bytes_per_s: f64, ways: &[Way]) -> Result<Vec<Relay>> {
    on_thread(|| near(bytes_per_s, ways))
}

/// Names what this machine lacks for a link.
pub fn missing() -> Option<String> {
    let programs = ["ip", "tc"].into_iter().map(|name| program(name).map(drop));
    let rights = std::iter::once_with(|| on_thread(enter_namespace));
    let failed = programs.chain(rights).find_map(Result::err);
    failed.map(|error| format!("network.bandwidth cannot be set: {error}"))
}

/// Does something on a thread of its own, whose namespace then is of no concern to others.
fn on_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    scope(|scope| {
        let thread = Builder::new().name("link".into()).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| EngineError::no_thread(&error))?;
        thread.join().unwrap_or_else(|_| Err(failed("a thread has panicked")))
    })
}

/// Makes the end of the load: its namespace, the pair of devices, and the relays into it.
fn near(bytes_per_s: f64, ways: &[Way]) -> Result<Vec<Relay>> {
    enter_namespace()?;
    let (number, other) = channel();
    let (made, is_made) = channel::<()>();
    let mut relays = scope(|scope| {
        let far = Builder::new().name("link".into()).spawn_scoped(scope, move || {
            enter_namespace()?;
            let _ = number.send(thread_id());
            is_made.recv().map_err(|_| failed("its devices were not made"))?;
            far(bytes_per_s, ways)
        });
        let far = far.map_err(|error| EngineError::no_thread(&error))?;
        // Without a number the other end has failed, and says why.
        let added = other.recv().map_or(Ok(()), |other| add_devices(other, bytes_per_s));
        if added.is_ok() {
            let _ = made.send(());
        }
        drop(made);
        let relays = far.join().unwrap_or_else(|_| Err(failed("a thread has panicked")));
        added.and(relays)
    })?;
    for (way, port) in ways.iter().zip(FIRST_PORT..) {
        let listen = SockAddr::unix(&way.route.relay).map_err(failed)?;
        let far = SocketAddr::from((FAR, port)).into();
        relays.push(Relay::start(&listen, far, way.toxics).map_err(failed)?);
    }
    Ok(relays)
}

/// Makes the devices, one of them in the namespace of this thread, and sets up the other one.
fn add_devices(thread: i32, bytes_per_s: f64) -> Result<()> {
    let thread = thread.to_string();
    let kind = ["type", "veth", "peer", "name", DEVICE, "netns", &thread];
    run("ip", &[&["link", "add", DEVICE], &kind[..]].concat())?;
    set_up(NEAR, bytes_per_s)
}

/// Sets up the end of the server, and starts the relays out of it.
fn far(bytes_per_s: f64, ways: &[Way]) -> Result<Vec<Relay>> {
    set_up(FAR, bytes_per_s)?;
    let relays = ways.iter().zip(FIRST_PORT..).map(|(way, port)| {
        let server = SockAddr::unix(&way.route.server)?;
        Relay::start(&SocketAddr::from((FAR, port)).into(), server, Toxics::default())
    });
    relays.collect::<io::Result<_>>().map_err(failed)
}

/// Gives the device of this namespace its address and its bandwidth, which is read back.
fn set_up(address: Ipv4Addr, bytes_per_s: f64) -> Result<()> {
    run("ip", &["addr", "add", &format!("{address}/30"), "dev", DEVICE])?;
    run("ip", &["link", "set", DEVICE, "up"])?;
    let rate = format!("{:.0}bit", 8.0 * bytes_per_s);
    let burst = format!("{:.0}", (BUCKET_S * bytes_per_s).max(BUCKET_BYTES_MIN));
    let bucket = ["tbf", "rate", &rate, "burst", &burst, "latency", QUEUE];
    run("tc", &[&["qdisc", "add", "dev", DEVICE, "root"], &bucket[..]].concat())?;
    let shown = run("tc", &["qdisc", "show", "dev", DEVICE])?;
    if shown.contains("tbf") { Ok(()) } else { Err(failed(format!("tc shows {shown}"))) }
}

/// Gives the calling thread a network namespace of its own.
fn enter_namespace() -> Result<()> {
    // SAFETY: changes the calling thread alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(failed(format!("a network namespace needs root (CAP_SYS_ADMIN): {error}")))
}

/// Runs a program in the namespace of the calling thread; returns what it prints.
fn run(name: &str, arguments: &[&str]) -> Result<String> {
    let mut command = command(&program(name)?);
    let output = answer(command.args(arguments)).map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(format!("{name} {}: {text}", arguments.join(" "))))
}

/// Finds a program of administrators.
fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = FOLDERS.map(PathBuf::from).into_iter().chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|path: &PathBuf| Path::is_file(path));
    found.ok_or_else(|| failed(format!("{name} is not installed (Debian: iproute2)")))
}

fn failed(error: impl Display) -> EngineError {
    EngineError::failed("making the link of network.bandwidth", error)
}
