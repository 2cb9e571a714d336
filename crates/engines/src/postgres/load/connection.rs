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
    /// The first error of the request, or what the server said before it went away.
    error: Option<ServerError>,
    asking: bool,
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
        }
    }

    /// The socket.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Begins a request: puts what is to be sent behind what is left to send.
    pub fn ask(&mut self, request: &Request<'_>, texts: &Texts) {
        self.results.clear();
        self.asking = true;
        self.forget_sent();
        let mut out = Output { bytes: &mut self.output, texts, prepared: &mut self.prepared };
        self.task.begin(request, &mut out);
    }

    /// Whether there is something left to send.
    pub fn has_to_send(&self) -> bool {
        self.sent < self.output.len() || self.transport.wants_write()
    }

    /// What is left to send.
    pub fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// So many bytes of it have been sent.
    pub fn has_sent(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    /// So many bytes that seemed sent are not.
    pub fn has_not_sent(&mut self, bytes: usize) {
        self.sent -= bytes;
    }

    /// Sends what is left to send, as far as the socket takes it.
    pub fn send(&mut self) -> io::Result<()> {
        while self.has_to_send() {
            match self.transport.write(&self.output[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has come and goes on with the request.
    ///
    /// `ends`: the server has closed its side, which no other event will tell.
    pub fn receive(&mut self, texts: &Texts, ends: bool) -> Progress {
        loop {
            self.make_room(1);
            let room = self.input.len() - self.received.end;
            let read = match self.transport.read(&mut self.input[self.received.end..]) {
                Ok(0) => return self.closed(texts),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Progress::UnderWay,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(&error, texts),
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

    /// Goes on with the request with bytes that have come.
    pub fn has_received(&mut self, bytes: &[u8], texts: &Texts) -> Progress {
        self.make_room(bytes.len());
        let end = self.received.end + bytes.len();
        self.input[self.received.end..end].copy_from_slice(bytes);
        self.received.end = end;
        self.look(texts).map_or(Progress::UnderWay, Progress::Over)
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
        self.forget_sent();
        let mut out = Output { bytes: &mut self.output, texts, prepared: &mut self.prepared };
        if self.task.go_on(&mut out) {
            return None;
        }
        self.asking = false;
        Some(Ok(Done { retries: 0, results: std::mem::take(&mut self.results) }))
    }

    fn forget_sent(&mut self) {
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
        }
    }

    /// Room for so many bytes more: what has been looked at is forgotten, and a message that is
    /// larger than the room makes it grow.
    fn make_room(&mut self, bytes: usize) {
        if self.received.is_empty() {
            self.received = 0..0;
        }
        if self.received.end + bytes > self.input.len() {
            self.input.copy_within(self.received.clone(), 0);
            self.received = 0..self.received.len();
            if self.received.end + bytes > self.input.len() {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
    }

    /// Sending has failed: what the server said before it went away is still to be read.
    pub fn last_words(&mut self, error: &io::Error, texts: &Texts) -> Result<(), EngineError> {
        let progress = match self.receive(texts, true) {
            Progress::UnderWay => self.lost(error, texts),
            over @ Progress::Over(_) => over,
        };
        match progress {
            Progress::Over(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// The server has closed the connection, with or without a word.
    pub fn closed(&mut self, texts: &Texts) -> Progress {
        self.lost(&ErrorKind::UnexpectedEof.into(), texts)
    }

    /// The connection is lost, and with it the request; the next one will notice when there is none.
    pub fn lost(&mut self, error: &io::Error, texts: &Texts) -> Progress {
        // A word that came right after the last answer has not been looked at yet.
        let _ = self.look(texts);
        if !std::mem::take(&mut self.asking) {
            return Progress::UnderWay;
        }
        Progress::Over(Err(match self.error.take() {
            Some(said) => failure::of_server("running a transaction", &said),
            None => EngineError::Engine {
                doing: "running a transaction".into(),
                message: format!("the connection to the server is lost: {error}"),
            },
        }))
    }
}
