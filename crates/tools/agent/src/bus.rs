//! The connection to the broker, on a thread of its own: the rest of this crate waits for nothing
//! but messages.
//!
//! An own client instead of a library: the official one needs 29 further crates and an asynchronous
//! runtime for the four verbs that are used here.

use crate::error::AgentError;
use crate::message::bytes_max;
use crate::nats::{Delivery, FromServer, Inbox, ServerInfo, connect, publish, subscribe};
use crate::token::random_name;
use observations::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread::Builder;
use std::time::{Duration, Instant};
use transport::tls::{Roots, Tls, TlsOptions, explained};
use transport::{Patience, Stream};

/// Time to connect, for the answer to a request, and for what blocks.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pauses between attempts to reconnect: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// After this silence the broker is asked for a sign of life; after twice of it, it is gone.
const SILENCE: Duration = Duration::from_secs(5);
/// Messages that wait to be read, and their bytes; more are dropped: their sender is hostile, or we
/// are stuck.
const WAITING_MAX: usize = 4096;
const WAITING_BYTES_MAX: usize = 32 << 20;
/// Bytes that are read before the messages in them are passed on.
const READ_MAX: usize = 1 << 20;
/// The port of a URL without one.
const PORT: u16 = 4222;

/// A message that has arrived.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The subject.
    pub subject: String,
    /// The content.
    pub payload: Vec<u8>,
    /// It was larger than messages on its subject may be; its content was dropped.
    pub is_excess: bool,
    /// When it arrived.
    pub at: Instant,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The content.
    pub payload: Vec<u8>,
    /// The broker says that there is nothing of that kind.
    pub is_missing: bool,
}

/// A request that has no answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("the connection is closed")]
    Closed,
    #[error("the connection is interrupted")]
    Interrupted,
    #[error("no one answers")]
    NoResponder,
    #[error("no answer in time")]
    Late,
}

type Answered = SyncSender<Result<Answer, NoAnswer>>;

#[derive(Debug)]
enum Command {
    Publish { subject: String, payload: Vec<u8> },
    Request { subject: String, payload: Vec<u8>, answer: Answered },
    Flush(SyncSender<()>),
}

/// Sends messages; every thread can have one.
#[derive(Debug, Clone)]
pub struct Sender {
    commands: mpsc::Sender<Command>,
    /// Wakes the connection's thread.
    wake: Arc<UnixStream>,
}

/// A connection to the broker. It reconnects by itself, and closes when the bus and all senders
/// are gone.
#[derive(Debug)]
pub(crate) struct Bus {
    sender: Sender,
    incoming: Receiver<Incoming>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Bus {
    /// Connects and subscribes to these subjects.
    ///
    /// # Errors
    /// When there is no broker, or it refuses the token.
    pub fn connect(url: &str, token: &Secret, subjects: &[String]) -> Result<Self, AgentError> {
        let unreachable = |cause: &dyn std::fmt::Display| AgentError::Unreachable {
            url: url.to_owned(),
            cause: cause.to_string(),
        };
        let address = Address::parse(url).map_err(|cause| unreachable(&cause))?;
        let inbox = format!("_INBOX.{}", random_name(8)?);
        let subjects = [subjects, &[format!("{inbox}.*")]].concat();
        let line = Line::open(&address, token, &subjects).map_err(|error| match error {
            OpenError::Refused => AgentError::Refused { url: url.to_owned() },
            OpenError::Io(error) => unreachable(&explained(&error)),
        })?;
        let (wake, woken) = UnixStream::pair().map_err(|error| unreachable(&error))?;
        wake.set_nonblocking(true).map_err(|error| unreachable(&error))?;
        woken.set_nonblocking(true).map_err(|error| unreachable(&error))?;
        let (commands, receiver) = mpsc::channel();
        let (arriving, incoming) = sync_channel(WAITING_MAX);
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        let mut served = Worker {
            address,
            token: token.clone(),
            subjects,
            inbox,
            commands: receiver,
            woken,
            arriving,
            waiting_bytes: waiting_bytes.clone(),
            requests: BTreeMap::new(),
            number: 0,
            flushes: Vec::new(),
        };
        let thread = Builder::new().name("broker".into()).spawn(move || served.serve(line));
        thread.map_err(|error| unreachable(&error))?;
        let sender = Sender { commands, wake: Arc::new(wake) };
        Ok(Self { sender, incoming, waiting_bytes })
    }

    /// Returns a sender of messages.
    pub fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Returns the next message, if one arrives in this time.
    pub fn next(&self, at_most: Duration) -> Option<Incoming> {
        match self.incoming.recv_timeout(at_most) {
            Ok(incoming) => {
                self.waiting_bytes.fetch_sub(incoming.payload.len(), Ordering::Relaxed);
                Some(incoming)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(at_most);
                None
            }
        }
    }
}

impl Sender {
    fn send(&self, command: Command) -> bool {
        let sent = self.commands.send(command).is_ok();
        // A full pipe wakes as well.
        let _ = (&*self.wake).write(&[1]);
        sent
    }

    /// Publishes a message. It is lost while the connection is interrupted: who needs to know
    /// waits for an answer.
    pub fn publish(&self, subject: String, payload: Vec<u8>) {
        self.send(Command::Publish { subject, payload });
    }

    /// Asks for an answer.
    ///
    /// # Errors
    /// When none comes in some seconds.
    pub fn request(
        &self,
        doing: &'static str,
        subject: String,
        payload: Vec<u8>,
    ) -> Result<Answer, AgentError> {
        let (answer, received) = sync_channel(1);
        let result = if self.send(Command::Request { subject, payload, answer }) {
            received.recv_timeout(PATIENCE).unwrap_or(Err(NoAnswer::Late))
        } else {
            Err(NoAnswer::Closed)
        };
        result.map_err(|cause| AgentError::NoAnswer { doing, cause: cause.to_string() })
    }

    /// Waits until what was published has reached the broker, for a second at most.
    pub fn flush(&self) {
        let (done, waiting) = sync_channel(1);
        if self.send(Command::Flush(done)) {
            let _ = waiting.recv_timeout(Duration::from_secs(1));
        }
    }
}

/// A broker's address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    host: String,
    port: u16,
    tls: bool,
}

/// An address that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum AddressError {
    #[error("the URL begins with {0}; expected nats or tls")]
    Scheme(String),
    #[error("the URL has a login; give the token by --token-file")]
    Login,
    #[error("`{0}` is not a port")]
    Port(String),
    #[error("the URL has no host")]
    NoHost,
}

impl Address {
    fn parse(url: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
        let tls = match scheme {
            "nats" => false,
            "tls" => true,
            other => return Err(AddressError::Scheme(other.to_owned())),
        };
        if rest.contains('@') {
            return Err(AddressError::Login);
        }
        let rest = rest.trim_end_matches('/');
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| AddressError::Port(port.to_owned()))?)
            }
            _ => (rest, PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() { Err(AddressError::NoHost) } else { Ok(Self { host, port, tls }) }
    }
}

/// Why a connection could not be opened.
#[derive(Debug)]
enum OpenError {
    Refused,
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn closed() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the broker closed the connection")
}

/// An open connection.
struct Line {
    stream: Stream,
    arriving: Inbox,
    last_message: Instant,
    /// It was asked for a sign of life.
    ping_sent: bool,
}

impl Line {
    /// Connects, logs in and subscribes.
    fn open(address: &Address, token: &Secret, subjects: &[String]) -> Result<Self, OpenError> {
        let stream = connected(address)?;
        stream.set_nodelay(true)?;
        let mut stream = Stream::new(stream.into(), b"");
        stream.patience = Patience::for_time(Some(PATIENCE), None);
        let (arriving, last_message, ping_sent) = (Inbox::default(), Instant::now(), false);
        let mut line = Self { stream, arriving, last_message, ping_sent };
        let FromServer::Info(ServerInfo { tls_required, .. }) = line.read_one()? else {
            return Err(io::Error::other("it does not speak NATS").into());
        };
        let tls = address.tls || tls_required;
        if tls {
            let (roots, host) = (Roots::System, address.host.clone());
            let options = TlsOptions { roots, verifies_host: true, host, ..TlsOptions::default() };
            let tls = Tls::new(&options).map_err(io::Error::other)?;
            tls.start(&mut line.stream)?;
        }
        let mut out = Vec::new();
        for (number, subject) in subjects.iter().enumerate() {
            out.extend(subscribe(subject, number + 1));
        }
        line.stream.write_all(&[connect(token, tls), out].concat())?;
        loop {
            match line.read_one()? {
                FromServer::Pong => return Ok(line),
                FromServer::Error(text) if text.to_ascii_lowercase().contains("authorization") => {
                    return Err(OpenError::Refused);
                }
                FromServer::Error(text) => return Err(io::Error::other(text).into()),
                _ => {}
            }
        }
    }

    /// The next message, while the connection is being opened.
    fn read_one(&mut self) -> io::Result<FromServer> {
        loop {
            if let Some(message) = self.arriving.next().map_err(io::Error::other)? {
                return Ok(message);
            }
            let mut buffer = [0; 4096];
            match self.stream.read_blocking(&mut buffer)? {
                0 => return Err(closed()),
                count => self.arriving.push(&buffer[..count]),
            }
        }
    }

    /// Reads what is there, up to a limit. Returns whether there may be more.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 8 << 10];
        for _ in 0..READ_MAX / buffer.len() {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(closed()),
                Ok(count) => {
                    (self.last_message, self.ping_sent) = (Instant::now(), false);
                    self.arriving.push(&buffer[..count]);
                    if count < buffer.len() && !self.stream.is_tls() {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.patience.restart(Some(PATIENCE));
        self.stream.write_all(bytes)
    }
}

fn connected(address: &Address) -> io::Result<TcpStream> {
    let mut error = io::Error::other("the host has no address");
    for address in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(cause) => error = cause,
        }
    }
    Err(error)
}

/// The thread of a connection.
struct Worker {
    address: Address,
    token: Secret,
    subjects: Vec<String>,
    inbox: String,
    commands: Receiver<Command>,
    woken: UnixStream,
    arriving: SyncSender<Incoming>,
    waiting_bytes: Arc<AtomicUsize>,
    /// Requests without an answer, by number.
    requests: BTreeMap<u64, Answered>,
    number: u64,
    /// Callers that wait for a PONG, the oldest first.
    flushes: Vec<SyncSender<()>>,
}

/// The end of a connection's thread.
struct Over;

impl Worker {
    fn serve(&mut self, line: Line) {
        let mut line = Some(line);
        loop {
            let Some(open) = line.take().or_else(|| self.reopen()) else { return };
            if let Ok(Over) = self.work(open) {
                return;
            }
            // Answers that were under way do not come.
            self.requests.clear();
            self.flushes.clear();
        }
    }

    /// Connects again; `None`: no one needs the connection any more.
    fn reopen(&mut self) -> Option<Line> {
        let mut pause = PAUSE;
        loop {
            if let Ok(line) = Line::open(&self.address, &self.token, &self.subjects) {
                return Some(line);
            }
            let until = Instant::now() + pause;
            while Instant::now() < until {
                match self.commands.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(Command::Request { answer, .. }) => {
                        let _ = answer.try_send(Err(NoAnswer::Interrupted));
                    }
                    Ok(Command::Flush(done)) => drop(done),
                    Ok(Command::Publish { .. }) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            }
            pause = PAUSE_MAX.min(pause * 2);
        }
    }

    /// Passes messages on, until no one sends any more or the connection fails.
    fn work(&mut self, mut line: Line) -> io::Result<Over> {
        let (mut out, mut has_more) = (Vec::new(), false);
        loop {
            if !has_more {
                self.wait(&line)?;
            }
            let is_over = self.obey(&mut out);
            has_more = line.read()?;
            while let Some(message) = line.arriving.next().map_err(io::Error::other)? {
                self.take(message, &mut out)?;
            }
            if line.last_message.elapsed() > SILENCE && !line.ping_sent {
                out.extend_from_slice(b"PING\r\n");
                line.ping_sent = true;
            }
            if line.last_message.elapsed() > 2 * SILENCE {
                return Err(ErrorKind::TimedOut.into());
            }
            if !out.is_empty() {
                line.write(&out)?;
                out.clear();
            }
            if is_over {
                return Ok(Over);
            }
        }
    }

    fn wait(&mut self, line: &Line) -> io::Result<()> {
        let mut events = [
            PollFd::new(line.stream.socket(), PollFlags::IN),
            PollFd::new(&self.woken, PollFlags::IN),
        ];
        let limit = Timespec { tv_sec: 1, tv_nsec: 0 };
        match poll(&mut events, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 512];
        while matches!(self.woken.read(&mut bytes), Ok(count) if count == bytes.len()) {}
        Ok(())
    }

    /// Writes down what was asked for. Returns whether no one asks any more.
    fn obey(&mut self, out: &mut Vec<u8>) -> bool {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Publish { subject, payload }) => publish(out, &subject, "", &payload),
                Ok(Command::Request { subject, payload, answer }) => {
                    self.number += 1;
                    let reply = format!("{}.{}", self.inbox, self.number);
                    publish(out, &subject, &reply, &payload);
                    self.requests.insert(self.number, answer);
                }
                Ok(Command::Flush(done)) => {
                    out.extend_from_slice(b"PING\r\n");
                    self.flushes.push(done);
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
    }

    /// Keeps a message until it is read, if there is room for it.
    fn keep(&self, incoming: Incoming) {
        let bytes = incoming.payload.len();
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let has_room = before + bytes <= WAITING_BYTES_MAX;
        if !has_room || self.arriving.try_send(incoming).is_err() {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn take(&mut self, message: FromServer, out: &mut Vec<u8>) -> io::Result<()> {
        match message {
            FromServer::Ping => out.extend_from_slice(b"PONG\r\n"),
            FromServer::Pong => {
                if !self.flushes.is_empty() {
                    let _ = self.flushes.remove(0).try_send(());
                }
            }
            FromServer::Message(Delivery { subject, status, payload }) => {
                let number = subject.strip_prefix(&self.inbox).and_then(|rest| rest.get(1..));
                if let Some(number) = number.and_then(|number| number.parse().ok()) {
                    let Some(answer) = self.requests.remove(&number) else { return Ok(()) };
                    let result = if status == Some(503) {
                        Err(NoAnswer::NoResponder)
                    } else {
                        Ok(Answer { payload, is_missing: status == Some(404) })
                    };
                    let _ = answer.try_send(result);
                } else {
                    let is_excess = payload.len() > bytes_max(&subject);
                    let payload = if is_excess { Vec::new() } else { payload };
                    self.keep(Incoming { subject, payload, is_excess, at: Instant::now() });
                }
            }
            FromServer::Error(text) => return Err(io::Error::other(text)),
            FromServer::Info(_) | FromServer::Ok => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Incoming, WAITING_BYTES_MAX, WAITING_MAX, Worker};
    use crate::message::{BYTES_MAX, HELLO, to_agent};
    use crate::nats::{Delivery, FromServer};
    use observations::Secret;
    use std::collections::BTreeMap;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::{self, sync_channel};

    /// Messages that wait after this number with payloads of this length were delivered.
    fn waiting(messages: usize, subject: &str, bytes: usize) -> Vec<Incoming> {
        let (arriving, incoming) = sync_channel(WAITING_MAX);
        let mut served = Worker {
            address: Address::parse("localhost").unwrap(),
            token: Secret::from(String::new()),
            subjects: Vec::new(),
            inbox: "_INBOX.a".into(),
            commands: mpsc::channel().1,
            woken: UnixStream::pair().unwrap().0,
            arriving,
            waiting_bytes: std::sync::Arc::default(),
            requests: BTreeMap::new(),
            number: 0,
            flushes: Vec::new(),
        };
        for _ in 0..messages {
            let (subject, payload) = (subject.to_owned(), vec![0; bytes]);
            let delivered = Delivery { subject, status: None, payload };
            served.take(FromServer::Message(delivered), &mut Vec::new()).unwrap();
        }
        incoming.try_iter().collect()
    }

    #[test]
    fn messages_that_wait_have_limits_in_number_and_bytes() {
        assert_eq!(waiting(2 * WAITING_MAX, "a", 1).len(), WAITING_MAX);
        let large = waiting(2 * WAITING_BYTES_MAX / BYTES_MAX, "a", BYTES_MAX);
        assert_eq!(large.len(), WAITING_BYTES_MAX / BYTES_MAX);
        assert!(large.iter().all(|message| !message.is_excess));
    }

    #[test]
    fn the_content_of_an_excess_is_dropped() {
        for subject in [HELLO, &to_agent("a", "r")] {
            let [message] = &waiting(1, subject, BYTES_MAX)[..] else { panic!("no message") };
            assert!(message.is_excess && message.payload.is_empty(), "{subject}");
        }
    }

    #[test]
    fn addresses_are_read_and_logins_refused() {
        let read = |url: &str| {
            Address::parse(url)
                .map(|address| format!("{} {} {}", address.host, address.port, address.tls))
                .map_err(|error| error.to_string())
        };
        for (url, expected) in [
            ("nats://10.0.0.5:4333", Ok("10.0.0.5 4333 false")),
            ("tls://broker.example", Ok("broker.example 4222 true")),
            ("localhost", Ok("localhost 4222 false")),
            ("nats://[::1]:99/", Ok("::1 99 false")),
            ("tls://[::1]", Ok("::1 4222 true")),
            ("nats://secret@host", Err("the URL has a login; give the token by --token-file")),
            ("http://host", Err("the URL begins with http; expected nats or tls")),
            ("nats://host:many", Err("`many` is not a port")),
            ("nats://", Err("the URL has no host")),
        ] {
            assert_eq!(read(url), expected.map(str::to_owned).map_err(str::to_owned), "{url}");
        }
    }
}
