//! The beginning of a connection by the `mariadb` and `mysql` clients
//! (<https://mariadb.com/kb/en/connection/>).

use super::relay::Handshake;
use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use transport::Stream;
use work::Stop;

/// Capabilities that a program may have here, as bits. Absent are TLS, compression, attributes of
/// the connection, what MariaDB adds, and files of the program's machine (`CLIENT_LOCAL_FILES`).
const OFFERED: u64 = 0x016f_f75f;
/// Capabilities that the answer of a program needs to be read.
const NEEDED: u64 = 1 << 9 | 1 << 15;

/// Status of a session: statements commit themselves.
const AUTOCOMMIT: u16 = 2;
/// The length of a packet at most, before the login is done.
const LOGIN_BYTES_MAX: usize = 64 << 10;
/// The proof of a password that no server needs is made of this.
const CHALLENGE: &[u8; 20] = b"no-password-is-given";

/// The server's side of a login.
#[derive(Debug, Clone)]
pub struct Greeting {
    /// The server's version, as it is sent.
    pub version: String,
    /// Number of a connection.
    pub connection_id: u32,
    /// Capabilities of the server.
    pub capabilities: u64,
}

/// The program's side of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// Capabilities of the session, which the server has, too.
    pub capabilities: u64,
    /// Character set, by its number.
    pub charset: u8,
}

/// The handshake of these programs.
#[derive(Debug)]
pub struct Mysql<F> {
    greeting: Greeting,
    log_in: F,
}

impl<F: Fn(Login, &Stop) -> Result<Stream, E>, E> Mysql<F> {
    /// Greets programs as the server does. `log_in` logs in on the server by the rules of
    /// Steelbench's client; the program prints its error.
    pub fn new(greeting: Greeting, log_in: F) -> Self {
        Self { greeting, log_in }
    }
}

impl<F, E> Handshake for Mysql<F>
where
    F: Fn(Login, &Stop) -> Result<Stream, E> + Send + Sync + 'static,
    E: Display,
{
    const SOCKET: &'static str = "mysql.sock";

    fn admit(&self, program: &mut UnixStream, over: &Stop) -> io::Result<Option<Stream>> {
        let offered = self.greeting.capabilities & OFFERED;
        program.write_all(&packet(0, &introduction(&self.greeting, offered)))?;
        let (sequence, answer) = receive(program)?;
        let login = parse(&answer, offered).ok_or(ErrorKind::InvalidData)?;
        let (body, server) = match (self.log_in)(login, over) {
            Ok(server) => (vec![0, 0, 0, AUTOCOMMIT as u8, 0, 0, 0], Some(server)),
            // ER_ACCESS_DENIED_ERROR
            Err(reason) => ([b"\xff\x15\x04#28000", reason.to_string().as_bytes()].concat(), None),
        };
        program.write_all(&packet(sequence.wrapping_add(1), &body))?;
        Ok(server)
    }
}

fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = (body.len() as u32).to_le_bytes();
    [&[low, middle, high, sequence], body].concat()
}

fn receive(program: &mut UnixStream) -> io::Result<(u8, Vec<u8>)> {
    let mut header = [0; 4];
    program.read_exact(&mut header)?;
    let [low, middle, high, sequence] = header;
    let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
    if length > LOGIN_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    program.read_exact(&mut body)?;
    Ok((sequence, body))
}

/// The first packet of a server, in version 10 of the protocol.
fn introduction(greeting: &Greeting, offered: u64) -> Vec<u8> {
    let (first, second) = CHALLENGE.split_at(8);
    let parts: [&[u8]; 14] = [
        b"\x0a",
        greeting.version.as_bytes(),
        b"\0",
        &greeting.connection_id.to_le_bytes(),
        first,
        b"\0",
        &(offered as u16).to_le_bytes(),
        // `utf8mb4_general_ci`; the program has its own.
        &[45],
        &AUTOCOMMIT.to_le_bytes(),
        &((offered >> 16) as u16).to_le_bytes(),
        &[CHALLENGE.len() as u8 + 1],
        &[0; 10],
        second,
        b"\0mysql_native_password\0",
    ];
    parts.concat()
}

/// Reads a program's answer, of which user and proof do not matter.
fn parse(answer: &[u8], offered: u64) -> Option<Login> {
    let (length, rest) = answer.split_first_chunk::<4>()?;
    let length = u64::from(u32::from_le_bytes(*length));
    if length & NEEDED != NEEDED {
        return None;
    }
    // The most bytes of a packet go before the character set.
    Some(Login { capabilities: length & offered, charset: *rest.get(4)? })
}

#[cfg(test)]
mod tests {
    use super::{Greeting, Login, OFFERED, introduction, parse};

    #[test]
    fn local_files_and_encryption_are_not_offered() {
        for bit in [5, 7, 11, 20, 23] {
            assert_eq!(OFFERED & 1 << bit, 0, "{bit}");
        }
        for bit in [9, 13, 15, 16, 17, 18, 19, 21, 24] {
            assert_ne!(OFFERED & 1 << bit, 0, "{bit}");
        }
    }

    #[test]
    fn a_program_has_at_most_the_capabilities_that_it_was_offered() {
        let mut answer = (u32::MAX).to_le_bytes().to_vec();
        answer.extend([0, 0, 0, 1, 33, 0, 0]);
        let offered = 0xa200;
        let login = Login { capabilities: offered, charset: 33 };
        assert_eq!(parse(&answer, offered), Some(login));
        assert_eq!(parse(&answer[..8], offered), None);
        answer[..4].fill(0);
        assert_eq!(parse(&answer, offered), None);
    }

    #[test]
    fn an_introduction_has_all_parts() {
        let greeting =
            Greeting { version: "10.11".into(), connection_id: 7, capabilities: u64::MAX };
        let bytes = introduction(&greeting, OFFERED);
        assert_eq!(&bytes[..11], b"\x0a10.11\0\x07\0\0\0");
        assert!(bytes.ends_with(b"given\0mysql_native_password\0"));
    }
}
