//! Servers that mean harm: they send without end, too much at once, next to nothing, or nothing at
//! all.

use postgres::client::{Client, Config, Environment, Error, Stop};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Longer than anything in these tests takes.
const LONG: Duration = Duration::from_secs(60);

/// A message: its kind, its length and its body.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// The end of a login without a password.
fn welcome() -> Vec<u8> {
    [message(b'R', &[0; 4]), message(b'Z', b"I")].concat()
}

/// A server that does this with its only connection, after the first message.
fn server(
    work: impl FnOnce(&mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (Config, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 10_000]);
        // The client leaves when it has seen enough.
        let _ = work(&mut socket);
    });
    let environment = Environment::new("me", Path::new("/nowhere"));
    let text = format!("host=127.0.0.1 port={port} sslmode=disable password=hush");
    (Config::parse_in(&text, &environment).unwrap().with_connect_timeout(Some(LONG)), served)
}

/// The result of a query whose answer repeats this, up to 10 GB.
fn answered_with(
    answer: impl Fn(u64) -> Vec<u8> + Send + 'static,
) -> (Result<usize, Error>, Client) {
    let (config, _served) = server(move |socket| {
        socket.write_all(&welcome())?;
        socket.read_exact(&mut [0])?;
        let (mut sent, mut round) = (0, 0);
        while sent < 10 << 30 {
            let piece = answer(round);
            socket.write_all(&piece)?;
            (sent, round) = (sent + piece.len(), round + 1);
        }
        Ok(())
    });
    let mut client = Client::connect(&config).unwrap();
    client.set_answer_timeout(Some(LONG));
    (client.query("SELECT 1", &[]).map(|rows| rows.len()), client)
}

fn fails_with(answer: impl Fn(u64) -> Vec<u8> + Send + 'static, why: &str) {
    let (result, mut client) = answered_with(answer);
    let error = result.unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    // Late data is not taken for the answer to the next request.
    assert!(client.query("SELECT 2", &[]).is_err());
}

const NOTICE: &[u8] = b"SNOTICE\0Mit goes on\0\0";

#[test]
fn what_a_server_sends_in_answer_to_a_request_is_limited() {
    let many = |message: Vec<u8>| move |_| message.repeat(1000);
    fails_with(many(message(b'N', NOTICE)), "more than 65536 KiB in response to one request");
    let column = message(b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
    let described = move |row: Vec<u8>| {
        let column = column.clone();
        move |round| if round == 0 { column.clone() } else { row.repeat(1000) }
    };
    let row = message(b'D', b"\0\x01\0\0\0\x04text");
    fails_with(described(row), "more than 65536 KiB in response to one request");
    let null = message(b'D', b"\0\x01\xff\xff\xff\xff");
    fails_with(described(null), "more than 65536 KiB in response to one request");
    let parameters = |round| {
        (0..100).flat_map(|n| message(b'S', format!("p{round}-{n}\0on\0").as_bytes())).collect()
    };
    fails_with(parameters, "more than 64 KiB of session parameters");
}

#[test]
fn a_message_that_would_fill_memory_is_refused_before_it_has_come() {
    // A row of 2 GB.
    let huge = |round| if round == 0 { b"D\x7f\xff\xff\xff".to_vec() } else { vec![0; 1 << 16] };
    fails_with(huge, "more than 65536 KiB in one message");
    let negative = |_| b"D\xff\xff\xff\xff".to_vec();
    fails_with(negative, "malformed");
}

#[test]
fn what_a_server_sends_before_the_login_is_limited() {
    for flood in [message(b'N', NOTICE), message(b'S', b"name\0value\0")] {
        let (config, served) = server(move |socket| {
            loop {
                socket.write_all(&flood.repeat(1000))?;
            }
        });
        let error = Client::connect(&config).unwrap_err().to_string();
        assert!(error.contains("more than 1024 KiB before login completed"), "{error}");
        served.join().unwrap();
    }
}

#[test]
fn an_error_is_no_longer_than_a_page() {
    let text = [b"SERROR\0VERROR\0C22000\0M".as_slice(), &vec![b'x'; 1 << 20], b"\0\0"].concat();
    let answer = [message(b'E', &text), message(b'Z', b"I")].concat();
    let (config, _served) = server(move |socket| {
        socket.write_all(&welcome())?;
        socket.read_exact(&mut [0])?;
        socket.write_all(&answer)?;
        std::io::copy(socket, &mut std::io::sink()).map(drop)
    });
    let error = Client::connect(&config).unwrap().query("SELECT 1", &[]).unwrap_err().to_string();
    assert!(error.len() < 5000 && error.contains("1048576 bytes in total"), "{error}");
}

#[test]
fn a_login_does_not_keep_the_processor_busy_for_as_long_as_a_server_likes() {
    let (config, _served) = server(|socket| {
        socket.write_all(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))?;
        let mut answer = [0; 1000];
        let count = socket.read(&mut answer)?;
        let text = String::from_utf8_lossy(&answer[..count]).into_owned();
        let nonce = text.rsplit("r=").next().unwrap_or_default();
        let first = format!("r={nonce}more,s=c2FsdA==,i=4294967295");
        socket.write_all(&message(b'R', &[b"\0\0\0\x0b", first.as_bytes()].concat()))?;
        socket.read_exact(&mut [0]).map(drop)
    });
    let error = Client::connect(&config).unwrap_err().to_string();
    assert!(error.contains("4294967295 SCRAM iterations"), "{error}");
}

/// An address of this machine that others can reach, or a line that says there is none.
fn address_on_a_network() -> Option<IpAddr> {
    // Nothing is sent: the system returns the address it would send from.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let address = socket
        .connect("198.51.100.1:9")
        .and_then(|()| socket.local_addr())
        .ok()
        .map(|address| address.ip());
    let address = address.filter(|address| !address.is_loopback() && !address.is_unspecified());
    if address.is_none() {
        #[allow(clippy::print_stdout, reason = "a test speaks on its standard output")]
        {
            println!("SKIPPED, cannot be here: this machine has no address but its own loopback");
        }
    }
    address
}

/// The client's messages to a server that declines encryption and asks for the clear password, and
/// its reason to give up.
fn asked_in_clear(address: IpAddr, more: &str) -> (String, Option<String>) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel();
    let served = thread::spawn(move || {
        let mut received = Vec::new();
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut bytes = [0; 10_000];
            let count = socket.read(&mut bytes).unwrap_or(0);
            received.extend_from_slice(&bytes[..count]);
            if count == 0 {
                break;
            }
            if bytes[..count].ends_with(&80_877_103_u32.to_be_bytes()) {
                let _ = socket.write_all(b"N");
                received.extend(
                    socket
                        .read(&mut bytes)
                        .map(|count| bytes[..count].to_vec())
                        .unwrap_or_default(),
                );
            }
            let _ = socket.write_all(&message(b'R', b"\0\0\0\x03"));
            let count = socket.read(&mut bytes).unwrap_or(0);
            received.extend_from_slice(&bytes[..count]);
            let _ = socket.write_all(&welcome());
        }
        let _ = sender.send(String::from_utf8_lossy(&received).into_owned());
    });
    let text = format!("host={address} port={port} user=me dbname=d password=hush {more}");
    let config = Config::parse_in(&text, &Environment::new("me", Path::new("/nowhere"))).unwrap();
    let refused = Client::connect(&config.with_connect_timeout(Some(LONG)))
        .err()
        .map(|error| error.to_string());
    // Its end.
    drop(TcpStream::connect((address, port)));
    let received = receiver.recv_timeout(LONG).unwrap();
    served.join().unwrap();
    (received, refused)
}

#[test]
fn a_password_is_not_sent_in_clear_where_others_could_read_it() {
    let Some(network) = address_on_a_network() else { return };
    let loopback = IpAddr::from([127, 0, 0, 1]);
    for mode in ["sslmode=disable", "sslmode=allow", "sslmode=prefer"] {
        let (received, refused) = asked_in_clear(network, mode);
        let refused = refused.unwrap();
        assert!(!received.contains("hush") && !refused.contains("hush"), "{mode}: {received}");
        assert!(
            refused.contains("in clear") && refused.contains("require_auth=password"),
            "{refused}"
        );
        for (address, more) in [(loopback, ""), (network, "require_auth=password")] {
            let (received, refused) = asked_in_clear(address, &format!("{mode} {more}"));
            assert!(received.contains("hush") && refused.is_none(), "{mode} {more}: {refused:?}");
        }
    }
    for ruled_out in
        ["require_auth=scram-sha-256", "require_auth=!password", "require_auth=none,md5"]
    {
        let (received, refused) = asked_in_clear(loopback, &format!("sslmode=disable {ruled_out}"));
        assert!(!received.contains("hush") && refused.unwrap().contains(ruled_out), "{received}");
    }
}

/// Named pipes without a writer, and files that never end.
#[test]
fn files_that_a_connection_string_names_are_regular_and_small() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let huge = folder.path().join("huge");
    std::fs::File::create(&huge).unwrap().set_len(5 << 30).unwrap();
    for (file, why) in [
        (pipe.as_path(), "not a regular file"),
        (Path::new("/dev/zero"), "not a regular file"),
        (huge.as_path(), "larger than 4 MiB"),
    ] {
        std::fs::set_permissions(&huge, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let file = file.display();
        let environment = Environment::new("me", Path::new("/nowhere"));
        let parse = |text: String| Config::parse_in(&text, &environment);
        let error = parse(format!("servicefile={file} service=x")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        let warnings = parse(format!("host=h passfile={file}")).unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains(why), "{warnings:?}");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for keyword in ["sslrootcert", "sslcert"] {
            let text = format!("host=127.0.0.1 port={port} sslmode=require {keyword}={file}");
            let error = Client::connect(&parse(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(why), "{keyword}: {error}");
        }
    }
}

/// Sends a byte now and then until the client closes the connection.
fn drip(socket: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    bytes.iter().try_for_each(|byte| {
        thread::sleep(Duration::from_millis(100));
        socket.write_all(&[*byte])
    })
}

#[test]
fn a_server_that_drips_has_no_more_time_than_a_silent_one() {
    let second = Duration::from_secs(1);
    let notice = message(b'N', &vec![b'x'; 20_000]);
    let (config, served) = server(move |socket| drip(socket, &notice));
    let error =
        Client::connect(&config.with_connect_timeout(Some(second))).unwrap_err().to_string();
    assert!(error.ends_with("no answer within 1 s"), "{error}");
    served.join().unwrap();
    let row = message(b'D', &vec![b'x'; 20_000]);
    let (config, served) = server(move |socket| {
        socket.write_all(&welcome())?;
        socket.read_exact(&mut [0])?;
        drip(socket, &row)
    });
    let mut client = Client::connect(&config).unwrap();
    client.set_answer_timeout(Some(second));
    let error = client.query("SELECT 1", &[]).unwrap_err();
    assert!(
        matches!(error, Error::Timeout(_)) && error.to_string() == "no answer within 1 s",
        "{error}"
    );
    drop(client);
    served.join().unwrap();
}

#[test]
fn whoever_waits_for_a_silent_server_can_be_asked_to_stop() {
    let requested = Arc::new(AtomicBool::new(false));
    let stop = Stop::when({
        let requested = requested.clone();
        move || requested.load(Ordering::Relaxed)
    });
    for encrypts in [false, true] {
        requested.store(false, Ordering::Relaxed);
        let asks = requested.clone();
        let (config, served) = server(move |socket| {
            asks.store(true, Ordering::Relaxed);
            while socket.read(&mut [0; 100])? > 0 {}
            Ok(())
        });
        let text =
            config.to_string() + if encrypts { " sslmode=require" } else { " sslmode=disable" };
        let config =
            Config::parse_in(&text, &Environment::new("me", Path::new("/nowhere"))).unwrap();
        let error = Client::connect(&config.with_stop(stop.clone())).unwrap_err();
        assert!(error.is_stopped() && error.to_string().ends_with("stopped on request"), "{error}");
        served.join().unwrap();
    }
    let asks = requested.clone();
    requested.store(false, Ordering::Relaxed);
    let (config, _served) = server(move |socket| {
        socket.write_all(&welcome())?;
        socket.read_exact(&mut [0])?;
        asks.store(true, Ordering::Relaxed);
        while socket.read(&mut [0; 100])? > 0 {}
        Ok(())
    });
    let mut client = Client::connect(&config).unwrap();
    client.set_stop(stop, Duration::from_millis(100));
    let error = client.query("SELECT 1", &[]).unwrap_err();
    assert!(matches!(error, Error::Stopped(_)), "{error}");
}
