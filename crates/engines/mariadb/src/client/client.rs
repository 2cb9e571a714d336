//! A connection that asks and waits.

use crate::client::Error;
use crate::client::channel::Channel;
use crate::client::command;
use crate::client::config::{Config, Place};
use crate::client::login::{Greeting, login};
use crate::client::packet::Reader;
use crate::client::response::{Column, Event, Kind, Response};
use engine::Rows;
use socket2::SockAddr;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, ToSocketAddrs};
use std::time::Duration;
use transport::{Patience, Stream};
use work::Stop;

/// Bytes that a cell counts in addition to its own: several times what [`Rows`] take, so that an
/// answer of many short cells is limited too.
const CELL_COST: usize = 24;

/// A connection to a server. After [`Error::Server`] it can be used on, after another error it
/// cannot.
#[derive(Debug)]
pub struct Client {
    channel: Channel,
    greeting: Greeting,
}

impl Client {
    /// Connects and logs in.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        let patience = Patience::for_time(config.connect_timeout, config.stop.clone());
        let stream = open(config, patience)
            .map_err(|error| Error::Connect(config.place.to_string(), error))?;
        let mut channel = Channel::new(stream, matches!(config.place, Place::Unix(_)));
        let greeting = login(&mut channel, config)?;
        // From now on, as long as it takes.
        channel.stream.patience.restart(None);
        Ok(Self { channel, greeting })
    }

    /// Connects; this stop ends the login and each wait for an answer.
    pub fn connect_until(config: &Config, stop: &Stop) -> Result<Self, Error> {
        let mut client = Self::connect(&config.clone().with_stop(stop.clone()))?;
        client.set_stop(stop.clone());
        Ok(client)
    }

    /// Runs statements; returns the rows of the first one that has any.
    pub fn query(&mut self, sql: &str) -> Result<Rows, Error> {
        self.request(sql, |_| Ok(false))
    }

    /// Runs statements and discards their rows.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.query(sql).map(drop)
    }

    /// The first value of the first row; `None` for NULL, and where there is no row.
    pub fn cell(&mut self, sql: &str) -> Result<Option<String>, Error> {
        Ok(self.query(sql)?.cell().map(str::to_owned))
    }

    /// Runs `LOAD DATA LOCAL INFILE`: `next` appends the next part of the file and returns whether
    /// there was one.
    ///
    /// # Errors
    /// Also those of `next`; the server then sees the end of the file there.
    pub fn load<E>(
        &mut self,
        sql: &str,
        mut next: impl FnMut(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<Result<(), E>, Error> {
        let mut given_up = Ok(());
        self.request(sql, |out| match next(out) {
            Ok(more) => Ok(more),
            Err(error) => {
                given_up = Err(error);
                Ok(false)
            }
        })?;
        Ok(given_up)
    }

    fn request(
        &mut self,
        sql: &str,
        mut file: impl FnMut(&mut Vec<u8>) -> Result<bool, Error>,
    ) -> Result<Rows, Error> {
        self.channel.stream.patience.restart(self.channel.answer_timeout);
        command::query(&mut self.channel.output, sql);
        self.channel.flush()?;
        let rows = self.rows(&mut file);
        if let Err(Error::Timeout(_)) = rows {
            // What comes later answers no other request.
            let _ = self.channel.stream.socket().shutdown(Shutdown::Both);
        }
        rows
    }

    fn rows(
        &mut self,
        file: &mut impl FnMut(&mut Vec<u8>) -> Result<bool, Error>,
    ) -> Result<Rows, Error> {
        let mut response = Response::new(Kind::Results, self.greeting.caches_metadata());
        let (mut columns, mut rows, mut results) = (Vec::new(), None, 0);
        self.channel.received = 0;
        loop {
            let packet = self.channel.receive()?;
            match response.take(&packet)? {
                Event::Result { .. } => results += 1,
                Event::Column(packet) if results == 1 => {
                    columns.push(Column::parse(packet)?.name);
                }
                Event::Row(row) if results == 1 => {
                    let columns = std::mem::take(&mut columns);
                    let rows = rows.get_or_insert_with(|| Rows::with_columns(columns));
                    self.channel.received += CELL_COST * rows.columns().len();
                    push_row(rows, row).ok_or_else(Error::malformed)?;
                }
                Event::LocalFile => self.send_file(file)?,
                Event::End(result) => {
                    let rows = rows.unwrap_or_else(|| Rows::with_columns(columns));
                    return result.map(|()| rows).map_err(Error::Server);
                }
                _ => {}
            }
        }
    }

    fn send_file(
        &mut self,
        file: &mut impl FnMut(&mut Vec<u8>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut part = Vec::new();
        loop {
            part.clear();
            let more = file(&mut part)?;
            if !part.is_empty() {
                self.channel.send(|out| out.extend_from_slice(&part))?;
            }
            if !more {
                // An empty packet is the end.
                return self.channel.send(|_| ());
            }
        }
    }

    /// The server's version: `10.11.6-MariaDB-0+deb12u1`.
    pub fn version(&self) -> &str {
        &self.greeting.version
    }

    /// The greeting for a program behind a relay.
    pub(crate) fn greeting(&self) -> servers::programs::mysql::Greeting {
        let Greeting { version, connection_id, offered: capabilities, .. } = self.greeting.clone();
        servers::programs::mysql::Greeting { version, connection_id, capabilities }
    }

    /// Returns whether it is MariaDB, not MySQL.
    pub fn is_mariadb(&self) -> bool {
        self.greeting.is_mariadb()
    }

    /// Returns whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.channel.is_tls()
    }

    /// The number of this connection, as `KILL` takes it.
    pub fn connection_id(&self) -> u32 {
        self.greeting.connection_id
    }

    /// Returns whether results omit column descriptions that the client has.
    pub fn caches_metadata(&self) -> bool {
        self.greeting.caches_metadata()
    }

    /// Returns whether one statement can run for many rows of parameters.
    pub fn has_bulk(&self) -> bool {
        self.greeting.has_bulk()
    }

    /// The time that the server may take to answer a request; `None` is for ever.
    pub fn set_answer_timeout(&mut self, timeout: Option<Duration>) {
        self.channel.answer_timeout = timeout;
    }

    /// Sets the stop that ends waiting for answers.
    pub fn set_stop(&mut self, stop: Stop) {
        self.channel.stream.patience.stop = Some((stop, Duration::ZERO));
    }

    /// Sets the time that answers may take after a request to stop.
    pub fn set_grace(&mut self, time: Duration) {
        if let Some((_, grace)) = &mut self.channel.stream.patience.stop {
            *grace = time;
        }
    }

    /// The bare connection, for a load that writes and reads packets itself.
    pub fn into_stream(self) -> Stream {
        self.channel.into_stream()
    }
}

/// Adds a row of a statement that was sent as text; `None` when it has fewer cells than columns.
fn push_row(rows: &mut Rows, packet: &[u8]) -> Option<()> {
    let (mut reader, mut is_complete) = (Reader(packet), true);
    let cells = (0..rows.columns().len()).map(|_| {
        let cell = reader.cell();
        is_complete &= cell.is_some();
        cell.flatten().map(String::from_utf8_lossy)
    });
    rows.push(cells);
    is_complete.then_some(())
}

/// A connected socket.
fn open(config: &Config, patience: Patience) -> io::Result<Stream> {
    let (host, port) = match &config.place {
        Place::Unix(path) => {
            return Stream::connect(&SockAddr::unix(path)?, command::QUIT, patience);
        }
        Place::Tcp { host, port } => (host.as_str(), *port),
    };
    let mut result = Err(io::Error::new(ErrorKind::NotFound, "the host name has no address"));
    for address in (host, port).to_socket_addrs()? {
        result = Stream::connect(&address.into(), command::QUIT, patience.clone());
        if let Ok(stream) = &result {
            stream.socket().set_tcp_nodelay(true)?;
            break;
        }
    }
    result
}
