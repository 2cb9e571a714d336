//! Messages in and out of a stream.

use crate::client::error::{Error, ProtocolError};
use bytes::{Buf, BytesMut};
use postgres_protocol::message::backend::{self, Header, Message};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::time::Duration;
use transport::Stream;

/// Bytes asked of the socket at once.
const READ_BYTES: usize = 32 << 10;
/// libpq's limit for messages before the login is done: what is longer is another protocol.
const LOGIN_MESSAGE_BYTES_MAX: i32 = 30_000;
/// Most bytes that a server may send before the login is done, in answer to one request, and as
/// parameters: many times what PostgreSQL sends. What it sends must not fill our memory.
const LOGIN_BYTES_MAX: usize = 1 << 20;
const ANSWER_BYTES_MAX: usize = 64 << 20;
const PARAMETER_BYTES_MAX: usize = 64 << 10;
/// Bytes of an answer that end a silence, where only silence is limited: a server that sends single
/// bytes is as good as silent.
const PART_BYTES: usize = 4 << 10;

/// A stream with the messages that wait on both sides.
#[derive(Debug)]
pub(crate) struct Messages {
    pub stream: Stream,
    input: BytesMut,
    /// Where the system puts what it has received.
    landing: Box<[u8]>,
    /// Messages to send with the next [`flush`](Self::flush).
    pub output: BytesMut,
    /// Parameters reported by the server.
    pub parameters: BTreeMap<String, String>,
    /// True while the other end may not be a PostgreSQL server.
    pub is_login: bool,
    /// The time that the server may take to answer a request.
    pub answer_timeout: Option<Duration>,
    /// True while the time counts from the last part of the answer that came.
    pub is_by_silence: bool,
    /// Bytes of the answer that came since the time began again.
    since_restart: usize,
    /// The bytes that have been received since the request or the login began.
    received: usize,
}

impl Messages {
    /// Before the login.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            input: BytesMut::new(),
            landing: vec![0; READ_BYTES].into(),
            output: BytesMut::new(),
            parameters: BTreeMap::new(),
            is_login: true,
            answer_timeout: None,
            is_by_silence: false,
            since_restart: 0,
            received: 0,
        }
    }

    /// A request begins, and with it the time for its answer.
    pub fn begin(&mut self) {
        self.received = 0;
        self.restart();
    }

    /// The time for the answer begins again.
    pub fn restart(&mut self) {
        self.since_restart = 0;
        self.stream.patience.restart(self.answer_timeout);
    }

    /// Sends the output. While the server takes nothing because it waits for us to read, reads.
    pub fn flush(&mut self) -> Result<(), Error> {
        while !self.output.is_empty() || self.stream.wants_write() {
            let sent = if self.output.is_empty() {
                self.stream.flush().map(|()| 0)
            } else {
                self.stream.write(&self.output)
            };
            match sent {
                Ok(count) => self.output.advance(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.stream.wait_for_room().map_err(Error::of_socket)?;
                    self.read(false)?;
                }
                Err(error) => return Err(Error::of_socket(error)),
            }
        }
        Ok(())
    }

    /// The next message that is not only information; waits for it as long as the patience lasts.
    pub fn receive(&mut self) -> Result<Message, Error> {
        loop {
            if self.is_login {
                self.expect_postgres()?;
            }
            self.limit_message()?;
            match Message::parse(&mut self.input).map_err(Error::malformed)? {
                None => self.read(true)?,
                Some(Message::ParameterStatus(status)) => {
                    let name = status.name().map_err(Error::malformed)?.to_owned();
                    self.parameters
                        .insert(name, status.value().map_err(Error::malformed)?.to_owned());
                    let bytes =
                        self.parameters.iter().map(|(name, value)| name.len() + value.len() + 64);
                    if bytes.sum::<usize>() > PARAMETER_BYTES_MAX {
                        return Err(self.too_much(PARAMETER_BYTES_MAX, "of session parameters"));
                    }
                }
                Some(Message::NoticeResponse(_) | Message::NotificationResponse(_)) => {}
                Some(message) => return Ok(message),
            }
        }
    }

    /// Refuses what no PostgreSQL server sends before the login is done.
    fn expect_postgres(&mut self) -> Result<(), Error> {
        while self.input.len() < 5 {
            self.read(true)?;
        }
        let header = Header::parse(&self.input).map_err(Error::malformed)?;
        let understood = header.is_some_and(|header| {
            b"RENSKZ".contains(&header.tag()) && header.len() <= LOGIN_MESSAGE_BYTES_MAX
        });
        if understood { Ok(()) } else { Err(ProtocolError::NotPostgres.into()) }
    }

    /// Refuses a message before it has come that is too long to be taken.
    fn limit_message(&mut self) -> Result<(), Error> {
        match Header::parse(&self.input).map_err(Error::malformed)? {
            Some(header) if header.len() as usize > ANSWER_BYTES_MAX => {
                Err(self.too_much(ANSWER_BYTES_MAX, "in one message"))
            }
            _ => Ok(()),
        }
    }

    /// Gives up a connection whose server sends more than we take.
    fn too_much(&mut self, limit: usize, what: &'static str) -> Error {
        self.input.clear();
        let _ = self.stream.socket().shutdown(Shutdown::Both);
        ProtocolError::TooMuch(limit >> 10, what).into()
    }

    /// Returns whether the server already refused the data being sent.
    pub fn has_refused(&mut self) -> Result<bool, Error> {
        self.read(false)?;
        Ok(self.input.first() == Some(&backend::ERROR_RESPONSE_TAG))
    }

    /// The stream, with bytes that were received but not parsed.
    pub fn into_stream(mut self) -> Stream {
        self.stream.unread(self.input);
        self.stream
    }

    /// Takes what has come; `waits` for it as long as the patience lasts.
    fn read(&mut self, waits: bool) -> Result<(), Error> {
        let read = if waits { Stream::read_blocking } else { Stream::read };
        match read(&mut self.stream, &mut self.landing) {
            Ok(0) if waits => Err(Error::Lost(ErrorKind::UnexpectedEof.into())),
            // Closed: writing will notice, after the last words have been read.
            Ok(count) => {
                self.received += count;
                self.since_restart += count;
                if self.is_by_silence && self.since_restart >= PART_BYTES {
                    self.restart();
                }
                let (limit, what) = if self.is_login {
                    (LOGIN_BYTES_MAX, "before login completed")
                } else {
                    (ANSWER_BYTES_MAX, "in response to one request")
                };
                // The data of a COPY is checked at its end.
                if self.received.max(self.input.len() + count) > limit {
                    return Err(self.too_much(limit, what));
                }
                self.input.extend_from_slice(&self.landing[..count]);
                Ok(())
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(())
            }
            Err(error) => Err(Error::of_socket(error)),
        }
    }
}
