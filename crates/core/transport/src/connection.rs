use crate::{Stream, Wire};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for ordinary answers; larger ones make it grow.
const INPUT_BYTES: usize = 16 << 10;

/// Most bytes of one message, and most that all connections of this process have for messages that
/// are larger than ordinary: what a server sends must not fill our memory.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
const ALL_BYTES_MAX: usize = 512 << 20;

/// Bytes that inputs have grown by.
static GROWN: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are read from one socket before others have their turn.
const TURN_BYTES: usize = 1 << 20;

/// A connection with its unsent and its received bytes.
pub struct Connection<W> {
    stream: Stream,
    wire: W,
    output: Vec<u8>,
    /// Of the output, bytes that have been sent.
    sent: usize,
    input: Vec<u8>,
    /// The part of the input that has been received and not been taken.
    received: Range<usize>,
    in_flight: bool,
}

impl<W: Wire> Connection<W> {
    pub fn new(stream: Stream, wire: W) -> Self {
        let mut connection = Self {
            stream,
            wire,
            output: Vec::with_capacity(1024),
            sent: 0,
            input: vec![0; INPUT_BYTES],
            received: 0..0,
            in_flight: false,
        };
        // Bytes that the stream received during the login will cause no event on the socket.
        connection.receive(false);
        connection
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Begins a request: puts its bytes behind what is left to send.
    pub fn begin(&mut self, request: W::Request<'_>) {
        self.in_flight = true;
        self.forget_sent();
        self.wire.begin(request, &mut self.output);
    }

    /// Returns whether unsent data is left.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.output.len() || self.stream.wants_write()
    }

    pub fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// So many bytes of it have been sent.
    pub fn mark_sent(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    /// So many bytes that were marked as sent are not.
    pub fn mark_unsent(&mut self, bytes: usize) {
        self.sent -= bytes;
    }

    /// Sends what is left to send, as far as the socket takes it.
    pub fn send(&mut self) -> io::Result<()> {
        while self.has_unsent() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads from the socket until it is empty, the request is over or others have their turn.
    ///
    /// `closing`: the server has closed its side, which no other event will report.
    pub fn receive(&mut self, closing: bool) -> Received<W::Answer> {
        let mut turn = 0;
        while turn < TURN_BYTES {
            if let Err(error) = self.make_room(1) {
                return Received::All(self.lost(&error));
            }
            let room = self.input.len() - self.received.end;
            let read = match self.stream.read(&mut self.input[self.received.end..]) {
                Ok(0) => return Received::All(self.closed()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Received::All(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Received::All(self.lost(&error)),
            };
            self.received.end += read;
            turn += read;
            let answer = self.take();
            // A socket that gave less than was asked for has nothing more (epoll(7)); TLS can hold
            // more than it gave.
            let empty = read < room && !closing && !self.stream.is_tls();
            if answer.is_some() || empty {
                return Received::All(answer);
            }
        }
        Received::Part
    }

    /// Takes bytes that have been received.
    pub fn received(&mut self, bytes: &[u8]) -> Option<W::Answer> {
        if let Err(error) = self.make_room(bytes.len()) {
            return self.lost(&error);
        }
        let end = self.received.end + bytes.len();
        self.input[self.received.end..end].copy_from_slice(bytes);
        self.received.end = end;
        self.take()
    }

    /// Sending has failed: what the server said before it closed the connection is still to be
    /// read.
    pub fn send_failed(&mut self, error: &io::Error) -> Option<W::Answer> {
        match self.receive(true) {
            Received::All(Some(answer)) => Some(answer),
            _ => self.lost(error),
        }
    }

    /// The server has closed the connection.
    pub fn closed(&mut self) -> Option<W::Answer> {
        self.lost(&ErrorKind::UnexpectedEof.into())
    }

    /// The connection is lost, and with it the request in flight. Without one, the next will
    /// notice.
    pub fn lost(&mut self, error: &io::Error) -> Option<W::Answer> {
        // Bytes that came together with the previous answer, such as the reason for closing, are
        // still there.
        let answer = self.take();
        answer.or_else(|| std::mem::take(&mut self.in_flight).then(|| self.wire.lost(error)))
    }

    fn take(&mut self) -> Option<W::Answer> {
        self.forget_sent();
        let mut rest = &self.input[self.received.clone()];
        let answer = self.wire.take(&mut rest, &mut self.output);
        self.received.start = self.received.end - rest.len();
        answer.filter(|_| std::mem::take(&mut self.in_flight))
    }

    fn forget_sent(&mut self) {
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
        }
    }

    /// Makes room for this many more bytes: reuses that of bytes that were taken, and grows for a
    /// message that is larger than all of it.
    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        if self.received.is_empty() {
            self.received = 0..0;
        }
        if self.received.end + bytes > self.input.len() {
            self.input.copy_within(self.received.clone(), 0);
            self.received = 0..self.received.len();
            if self.received.end + bytes > self.input.len() {
                self.grow()?;
            }
        }
        Ok(())
    }

    fn grow(&mut self) -> io::Result<()> {
        let bytes = self.input.len();
        if bytes >= MESSAGE_BYTES_MAX {
            return self
                .refuse(format!("a message is longer than {} MiB", MESSAGE_BYTES_MAX >> 20));
        }
        if GROWN.fetch_add(bytes, Ordering::Relaxed) + bytes > ALL_BYTES_MAX {
            GROWN.fetch_sub(bytes, Ordering::Relaxed);
            return self.refuse(format!(
                "long messages take more than {} MiB in total",
                ALL_BYTES_MAX >> 20
            ));
        }
        self.input.resize(2 * bytes, 0);
        Ok(())
    }

    /// Gives up a connection whose server sends more than we take.
    fn refuse(&mut self, why: String) -> io::Result<()> {
        self.received = 0..0;
        let _ = self.stream.socket().shutdown(std::net::Shutdown::Both);
        Err(io::Error::other(why))
    }
}

impl<W> Drop for Connection<W> {
    fn drop(&mut self) {
        GROWN.fetch_sub(self.input.len() - INPUT_BYTES, Ordering::Relaxed);
    }
}

/// Result of reading a socket.
pub enum Received<A> {
    /// All that it had, or the answer.
    All(Option<A>),
    /// It has more.
    Part,
}
