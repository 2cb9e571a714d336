//! Calls of procedures (RPC) made into batches of statements, which is all that the emulator understands of what the driver
//! sends for a statement with parameters.
//!
//! A proxy stands before the emulator's port. It passes everything on as it is, but for requests of type RPC
//! (<https://learn.microsoft.com/openspecs/windows_protocols/ms-tds>, 2.2.6.6): `sp_executesql` and `sp_prepexec` become
//! declarations of their parameters, and the statement behind them.

use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

const BATCH: u8 = 1;
const RPC: u8 = 3;
const END_OF_MESSAGE: u8 = 1;
const HEADER: usize = 8;
/// Bytes of a packet that we send.
const PACKET: usize = 4096;

const SP_EXECUTESQL: u16 = 10;
const SP_PREPEXEC: u16 = 13;

/// Serves connections, each by two threads.
pub fn serve(listener: &TcpListener, emulator: u16) {
    for client in listener.incoming().flatten() {
        std::thread::spawn(move || -> io::Result<()> {
            let server = TcpStream::connect(("127.0.0.1", emulator))?;
            let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
            for stream in [&client, &server] {
                stream.set_nodelay(true)?;
            }
            std::thread::spawn(move || {
                let _ = io::copy(&mut answers, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            let ended = forward(&client, &server);
            let _ = server.shutdown(Shutdown::Both);
            ended
        });
    }
}

/// Passes on what a client sends, message by message.
fn forward(mut client: &TcpStream, mut server: &TcpStream) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        let mut header = [0; HEADER];
        client.read_exact(&mut header)?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut body = vec![0; length.saturating_sub(HEADER)];
        client.read_exact(&mut body)?;
        if header[0] != RPC {
            server.write_all(&[&header[..], &body].concat())?;
            continue;
        }
        message.extend(body);
        if header[1] & END_OF_MESSAGE != 0 {
            let batch = Call { bytes: &message, at: 0 }.as_batch()?;
            send(server, &batch)?;
            message.clear();
        }
    }
}

fn send(mut server: &TcpStream, batch: &[u8]) -> io::Result<()> {
    let mut packets = batch.chunks(PACKET - HEADER).peekable();
    let mut number = 1_u8;
    while let Some(packet) = packets.next() {
        let status = if packets.peek().is_none() { END_OF_MESSAGE } else { 0 };
        let [high, low] = ((packet.len() + HEADER) as u16).to_be_bytes();
        server.write_all(&[&[BATCH, status, high, low, 0, 0, number, 0], packet].concat())?;
        number = number.wrapping_add(1);
    }
    Ok(())
}

/// A request that is being read.
struct Call<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Call<'_> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let taken = self.bytes.get(self.at..self.at + N).and_then(|taken| taken.try_into().ok());
        self.at += N;
        taken.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn short(&mut self) -> io::Result<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn some(&mut self, length: usize) -> io::Result<Vec<u8>> {
        (0..length).map(|_| self.byte()).collect()
    }

    fn text(&mut self, bytes: usize) -> io::Result<String> {
        let bytes = self.some(bytes)?;
        let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        Ok(String::from_utf16_lossy(&units))
    }

    /// The statement with its parameters declared, behind the headers of the request.
    fn as_batch(mut self) -> io::Result<Vec<u8>> {
        let headers = u32::from_le_bytes(self.take()?) as usize;
        self.at = headers;
        let unknown = |what: String| Error::new(ErrorKind::InvalidData, what);
        let procedure = match self.short()? {
            0xFFFF => self.short()?,
            length => return Err(unknown(format!("a procedure with a name of {length} characters"))),
        };
        self.short()?;
        let mut values = Vec::new();
        while self.at < self.bytes.len() {
            values.push(self.parameter()?);
        }
        let (statement, declared, own) = match procedure {
            SP_EXECUTESQL => (0, 1, 2),
            SP_PREPEXEC => (2, 1, 3),
            other => return Err(unknown(format!("procedure {other}"))),
        };
        let text = |at: usize| values.get(at).map(|(text, _)| text.clone()).unwrap_or_default();
        let mut sql = String::new();
        for (declaration, (_, literal)) in declarations(&text(declared)).iter().zip(values.iter().skip(own)) {
            sql += &format!("DECLARE {declaration} = {literal}; ");
        }
        sql += &text(statement);
        let units = sql.encode_utf16().flat_map(u16::to_le_bytes);
        Ok(self.bytes[..headers].iter().copied().chain(units).collect())
    }

    /// The value of a parameter: its text, where it is one, and as a literal.
    fn parameter(&mut self) -> io::Result<(String, String)> {
        let name = usize::from(self.byte()?);
        self.text(2 * name)?;
        self.byte()?;
        let data_type = self.byte()?;
        let null = || (String::new(), "NULL".to_owned());
        Ok(match data_type {
            // Whole numbers, truth values, floating point numbers, UUIDs.
            0x26 | 0x68 | 0x6D | 0x24 => {
                self.byte()?;
                let length = usize::from(self.byte()?);
                let bytes = self.some(length)?;
                if bytes.is_empty() { null() } else { (String::new(), number(data_type, &bytes)) }
            }
            // Text.
            0xE7 | 0xA7 => {
                let most = self.short()?;
                self.take::<5>()?;
                let length = if most == 0xFFFF {
                    return self.long_text();
                } else {
                    self.short()?
                };
                if length == 0xFFFF { null() } else { quoted(self.text(length.into())?) }
            }
            other => {
                return Err(Error::new(ErrorKind::InvalidData, format!("a parameter of type {other:#x}")));
            }
        })
    }

    fn long_text(&mut self) -> io::Result<(String, String)> {
        if u64::from_le_bytes(self.take()?) == u64::MAX {
            return Ok((String::new(), "NULL".to_owned()));
        }
        let mut text = String::new();
        loop {
            match u32::from_le_bytes(self.take()?) {
                0 => return Ok(quoted(text)),
                length => text += &self.text(length as usize)?,
            }
        }
    }
}

fn quoted(text: String) -> (String, String) {
    let literal = format!("N'{}'", text.replace('\'', "''"));
    (text, literal)
}

fn number(data_type: u8, bytes: &[u8]) -> String {
    let little = bytes.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    match (data_type, bytes.len()) {
        (0x24, _) => {
            let hex = |places: &[usize]| places.iter().map(|at| format!("{:02X}", bytes[*at])).collect::<String>();
            let groups = [&[3, 2, 1, 0][..], &[5, 4], &[7, 6], &[8, 9], &[10, 11, 12, 13, 14, 15]];
            format!("'{}'", groups.map(hex).join("-"))
        }
        (0x6D, 4) => f32::from_bits(little as u32).to_string(),
        (0x6D, _) => f64::from_bits(little).to_string(),
        (_, 4) => (little as i32).to_string(),
        (_, 8) => (little as i64).to_string(),
        _ => little.to_string(),
    }
}

/// `@P1 bigint,@P2 decimal(15,2)`, one by one.
fn declarations(text: &str) -> Vec<String> {
    let parts = text.split('@').skip(1);
    parts.map(|part| format!("@{}", part.trim_end_matches([',', ' ']))).collect()
}
