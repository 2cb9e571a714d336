//! The client protocol of NATS: <https://docs.nats.io/reference/reference-protocols/nats-protocol>.
//! The part of it that this crate needs: publish, subscribe, and answers with a status.

use crate::message::BYTES_MAX;
use observations::Secret;
use serde::Deserialize;
use serde_json::json;

/// Longest line of the protocol: INFO of a server with many addresses.
const LINE_MAX: usize = 64 << 10;
/// Largest headers and payload that are accepted.
const CONTENT_MAX: usize = BYTES_MAX + (64 << 10);

/// A message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromServer {
    /// The first message.
    Info(ServerInfo),
    /// A message on a subject that is subscribed to.
    Message(Delivery),
    /// It asks for a PONG.
    Ping,
    /// The answer to a PING.
    Pong,
    /// It objects, and may close the connection.
    Error(String),
    /// It agrees.
    Ok,
}

/// A server's description of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ServerInfo {
    /// It wants TLS.
    pub tls_required: bool,
}

/// A message that was published.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The subject.
    pub subject: String,
    /// Status of an answer: 404 nothing found, 503 no one answers.
    pub status: Option<u16>,
    /// The content.
    pub payload: Vec<u8>,
}

/// Why a server's bytes are not the protocol.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// A line is too long.
    #[error("it sends a line of more than {LINE_MAX} bytes")]
    Line,
    /// A message is too large.
    #[error("it sends a message of more than {CONTENT_MAX} bytes")]
    Content,
    /// A line is not one of the protocol.
    #[error("it does not speak NATS")]
    Unknown,
}

/// Bytes of a server that have arrived, up to the next whole message.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// Bytes that have been read as messages.
    read: usize,
}

impl Inbox {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.read));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next message; `None`: it has not arrived as a whole.
    ///
    /// # Errors
    /// When the bytes are not the protocol.
    pub fn next(&mut self) -> Result<Option<FromServer>, ProtocolError> {
        let rest = &self.bytes[self.read..];
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else {
            return if rest.len() > LINE_MAX { Err(ProtocolError::Line) } else { Ok(None) };
        };
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| ProtocolError::Unknown)?;
        let (word, arguments) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let with_headers = word.eq_ignore_ascii_case("HMSG");
        if with_headers || word.eq_ignore_ascii_case("MSG") {
            let words: Vec<&str> = arguments.split_ascii_whitespace().collect();
            let lengths = if with_headers { 2 } else { 1 };
            if !(2 + lengths..=3 + lengths).contains(&words.len()) {
                return Err(ProtocolError::Unknown);
            }
            let length = |at: usize| words[words.len() - at].parse::<usize>();
            let all = length(1).map_err(|_| ProtocolError::Unknown)?;
            let headers = if with_headers { length(2) } else { Ok(0) };
            let headers = headers.map_err(|_| ProtocolError::Unknown)?;
            if all > CONTENT_MAX || headers > all {
                return Err(ProtocolError::Content);
            }
            let start = end + 2;
            if rest.len() < start + all + 2 {
                return Ok(None);
            }
            let (headers, payload) = rest[start..start + all].split_at(headers);
            let delivered = Delivery {
                subject: words[0].to_owned(),
                status: status(headers),
                payload: payload.to_vec(),
            };
            self.read += start + all + 2;
            return Ok(Some(FromServer::Message(delivered)));
        }
        let message = match word.to_ascii_uppercase().as_str() {
            "INFO" => {
                let info = serde_json::from_str(arguments).map_err(|_| ProtocolError::Unknown)?;
                FromServer::Info(info)
            }
            "PING" => FromServer::Ping,
            "PONG" => FromServer::Pong,
            "+OK" => FromServer::Ok,
            "-ERR" => FromServer::Error(arguments.trim_matches('\'').to_owned()),
            _ => return Err(ProtocolError::Unknown),
        };
        self.read += end + 2;
        Ok(Some(message))
    }
}

/// The status in the first line of headers: `NATS/1.0 404 Message Not Found`.
fn status(headers: &[u8]) -> Option<u16> {
    let line = headers.split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.split(' ').nth(1)?.parse().ok()
}

/// The introduction of a client, and a PING whose answer says that it was accepted.
pub fn connect(token: &Secret, tls: bool) -> Vec<u8> {
    let connect_options = json!({
        "verbose": false,
        "pedantic": false,
        "name": "steelbench",
        "lang": "rust",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": 1,
        "headers": true,
        "no_responders": true,
        "tls_required": tls,
        "auth_token": token.reveal(),
    });
    format!("CONNECT {connect_options}\r\nPING\r\n").into_bytes()
}

/// A subscription by its number.
pub(crate) fn subscribe(subject: &str, number: usize) -> Vec<u8> {
    format!("SUB {subject} {number}\r\n").into_bytes()
}

/// Appends a message.
pub fn publish(out: &mut Vec<u8>, subject: &str, reply: &str, payload: &[u8]) {
    out.extend_from_slice(format!("PUB {subject} {reply} {}\r\n", payload.len()).as_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::{Delivery, FromServer, Inbox, ProtocolError, ServerInfo, publish};

    /// All messages of a text that arrives in pieces of this size.
    fn read(text: &[u8], piece: usize) -> Result<Vec<FromServer>, ProtocolError> {
        let (mut arriving, mut messages) = (Inbox::default(), Vec::new());
        for bytes in text.chunks(piece) {
            arriving.push(bytes);
            while let Some(message) = arriving.next()? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_are_read_in_any_pieces() {
        // Examples of the protocol's documentation.
        let text =
            b"INFO {\"server_id\":\"Zk0\",\"max_payload\":1048576,\"tls_required\":true} \r\n\
                     PING\r\nMSG FOO.BAR 9 11\r\nHello World\r\nMSG FOO.BAR 9 GREETING.34 11\r\n\
                     Hello World\r\nHMSG FOO.BAR 9 34 45\r\nNATS/1.0\r\nFoodGroup: vegetable\r\n\
                     \r\nHello World\r\nHMSG a 9 b 29 29\r\nNATS/1.0 503 No Responder\r\n\r\n\r\n\
                     PONG\r\n+OK\r\n-ERR 'Authorization Violation'\r\n";
        let hello = |subject: &str| {
            let (subject, payload) = (subject.to_owned(), b"Hello World".to_vec());
            FromServer::Message(Delivery { subject, status: None, payload })
        };
        let unheard = Delivery { subject: "a".into(), status: Some(503), payload: Vec::new() };
        let expected = [
            FromServer::Info(ServerInfo { tls_required: true }),
            FromServer::Ping,
            hello("FOO.BAR"),
            hello("FOO.BAR"),
            hello("FOO.BAR"),
            FromServer::Message(unheard),
            FromServer::Pong,
            FromServer::Ok,
            FromServer::Error("Authorization Violation".into()),
        ];
        for piece in [1, 2, 7, text.len()] {
            assert_eq!(read(text, piece).unwrap(), expected);
        }
    }

    #[test]
    fn a_hostile_server_cannot_fill_the_memory() {
        for (text, is_expected) in [
            (vec![b'x'; 100 << 10], (|error| matches!(error, ProtocolError::Line)) as fn(_) -> _),
            (b"MSG a 1 99999999999\r\n".to_vec(), |e| matches!(e, ProtocolError::Content)),
            (b"HMSG a 1 20 10\r\n".to_vec(), |e| matches!(e, ProtocolError::Content)),
            (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), |e| matches!(e, ProtocolError::Unknown)),
            (b"MSG a\r\n".to_vec(), |e| matches!(e, ProtocolError::Unknown)),
        ] {
            let error = read(&text, 1000).unwrap_err();
            assert!(is_expected(error), "{:?}", String::from_utf8_lossy(&text[..10]));
        }
    }

    #[test]
    fn what_is_published_has_its_length() {
        let mut out = Vec::new();
        publish(&mut out, "a.b", "", b"two\r\nlines");
        publish(&mut out, "c", "_INBOX.1", b"");
        assert_eq!(out, b"PUB a.b  10\r\ntwo\r\nlines\r\nPUB c _INBOX.1 0\r\n\r\n");
    }
}
