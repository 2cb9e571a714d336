//! A connection that asks and waits, and what ends its requests or all of it from another thread.

use crate::client::address::{self, Address};
use crate::client::encryption::Encryption;
use crate::client::error::{EncryptionError, Error, ProtocolError, ServerError};
use crate::client::login::BackendKey;
use crate::client::messages::Messages;
use crate::client::rows::{self, Statement};
use bytes::BytesMut;
use engine::Rows;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use socket2::Socket;
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::time::Duration;
use transport::{Patience, Stream};
use work::Stop;

/// Bytes of one message of a COPY: enough to make its header and its system call cheap.
const COPY_BYTES: usize = 64 << 10;
/// A server that does not react within this time does not react to a cancellation either.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to a server. A request fails when the server refuses it: after [`Error::Server`]
/// the connection can be used on, after [`Error::Lost`] it cannot.
#[derive(Debug)]
pub struct Client {
    messages: Messages,
    canceller: Canceller,
    /// Requests that the server has not answered to the end, because we did not wait for it.
    unanswered: u32,
    /// True when the time for such an answer is over: the next request does not wait as long again.
    is_overdue: bool,
    statement_count: u32,
}

impl Client {
    /// After the login.
    pub(crate) fn new(messages: Messages, canceller: Canceller) -> Self {
        Self { messages, canceller, unanswered: 0, is_overdue: false, statement_count: 0 }
    }

    /// Runs one statement with parameters `$1`, `$2`, ... as text; `None` is NULL.
    pub fn query(&mut self, sql: &str, parameters: &[Option<&str>]) -> Result<Rows, Error> {
        self.request(|output| {
            frontend::parse("", sql, [], output)?;
            bind("", parameters, output)?;
            frontend::describe(b'P', "", output)?;
            frontend::execute("", 0, output)?;
            frontend::sync(output);
            Ok(())
        })?;
        self.rows(Vec::new())
    }

    /// The first value of a query's first row; `None` for NULL, and where there is no row.
    pub fn cell(&mut self, sql: &str) -> Result<Option<String>, Error> {
        Ok(self.query(sql, &[])?.first().and_then(|row| row.parse(0)))
    }

    /// Runs statements that are separated by semicolons, as one transaction unless they say
    /// otherwise; those after a refused one do not run. What they return is dropped.
    pub fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.request(|output| frontend::query(sql, output))?;
        self.answer(|client, message| match message {
            Message::CopyInResponse(_) => client.refuse_copy(),
            _ => Ok(()),
        })
    }

    /// Runs one statement as it is, by the simple query protocol: `$1` in it is left to the
    /// statement, such as one that explains another.
    pub fn simple_query(&mut self, sql: &str) -> Result<Rows, Error> {
        self.request(|output| frontend::query(sql, output))?;
        self.rows(Vec::new())
    }

    /// Runs one statement that may take long, as [`simple_query`](Self::simple_query) does. The
    /// answer timeout limits only the server's silence; after one, `works` says whether the server
    /// still works on the statement.
    pub fn long_query(
        &mut self,
        sql: &str,
        works: &mut dyn FnMut() -> bool,
    ) -> Result<Rows, Error> {
        self.request(|output| frontend::query(sql, output))?;
        self.messages.is_by_silence = true;
        let rows = self.rows_while(Vec::new(), works);
        self.messages.is_by_silence = false;
        rows
    }

    /// Has a statement parsed.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        let name = format!("s{}", self.statement_count);
        self.statement_count += 1;
        self.request(|output| {
            frontend::parse(&name, sql, [], output)?;
            frontend::describe(b'S', &name, output)?;
            frontend::sync(output);
            Ok(())
        })?;
        let mut statement = Statement { name, ..Statement::default() };
        self.answer(|_, message| {
            if let Message::RowDescription(body) = message {
                statement.columns = rows::columns(&body).map_err(Error::malformed)?;
            }
            Ok(())
        })?;
        Ok(statement)
    }

    /// Runs a prepared statement; parameters as for [`query`](Self::query).
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
        self.rows(statement.columns.clone())
    }

    /// Starts `COPY ... FROM STDIN`; what is written to the [`CopyIn`] is in the statement's
    /// format.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, Error> {
        self.request(|output| frontend::query(sql, output))?;
        match self.messages.receive()? {
            Message::CopyInResponse(_) => {
                Ok(CopyIn { client: self, chunk: Vec::with_capacity(COPY_BYTES), is_over: false })
            }
            message => {
                self.answer_from(Some(message), &mut || false, |_, _| Ok(()))?;
                Err(ProtocolError::NotCopy.into())
            }
        }
    }

    /// The server's version as a number: 150018 for 15.18, 90624 for 9.6.24.
    pub fn server_version(&self) -> u32 {
        self.parameter("server_version").map_or(0, version_number)
    }

    /// The server process that serves this connection.
    pub fn backend_pid(&self) -> i32 {
        self.canceller.key.process
    }

    /// The parameters that the server reports by itself.
    pub fn parameters(&self) -> &BTreeMap<String, String> {
        &self.messages.parameters
    }

    /// A parameter that the server reports by itself, such as `server_encoding` or `TimeZone`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.messages.parameters.get(name).map(String::as_str)
    }

    /// Returns whether the server is reached over a unix socket or the loopback interface, and so
    /// most likely shares our kernel.
    pub fn is_local(&self) -> bool {
        self.canceller.address.is_local()
    }

    /// Returns whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.messages.stream.is_tls()
    }

    /// Cancels this connection's requests from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Ends this connection from elsewhere, when not even cancelling helps.
    pub fn disconnector(&self) -> Result<Disconnector, Error> {
        self.messages.stream.socket().try_clone().map(Disconnector).map_err(Error::Lost)
    }

    /// The time that the server may take to answer a request, all of it; `None` is for ever. For a
    /// COPY: to take what is sent at once.
    pub fn set_answer_timeout(&mut self, timeout: Option<Duration>) {
        self.messages.answer_timeout = timeout;
        self.is_overdue = false;
    }

    /// Sets the stop that ends waiting for answers, and the grace time.
    pub fn set_stop(&mut self, stop: Stop, grace: Duration) {
        self.messages.stream.patience.stop = Some((stop, grace));
    }

    /// The bare connection, for a load that writes and reads messages itself, once all requests are
    /// answered.
    pub fn into_stream(mut self) -> Result<Stream, Error> {
        self.catch_up()?;
        Ok(self.messages.into_stream())
    }

    /// Sends a request, after the answers to earlier ones.
    fn request(
        &mut self,
        write: impl FnOnce(&mut BytesMut) -> io::Result<()>,
    ) -> Result<(), Error> {
        if !self.is_overdue {
            self.messages.begin();
        }
        self.catch_up()?;
        if std::mem::take(&mut self.is_overdue) {
            self.messages.begin();
        }
        if let Err(error) = write(&mut self.messages.output) {
            self.messages.output.clear();
            return Err(ProtocolError::Unsendable(error).into());
        }
        self.unanswered += 1;
        self.send()
    }

    fn catch_up(&mut self) -> Result<(), Error> {
        while self.unanswered > 0 {
            match self.answer(|_, _| Ok(())) {
                // An error of a request that was given up already.
                Err(Error::Server(error)) if !error.is_fatal() => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Sends the output; when that fails, the server may have said why before it left.
    fn send(&mut self) -> Result<(), Error> {
        let Err(error) = self.messages.flush() else { return Ok(()) };
        if !matches!(error, Error::Lost(_)) {
            return Err(error);
        }
        self.messages.output.clear();
        while let Ok(message) = self.messages.receive() {
            if let Message::ErrorResponse(last_words) = message {
                return Err(Error::Server(ServerError::read(last_words.fields())?));
            }
        }
        Err(error)
    }

    /// Takes messages until the server is ready again; the first error is the result.
    fn answer(
        &mut self,
        take: impl FnMut(&mut Self, Message) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.answer_from(None, &mut || false, take)
    }

    fn answer_from(
        &mut self,
        mut first: Option<Message>,
        works: &mut dyn FnMut() -> bool,
        mut take: impl FnMut(&mut Self, Message) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        loop {
            let received = first.take().map_or_else(|| self.messages.receive(), Ok);
            if matches!(received, Err(Error::Timeout(_))) {
                if works() {
                    self.messages.restart();
                    continue;
                }
                self.is_overdue = true;
            }
            match received? {
                Message::ReadyForQuery(_) => {
                    self.unanswered = self.unanswered.saturating_sub(1);
                    return result;
                }
                Message::ErrorResponse(error) => {
                    let error = ServerError::read(error.fields())?;
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

    /// The rows that come, in these columns unless the server describes others.
    fn rows(&mut self, columns: Vec<String>) -> Result<Rows, Error> {
        self.rows_while(columns, &mut || false)
    }

    fn rows_while(
        &mut self,
        columns: Vec<String>,
        works: &mut dyn FnMut() -> bool,
    ) -> Result<Rows, Error> {
        let mut rows = Rows::with_columns(columns);
        self.answer_from(None, works, |client, message| {
            match message {
                Message::RowDescription(body) => {
                    let columns = rows::columns(&body).map_err(Error::malformed)?;
                    rows = Rows::with_columns(columns);
                }
                Message::DataRow(row) => rows::push(&mut rows, &row)?,
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
        frontend::copy_fail("COPY FROM STDIN needs copy_in", &mut self.messages.output)
            .map_err(Error::malformed)?;
        self.send()
    }
}

/// A `COPY ... FROM STDIN` in flight. Dropped before [`finish`](Self::finish), nothing of it is
/// kept.
#[derive(Debug)]
pub struct CopyIn<'a> {
    client: &'a mut Client,
    chunk: Vec<u8>,
    is_over: bool,
}

impl CopyIn<'_> {
    /// Adds data; rows may be split anywhere. Fails when the server has refused what came before.
    pub fn write(&mut self, mut data: &[u8]) -> Result<(), Error> {
        while self.chunk.len() + data.len() >= COPY_BYTES {
            let (now, later) = data.split_at(COPY_BYTES - self.chunk.len());
            self.chunk.extend_from_slice(now);
            data = later;
            self.send_chunk()?;
            if self.client.messages.has_refused()? {
                self.is_over = true;
                self.client.answer(|_, _| Ok(()))?;
            }
        }
        self.chunk.extend_from_slice(data);
        Ok(())
    }

    /// Ends the copy and returns the number of rows; fails when the server refuses some of it.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.send_chunk()?;
        self.is_over = true;
        self.client.messages.begin();
        frontend::copy_done(&mut self.client.messages.output);
        self.client.send()?;
        let mut count = 0;
        self.client.answer(|_, message| {
            if let Message::CommandComplete(body) = message {
                // `COPY 5`
                let tag = body.tag().map_err(Error::malformed)?;
                count = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
            }
            Ok(())
        })?;
        Ok(count)
    }

    fn send_chunk(&mut self) -> Result<(), Error> {
        if !self.chunk.is_empty() {
            let message = frontend::CopyData::new(&*self.chunk).map_err(Error::malformed)?;
            message.write(&mut self.client.messages.output);
            self.chunk.clear();
            self.client.messages.begin();
            self.client.send().inspect_err(|_| self.is_over = true)?;
        }
        Ok(())
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The answer is taken before the next request.
            let buffered =
                frontend::copy_fail("cancelled by the client", &mut self.client.messages.output);
            let _ = buffered.map(|()| self.client.send());
        }
    }
}

/// Cancels the request that a connection has running, from any thread.
#[derive(Debug, Clone)]
pub struct Canceller {
    pub(crate) address: Address,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) key: BackendKey,
}

impl Canceller {
    /// Asks the server over a connection of its own, encrypted as the first one is, and returns
    /// when the server has passed it on. The request then fails with SQLSTATE 57014, if it is
    /// still running. Fails when the server has not done so within five seconds.
    pub fn cancel(&self) -> Result<(), Error> {
        let mut stream = address::open(&self.address, Patience::for_time(Some(PATIENCE), None))?;
        if let Some(encryption) = &self.encryption
            && !encryption.start(&mut stream, &self.address)?
        {
            return Err(EncryptionError::Declined.at(&self.address));
        }
        let mut request = BytesMut::new();
        frontend::cancel_request(self.key.process, self.key.secret, &mut request);
        let error = stream.write_all(&request).and_then(|()| {
            // The server closes the connection once it has sent the signal; how it does it is the
            // same.
            match stream.read_blocking(&mut [0; 1]) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
                _ => Ok(()),
            }
        });
        error.map_err(|source| address::failed(&self.address, source))
    }
}

/// Ends a connection from any thread: a waiting request gets [`Error::Lost`], as do later ones.
#[derive(Debug)]
pub struct Disconnector(pub(crate) Socket);

impl Disconnector {
    /// Ends the connection.
    pub fn disconnect(&self) {
        // A lost connection does not need ending.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn bind(statement: &str, parameters: &[Option<&str>], output: &mut BytesMut) -> io::Result<()> {
    frontend::bind(
        "",
        statement,
        [],
        parameters.iter().copied(),
        |value: Option<&str>, output: &mut BytesMut| {
            Ok(value.map_or(IsNull::Yes, |value| {
                output.extend_from_slice(value.as_bytes());
                IsNull::No
            }))
        },
        [],
        output,
    )
    .map_err(|error| match error {
        frontend::BindError::Conversion(error) => io::Error::other(error),
        frontend::BindError::Serialization(error) => error,
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
    if part(0) >= 10 {
        part(0) * 10_000 + part(1)
    } else {
        part(0) * 10_000 + part(1) * 100 + part(2)
    }
}
