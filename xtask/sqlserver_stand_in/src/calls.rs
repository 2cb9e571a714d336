//! Calls of procedures (RPC) and bulk loads made into batches of statements, which is all that the
//! emulator understands of what the driver sends for them.
//!
//! A proxy stands before the emulator's port. It passes everything on as it is, but for requests of
//! type RPC (<https://learn.microsoft.com/openspecs/windows_protocols/ms-tds>, 2.2.6.6):
//! `sp_executesql` and `sp_prepexec` become their statement with values in place of its parameters
//! `@P1`, `@P2` and so on. The rows of a bulk load (2.2.6.1) become an INSERT.

use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::Builder;

const BATCH: u8 = 1;
const RPC: u8 = 3;
const ANSWER: u8 = 4;
const BULK: u8 = 7;
const END_OF_MESSAGE: u8 = 1;
const HEADER: usize = 8;
/// Bytes of a packet that we send.
const PACKET: usize = 4096;

/// Tokens of a bulk load.
const COLUMNS: u8 = 0x81;
const ROW: u8 = 0xD1;

/// The option of encryption in a first answer, and that there is none.
const ENCRYPTION: u8 = 1;
const NOT_SUPPORTED: u8 = 2;

const SP_EXECUTESQL: u16 = 10;
const SP_PREPEXEC: u16 = 13;

/// Serves connections, each by two threads.
pub fn serve(listener: &TcpListener, emulator: u16) {
    for client in listener.incoming().flatten() {
        let served = Builder::new().spawn(move || -> io::Result<()> {
            let server = TcpStream::connect(("127.0.0.1", emulator))?;
            let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
            for stream in [&client, &server] {
                stream.set_nodelay(true)?;
            }
            Builder::new().spawn(move || {
                let _ = without_encryption(&mut answers, &mut back);
                let _ = answer(&mut answers, &back);
                let _ = back.shutdown(Shutdown::Both);
            })?;
            let ended = forward(&client, &server);
            if let Err(error) = &ended
                && error.kind() == ErrorKind::InvalidData
            {
                eprintln!("{error}");
            }
            let _ = server.shutdown(Shutdown::Both);
            ended
        });
        if let Err(error) = served {
            eprintln!("a connection is not served: {error}");
        }
    }
}

/// Passes on the first answer, which says what the server can do: this one has no encryption, not
/// even of the login, whatever it says (2.2.6.5); it is of the type of all answers.
fn without_encryption(answers: &mut TcpStream, back: &mut TcpStream) -> io::Result<()> {
    let mut packet = vec![0; HEADER];
    answers.read_exact(&mut packet)?;
    packet.resize(usize::from(u16::from_be_bytes([packet[2], packet[3]])), 0);
    answers.read_exact(&mut packet[HEADER..])?;
    packet[0] = ANSWER;
    let options = packet[HEADER..].chunks(5).take_while(|option| option[0] != 0xFF);
    let encryption = options.filter(|option| option[0] == ENCRYPTION).last();
    if let Some(at) =
        encryption.map(|option| usize::from(u16::from_be_bytes([option[1], option[2]])))
    {
        packet[HEADER + at] = NOT_SUPPORTED;
    }
    back.write_all(&packet)
}

/// Passes on what a client sends, message by message.
fn forward(mut client: &TcpStream, mut server: &TcpStream) -> io::Result<()> {
    let mut message = Vec::new();
    // The headers of the batch that announced a bulk load, the table and its columns.
    let mut announced = None;
    loop {
        let mut header = [0; HEADER];
        client.read_exact(&mut header)?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut body = vec![0; length.saturating_sub(HEADER)];
        client.read_exact(&mut body)?;
        if ![BATCH, RPC, BULK].contains(&header[0]) {
            server.write_all(&[&header[..], &body].concat())?;
            continue;
        }
        message.extend(body);
        if header[1] & END_OF_MESSAGE == 0 {
            continue;
        }
        let mut request = Request { bytes: &message, at: 0 };
        let batch = match header[0] {
            RPC => request.call()?,
            BULK => request.bulk(announced.take())?,
            _ => match request.announcement()? {
                None => message.clone(),
                Some((headers, table)) => {
                    let nothing = [&headers[..], &utf16("SET NOCOUNT ON")].concat();
                    announced = Some((headers, table));
                    nothing
                }
            },
        };
        send(server, BATCH, &batch)?;
        message.clear();
    }
}

/// How the emulator describes columns of dates and times: behind user type, flags and type a
/// length, which these types do not have (2.2.5.4); and how it should.
const DESCRIBED: [(&[u8], &[u8]); 2] = [
    (&[0, 0, 0, 0, 1, 0, 0x28, 3], &[0, 0, 0, 0, 1, 0, 0x28]),
    (&[0, 0, 0, 0, 1, 0, 0x2A, 8, 7], &[0, 0, 0, 0, 1, 0, 0x2A, 7]),
];

/// Passes on what the emulator answers, message by message.
fn answer(answers: &mut TcpStream, back: &TcpStream) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        let mut header = [0; HEADER];
        answers.read_exact(&mut header)?;
        let mut body = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - HEADER];
        answers.read_exact(&mut body)?;
        message.extend(body);
        if header[1] & END_OF_MESSAGE != 0 {
            for (wrong, right) in DESCRIBED {
                message = replaced(&message, wrong, right);
            }
            send(back, ANSWER, &message)?;
            message.clear();
        }
    }
}

fn replaced(bytes: &[u8], wrong: &[u8], right: &[u8]) -> Vec<u8> {
    let (mut made, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some((first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(wrong) {
            made.extend(right);
            rest = after;
        } else {
            made.push(*first);
            rest = after;
        }
    }
    made
}

fn send(mut server: &TcpStream, kind: u8, batch: &[u8]) -> io::Result<()> {
    let mut packets = batch.chunks(PACKET - HEADER).peekable();
    let mut number = 1_u8;
    while let Some(packet) = packets.next() {
        let status = if packets.peek().is_none() { END_OF_MESSAGE } else { 0 };
        let [high, low] = ((packet.len() + HEADER) as u16).to_be_bytes();
        server.write_all(&[&[kind, status, high, low, 0, 0, number, 0], packet].concat())?;
        number = number.wrapping_add(1);
    }
    Ok(())
}

/// A request that is being read.
struct Request<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Request<'_> {
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
        let units: Vec<u16> =
            bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        Ok(String::from_utf16_lossy(&units))
    }

    /// The statement with its values, behind the headers of the request.
    fn call(&mut self) -> io::Result<Vec<u8>> {
        let headers = u32::from_le_bytes(self.take()?) as usize;
        self.at = headers;
        let unknown = |what: String| Error::new(ErrorKind::InvalidData, what);
        let procedure = match self.short()? {
            0xFFFF => self.short()?,
            length => {
                return Err(unknown(format!("a procedure with a name of {length} characters")));
            }
        };
        self.short()?;
        let mut values = Vec::new();
        while self.at < self.bytes.len() {
            values.push(self.parameter()?);
        }
        let (statement, parameters_from) = match procedure {
            SP_EXECUTESQL => (0, 2),
            SP_PREPEXEC => (2, 3),
            other => return Err(unknown(format!("procedure {other}"))),
        };
        let mut sql = values.get(statement).map(|(text, _)| text.clone()).unwrap_or_default();
        // The tenth one begins as the first does.
        for (number, (_, literal)) in values.iter().skip(parameters_from).enumerate().rev() {
            sql = sql.replace(&format!("@P{}", number + 1), literal);
        }
        Ok([&self.bytes[..headers], &utf16(&sql)].concat())
    }

    /// Reads a batch that announces a bulk load: its headers, and the table with its columns.
    fn announcement(&mut self) -> io::Result<Option<(Vec<u8>, String)>> {
        let headers = u32::from_le_bytes(self.take()?) as usize;
        self.at = headers;
        let sql = self.text(self.bytes.len() - headers)?;
        let Some((table, columns)) =
            sql.strip_prefix("INSERT BULK ").and_then(|rest| rest.split_once('('))
        else {
            return Ok(None);
        };
        // `[a] int, [b] decimal(15, 2)`: of each the name.
        let names = columns
            .split('[')
            .skip(1)
            .filter_map(|column| Some(format!("[{}]", column.split_once(']')?.0)));
        let names: Vec<String> = names.collect();
        Ok(Some((self.bytes[..headers].to_vec(), format!("{table} ({})", names.join(", ")))))
    }

    /// The rows of a bulk load as one statement.
    fn bulk(&mut self, announced: Option<(Vec<u8>, String)>) -> io::Result<Vec<u8>> {
        let unknown = |what: &str| Error::new(ErrorKind::InvalidData, what.to_owned());
        let (headers, table) =
            announced.ok_or_else(|| unknown("rows without INSERT BULK before them"))?;
        if self.byte()? != COLUMNS {
            return Err(unknown("rows without columns"));
        }
        let mut columns = Vec::new();
        for _ in 0..self.short()? {
            self.take::<6>()?;
            let data_type = self.byte()?;
            let scale = match data_type {
                0xA7 | 0xAF | 0xE7 | 0xEF => self.take::<7>().map(|_| 0)?,
                0x6A | 0x6C => self.take::<3>().map(|[_, _, scale]| scale)?,
                0x28 | 0x38 | 0x7F => 0,
                _ => self.byte()?,
            };
            let name = usize::from(self.byte()?);
            self.text(2 * name)?;
            columns.push((data_type, scale));
        }
        let mut rows = Vec::new();
        while self.byte()? == ROW {
            let values =
                columns.iter().map(|(data_type, scale)| self.value(*data_type, *scale));
            let values = values.collect::<io::Result<Vec<_>>>()?;
            rows.push(format!("({})", values.join(", ")));
        }
        let sql = format!("INSERT INTO {table} VALUES {}", rows.join(", "));
        Ok([&headers[..], &utf16(&sql)].concat())
    }

    /// A value of a row, as a literal.
    fn value(&mut self, data_type: u8, scale: u8) -> io::Result<String> {
        let length = match data_type {
            0xA7 | 0xAF | 0xE7 | 0xEF => usize::from(self.short()?),
            0x38 => 4,
            0x7F => 8,
            _ => usize::from(self.byte()?),
        };
        if length == 0 || length == 0xFFFF {
            return Ok(if length == 0 && data_type > 0xA0 { "''".into() } else { "NULL".into() });
        }
        if [0xE7, 0xEF].contains(&data_type) {
            return Ok(quoted(self.text(length)?).1);
        }
        let bytes = self.some(length)?;
        let little = |bytes: &[u8]| {
            bytes.iter().rev().fold(0_i128, |all, byte| all << 8 | i128::from(*byte))
        };
        Ok(match data_type {
            0xA7 | 0xAF => quoted(String::from_utf8_lossy(&bytes).into_owned()).1,
            0x6A | 0x6C => {
                let sign = if bytes[0] == 0 { "-" } else { "" };
                let unit = 10_i128.pow(scale.into());
                let number = little(&bytes[1..]);
                format!("{sign}{}.{:0width$}", number / unit, number % unit, width = scale.into())
            }
            0x28 => format!("'{}'", date(little(&bytes))),
            0x2A => {
                let (time, day) = bytes.split_at(length - 3);
                let second = little(time) / 10_i128.pow(scale.into());
                let (hour, minute) = (second / 3600, second / 60 % 60);
                format!("'{} {hour:02}:{minute:02}:{:02}'", date(little(day)), second % 60)
            }
            _ => number(data_type, &bytes),
        })
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
                return Err(Error::new(
                    ErrorKind::InvalidData,
                    format!("a parameter of type {other:#x}"),
                ));
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

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Formats the date this many days after 0001-01-01 (Hinnant, `civil_from_days`).
fn date(days: i128) -> String {
    let since_march = days + 306;
    let (era, day_of_era) = (since_march / 146_097, since_march % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + i128::from(month <= 2))
}

fn quoted(text: String) -> (String, String) {
    let literal = format!("N'{}'", text.replace('\'', "''"));
    (text, literal)
}

fn number(data_type: u8, bytes: &[u8]) -> String {
    let little = bytes.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    match (data_type, bytes.len()) {
        (0x24, _) => {
            let hex = |places: &[usize]| {
                places.iter().map(|at| format!("{:02X}", bytes[*at])).collect::<String>()
            };
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
