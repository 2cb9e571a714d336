//! SQL Server's protocol under TLS, with a man in the middle that declines encryption, changes,
//! repeats or cuts what is sent: the login is never readable, and the program ends with a cause.

use crate::attack::arena::{Arena, Limits, Random, Tries, USUAL, campaign};
use crate::common::Lab;
use crate::sqlserver::{Mock, Tls};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::relay::{self, Fate, From, contains};

const PASSWORD: &str = "S3cret-of-tds";

/// How a login message holds a password: UTF-16, the halves of each byte exchanged, all XOR 0xa5
/// (MS-TDS, 2.2.6.4).
fn disguised(password: &str) -> Vec<u8> {
    let units = password.encode_utf16().flat_map(u16::to_le_bytes);
    units.map(|byte| byte.rotate_left(4) ^ 0xa5).collect()
}

/// Sets the server's answer about encryption (option 1 of PRELOGIN) to this value.
fn with_encryption(bytes: &[u8], value: u8) -> Vec<u8> {
    let (mut bytes, head) = (bytes.to_vec(), 8);
    let mut at = head;
    while bytes.get(at).is_some_and(|option| *option != 0xff) {
        if bytes[at] == 1
            && let Some(&[high, low]) = bytes.get(at + 1..at + 3)
            && let Some(byte) = bytes.get_mut(head + usize::from(u16::from_be_bytes([high, low])))
        {
            *byte = value;
            break;
        }
        at += 5;
    }
    bytes
}

/// A change of the n-th message of a side.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// 0 encrypts the login alone, 2 nothing, 3 everything.
    Encryption(u8),
    Flip(usize),
    Repeat,
    Truncate(usize),
    Cut,
    Drop,
}

fn draw(random: &mut Random) -> Change {
    let at = random.below(400);
    let encryption = *random.pick(&[0, 1, 2, 3, 9]);
    *random.pick(&[
        Change::Encryption(encryption),
        Change::Encryption(2),
        Change::Flip(at),
        Change::Repeat,
        Change::Truncate(at),
        Change::Cut,
        Change::Drop,
    ])
}

fn changed(change: Change, bytes: &[u8]) -> Fate {
    match change {
        Change::Encryption(value) => Fate::Change(with_encryption(bytes, value)),
        Change::Flip(at) => {
            let mut bytes = bytes.to_vec();
            let at = at % bytes.len();
            bytes[at] ^= 0x41;
            Fate::Change(bytes)
        }
        Change::Repeat => Fate::Change(bytes.repeat(2)),
        Change::Truncate(at) => Fate::Change(bytes[..at.min(bytes.len())].to_vec()),
        Change::Cut => Fate::Cut,
        Change::Drop => Fate::Drop,
    }
}

#[test]
fn tds_tls() {
    let place = Lab::new();
    let servers = [Mock::start(Tls::On, &place), Mock::start(Tls::Strict, &place)];
    let limits = Limits { time: Duration::from_secs(90), ..USUAL };
    campaign("tds_tls", Tries { short: 3, full: 300 }, |random| {
        let arena = Arena::new();
        let server = random.below(2);
        let from = *random.pick(&[From::Client, From::Server]);
        let (change, nth) = (draw(random), random.below(6));
        // Its own answer about encryption is the first message of a server.
        let (from, nth) = match change {
            Change::Encryption(_) => (From::Server, 0),
            _ => (from, nth),
        };
        let received = Arc::<Mutex<Vec<u8>>>::default();
        let shared = Arc::clone(&received);
        let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
        let address =
            relay::start(localhost, (localhost, servers[server].port).into(), move |_| {
                let (shared, mut count) = (Arc::clone(&shared), 0);
                Box::new(move |sender, bytes| {
                    if sender == From::Client {
                        shared.lock().unwrap().extend(bytes);
                    }
                    if sender != from {
                        return Fate::Pass;
                    }
                    count += 1;
                    if count == nth + 1 { changed(change, bytes) } else { Fate::Pass }
                })
            });
        let mode = ["mandatory", "strict"][server];
        let trust = *random.pick(&["true", "false"]);
        let url = format!(
            "mssql://sa@{address}/master?encrypt={mode}&trust_server_certificate={trust}&\
             connect_timeout=3"
        );
        let mut command = arena.lab.command(&["waits", &url, "--seconds", "0.2"]);
        command.env("SQLCMDPASSWORD", PASSWORD);
        let failure =
            |why: String| format!("{change:?} of message {nth} of {from:?}, {mode}: {why}");
        let outcome = arena.run_command(command, limits).map_err(failure)?;
        let received = received.lock().unwrap();
        for secret in [PASSWORD.as_bytes().to_vec(), disguised(PASSWORD)] {
            if contains(&received, &secret) || contains(outcome.text().as_bytes(), &secret) {
                return Err(failure(format!("tells the password: {}", outcome.text())));
            }
        }
        if !matches!(outcome.status.code(), Some(0..=2)) || outcome.text().trim().is_empty() {
            return Err(failure(format!("{}: {}", outcome.status, outcome.text())));
        }
        arena.is_clean()
    });
}
