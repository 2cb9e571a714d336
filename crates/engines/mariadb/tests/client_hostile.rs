//! Servers that mean harm: they ask for more than they should know, send without end, too much at
//! once, next to nothing, or nothing at all.

use mariadb::client::{Client, Config, Environment, Error};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use work::Stop;

/// Longer than anything in these tests takes.
const LONG: Duration = Duration::from_secs(60);
const SECRET: &str = "geh3im";
const SSL: u32 = 1 << 11;

trait Socket: Read + Write + Send {}
impl<S: Read + Write + Send> Socket for S {}

fn packet(sequence: u8, content: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = (content.len() as u32).to_le_bytes();
    [&[low, middle, high, sequence], content].concat()
}

/// The greeting of a MySQL server with this plugin; its capabilities include all that this client
/// needs.
fn greeting(plugin: &str, more: u32) -> Vec<u8> {
    let capabilities: u32 = 1
        | 1 << 7
        | 1 << 9
        | 1 << 13
        | 1 << 15
        | 1 << 16
        | 1 << 17
        | 1 << 19
        | 1 << 21
        | 1 << 24
        | more;
    let bytes = capabilities.to_le_bytes();
    let parts: [&[u8]; 9] = [
        b"\x0a8.4.0\0\x07\0\0\0",
        b"12345678\0",
        &bytes[..2],
        b"\x2d\x02\0",
        &bytes[2..],
        &[21],
        &[0; 10],
        b"901234567890\0",
        &[plugin.as_bytes(), &[0]].concat(),
    ];
    packet(0, &parts.concat())
}

/// Takes a packet; `None` when the client is gone.
fn take(socket: &mut dyn Socket) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    socket.read_exact(&mut head).ok()?;
    let mut content = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    socket.read_exact(&mut content).ok()?;
    Some((head[3], content))
}

fn switch(plugin: &str) -> Vec<u8> {
    [b"\xfe", plugin.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat()
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const FULL: &[u8] = &[1, 4];

/// Answers each packet of the client with the next one of these, and keeps all packets.
fn exchange(socket: &mut dyn Socket, greeting: &[u8], answers: &[Vec<u8>]) -> Vec<u8> {
    let mut received = Vec::new();
    let _ = socket.write_all(greeting);
    for answer in answers {
        let Some((sequence, content)) = take(socket) else { break };
        received.extend(content);
        let _ = socket.write_all(&packet(sequence + 1, answer));
    }
    while let Some((_, content)) = take(socket) {
        received.extend(content);
    }
    received
}

fn config(url: &str) -> Config {
    let variables = vec![("MYSQL_PWD".to_owned(), SECRET.into())];
    let config = Config::parse_in(url, &Environment { variables }).unwrap();
    config.with_default_timeout(LONG)
}

/// The client's messages to such a server, and its reason to give up.
fn login(
    over_unix: bool,
    more: u32,
    plugin: &str,
    answers: &[Vec<u8>],
    mode: &str,
) -> (String, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (url, served): (String, JoinHandle<Vec<u8>>);
    let (greeting, answers) = (greeting(plugin, more), answers.to_vec());
    if over_unix {
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        served =
            thread::spawn(move || exchange(&mut listener.accept().unwrap().0, &greeting, &answers));
        url = format!("mysql://me@localhost/?socket={}&{mode}", path.display());
    } else {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        url = format!("mysql://me@127.0.0.1:{}/?{mode}", listener.local_addr().unwrap().port());
        served =
            thread::spawn(move || exchange(&mut listener.accept().unwrap().0, &greeting, &answers));
    }
    let refused = Client::connect(&config(&url)).err().map(|error| error.to_string());
    (String::from_utf8_lossy(&served.join().unwrap()).into_owned(), refused)
}

#[test]
fn a_password_is_sent_as_it_is_only_where_nobody_else_can_read_it() {
    let full = [FULL.to_vec(), OK.to_vec()];
    let switched = |plugin: &str| vec![switch(plugin), OK.to_vec()];
    for (plugin, answers) in [
        ("caching_sha2_password", full.to_vec()),
        ("mysql_native_password", switched("mysql_clear_password")),
        ("caching_sha2_password", switched("mysql_clear_password")),
        ("mysql_native_password", switched("sha256_password")),
    ] {
        let (received, refused) = login(false, 0, plugin, &answers, "");
        let refused = refused.unwrap();
        assert!(!received.contains(SECRET) && !refused.contains(SECRET), "{received} {refused}");
        assert!(
            refused.contains("not encrypted") && refused.contains("ssl-mode=REQUIRED"),
            "{refused}"
        );
        let (received, refused) = login(true, 0, plugin, &answers, "");
        // The older plugin encrypts it there, too: the client requests its key.
        let is_sent = !String::from_utf8_lossy(&answers[0]).contains("sha256_password");
        assert_eq!(
            (received.contains(&format!("{SECRET}\0")), &refused),
            (is_sent, &None),
            "{received}"
        );
    }
    // An invalid key encrypts nothing.
    let no_key = [FULL.to_vec(), b"\x01-----BEGIN PUBLIC KEY-----".to_vec(), OK.to_vec()];
    let (received, refused) =
        login(false, 0, "caching_sha2_password", &no_key, "get-server-public-key=1");
    assert!(
        !received.contains(SECRET) && refused.unwrap().contains("did not send an RSA key"),
        "{received}"
    );
    // A request for it in the first packet, before the account is known, is refused as well.
    for plugin in ["mysql_clear_password", "sha256_password"] {
        let (received, _) = login(true, 0, plugin, &[OK.to_vec()], "");
        assert!(!received.contains(SECRET), "{received}");
    }
}

#[test]
fn a_server_that_does_not_encrypt_gets_nothing_where_encryption_is_asked_for() {
    for mode in [
        "ssl-mode=REQUIRED",
        "ssl-mode=VERIFY_CA",
        "ssl-mode=VERIFY_IDENTITY",
        "ssl=1",
        "ssl-ca=/etc/hostname",
    ] {
        let (received, refused) = login(false, 0, "mysql_native_password", &[OK.to_vec()], mode);
        assert!(
            refused.unwrap().contains("the server does not support TLS") && received == "\u{1}",
            "{mode}: {received}"
        );
    }
    // Only the goodbye is sent to a server that offers TLS and then continues in clear.
    let (received, refused) = login(false, SSL, "mysql_native_password", &[OK.to_vec()], "");
    let refused = refused.unwrap();
    assert!(!received.contains("me\0") && !refused.contains("is too old"), "{received} {refused}");
}

#[test]
fn plugins_that_are_unknown_or_never_end_are_given_up() {
    let (_, refused) = login(false, 0, "mysql_native_password", &[switch("dialog")], "");
    assert!(refused.unwrap().contains("plugin dialog, which this client does not support"));
    let forever = vec![switch("mysql_native_password"); 100];
    let (_, refused) = login(false, 0, "mysql_native_password", &forever, "");
    assert!(refused.unwrap().contains("did not complete the login"));
    for nonsense in [&b""[..], b"\x0a", b"\xff", &[7; 40], b"\xff\x10\x04#08004Too many\x1b[2J"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("mysql://me@127.0.0.1:{}", listener.local_addr().unwrap().port());
        let packet = packet(0, nonsense);
        thread::spawn(move || exchange(&mut listener.accept().unwrap().0, &packet, &[]));
        assert!(Client::connect(&config(&url)).is_err());
    }
}

/// A connection to a server that answers a query with these bytes again and again, up to 10 GB.
fn answered_with(answer: impl Fn(u64) -> Vec<u8> + Send + 'static) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mysql://me@127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        let _ = socket.write_all(&greeting("mysql_native_password", 0));
        take(&mut socket);
        let _ = socket.write_all(&packet(2, OK));
        take(&mut socket);
        let (mut sent, mut round) = (0, 0);
        while sent < 10 << 30 {
            let piece = answer(round);
            if socket.write_all(&piece).is_err() {
                break;
            }
            (sent, round) = (sent + piece.len(), round + 1);
        }
    });
    Client::connect(&config(&url)).unwrap()
}

#[test]
fn what_a_server_sends_in_answer_to_a_request_is_limited() {
    let column = packet(2, b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0");
    let begin = [packet(1, &[1]), column.clone()].concat();
    let rows = move |row: Vec<u8>| {
        let begin = begin.clone();
        move |round| if round == 0 { begin.clone() } else { row.repeat(1000) }
    };
    // Empty rows, long ones, a packet of 4 GB, results and columns without end, requests for files.
    for (what, mut client) in [
        ("rows", answered_with(rows(packet(3, b"\x04text")))),
        ("empty rows", answered_with(rows(packet(3, b"\0")))),
        (
            "long rows",
            answered_with(rows(packet(
                3,
                &[b"\xfd\0\0\x08".as_slice(), &vec![b'x'; 8 << 16]].concat(),
            ))),
        ),
        (
            "a long packet",
            answered_with(|round| {
                if round == 0 { b"\xff\xff\xff\x01".to_vec() } else { vec![b'x'; 1 << 16] }
            }),
        ),
        (
            "columns",
            answered_with(move |round| {
                if round == 0 {
                    packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")
                } else {
                    column.repeat(1000)
                }
            }),
        ),
        ("results", answered_with(|_| packet(1, &[0, 0, 0, 10, 0, 0, 0]).repeat(1000))),
    ] {
        client.set_answer_timeout(Some(LONG));
        let error = client.query("SELECT 1").unwrap_err();
        assert!(matches!(error, Error::Protocol(_)), "{what}: {error}");
    }
}

#[test]
fn a_server_that_drips_has_no_more_time_than_a_silent_one() {
    let second = Duration::from_secs(1);
    let mut client = answered_with(|_| {
        thread::sleep(Duration::from_millis(50));
        b"\x01".to_vec()
    });
    client.set_answer_timeout(Some(second));
    let error = client.query("SELECT 1").unwrap_err();
    assert!(
        matches!(error, Error::Timeout(_)) && error.to_string() == "no answer within 1 s",
        "{error}"
    );
    // Another request does not wait as long again, and no late answer is taken for its own.
    client.set_answer_timeout(None);
    let error = client.query("SELECT 1").unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "mysql://me@127.0.0.1:{}/?connect-timeout=1",
        listener.local_addr().unwrap().port()
    );
    thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        for byte in greeting("mysql_native_password", 0) {
            thread::sleep(Duration::from_millis(100));
            if socket.write_all(&[byte]).is_err() {
                break;
            }
        }
    });
    let error = Client::connect(&config(&url)).unwrap_err().to_string();
    assert!(error.ends_with("no answer within 1 s"), "{error}");
}

#[test]
fn whoever_waits_for_a_silent_server_can_be_asked_to_stop() {
    for (more, mode) in [(0, ""), (SSL, "ssl-mode=REQUIRED")] {
        let requested = Arc::new(AtomicBool::new(false));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("mysql://me@127.0.0.1:{}/?{mode}", listener.local_addr().unwrap().port());
        let asks = requested.clone();
        let served = thread::spawn(move || {
            let mut socket = listener.accept().unwrap().0;
            let _ = socket.write_all(&greeting("mysql_native_password", more));
            take(&mut socket);
            asks.store(true, Ordering::Relaxed);
            while socket.read(&mut [0; 100]).is_ok_and(|count| count > 0) {}
        });
        let stop = Stop::when(move || requested.load(Ordering::Relaxed));
        let error = Client::connect(&config(&url).with_stop(stop)).unwrap_err();
        assert!(error.is_stopped(), "{error}");
        served.join().unwrap();
    }
}
