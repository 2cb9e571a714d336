//! Parser of a server's response to one command, packet by packet
//! (<https://mariadb.com/kb/en/4-server-response-packets/>,
//! <https://mariadb.com/kb/en/result-set-packets/>).
//!
//! All of it is for connections with `CLIENT_DEPRECATE_EOF`, which every connection of this crate
//! has.

use crate::client::{Error, Reader, ServerError};

const OK: u8 = 0x00;
const LOCAL_FILE: u8 = 0xFB;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
/// An END packet is shorter, a row that begins with that byte is longer.
const END_BYTES_MAX: usize = 0xFF_FFFF;
/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u16 = 8;

/// Kind of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Results of statements, if they have any.
    Results,
    /// A statement's number, and what its parameters and columns are.
    Prepared,
}

/// A statement that the server has prepared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The number on this connection.
    pub id: u32,
    /// Number of parameters.
    pub parameters: u16,
    /// Number of columns.
    pub columns: u16,
}

/// A column of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// How its values are sent in a row of a prepared statement.
    pub column_type: ColumnType,
}

/// The type of a column and whether its numbers have a sign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnType {
    code: u8,
    is_unsigned: bool,
}

/// Content of a packet.
#[derive(Debug)]
pub enum Event<'a> {
    /// Nothing that needs an action.
    Nothing,
    /// A result begins; whether its columns are described again.
    Result {
        /// Their number.
        columns: u64,
        /// True if they follow; else they are as prepared.
        described: bool,
    },
    /// A column of it, or of a statement that is prepared: what [`Column::parse`] reads.
    Column(&'a [u8]),
    /// A row of it.
    Row(&'a [u8]),
    /// The server wants the rows of `LOAD DATA LOCAL INFILE`.
    LocalFile,
    /// The statement is prepared.
    Prepared(Prepared),
    /// The response has ended.
    End(Result<(), ServerError>),
}

/// State of reading a response: which packet is next.
#[derive(Debug, Clone, Copy)]
enum Stage {
    First,
    /// Definitions follow: `left` of them, the last `columns` of columns. Then rows, unless it was
    /// prepared.
    Definitions {
        left: u64,
        columns: u64,
    },
    Rows,
}

/// The response to one command.
#[derive(Debug)]
pub struct Response {
    kind: Kind,
    stage: Stage,
    caches_metadata: bool,
}

impl Response {
    /// Starts a response; `caches_metadata`: the server omits descriptions that the client has.
    pub fn new(kind: Kind, caches_metadata: bool) -> Self {
        Self { kind, stage: Stage::First, caches_metadata }
    }

    /// Takes the content of the next packet.
    ///
    /// # Errors
    /// When it is not what the protocol has there.
    pub fn take<'a>(&mut self, packet: &'a [u8]) -> Result<Event<'a>, Error> {
        let (&first, rest) = packet.split_first().ok_or_else(Error::malformed)?;
        if first == ERROR {
            return Ok(Event::End(Err(ServerError::parse(rest))));
        }
        match (self.stage, self.kind) {
            (Stage::First, Kind::Prepared) => self.prepared(rest).ok_or_else(Error::malformed),
            (Stage::First, Kind::Results) if first == OK => self.end(rest),
            (Stage::First, Kind::Results) if first == LOCAL_FILE => Ok(Event::LocalFile),
            (Stage::First, Kind::Results) => self.result(packet).ok_or_else(Error::malformed),
            (Stage::Definitions { left, columns }, kind) => {
                let left = left - 1;
                self.stage = match (left, kind) {
                    (0, Kind::Prepared) => return Ok(self.last_definition(packet, columns)),
                    (0, Kind::Results) => Stage::Rows,
                    _ => Stage::Definitions { left, columns },
                };
                Ok(if left < columns { Event::Column(packet) } else { Event::Nothing })
            }
            (Stage::Rows, _) if first == END && packet.len() < END_BYTES_MAX => self.end(rest),
            (Stage::Rows, _) => Ok(Event::Row(packet)),
        }
    }

    /// Returns whether a response to a prepare ends with [`Event::Prepared`] or a column: it has no
    /// terminator.
    pub fn is_over(&self) -> bool {
        self.kind == Kind::Prepared && matches!(self.stage, Stage::Definitions { left: 0, .. })
    }

    fn last_definition<'a>(&mut self, packet: &'a [u8], columns: u64) -> Event<'a> {
        self.stage = Stage::Definitions { left: 0, columns };
        if columns > 0 { Event::Column(packet) } else { Event::Nothing }
    }

    fn prepared<'a>(&mut self, rest: &'a [u8]) -> Option<Event<'a>> {
        let mut reader = Reader(rest);
        let (id, columns, parameters) = (reader.u32()?, reader.u16()?, reader.u16()?);
        self.stage = Stage::Definitions {
            left: u64::from(columns) + u64::from(parameters),
            columns: columns.into(),
        };
        Some(Event::Prepared(Prepared { id, parameters, columns }))
    }

    fn result<'a>(&mut self, packet: &'a [u8]) -> Option<Event<'a>> {
        let mut reader = Reader(packet);
        let columns = reader.length()?;
        let described = !self.caches_metadata || reader.u8()? == 1;
        self.stage =
            if described { Stage::Definitions { left: columns, columns } } else { Stage::Rows };
        Some(Event::Result { columns, described })
    }

    /// An OK or END packet: affected rows, last number, status.
    fn end<'a>(&mut self, rest: &'a [u8]) -> Result<Event<'a>, Error> {
        let mut reader = Reader(rest);
        let status = reader.length().and(reader.length()).and(reader.u16());
        let status = status.ok_or_else(Error::malformed)?;
        if status & MORE_RESULTS == 0 {
            return Ok(Event::End(Ok(())));
        }
        self.stage = Stage::First;
        Ok(Event::Nothing)
    }
}

impl Column {
    /// Reads the definition of a column: catalog, schema, table and its alias, name and its alias,
    /// MariaDB's further information (not asked for), then 12 bytes: character set, length,
    /// type, flags, decimals
    /// (<https://mariadb.com/kb/en/result-set-packets/#column-definition-packet>).
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(packet: &[u8]) -> Result<Self, Error> {
        Self::read(Reader(packet)).ok_or_else(Error::malformed)
    }

    fn read(mut reader: Reader<'_>) -> Option<Self> {
        for _ in 0..4 {
            reader.text()?;
        }
        let name = reader.text()?;
        let _original = reader.text()?;
        reader.length()?;
        reader.bytes(6)?;
        let (code, flags) = (reader.u8()?, reader.u16()?);
        let column_type = ColumnType { code, is_unsigned: flags & 32 != 0 };
        Some(Self { name: String::from_utf8_lossy(name).into_owned(), column_type })
    }
}

impl ColumnType {
    /// The value of a column in a row of a prepared statement, as the text that the server would
    /// have sent (<https://mariadb.com/kb/en/result-set-packets/#binary-resultset-row>). Decimals,
    /// texts and what else has no form of its own are sent as text.
    fn text(self, reader: &mut Reader<'_>) -> Option<String> {
        let unsigned = self.is_unsigned;
        Some(match self.code {
            1 => signed(reader.u8()?, unsigned, |value| value as i8),
            // SMALLINT, YEAR
            2 | 13 => signed(reader.u16()?, unsigned, |value| value as i16),
            // INT, MEDIUMINT
            3 | 9 => signed(reader.u32()?, unsigned, |value| value as i32),
            8 => signed(reader.u64()?, unsigned, |value| value as i64),
            4 => reader.f32()?.to_string(),
            5 => reader.f64()?.to_string(),
            // TIMESTAMP, DATE, DATETIME
            7 | 10 | 12 => date(reader, self.code == 10)?,
            11 => time(reader)?,
            _ => String::from_utf8_lossy(reader.text()?).into_owned(),
        })
    }
}

fn signed<T: ToString, S: ToString>(
    value: T,
    is_unsigned: bool,
    sign: impl FnOnce(T) -> S,
) -> String {
    if is_unsigned { value.to_string() } else { sign(value).to_string() }
}

fn date(reader: &mut Reader<'_>, is_day: bool) -> Option<String> {
    let bytes = reader.u8()?;
    let mut value = Reader(reader.bytes(bytes.into())?);
    let (year, month, day) =
        (value.u16().unwrap_or(0), value.u8().unwrap_or(0), value.u8().unwrap_or(0));
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if is_day { date } else { format!("{date} {}", of_day(0, &mut value)) })
}

fn time(reader: &mut Reader<'_>) -> Option<String> {
    let bytes = reader.u8()?;
    let mut value = Reader(reader.bytes(bytes.into())?);
    let sign = if value.u8() == Some(1) { "-" } else { "" };
    let days = value.u32().unwrap_or(0);
    Some(format!("{sign}{}", of_day(days, &mut value)))
}

/// Hours, minutes, seconds, and microseconds if there are any; what is zero at the end is not sent.
fn of_day(days: u32, value: &mut Reader<'_>) -> String {
    let mut next = || value.u8().unwrap_or(0);
    let (hour, minute, second) = (u32::from(next()) + 24 * days, next(), next());
    let fraction =
        value.u32().map(|microseconds| format!(".{microseconds:06}")).unwrap_or_default();
    format!("{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// The cells of a row of a prepared statement; `None` when it is not one of these columns.
pub fn binary_row(packet: &[u8], columns: &[Column]) -> Option<Vec<Option<String>>> {
    let mut reader = Reader(packet.get(1..)?);
    // The first two bits are not used.
    let nulls = reader.bytes((columns.len() + 9) / 8)?;
    columns
        .iter()
        .enumerate()
        .map(|(number, column)| {
            let bit = number + 2;
            if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
                return Some(None);
            }
            column.column_type.text(&mut reader).map(Some)
        })
        .collect()
}

/// The cells of a row of a statement that was sent as text.
pub fn text_row(packet: &[u8], columns: usize) -> Option<Vec<Option<String>>> {
    let mut reader = Reader(packet);
    (0..columns)
        .map(|_| {
            reader.cell().map(|cell| cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        })
        .collect()
}
