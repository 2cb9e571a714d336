//! Servers of PostgreSQL and MariaDB that mean harm, asked by `waits`, `survey`, `capture`, `check`
//! and `run`.

use crate::attack::arena::{Arena, Limits, Random, Tries, USUAL, campaign};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A password that is never sent in clear on an unencrypted connection, nor printed.
pub const PASSWORD: &str = "Geh3imnis";
/// The first word of a file of this machine that a server may ask for.
pub const FILE: &str = "/etc/passwd";

/// A step of a hostile server. Each step answers any input.
#[derive(Clone)]
enum Piece {
    Bytes(Vec<u8>),
    /// Repeats these bytes up to a total.
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
    random.pick(&choices).clone()
}

/// Draws a server's behaviour on each connection of this try.
fn behaviour(random: &mut Random) -> Vec<Piece> {
    let before = match random.below(6) {
        0 => Piece::Bytes(random.pick(&logins()).clone()),
        1 => answers(random),
        _ => Piece::Bytes(welcome()),
    };
    let mut pieces = vec![before];
    pieces.extend((0..=random.below(6)).map(|_| answers(random)));
    spoil_last(pieces, random, &[b"\0", b"\xff\xff\xff\xff", b"Z\0\0\0\x05I", b"E", b"D"])
}

/// Changes bytes of the last piece, now and then.
fn spoil_last(mut pieces: Vec<Piece>, random: &mut Random, parts: &[&[u8]]) -> Vec<Piece> {
    if random.below(3) == 0
        && let Some(Piece::Bytes(bytes)) = pieces.last_mut()
    {
        *bytes = random.mutate(bytes, parts);
    }
    pieces
}

/// The MariaDB variant, whose server speaks first.
mod of_mariadb {
    use super::{ESCAPES, FILE, Piece, spoil_last};
    use crate::attack::arena::Random;

    /// Numbered as the answer to a request is.
    fn packet(body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32).to_le_bytes();
        [&length[..3], &[1], body].concat()
    }

    const OK: [u8; 7] = [0, 0, 0, 2, 0, 0, 0];
    const SSL: u16 = 1 << 11;

    fn error(text: &str) -> Vec<u8> {
        packet(&[b"\xff\x15\x04#28000", text.as_bytes()].concat())
    }

    /// A greeting by this method of login; with TLS or without.
    fn greeting(version: &str, plugin: &str, tls: bool) -> Vec<u8> {
        let low = (0xf7fe | if tls { SSL } else { 0 }).to_le_bytes();
        let parts: [&[u8]; 7] = [
            b"\x0a",
            version.as_bytes(),
            b"\0\x07\0\0\x0012345678\0",
            &low,
            b"\x2d\x02\0\xff\x01\x15\0\0\0\0\0\0\0\0\0\0901234567890\0",
            plugin.as_bytes(),
            b"\0",
        ];
        packet(&parts.concat())
    }

    fn greetings(random: &mut Random) -> Piece {
        let native = "mysql_native_password";
        let tls = random.below(4) == 0;
        let choices = [
            Piece::Bytes(packet(b"\x093.23.58\0\x07\0\0\x0012345678\0")),
            Piece::Bytes(error(ESCAPES)),
            Piece::Bytes(greeting(ESCAPES, native, tls)),
            Piece::Bytes(greeting("10.11.6-MariaDB", ESCAPES, tls)),
            Piece::Bytes(greeting("10.11.6-MariaDB", "mysql_clear_password", false)),
            Piece::Bytes(greeting("10.11.6-MariaDB", native, true)[..30].to_vec()),
            Piece::Bytes((0..500).map(|_| random.below(256) as u8).collect()),
            Piece::Flood(vec![0xff; 4096], 1 << 30),
            Piece::Drip(greeting("10.11.6-MariaDB", native, tls)),
            Piece::Silence,
        ];
        match random.below(4) {
            0 => random.pick(&choices).clone(),
            _ => Piece::Bytes(greeting("5.5.5-10.11.6-MariaDB", native, tls)),
        }
    }

    /// Requests for a login that is weaker than it should be, or that there is not.
    fn logins(random: &mut Random) -> Piece {
        let switch = |plugin: &str| {
            packet(&[b"\xfe", plugin.as_bytes(), b"\x001234567890123456789\0"].concat())
        };
        let choices = [
            switch("mysql_clear_password"),
            switch("mysql_old_password"),
            packet(b"\xfe"),
            switch("dialog"),
            switch("sha256_password"),
            switch("client_ed25519"),
            switch(ESCAPES),
            [switch("caching_sha2_password"), packet(b"\x01\x04")].concat(),
            packet(b"\x01\x04"),
            packet(b"\x01-----BEGIN PUBLIC KEY-----\ngibberish\n-----END PUBLIC KEY-----\n"),
            error(ESCAPES),
            packet(&OK[..2]),
        ];
        Piece::Bytes(random.pick(&choices).clone())
    }

    /// Answers to statements that are wrong in some way.
    fn answers(random: &mut Random) -> Piece {
        let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        let names =
            [text("def"), text(""), text("t"), text("t"), text(ESCAPES), text("c")].concat();
        let column = packet(&[&names[..], b"\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0"].concat());
        let end = packet(b"\xfe\0\0\x02\0");
        let row = packet(&text(ESCAPES));
        let rows = |row: &[u8]| [&packet(&[1])[..], &column, &end, row].concat();
        let huge = [&[0xff, 0xff, 0xff, 1][..], &[b'x'; 5000]].concat();
        let choices = [
            Piece::Bytes(error(ESCAPES)),
            Piece::Bytes(packet(&OK)),
            Piece::Bytes([rows(&row), end.clone()].concat()),
            // LOCAL INFILE: the server requests a file of the client.
            Piece::Bytes(packet(&[b"\xfb", FILE.as_bytes()].concat())),
            Piece::Flood([rows(b""), row.repeat(1000)].concat(), 1 << 30),
            Piece::Flood(row, 1 << 30),
            Piece::Flood(huge.clone(), 1 << 30),
            Piece::Flood(packet(&[b"\0\0\0\x0a\0\0\0", ESCAPES.as_bytes()].concat()), 1 << 30),
            // As many columns as there can be, and more.
            Piece::Bytes(packet(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff")),
            Piece::Bytes([packet(b"\xfc\xff\xff"), column.clone()].concat()),
            // Lengths beyond the packet.
            Piece::Bytes(rows(&packet(b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7fx"))),
            Piece::Bytes(packet(b"\xfb")),
            Piece::Bytes(packet(b"")),
            Piece::Bytes((0..500).map(|_| random.below(256) as u8).collect()),
            Piece::Drip(huge),
            Piece::Silence,
        ];
        random.pick(&choices).clone()
    }

    /// Draws a server's behaviour on each connection of this try.
    pub fn behaviour(random: &mut Random) -> Vec<Piece> {
        let login = if random.below(4) == 0 { logins(random) } else { Piece::Bytes(packet(&OK)) };
        let mut pieces = vec![greetings(random), login];
        pieces.extend((0..=random.below(6)).map(|_| answers(random)));
        spoil_last(pieces, random, &[b"\0", b"\xff\xff\xff", b"\xfe", b"\xfb", b"\xfc"])
    }
}

/// All bytes that the servers of a try received.
type Received = Arc<Mutex<Vec<u8>>>;

/// First message of a protocol.
#[derive(Clone, Copy, PartialEq)]
enum Begins {
    /// The server answers the client's first message, and declines encryption or pretends to agree.
    Second {
        declines: bool,
    },
    First,
}

fn serve(
    mut socket: TcpStream,
    pieces: &[Piece],
    begins: Begins,
    received: &Received,
) -> std::io::Result<()> {
    let mut buffer = [0; 10_000];
    let mut listen = |socket: &mut TcpStream| {
        let count = socket.read(&mut buffer)?;
        received.lock().unwrap().extend(&buffer[..count]);
        std::io::Result::Ok(buffer[..count].to_vec())
    };
    if let Begins::Second { declines } = begins
        && listen(&mut socket)?.ends_with(&80_877_103_u32.to_be_bytes())
    {
        socket.write_all(if declines { b"N" } else { b"S\x16\x03\x01\0\x05gibberish" })?;
        listen(&mut socket)?;
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
            Piece::Silence => while !listen(&mut socket)?.is_empty() {},
        }
        if listen(&mut socket)?.is_empty() {
            break;
        }
    }
    Ok(())
}

/// An address of this machine that others can reach, if it has one: over the loopback interface
/// PostgreSQL's client sends a password in clear that it is asked for.
pub fn address() -> IpAddr {
    // Nothing is sent: the system says from where it would be.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let address = socket.connect("198.51.100.1:9").and_then(|()| socket.local_addr());
    address.map_or(IpAddr::from([127, 0, 0, 1]), |address| address.ip())
}

/// Starts servers that play these pieces on each connection. Returns their address and what they
/// receive.
fn start(pieces: Vec<Piece>, begins: Begins) -> (SocketAddr, Received) {
    let listener = TcpListener::bind((address(), 0)).unwrap();
    let (address, received) = (listener.local_addr().unwrap(), Received::default());
    let shared = Arc::clone(&received);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let (pieces, received) = (pieces.clone(), Arc::clone(&shared));
            std::thread::spawn(move || serve(socket, &pieces, begins, &received));
        }
    });
    (address, received)
}

/// Less than a server sends in a flood; time for what has a limit of a minute, and some more.
const LIMITS: Limits = Limits { bytes: 900 << 20, time: Duration::from_secs(150), ..USUAL };

/// Asks a server in one of the ways that there are.
fn ask(
    arena: &Arena,
    random: &mut Random,
    engine: &str,
    url: &str,
    received: &Received,
) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(arena.path("results"));
    let file = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"{engine}\"\nurl = \
         \"{url}\"\n[workload]\nprobe = \"insert\"\nconnections = 1\nrows = \
         10\nrows_per_transaction = 1\n[repeats]\nblocks = 1\n[limits]\ntrial_time = \"5 s\"\n"
    );
    arena.write("e.toml", file.as_bytes());
    let arguments: &[&str] = match random.below(6) {
        0 | 1 => &["waits", url, "--seconds=1"],
        2 => &["survey", "--server", url],
        3 => &["run", "e.toml"],
        4 => &["capture", url, "--seconds=1", "--output", "c.json"],
        _ => &["check", "e.toml"],
    };
    let mut command = arena.lab.command(arguments);
    command.env("PGPASSWORD", PASSWORD).env("PGCONNECT_TIMEOUT", "2").env("MYSQL_PWD", PASSWORD);
    // Many of these servers are silent at some point; the usual limit is a minute.
    command.env("STEELBENCH_SILENCE_S", "10");
    let outcome = arena.run_command(command, LIMITS)?;
    if outcome.text().contains(PASSWORD) {
        return Err(format!("tells the password: {}", outcome.text()));
    }
    let received = received.lock().unwrap();
    let file = std::fs::read(FILE).unwrap();
    for (what, part) in
        [("the password", PASSWORD.as_bytes()), ("a file", &file[..file.len().min(20)])]
    {
        if received.windows(part.len()).any(|window| window == part) {
            return Err(format!("sends {what} to the server: {}", outcome.text()));
        }
    }
    drop(received);
    arena.is_clean()
}

#[test]
fn hostile_servers() {
    let arena = Arena::new();
    campaign("hostile_servers", Tries { short: 4, full: 300 }, |random| {
        let (pieces, declines) = (behaviour(random), random.below(4) > 0);
        let (address, received) = start(pieces, Begins::Second { declines });
        let rule = if address.ip().is_loopback() { "require_auth=!password" } else { "" };
        let mode = random.pick(&["disable", "prefer", "require"]);
        let (host, port) = (address.ip(), address.port());
        let url = format!(
            "host={host} port={port} user=me dbname=d sslmode={mode} connect_timeout=2 {rule}"
        );
        ask(&arena, random, "postgres", &url, &received)
    });
}

#[test]
fn hostile_servers_of_mariadb() {
    let arena = Arena::new();
    campaign("hostile_servers_of_mariadb", Tries { short: 4, full: 300 }, |random| {
        let (address, received) = start(of_mariadb::behaviour(random), Begins::First);
        let mode = random.pick(&["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA"]);
        let url = format!("mariadb://me@{address}/d?ssl-mode={mode}&connect-timeout=2");
        ask(&arena, random, "mariadb", &url, &received)
    });
}
