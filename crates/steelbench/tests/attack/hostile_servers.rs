//! PostgreSQL servers that mean harm, asked by `waits`, `survey` and `run`.

use crate::arena::{Arena, Limits, Random, Tries, USUAL, campaign};
use crate::common::scripted;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What a server does, piece by piece. Each piece answers whatever has come.
#[derive(Clone)]
enum Piece {
    Bytes(Vec<u8>),
    /// The same again and again, so many bytes in all.
    Flood(Vec<u8>, usize),
    /// A byte now and then.
    Drip(Vec<u8>),
    Silence,
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn error(text: &str) -> Vec<u8> {
    message(b'E', format!("SERROR\0VERROR\0C42000\0M{text}\0D{text}\0H{text}\0\0").as_bytes())
}

const ESCAPES: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}text";

/// Requests for a login that is weaker than it should be, or that there is not.
fn logins() -> Vec<Vec<u8>> {
    let scram = |first: &str| {
        [
            message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"),
            message(b'R', &[b"\0\0\0\x0b", first.as_bytes()].concat()),
        ]
        .concat()
    };
    vec![
        message(b'R', b"\0\0\0\x03"),
        message(b'R', b"\0\0\0\x05salt"),
        message(b'R', b"\0\0\0\x07"),
        message(b'R', b"\0\0\0\x63"),
        message(b'R', b"\0\0\0\x0aSCRAM-NOTHING\0\0"),
        message(b'R', b"\0\0\0\x0a"),
        scram("r=x,s=c2FsdA==,i=4096"),
        scram("r=,s=,i=4294967295"),
        message(b'R', b"\0"),
        message(b'v', &[0xff; 40]),
        error(ESCAPES),
    ]
}

fn welcome() -> Vec<u8> {
    [
        message(b'R', &[0; 4]),
        message(b'S', b"server_version\x0016.1\0"),
        message(b'K', &[1; 8]),
        message(b'Z', b"I"),
    ]
    .concat()
}

/// Answers to requests that are wrong in some way.
fn answers(random: &mut Random) -> Piece {
    let ready = message(b'Z', b"I");
    let column = message(b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
    let length = (ESCAPES.len() as u32).to_be_bytes();
    let text = [b"\0\x01".as_slice(), &length, ESCAPES.as_bytes()].concat();
    let huge = |kind: u8, length: u32| [&[kind], &length.to_be_bytes()[..], &[b'x'; 1000]].concat();
    let choices = [
        Piece::Bytes([error(ESCAPES), ready.clone()].concat()),
        Piece::Bytes(
            [
                message(b'1', b""),
                message(b'2', b""),
                column,
                message(b'D', &text),
                message(b'C', b"SELECT 1\0"),
                ready,
            ]
            .concat(),
        ),
        Piece::Flood(message(b'N', format!("SNOTICE\0M{ESCAPES}\0\0").as_bytes()), 1 << 30),
        Piece::Flood(message(b'D', &[0, 1, 0xff, 0xff, 0xff, 0xff]), 1 << 30),
        Piece::Flood(message(b'S', b"a\0b\0"), 1 << 30),
        Piece::Flood(message(b'A', b"\0\0\0\x01c\0p\0"), 1 << 30),
        Piece::Flood(huge(b'D', 0x7fff_ffff), 1 << 30),
        Piece::Bytes(huge(b'T', 3)),
        Piece::Bytes(huge(b'D', 0xffff_ffff)),
        Piece::Bytes(message(b'T', b"\xff\xffa\0")),
        Piece::Bytes(message(b'D', b"\xff\xff")),
        Piece::Bytes(message(b'G', b"\0\0\0")),
        Piece::Bytes((0..500).map(|_| random.below(256) as u8).collect()),
        Piece::Drip(huge(b'D', 2000)),
        Piece::Silence,
    ];
    random.of(&choices).clone()
}

/// What a server of this try does with each connection.
fn behaviour(random: &mut Random) -> Vec<Piece> {
    let before = match random.below(6) {
        0 => Piece::Bytes(random.of(&logins()).clone()),
        1 => answers(random),
        _ => Piece::Bytes(welcome()),
    };
    let mut pieces = vec![before];
    pieces.extend((0..=random.below(6)).map(|_| answers(random)));
    if random.below(3) == 0
        && let Some(Piece::Bytes(bytes)) = pieces.last_mut()
    {
        *bytes = random.mutate(bytes, &[b"\0", b"\xff\xff\xff\xff", b"Z\0\0\0\x05I", b"E", b"D"]);
    }
    pieces
}

fn serve(mut socket: TcpStream, pieces: &[Piece], declines: bool) -> std::io::Result<()> {
    let mut heard = [0; 10_000];
    let count = socket.read(&mut heard)?;
    // A request for encryption.
    if heard[..count].ends_with(&80_877_103_u32.to_be_bytes()) {
        socket.write_all(if declines { b"N" } else { b"S\x16\x03\x01\0\x05gibberish" })?;
        let _ = socket.read(&mut heard)?;
    }
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => socket.write_all(bytes)?,
            Piece::Flood(bytes, most) => {
                let many = bytes.repeat(100_000 / bytes.len() + 1);
                (0..most / many.len()).try_for_each(|_| socket.write_all(&many))?;
            }
            Piece::Drip(bytes) => bytes.iter().try_for_each(|byte| {
                std::thread::sleep(Duration::from_millis(100));
                socket.write_all(&[*byte])
            })?,
            Piece::Silence => while socket.read(&mut heard)? > 0 {},
        }
        if socket.read(&mut heard)? == 0 {
            break;
        }
    }
    Ok(())
}

/// An experiment on this server.
fn by_url(port: u16, mode: &str) -> String {
    let url = format!("url = \"host=127.0.0.1 port={port} user=me dbname=d sslmode={mode}\"");
    scripted(1, &url, "[limits]\ntrial_time = \"5 s\"\n")
        .replace("\"null\"", "\"postgres\"")
        .replace("[1, 2]", "[1]")
}

/// Less than a server sends in a flood; time for what has a limit of a minute, and some more.
const LIMITS: Limits = Limits { bytes: 900 << 20, time: Duration::from_secs(150), ..USUAL };

#[test]
fn hostile_servers() {
    let arena = Arena::new();
    campaign("hostile_servers", Tries { short: 20, full: 300 }, |random| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (pieces, declines) = (behaviour(random), random.below(4) > 0);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let pieces = pieces.clone();
                std::thread::spawn(move || serve(socket, &pieces, declines));
            }
        });
        let mode = random.of(&["disable", "prefer", "require"]);
        let url = format!(
            "host=127.0.0.1 port={port} user=me dbname=d sslmode={mode} password=Geh3imnis connect_timeout=2"
        );
        let _ = std::fs::remove_dir_all(arena.path("results"));
        arena.write("e.toml", by_url(port, mode).as_bytes());
        let arguments: &[&str] = match random.below(5) {
            0 | 1 => &["waits", &url, "--seconds=1"],
            2 => &["survey", "--server", &url],
            3 => &["run", "e.toml"],
            _ => &["check", "e.toml"],
        };
        let mut command = arena.lab.command(arguments);
        command.env("PGPASSWORD", "Geh3imnis").env("PGCONNECT_TIMEOUT", "2");
        let seen = arena.run_command(command, LIMITS)?;
        if seen.text().contains("Geh3imnis") {
            return Err(format!("tells the password: {}", seen.text()));
        }
        arena.is_clean()
    });
}
