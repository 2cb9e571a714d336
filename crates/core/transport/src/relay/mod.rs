//! A relay between a load and its server, which adds latency, limits the rate, and breaks the link.
//!
//! A single thread serves all connections with epoll(7). `toxics` says how it treats the bytes,
//! `link` passes them on.

mod link;
mod toxics;

pub use toxics::Toxics;

use link::{Link, Passing, READ_MAX, Side};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::Timespec;
use socket2::{Domain, SockAddr, Socket, Type};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;
/// Events that are fetched at once.
const EVENTS: usize = 64;
/// Numbers of the sockets that are no connection's.
const LISTENER: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;
/// The time after which a connection is accepted again that could not be.
const ACCEPT_AGAIN: Duration = Duration::from_millis(20);

/// A relay that runs until it is dropped; then it closes its connections.
#[derive(Debug)]
pub struct Relay {
    address: SockAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    is_over: AtomicBool,
    is_cut: AtomicBool,
    /// Counts the requests to reset all connections.
    resets: AtomicU32,
    waker: OwnedFd,
}

impl Relay {
    /// Listens at `listen` and connects each client with `server`. Both are TCP addresses or paths
    /// of unix sockets. TCP port 0 is a free port: [`Relay::address`] has it.
    ///
    /// # Errors
    /// When the address is in use, or the thread cannot be started.
    pub fn start(listen: &SockAddr, server: SockAddr, toxics: Toxics) -> io::Result<Self> {
        let listener = Socket::new(listen.domain(), Type::STREAM, None)?;
        listener.bind(listen)?;
        listener.listen(BACKLOG)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            is_over: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            resets: AtomicU32::new(0),
            waker: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        });
        let served = RelayThread::new(listener, server, toxics, Arc::clone(&shared))?;
        let thread = Builder::new().name("relay".into()).spawn(move || served.run())?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Starts a relay between unix sockets: it listens at the first one.
    ///
    /// # Errors
    /// As [`Relay::start`].
    pub fn between(listen: &Path, server: &Path, toxics: Toxics) -> io::Result<Self> {
        Self::start(&SockAddr::unix(listen)?, SockAddr::unix(server)?, toxics)
    }

    /// Where it listens.
    pub fn address(&self) -> &SockAddr {
        &self.address
    }

    /// Cuts the link: no connection is accepted, and no byte is passed on, until
    /// [`Relay::restore`]. Bytes on their way are kept, as a sender repeats what was lost.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        self.shared.wake();
    }

    /// Ends a cut.
    pub fn restore(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
        self.shared.wake();
    }

    /// Resets all connections that are open now.
    pub fn reset(&self) {
        self.shared.resets.fetch_add(1, Ordering::SeqCst);
        self.shared.wake();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Some(path) = self.address.as_pathname() {
            // Its folder may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Shared {
    fn wake(&self) {
        // Fails only when its counter is full: then the thread is awake.
        let _ = rustix::io::write(&self.waker, &1_u64.to_ne_bytes());
    }
}

/// The state of the thread.
struct RelayThread {
    listener: Socket,
    server: SockAddr,
    toxics: Toxics,
    shared: Arc<Shared>,
    epoll: OwnedFd,
    links: HashMap<u64, Link>,
    /// Number of the next connection.
    next: u64,
    /// When a connection has something to do, by its number.
    timers: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Clients may wait to be accepted.
    has_clients: bool,
    resets: u32,
    /// Room for what is read.
    room: Vec<u8>,
}

impl RelayThread {
    fn new(
        listener: Socket,
        server: SockAddr,
        toxics: Toxics,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), edge)?;
        epoll::add(&epoll, &shared.waker, EventData::new_u64(WAKER), edge)?;
        Ok(Self {
            listener,
            server,
            toxics,
            shared,
            epoll,
            links: HashMap::new(),
            next: 0,
            timers: BinaryHeap::new(),
            has_clients: false,
            resets: 0,
            room: vec![0; READ_MAX],
        })
    }

    fn run(mut self) {
        let mut ready = Vec::new();
        let mut was_cut = false;
        while !self.shared.is_over.load(Ordering::SeqCst) {
            if self.wait(was_cut, &mut ready).is_err() {
                return;
            }
            let resets = self.shared.resets.load(Ordering::SeqCst);
            if std::mem::replace(&mut self.resets, resets) != resets {
                self.links.drain().for_each(|(_, link)| link.reset());
            }
            let is_cut = self.shared.is_cut.load(Ordering::SeqCst);
            if is_cut {
                was_cut = true;
                ready.clear();
                continue;
            }
            if std::mem::replace(&mut was_cut, false) {
                // All may have something to do.
                ready.extend(self.links.keys());
            }
            let now = Instant::now();
            while let Some(Reverse((due, number))) = self.timers.peek().copied()
                && due <= now
            {
                self.timers.pop();
                ready.push(number);
            }
            if self.has_clients {
                self.accept(&mut ready);
            }
            for number in ready.drain(..) {
                self.serve(number);
            }
        }
    }

    /// Waits for sockets and timers; adds the numbers of connections with events.
    fn wait(&mut self, is_cut: bool, ready: &mut Vec<u64>) -> io::Result<()> {
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let timeout = self.timeout(is_cut).and_then(|timeout| Timespec::try_from(timeout).ok());
        let events = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            match event.data.u64() {
                LISTENER => self.has_clients = true,
                WAKER => {
                    let mut count = [0; 8];
                    // Nothing to read: another event has done so.
                    let _ = rustix::io::read(&self.shared.waker, &mut count);
                }
                socket => {
                    let (number, side) = (socket / 2, Side::of_number(socket % 2));
                    if let Some(link) = self.links.get_mut(&number) {
                        link.note(side, event.flags);
                        ready.push(number);
                    }
                }
            }
        }
        Ok(())
    }

    /// The time until the next timer; `None`: there is none.
    fn timeout(&self, is_cut: bool) -> Option<Duration> {
        if is_cut {
            return None;
        }
        let next = self.timers.peek().map(|Reverse((due, _))| *due)?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    fn accept(&mut self, ready: &mut Vec<u64>) {
        loop {
            match self.listener.accept() {
                Ok((client, _)) => {
                    let number = self.next;
                    self.next += 1;
                    // A server that is not there: the client sees a closed connection.
                    if let Ok(link) = self.connect(client, number) {
                        self.links.insert(number, link);
                        ready.push(number);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.has_clients = false;
                    return;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    // No descriptor is free now; the timer's number does not name a connection.
                    self.timers.push(Reverse((Instant::now() + ACCEPT_AGAIN, WAKER)));
                    return;
                }
            }
        }
    }

    fn connect(&self, client: Socket, number: u64) -> io::Result<Link> {
        let server = Socket::new(self.server.domain(), Type::STREAM, None)?;
        for socket in [&client, &server] {
            socket.set_nonblocking(true)?;
            if socket.domain()? != Domain::UNIX {
                socket.set_tcp_nodelay(true)?;
            }
        }
        match server.connect(&self.server) {
            Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => {}
            connected => connected?,
        }
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        for (socket, side) in [(&client, Side::Client), (&server, Side::Server)] {
            let data = EventData::new_u64(2 * number + side.number());
            epoll::add(&self.epoll, socket, data, flags)?;
        }
        Ok(Link::new(client, server, &self.toxics, number))
    }

    fn serve(&mut self, number: u64) {
        let Some(link) = self.links.get_mut(&number) else { return };
        let (toxics, room) = (&self.toxics, self.room.as_mut_slice());
        match link.pass(&mut Passing { toxics, room, now: Instant::now() }) {
            Ok(Some(due)) => {
                if link.sets_timer(due) {
                    self.timers.push(Reverse((due, number)));
                }
            }
            Ok(None) => {}
            // The end of one side, or a reset, ends the other.
            Err(_) => {
                if let Some(link) = self.links.remove(&number) {
                    link.reset();
                }
            }
        }
        if self.links.get(&number).is_some_and(Link::is_over) {
            self.links.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests;
