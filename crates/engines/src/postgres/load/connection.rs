use super::message;
use super::task::{Output, Prepared, Task, Texts};
use crate::postgres::failure;
use crate::{Done, EngineError, Request, Results};
use pgclient::{ServerError, Transport};
use std::io::{self, ErrorKind};

/// Room for the answers of ordinary transactions; larger ones make it grow.
const INPUT_BYTES: usize = 16 << 10;

/// One connection with the request that it is working on.
pub struct Connection {
    transport: Transport,
    task: Task,
    prepared: Prepared,
    output: Vec<u8>,
    /// Of the output, bytes that have been sent.
    sent: usize,
    input: Vec<u8>,
    /// The part of the input that has been received and not been looked at.
    received: std::ops::Range<usize>,
    results: Vec<Results>,
    /// The first error of the request.
    error: Option<ServerError>,
    asking: bool,
    /// The event that the socket can take more has been asked for.
    pub waits_for_room: bool,
}

/// What has become of a connection's request.
pub enum Progress {
    /// Nothing yet.
    UnderWay,
    /// It is done or has failed.
    Over(Result<Done, EngineError>),
}

impl Connection {
    /// A connection that is logged in.
    pub fn new(transport: Transport, texts: &Texts) -> Self {
        Self {
            transport,
            task: Task::default(),
            prepared: Prepared::none_of(texts.len()),
            output: Vec::with_capacity(1024),
            sent: 0,
            input: vec![0; INPUT_BYTES],
            received: 0..0,
            results: Vec::new(),
            error: None,
            asking: false,
            waits_for_room: false,
        }
    }

    /// The socket.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Begins a request and sends as much of it as the socket takes.
    pub fn ask(&mut self, request: &Request<'_>, texts: &Texts) -> Result<(), EngineError> {
        self.results.clear();
        self.error = None;
        self.asking = true;
        let mut out = Output { bytes: &mut self.output, texts, prepared: &mut self.prepared };
        self.task.begin(request, &mut out);
        self.send().map_err(|error| self.last_words(&error, texts))
    }

    /// Sends what is left to send, as far as the socket takes it.
    pub fn send(&mut self) -> io::Result<()> {
        while self.sent < self.output.len() || self.transport.wants_write() {
            match self.transport.write(&self.output[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.sent = 0;
        Ok(())
    }

    /// Whether the socket did not take everything.
    pub fn has_to_send(&self) -> bool {
        self.sent < self.output.len() || self.transport.wants_write()
    }

    /// Reads what has come and goes on with the request.
    ///
    /// `ends`: the server has closed its side, which no other event will tell.
    pub fn receive(&mut self, texts: &Texts, ends: bool) -> Progress {
        loop {
            self.make_room();
            let room = self.input.len() - self.received.end;
            let read = match self.transport.read(&mut self.input[self.received.end..]) {
                Ok(0) => return Progress::Over(Err(self.closed(texts))),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Progress::UnderWay,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Progress::Over(Err(self.lost(&error, texts))),
            };
            self.received.end += read;
            if let Some(result) = self.look(texts) {
                return Progress::Over(result);
            }
            // A socket that gave less than was asked for has nothing more (epoll(7)); TLS can hold
            // more than it gave.
            if read < room && !ends && !self.transport.is_tls() {
                return Progress::UnderWay;
            }
        }
    }

    /// Looks at the messages that have come; the result when the request is over.
    fn look(&mut self, texts: &Texts) -> Option<Result<Done, EngineError>> {
        while let Some((kind, body)) = message::first(&self.input[self.received.clone()]) {
            let length = body.len() + 5;
            let ready = kind == b'Z';
            match kind {
                b'1' => self.prepared.complete(),
                b'E' if self.error.is_none() => {
                    self.error = Some(failure::read(message::error_fields(body)));
                }
                b'T' if self.task.results => {
                    let columns = message::column_names(body);
                    self.results.push(Results { columns, ..Results::default() });
                }
                b'D' if self.task.results => {
                    if let Some(results) = self.results.last_mut() {
                        results.rows += 1;
                        results.last = message::cells(body);
                    }
                }
                // CommandComplete, BindComplete, notices and the like need no action.
                _ => {}
            }
            self.received.start += length;
            if ready && let Some(result) = self.exchange_over(texts) {
                return Some(result);
            }
        }
        None
    }

    /// The server is ready for the next exchange: that of the request, or the next request.
    fn exchange_over(&mut self, texts: &Texts) -> Option<Result<Done, EngineError>> {
        self.prepared.exchange_over();
        if !self.asking {
            return None;
        }
        if let Some(error) = self.error.take() {
            self.asking = false;
            return Some(Err(failure::of_server("running a transaction", &error)));
        }
        let mut out = Output { bytes: &mut self.output, texts, prepared: &mut self.prepared };
        if self.task.go_on(&mut out) {
            return self.send().err().map(|error| Err(self.last_words(&error, texts)));
        }
        self.asking = false;
        Some(Ok(Done {
            units: self.task.units,
            transactions: self.task.transactions,
            retries: 0,
            results: std::mem::take(&mut self.results),
        }))
    }

    /// Room for more input: what has been looked at is forgotten, and a message that is larger
    /// than the room makes it grow.
    fn make_room(&mut self) {
        if self.received.is_empty() {
            self.received = 0..0;
        } else if self.received.end == self.input.len() {
            self.input.copy_within(self.received.clone(), 0);
            self.received = 0..self.received.len();
            if self.received.end == self.input.len() {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
    }

    /// Sending has failed: what the server said before it went away is still to be read.
    pub fn last_words(&mut self, error: &io::Error, texts: &Texts) -> EngineError {
        match self.receive(texts, true) {
            Progress::Over(Err(error)) => error,
            _ => self.lost(error, texts),
        }
    }

    /// The server has closed the connection, with or without a word.
    fn closed(&mut self, texts: &Texts) -> EngineError {
        self.lost(&ErrorKind::UnexpectedEof.into(), texts)
    }

    fn lost(&mut self, error: &io::Error, texts: &Texts) -> EngineError {
        self.asking = false;
        // A word that came right after the last answer has not been looked at yet.
        let _ = self.look(texts);
        match self.error.take() {
            Some(said) => failure::of_server("running a transaction", &said),
            None => EngineError::Engine {
                doing: "running a transaction".into(),
                message: format!("the connection to the server is lost: {error}"),
            },
        }
    }
}
