//! A socket with its packets.

use crate::client::Error;
use crate::client::packet::{Packets, put_packet};
use std::io::{self, ErrorKind};
use std::time::Duration;
use transport::Stream;
use transport::tls::Tls;

/// Bytes of one read from the socket.
const READ_BYTES: usize = 64 << 10;
/// Most bytes of one packet, and of all of an answer, with what it takes to keep it: what a server
/// sends must not fill our memory.
const RECEIVED_BYTES_MAX: usize = 64 << 20;
/// Memory of a packet, in addition to its bytes.
const PACKET_COST: usize = 32;

/// A socket with its packets.
#[derive(Debug)]
pub(crate) struct Channel {
    pub stream: Stream,
    is_unix: bool,
    input: Vec<u8>,
    /// Bytes at its front that are done with.
    consumed: usize,
    packets: Packets,
    /// Bytes of the answer so far, or of the login.
    pub received: usize,
    /// Of the next packet that is sent in an exchange.
    sequence: u8,
    pub output: Vec<u8>,
    pub answer_timeout: Option<Duration>,
}

impl Channel {
    pub fn new(stream: Stream, is_unix: bool) -> Self {
        Self {
            stream,
            is_unix,
            input: Vec::new(),
            consumed: 0,
            packets: Packets::default(),
            received: 0,
            sequence: 0,
            output: Vec::new(),
            answer_timeout: None,
        }
    }

    /// Returns whether the connection is private: encrypted or local.
    pub fn is_private(&self) -> bool {
        self.is_unix || self.is_tls()
    }

    pub fn is_tls(&self) -> bool {
        self.stream.is_tls()
    }

    /// Encrypts from here on. Fails if unencrypted bytes are already buffered.
    pub fn encrypt(&mut self, tls: &Tls) -> io::Result<()> {
        if self.consumed < self.input.len() {
            return Err(io::Error::other("the server sent data before encryption was established"));
        }
        tls.start(&mut self.stream)
    }

    /// Sends a packet of the exchange that is going on.
    pub fn send(&mut self, body: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        self.sequence = put_packet(&mut self.output, self.sequence, body);
        self.flush()
    }

    pub fn flush(&mut self) -> Result<(), Error> {
        let sent = self.stream.write_all(&self.output);
        self.output.clear();
        sent.map_err(Error::of_socket)
    }

    /// The content of the next packet.
    pub fn receive(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            let mut input = &self.input[self.consumed..];
            let packet = self.packets.next(&mut input);
            self.consumed = self.input.len() - input.len();
            if let Some((content, sequence)) = packet {
                self.sequence = sequence.wrapping_add(1);
                self.received += content.len() + PACKET_COST;
                let content = content.to_vec();
                return if self.received > RECEIVED_BYTES_MAX {
                    Err(too_long("an answer"))
                } else {
                    Ok(content)
                };
            }
            self.input.drain(..self.consumed);
            self.consumed = 0;
            let before = self.input.len();
            if before > RECEIVED_BYTES_MAX {
                return Err(too_long("a packet"));
            }
            self.input.resize(before + READ_BYTES, 0);
            let read = self.stream.read_blocking(&mut self.input[before..]);
            self.input.truncate(before + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err(Error::Lost(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(Error::of_socket(error)),
            }
        }
    }
    /// The bare stream, with the bytes that were read too early.
    pub fn into_stream(mut self) -> Stream {
        self.stream.unread(&self.input[self.consumed..]);
        self.stream
    }
}

fn too_long(what: &str) -> Error {
    Error::Protocol(format!("{what} is longer than {} MiB", RECEIVED_BYTES_MAX >> 20))
}
