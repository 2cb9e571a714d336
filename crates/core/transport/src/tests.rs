//! A toy protocol against private servers: a message is a length of four bytes, and its bytes.

use crate::connections::Events;
use crate::epoll::Epoll;
use crate::ring::Ring;
use crate::{Connections, Patience, Stopped, Stream, Wire};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use socket2::{SockAddr, Socket};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use work::Stop;

const GOODBYE: &[u8] = b"\0\0\0\x03bye";
const LONG: Duration = Duration::from_secs(60);

/// Sends a message `rounds` times, each after the answer to the one before.
#[derive(Default)]
struct Repeat {
    message: Vec<u8>,
    rounds: u32,
    /// Bytes answered so far.
    answered: usize,
    /// The last message of the server.
    last: Vec<u8>,
}

impl Repeat {
    fn put(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&(self.message.len() as u32).to_be_bytes());
        output.extend_from_slice(&self.message);
    }
}

impl Wire for Repeat {
    type Request<'a> = (&'a [u8], u32);
    type Answer = Result<usize, String>;

    fn begin(&mut self, (message, rounds): (&[u8], u32), output: &mut Vec<u8>) {
        (self.message, self.rounds, self.answered) = (message.to_vec(), rounds, 0);
        self.put(output);
    }

    fn take(&mut self, input: &mut &[u8], output: &mut Vec<u8>) -> Option<Self::Answer> {
        loop {
            let (length, rest) = input.split_first_chunk::<4>()?;
            let (body, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            *input = rest;
            self.last = body.to_vec();
            if body != self.message {
                continue;
            }
            self.answered += body.len();
            self.rounds -= 1;
            if self.rounds == 0 {
                return Some(Ok(self.answered));
            }
            self.put(output);
        }
    }

    fn lost(&mut self, error: &io::Error) -> Self::Answer {
        Err(format!("{error}; {}", String::from_utf8_lossy(&self.last)))
    }
}

/// Reads a message, length and all; `None` at the end.
fn message(socket: &mut impl Read) -> Option<Vec<u8>> {
    let mut message = vec![0; 4];
    socket.read_exact(&mut message).ok()?;
    message.resize(
        4 + u32::from_be_bytes([message[0], message[1], message[2], message[3]]) as usize,
        0,
    );
    socket.read_exact(&mut message[4..]).ok()?;
    Some(message)
}

/// Answers every message with itself in pieces of `piece` bytes; returns the last one.
fn echo(mut socket: impl Read + Write, piece: usize) -> Vec<u8> {
    let mut last = Vec::new();
    while let Some(message) = message(&mut socket) {
        last.clone_from(&message);
        for piece in message.chunks(piece) {
            // After its goodbye the client is gone.
            let _ = socket.write_all(piece).and_then(|()| socket.flush());
        }
    }
    last
}

type Servers<T> = Vec<JoinHandle<T>>;

/// So many connections, each to a thread that runs `server`.
fn connect<T: Send + 'static>(
    count: usize,
    server: fn(UnixStream) -> T,
) -> (Vec<(Stream, Repeat)>, Servers<T>) {
    (0..count)
        .map(|_| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let stream = Stream::new(Socket::from(OwnedFd::from(ours)), GOODBYE);
            ((stream, Repeat::default()), thread::spawn(move || server(theirs)))
        })
        .unzip()
}

/// Runs a test with each way to wait for events.
fn with_each(test: impl Fn(fn(&[&Stream]) -> io::Result<Events>)) {
    test(|streams| Epoll::new(streams).map(Events::Epoll));
    let (socket, _) = UnixStream::pair().unwrap();
    if let Err(error) = Ring::new(&[&Stream::new(Socket::from(OwnedFd::from(socket)), b"")]) {
        println!("SKIPPED: the kernel permits no io_uring: {error}");
        return;
    }
    test(|streams| Ring::new(streams).map(|ring| Events::Ring(Box::new(ring))));
}

/// So many answers, by connection.
fn answers(connections: &mut Connections<Repeat>, count: usize) -> Vec<Result<usize, String>> {
    let (mut answers, begin) = (Vec::new(), Instant::now());
    while answers.len() < count {
        assert!(begin.elapsed() < LONG, "{} of {count} answers", answers.len());
        connections
            .wait(Duration::from_millis(50), |number, answer| answers.push((number, answer)))
            .unwrap();
    }
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[test]
fn many_connections_run_requests_of_several_exchanges() {
    with_each(|events| {
        let (connections, servers) = connect(100, |socket| echo(socket, usize::MAX));
        let mut connections = Connections::with(connections, events).unwrap();
        for rounds in 1..4 {
            for number in 0..100 {
                connections.send(number, (&vec![7; number * 10], rounds));
            }
            let expected: Vec<_> =
                (0..100).map(|number| Ok(number * 10 * rounds as usize)).collect();
            assert_eq!(answers(&mut connections, 100), expected);
        }
        drop(connections);
        for server in servers {
            assert_eq!(server.join().unwrap(), GOODBYE);
        }
    });
}

#[test]
fn requests_and_answers_may_be_larger_than_sockets_and_buffers() {
    with_each(|events| {
        let (connections, _servers) = connect(4, |socket| echo(socket, usize::MAX));
        let mut connections = Connections::with(connections, events).unwrap();
        let large = vec![1; 5_000_000];
        for number in 0..3 {
            connections.send(number, (&large, 2));
        }
        connections.send(3, (b"small", 1000));
        let large = Ok(10_000_000);
        assert_eq!(answers(&mut connections, 4), [large.clone(), large.clone(), large, Ok(5000)]);
    });
}

#[test]
fn sends_are_short_and_messages_come_in_pieces() {
    with_each(|events| {
        let (connections, _servers) = connect(2, |socket| echo(socket, 1));
        for (stream, _) in &connections {
            stream.socket().set_send_buffer_size(4096).unwrap();
        }
        let mut connections = Connections::with(connections, events).unwrap();
        connections.send(0, (&vec![1; 100_000], 1));
        connections.send(1, (&vec![2; 50_000], 2));
        assert_eq!(answers(&mut connections, 2), [Ok(100_000), Ok(100_000)]);
    });
}

/// Answers one message, states the reason for closing, and closes when the message is `quit`.
fn close_with_a_reason(mut socket: UnixStream) {
    let request = message(&mut socket).unwrap();
    if request != b"\0\0\0\x04quit" {
        socket.write_all(&request).unwrap();
    }
    socket.write_all(b"\0\0\0\x07no room").unwrap();
}

#[test]
fn a_closed_connection_says_why_and_the_others_go_on() {
    with_each(|events| {
        let (mut connections, _closing) = connect(2, close_with_a_reason);
        let (others, _servers) = connect(1, |socket| echo(socket, usize::MAX));
        connections.extend(others);
        let mut connections = Connections::with(connections, events).unwrap();
        // With a request in flight.
        connections.send(0, (b"quit", 1));
        let lost = answers(&mut connections, 1).remove(0).unwrap_err();
        assert!(lost.ends_with("; no room"), "{lost}");
        // Between two requests.
        connections.send(1, (b"work", 1));
        assert_eq!(answers(&mut connections, 1), [Ok(4)]);
        for _ in 0..3 {
            connections
                .wait(Duration::from_millis(10), |_, _| panic!("nothing was asked"))
                .unwrap();
        }
        connections.send(1, (&vec![0; 1_000_000], 1));
        let lost = answers(&mut connections, 1).remove(0).unwrap_err();
        assert!(lost.ends_with("; no room"), "{lost}");
        // Again, as a client does that does not give up.
        connections.send(1, (b"work", 1));
        assert!(answers(&mut connections, 1)[0].is_err());
        connections.send(2, (b"work", 3));
        assert_eq!(answers(&mut connections, 1), [Ok(12)]);
    });
}

#[test]
fn connections_can_be_dropped_with_requests_in_flight_here_and_on_another_thread() {
    with_each(|events| {
        for here in [true, false] {
            let (connections, servers) = connect(8, |socket| echo(socket, usize::MAX));
            let mut connections = Connections::with(connections, events).unwrap();
            for number in 0..8 {
                connections.send(number, (&vec![0; 3_000_000], 1));
            }
            connections.wait(Duration::ZERO, |_, _| ()).unwrap();
            if here {
                drop(connections);
            } else {
                thread::spawn(|| drop(connections)).join().unwrap();
            }
            for server in servers {
                server.join().unwrap();
            }
        }
    });
}

#[test]
fn waits_no_longer_than_asked_for() {
    with_each(|events| {
        let (connections, _servers) = connect(1, |socket| echo(socket, usize::MAX));
        let mut connections = Connections::with(connections, events).unwrap();
        connections.wait(Duration::from_millis(5), |_, _| panic!("nothing was asked")).unwrap();
    });
}

#[test]
fn what_was_put_back_is_read_first() {
    let (mut connections, _servers) = connect(1, |socket| echo(socket, usize::MAX));
    let (mut stream, _) = connections.remove(0);
    stream.write_all(b"\0\0\0\x01x").unwrap();
    stream.unread(*b"early");
    let mut bytes = [0; 10];
    assert_eq!((stream.read(&mut bytes).unwrap(), &bytes[..5]), (5, &b"early"[..]));
    stream.patience = Patience::for_time(Some(LONG), None);
    assert_eq!((stream.read_blocking(&mut bytes).unwrap(), &bytes[..5]), (5, &b"\0\0\0\x01x"[..]));
}

/// Reads one message, then sends bytes without end as the beginning of a single message.
fn flood(mut socket: UnixStream) -> usize {
    message(&mut socket).unwrap();
    let (mut sent, piece) = (4, vec![1; 1 << 20]);
    socket.write_all(&u32::MAX.to_be_bytes()).unwrap();
    while sent < 4 << 30 && socket.write_all(&piece).is_ok() {
        sent += piece.len();
    }
    sent
}

#[test]
fn a_message_that_would_fill_memory_is_refused_and_the_others_go_on() {
    with_each(|events| {
        let (mut connections, flooding) = connect(1, flood);
        let (others, _servers) = connect(1, |socket| echo(socket, usize::MAX));
        connections.extend(others);
        let mut connections = Connections::with(connections, events).unwrap();
        connections.send(0, (b"all", 1));
        let lost = answers(&mut connections, 1).remove(0).unwrap_err();
        assert!(lost.starts_with("a message is longer than 64 MiB"), "{lost}");
        connections.send(1, (b"work", 3));
        assert_eq!(answers(&mut connections, 1), [Ok(12)]);
        for flooding in flooding {
            assert!(flooding.join().unwrap() < 100 << 20);
        }
    });
}

/// Reads one message, then sends short ones without end.
fn chatter(mut socket: UnixStream) {
    message(&mut socket).unwrap();
    let notices = b"\0\0\0\x04talk".repeat(100_000);
    while socket.write_all(&notices).is_ok() {}
}

#[test]
fn a_server_that_never_stops_talking_does_not_keep_others_from_their_turn() {
    with_each(|events| {
        let (mut connections, talking) = connect(1, chatter);
        let (others, _servers) = connect(1, |socket| echo(socket, usize::MAX));
        connections.extend(others);
        let mut connections = Connections::with(connections, events).unwrap();
        connections.send(0, (b"all", 1));
        connections.send(1, (b"work", 100));
        assert_eq!(answers(&mut connections, 1), [Ok(400)]);
        drop(connections);
        for talking in talking {
            talking.join().unwrap();
        }
    });
}

#[test]
fn whoever_waits_for_a_silent_server_hears_that_its_time_is_over_and_that_it_is_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let address = SockAddr::unix(folder.path().join("socket")).unwrap();
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let mut silent = Stream::new(Socket::from(OwnedFd::from(ours)), b"");
    let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    // Nothing accepts connections: the queue of the listening socket holds a few.
    let mut waiting = Vec::new();
    let short = || Patience::for_time(Some(Duration::from_millis(30)), None);
    let full = loop {
        match Stream::connect(&address, b"", short()) {
            Ok(stream) => waiting.push(stream),
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::TimedOut);
    silent.patience = short();
    assert_eq!(silent.read_blocking(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(silent.write_all(&vec![0; 10 << 20]).unwrap_err().kind(), ErrorKind::TimedOut);
    let stopped = || Patience::for_time(None, Some(Stop::when(|| true)));
    silent.patience = stopped();
    for error in [
        Stream::connect(&address, b"", stopped()).unwrap_err(),
        silent.read_blocking(&mut [0]).unwrap_err(),
        silent.write_all(&vec![0; 10 << 20]).unwrap_err(),
    ] {
        assert!(Stopped::is_cause_of(&error), "{error}");
    }
    drop(listener);
}

/// A certificate of `localhost` and its key, by openssl; `None` without it.
fn certificate() -> Option<(CertificateDer<'static>, PrivateKeyDer<'static>)> {
    let folder = tempfile::tempdir().unwrap();
    let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| folder.path().join(name));
    let mut command = Command::new("openssl");
    command.args("req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost".split(' '));
    command.args([
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    let made = command.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output().ok()?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some((
        CertificateDer::from_pem_file(certificate).unwrap(),
        PrivateKeyDer::from_pem_file(key).unwrap(),
    ))
}

#[test]
fn encrypted_connections_are_served_with_epoll() {
    let Some((certificate, key)) = certificate() else {
        println!("SKIPPED: openssl is not installed");
        return;
    };
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let client =
        Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    let server =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    let server = Arc::new(server.unwrap());
    let (connections, servers): (Vec<_>, Servers<Vec<u8>>) = (0..3)
        .map(|_| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let tls = ServerConnection::new(server.clone()).unwrap();
            let server = thread::spawn(move || echo(StreamOwned::new(tls, theirs), 100_000));
            let mut stream = Stream::new(Socket::from(OwnedFd::from(ours)), GOODBYE);
            let name = "localhost".try_into().unwrap();
            stream.encrypt(ClientConnection::new(client.clone(), name).unwrap()).unwrap();
            ((stream, Repeat::default()), server)
        })
        .unzip();
    let mut connections = Connections::new(connections).unwrap();
    connections.send(0, (&vec![1; 3_000_000], 2));
    connections.send(1, (b"small", 300));
    connections.send(2, (&vec![2; 40_000], 20));
    assert_eq!(answers(&mut connections, 3), [Ok(6_000_000), Ok(1500), Ok(800_000)]);
    drop(connections);
    for server in servers {
        assert_eq!(server.join().unwrap(), GOODBYE);
    }
}
