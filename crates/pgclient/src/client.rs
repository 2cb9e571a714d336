//! A connection that asks and waits.

use crate::Config;
use crate::breaker::Breaker;
use crate::cancel::Canceller;
use crate::connect::{self, Connected};
use crate::copy::CopyIn;
use crate::error::{Error, ServerError};
use crate::login::Login;
use crate::messages::Messages;
use crate::rows::{self, Rows};
use crate::statement::Statement;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::io;
use std::time::Duration;
use transport::Stream;

/// A connection to a server. After [`Error::Server`] it is in step and can be used on; after
/// [`Error::Lost`] it cannot.
#[derive(Debug)]
pub struct Client {
    messages: Messages,
    session: Login,
    canceller: Canceller,
    version: u32,
    /// Requests that the server has not answered to the end, because we did not wait for it.
    unanswered: u32,
    statement_count: u32,
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// When no host of the configuration lets us in; each with its reason.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        let Connected { messages, login, address, encryption } = connect::connect(config)?;
        let canceller = Canceller { address, encryption, process: login.process, secret: login.secret };
        let version = login.parameters.get("server_version").map_or(0, |text| version_number(text));
        Ok(Self { messages, session: login, canceller, version, unanswered: 0, statement_count: 0 })
    }

    /// Runs one statement with parameters `$1`, `$2`, ... as text; `None` is NULL.
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    pub fn query(&mut self, sql: &str, parameters: &[Option<&str>]) -> Result<Rows, Error> {
        self.request(|output| {
            frontend::parse("", sql, [], output)?;
            bind("", parameters, output)?;
            frontend::describe(b'P', "", output)?;
            frontend::execute("", 0, output)?;
            frontend::sync(output);
            Ok(())
        })?;
        self.rows(Rows::default())
    }

    /// Runs statements that are separated by semicolons, as one transaction unless they say
    /// otherwise; what they return is dropped.
    ///
    /// # Errors
    /// When the server refuses one (those after it do not run), or the connection is lost.
    pub fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.request(|output| frontend::query(sql, output))?;
        self.answer(|client, message| match message {
            Message::CopyInResponse(_) => client.refuse_copy(),
            _ => Ok(()),
        })
    }

    /// Has a statement parsed.
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        let name = format!("s{}", self.statement_count);
        self.statement_count += 1;
        self.request(|output| {
            frontend::parse(&name, sql, [], output)?;
            frontend::describe(b'S', &name, output)?;
            frontend::sync(output);
            Ok(())
        })?;
        let mut statement = Statement { name, parameter_types: Vec::new(), columns: Vec::new() };
        self.answer(|_, message| {
            match message {
                Message::ParameterDescription(body) => {
                    statement.parameter_types = body.parameters().collect().map_err(malformed)?;
                }
                Message::RowDescription(body) => {
                    statement.columns = rows::columns(&body).map_err(malformed)?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(statement)
    }

    /// Runs a prepared statement; parameters as for [`query`](Self::query).
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    pub fn query_prepared(
        &mut self,
        statement: &Statement,
        parameters: &[Option<&str>],
    ) -> Result<Rows, Error> {
        self.request(|output| {
            bind(&statement.name, parameters, output)?;
            frontend::execute("", 0, output)?;
            frontend::sync(output);
            Ok(())
        })?;
        self.rows(Rows::with_columns(statement.columns.clone()))
    }

    /// Starts `COPY ... FROM STDIN`; what is written to the [`CopyIn`] is in the statement's format.
    ///
    /// # Errors
    /// When the server refuses, the statement is another one, or the connection is lost.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, Error> {
        self.request(|output| frontend::query(sql, output))?;
        match self.receive()? {
            Message::CopyInResponse(_) => Ok(CopyIn::new(self)),
            Message::ErrorResponse(error) => {
                let error = refusal(&error)?;
                if !error.is_fatal() {
                    self.answer(|_, _| Ok(()))?;
                }
                Err(Error::Server(error))
            }
            _ => {
                self.answer(|_, _| Ok(()))?;
                Err(Error::Protocol("the statement is not a COPY ... FROM STDIN".to_owned()))
            }
        }
    }

    /// The server's version as a number: 150018 for 15.18, 90624 for 9.6.24.
    pub fn server_version(&self) -> u32 {
        self.version
    }

    /// The server process that serves this connection.
    pub fn backend_pid(&self) -> i32 {
        self.session.process
    }

    /// A parameter that the server reports by itself, such as `server_encoding` or `TimeZone`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.session.parameters.get(name).map(String::as_str)
    }

    /// Whether the server is reached over a unix socket or the loopback interface, and so most
    /// likely shares our kernel.
    pub fn is_local(&self) -> bool {
        self.canceller.address.is_local()
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.messages.stream().is_tls()
    }

    /// Cancels this connection's requests from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Ends this connection from elsewhere, when not even cancelling helps.
    ///
    /// # Errors
    /// When the system has no room for one more file.
    pub fn breaker(&self) -> Result<Breaker, Error> {
        Breaker::of(self.messages.stream())
    }

    /// Takes the notices and warnings that came since the last time.
    pub fn take_notices(&mut self) -> Vec<ServerError> {
        std::mem::take(&mut self.session.notices)
    }

    /// How long to wait for the server to send something; `None` is for ever.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.messages.set_read_timeout(timeout)
    }

    /// The bare connection, for a load that writes and reads messages itself, to
    /// [statements](Statement::name) prepared here.
    ///
    /// # Errors
    /// When the answer to an earlier request is still due and does not come.
    pub fn into_stream(mut self) -> Result<Stream, Error> {
        self.catch_up()?;
        self.messages.set_read_timeout(None)?;
        Ok(self.messages.into_stream())
    }

    /// Sends a request, after the answers to earlier ones.
    fn request(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), Error> {
        self.catch_up()?;
        if let Err(error) = write(&mut self.messages.output) {
            self.messages.output.clear();
            return Err(Error::Protocol(format!("cannot be sent: {error}")));
        }
        self.unanswered += 1;
        self.send()
    }

    fn catch_up(&mut self) -> Result<(), Error> {
        while self.unanswered > 0 {
            match self.answer(|_, _| Ok(())) {
                // Of a request that was given up already.
                Err(Error::Server(error)) if !error.is_fatal() => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Sends the output; when that fails, the server may have said why before it left.
    pub(crate) fn send(&mut self) -> Result<(), Error> {
        let Err(error) = self.messages.flush() else { return Ok(()) };
        if !matches!(error, Error::Lost(_)) {
            return Err(error);
        }
        self.messages.output.clear();
        while let Ok(message) = self.receive() {
            if let Message::ErrorResponse(last_words) = message {
                return Err(Error::Server(refusal(&last_words)?));
            }
        }
        Err(error)
    }

    /// Takes messages until the server is ready again; the first error is the result.
    pub(crate) fn answer(
        &mut self,
        mut take: impl FnMut(&mut Self, Message) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        loop {
            match self.receive()? {
                Message::ReadyForQuery(_) => {
                    self.unanswered = self.unanswered.saturating_sub(1);
                    return result;
                }
                Message::ErrorResponse(error) => {
                    let error = refusal(&error)?;
                    let is_last = error.is_fatal();
                    result = result.and(Err(Error::Server(error)));
                    if is_last {
                        return result;
                    }
                }
                message => {
                    let taken = take(self, message);
                    result = result.and(taken);
                }
            }
        }
    }

    fn rows(&mut self, mut rows: Rows) -> Result<Rows, Error> {
        self.answer(|client, message| {
            match message {
                Message::RowDescription(body) => {
                    rows = Rows::with_columns(rows::columns(&body).map_err(malformed)?);
                }
                Message::DataRow(row) => rows.push(&row)?,
                Message::CommandComplete(body) => rows.complete(body.tag().map_err(malformed)?),
                Message::CopyInResponse(_) => {
                    client.refuse_copy()?;
                    // The one that was sent before is read as part of the copy.
                    frontend::sync(&mut client.messages.output);
                    client.send()?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn refuse_copy(&mut self) -> Result<(), Error> {
        frontend::copy_fail("COPY FROM STDIN needs copy_in", &mut self.messages.output).map_err(malformed)?;
        self.send()
    }

    /// The next message that is about the request.
    pub(crate) fn receive(&mut self) -> Result<Message, Error> {
        loop {
            match self.messages.receive()? {
                Message::ParameterStatus(status) => {
                    let name = status.name().map_err(malformed)?.to_owned();
                    let value = status.value().map_err(malformed)?.to_owned();
                    self.session.parameters.insert(name, value);
                }
                Message::NoticeResponse(notice) => {
                    self.session.notices.push(ServerError::read(notice.fields()).map_err(malformed)?);
                }
                Message::NotificationResponse(_) => {}
                message => return Ok(message),
            }
        }
    }

    pub(crate) fn messages(&mut self) -> &mut Messages {
        &mut self.messages
    }
}

fn refusal(error: &ErrorResponseBody) -> Result<Box<ServerError>, Error> {
    ServerError::read(error.fields()).map(Box::new).map_err(malformed)
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
fn malformed(error: io::Error) -> Error {
    Error::malformed(&error)
}

fn bind(statement: &str, parameters: &[Option<&str>], output: &mut BytesMut) -> io::Result<()> {
    let write = |value: Option<&str>, output: &mut BytesMut| {
        Ok(value.map_or(IsNull::Yes, |value| {
            output.extend_from_slice(value.as_bytes());
            IsNull::No
        }))
    };
    frontend::bind("", statement, [], parameters.iter().copied(), write, [], output).map_err(|error| {
        match error {
            frontend::BindError::Conversion(error) => io::Error::other(error),
            frontend::BindError::Serialization(error) => error,
        }
    })
}

/// From `15.18 (Debian 15.18-0+deb12u1)`, `18beta1` or `9.6.24`.
fn version_number(text: &str) -> u32 {
    let numbers: Vec<u32> = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap_or_default()
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect();
    let part = |index: usize| numbers.get(index).copied().unwrap_or(0);
    if part(0) >= 10 { part(0) * 10_000 + part(1) } else { part(0) * 10_000 + part(1) * 100 + part(2) }
}
