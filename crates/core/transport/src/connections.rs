use crate::Stream;
use crate::connection::Connection;
use crate::epoll::Epoll;
use crate::ring::Ring;
use std::io;
use std::time::Duration;

/// A connection's side of a protocol: what requests and answers are as bytes.
///
/// A connection has one request in flight at most. A request may take several exchanges: whatever
/// [`take`](Self::take) appends to the output is sent next.
pub trait Wire {
    /// A request to a connection.
    type Request<'a>;
    /// The answer.
    type Answer;

    /// Begins a request: appends what is sent first to the output.
    fn begin(&mut self, request: Self::Request<'_>, output: &mut Vec<u8>);

    /// Takes whole messages from the front of the input, and appends what follows from them to the
    /// output. Returns the answer once the request is over. What is left of the input comes again,
    /// with more behind it.
    ///
    /// Is also called for what comes while no request is in flight; an answer is then ignored.
    fn take(&mut self, input: &mut &[u8], output: &mut Vec<u8>) -> Option<Self::Answer>;

    /// The answer to the request in flight when the connection is lost.
    fn lost(&mut self, error: &io::Error) -> Self::Answer;
}

/// The connections of one thread, which alone uses them.
pub struct Connections<W: Wire> {
    connections: Vec<Connection<W>>,
    events: Events,
    /// Answers to requests whose sending failed.
    failed: Vec<(usize, W::Answer)>,
}

/// How sockets are sent to, received from and waited for.
pub enum Events {
    Ring(Box<Ring>),
    Epoll(Epoll),
}

impl<W: Wire> Connections<W> {
    /// Connections that are logged in, with `io_uring(7)` where the kernel permits it and none is
    /// encrypted, else with `epoll(7)`.
    pub fn new(connections: impl IntoIterator<Item = (Stream, W)>) -> io::Result<Self> {
        Self::with(connections, |streams| {
            let plain = !streams.iter().any(|stream| stream.is_tls());
            if plain && let Ok(ring) = Ring::new(streams) {
                return Ok(Events::Ring(Box::new(ring)));
            }
            Epoll::new(streams).map(Events::Epoll)
        })
    }

    pub(crate) fn with(
        connections: impl IntoIterator<Item = (Stream, W)>,
        events: impl FnOnce(&[&Stream]) -> io::Result<Events>,
    ) -> io::Result<Self> {
        let connections: Vec<_> =
            connections.into_iter().map(|(stream, wire)| Connection::new(stream, wire)).collect();
        let streams: Vec<&Stream> = connections.iter().map(Connection::stream).collect();
        Ok(Self { events: events(&streams)?, connections, failed: Vec::new() })
    }

    /// Sends a request on a connection (from 0) that has none in flight. With a ring it is sent by
    /// the next [`wait`](Self::wait).
    pub fn send(&mut self, number: usize, request: W::Request<'_>) {
        let connection = &mut self.connections[number];
        connection.begin(request);
        match &mut self.events {
            Events::Ring(ring) => ring.schedule(number),
            Events::Epoll(epoll) => {
                self.failed.extend(epoll.send(number, connection).map(|answer| (number, answer)));
            }
        }
    }

    /// Waits for one of the connections, but not longer than `timeout`, and passes on the answers
    /// that have come, each with its connection. Fails when waiting itself fails.
    pub fn wait(
        &mut self,
        timeout: Duration,
        mut answer: impl FnMut(usize, W::Answer),
    ) -> io::Result<()> {
        if !self.failed.is_empty() {
            self.failed.drain(..).for_each(|(number, failure)| answer(number, failure));
            return Ok(());
        }
        match &mut self.events {
            Events::Ring(ring) => ring.wait(timeout, &mut self.connections, answer),
            Events::Epoll(epoll) => epoll.wait(timeout, &mut self.connections, answer),
        }
    }
}
