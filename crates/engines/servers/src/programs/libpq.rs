//! The beginning of a connection by libpq, as psql, `pg_dump` and `pg_restore` make it
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use super::relay::{Handshake, Relay};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use transport::Stream;
use work::Stop;

/// The port in the name of the socket.
const PORT: &str = "5432";

/// Codes at the beginning of the first message: version 3.0, and requests before it.
const VERSION: u32 = 3 << 16;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// Most bytes of that message, as in the server.
const STARTUP_BYTES_MAX: u32 = 10_000;

/// Parameters at the start of a program's session.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Startup {
    /// The role that the program asks for.
    pub user: String,
    /// The database.
    pub database: String,
    /// Command-line options of the server.
    pub options: Option<String>,
    /// Settings of the session, by name.
    pub settings: Vec<(String, String)>,
}

/// A session on the server, logged in.
pub struct Session {
    /// The connection.
    pub stream: Stream,
    /// Parameters that the server reported.
    pub parameters: BTreeMap<String, String>,
}

/// The handshake of programs that use libpq.
#[derive(Debug)]
pub struct Libpq<F>(F);

impl<F: Fn(&Startup, &Stop) -> Result<Session, E>, E> Libpq<F> {
    /// `log_in` logs in on the server by the rules of Steelbench's client; the program prints its
    /// error.
    pub fn new(log_in: F) -> Self {
        Self(log_in)
    }
}

/// Variables by which these programs find the relay.
pub fn environment(relay: &Relay) -> [(&'static str, String); 5] {
    [
        ("PGHOST", relay.folder().display().to_string()),
        ("PGPORT", PORT.into()),
        ("PGSSLMODE", "disable".into()),
        ("PGGSSENCMODE", "disable".into()),
        // Without it they read ~/.pgpass.
        ("PGPASSFILE", "/dev/null".into()),
    ]
}

impl<F, E> Handshake for Libpq<F>
where
    F: Fn(&Startup, &Stop) -> Result<Session, E> + Send + Sync + 'static,
    E: Display,
{
    const SOCKET: &'static str = ".s.PGSQL.5432";

    fn admit(&self, program: &mut UnixStream, over: &Stop) -> io::Result<Option<Stream>> {
        let Some(startup) = startup(program)? else { return Ok(None) };
        match (self.0)(&startup, over) {
            Ok(session) => {
                program.write_all(&welcome(&session.parameters))?;
                Ok(Some(session.stream))
            }
            Err(reason) => {
                let fields = format!(
                    "SFATAL\0VFATAL\0C28000\0M{}\0\0",
                    reason.to_string().replace('\0', "")
                );
                program.write_all(&message(b'E', fields.as_bytes()))?;
                Ok(None)
            }
        }
    }
}

/// Reads up to the start of a session; `None` for a request to cancel another one.
fn startup(program: &mut UnixStream) -> io::Result<Option<Startup>> {
    loop {
        let [length, code] = [number(program)?, number(program)?];
        if !(8..=STARTUP_BYTES_MAX).contains(&length) {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut rest = vec![0; length as usize - 8];
        program.read_exact(&mut rest)?;
        match code {
            TLS | GSS => program.write_all(b"N")?,
            CANCEL => return Ok(None),
            VERSION => return Ok(Some(parse(&rest))),
            _ => return Err(ErrorKind::InvalidData.into()),
        }
    }
}

fn number(program: &mut UnixStream) -> io::Result<u32> {
    let mut bytes = [0; 4];
    program.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

fn parse(rest: &[u8]) -> Startup {
    let texts: Vec<String> =
        rest.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into()).collect();
    let mut startup = Startup::default();
    for pair in texts.chunks_exact(2) {
        let [name, value] = [&pair[0], &pair[1]].map(String::clone);
        match name.as_str() {
            "user" => startup.user = value,
            "database" => startup.database = value,
            "options" => startup.options = Some(value),
            "" => break,
            _ => startup.settings.push((name, value)),
        }
    }
    if startup.database.is_empty() {
        startup.database.clone_from(&startup.user);
    }
    startup
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// The end of a login: accepted, the parameters, no key to cancel with, ready.
fn welcome(parameters: &BTreeMap<String, String>) -> Vec<u8> {
    let status = parameters
        .iter()
        .map(|(name, value)| message(b'S', format!("{name}\0{value}\0").as_bytes()));
    let mut all = message(b'R', &[0; 4]);
    all.extend(status.flatten());
    all.extend(message(b'K', &[0; 8]));
    all.extend(message(b'Z', b"I"));
    all
}

#[cfg(test)]
mod tests {
    use super::{CANCEL, Startup, TLS, VERSION, startup};
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn read(messages: &[(u32, &[u8])]) -> Option<Startup> {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        for (code, body) in messages {
            let length = (body.len() as u32 + 8).to_be_bytes();
            theirs.write_all(&[&length[..], &code.to_be_bytes(), body].concat()).unwrap();
        }
        drop(theirs.shutdown(std::net::Shutdown::Write));
        startup(&mut ours).unwrap_or_default()
    }

    #[test]
    fn a_program_says_role_database_and_settings() {
        let body = b"user\0me\0database\0d\0options\0-c x=1\0application_name\0psql\0\0";
        let expected = Startup {
            user: "me".into(),
            database: "d".into(),
            options: Some("-c x=1".into()),
            settings: vec![("application_name".into(), "psql".into())],
        };
        assert_eq!(read(&[(TLS, b""), (VERSION, body)]), Some(expected));
        assert_eq!(read(&[(VERSION, b"user\0me\0\0")]).unwrap().database, "me");
        assert_eq!(read(&[(CANCEL, &[0; 8])]), None);
        assert_eq!(read(&[(VERSION | 9, b"user\0me\0\0")]), None);
    }
}
