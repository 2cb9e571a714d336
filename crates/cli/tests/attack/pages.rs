//! `serve` and those who visit it with bad intent.

use crate::attack::arena::{Arena, Random, Tries, campaign};
use crate::common::scripted;
use crate::serving::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Paths outside of the served ones, markup, and texts in place of numbers.
const TARGETS: &[&str] = &[
    "/../../etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/victim/salaries.csv",
    "//etc/passwd",
    "/./..//e.toml",
    "/run?file=../victim/salaries",
    "/run?file=/etc/passwd",
    "/run?file=%00",
    "/run?file=t&run=-1",
    "/run?file=t&run=99999999999999999999",
    "/run?file=<script>alert(1)</script>",
    "/run?file=t&only=%3Cimg%20onerror=x%3E",
    "/compare?file=t&a=%1b[2J&b=%0d%0aSet-Cookie:x",
    "/assets/../serve.js",
    "/assets/%2e%2e%2fserve.js",
    "/version?file=..",
    "/runs?before=t&after=%22%3E%3Cscript%3E",
    "/?%ff%fe",
    "*",
    "http://evil.example/",
    "/run?file=t",
    "/",
];
const METHODS: &[&str] =
    &["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "<b>"];
const HEADERS: &[&str] = &[
    "Origin: https://evil.example",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors",
    "Content-Length: 99999999999",
    "Transfer-Encoding: chunked",
    "Content-Length: -1",
    "Range: bytes=0-",
    "Expect: 100-continue",
    "X: \u{1b}[2J",
    "Upgrade: websocket",
    "Cookie: a=b",
];
const FOREIGN: &[&str] =
    &["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", ""];
/// Content of files in the arena that must stay hidden, and markup that no page may contain.
const FORBIDDEN: &[&str] =
    &["not yours", "root:x:0", "<script>alert(1)", "<img onerror", "\r\nset-cookie"];

/// Sends this and reads what comes.
fn exchange(address: &str, request: &[u8]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(request)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.take(64 << 20).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn request(random: &mut Random, address: &str) -> (Vec<u8>, bool) {
    let is_foreign = random.below(4) == 0;
    let host = if is_foreign { random.pick(FOREIGN) } else { address };
    let mut text = format!(
        "{} {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n",
        random.pick(METHODS),
        random.pick(TARGETS)
    );
    for _ in 0..random.below(3) {
        text.extend([random.pick(HEADERS), "\r\n"]);
    }
    match random.below(12) {
        0 => text.extend(["X: ", &"y".repeat(1 << 20), "\r\n"]),
        1 => text += &"X: y\r\n".repeat(10_000),
        _ => {}
    }
    let whole = format!("{text}\r\n").into_bytes();
    let bytes = if random.below(4) == 0 {
        random.mutate(&whole, &[b"\r\n", b"\0", b" ", b"\xff"])
    } else {
        whole.clone()
    };
    let is_foreign = is_foreign && bytes == whole;
    (bytes, is_foreign)
}

fn memory_bytes(server: &Server) -> u64 {
    let pid = server.child.as_ref().unwrap().id();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// The server still does what it is for, with little memory.
fn is_well(server: &mut Server) -> Result<(), String> {
    if let Some(status) = server.child.as_mut().unwrap().try_wait().unwrap() {
        return Err(format!("has ended with {status}"));
    }
    let answer = server.get("/");
    let bytes = memory_bytes(server);
    if answer.status != 200 || bytes > 500 << 20 {
        return Err(format!("answers {} with {bytes} bytes of memory", answer.status));
    }
    Ok(())
}

#[test]
fn requests() {
    let arena = Arena::new();
    arena.write("e.toml", scripted(2, "", "").as_bytes());
    arena.run(&["run", "e.toml"], crate::attack::arena::USUAL).unwrap();
    let mut server = Server::start_in(&arena.lab, &arena.path(""), &[]);
    campaign("requests", Tries { short: 60, full: 3000 }, |random| {
        let (bytes, is_foreign) = request(random, &server.address);
        // A refusal may cut off what is still being sent.
        let answer = exchange(&server.address, &bytes).unwrap_or_default();
        let lower = answer.to_lowercase();
        if let Some(found) = FORBIDDEN.iter().find(|found| lower.contains(**found)) {
            return Err(format!("{:?} gives {found:?}", String::from_utf8_lossy(&bytes)));
        }
        let by_others = ["Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"]
            .iter()
            .any(|header| String::from_utf8_lossy(&bytes).contains(header));
        if (is_foreign || by_others) && answer.starts_with("HTTP/1.1 200") {
            return Err(format!("answers a foreign name: {:?}", String::from_utf8_lossy(&bytes)));
        }
        if random.below(10) == 0 {
            is_well(&mut server)?;
        }
        arena.is_clean()
    });
}

#[test]
fn slow_and_many_visitors() {
    let arena = Arena::new();
    arena.write("e.toml", scripted(2, "", "").as_bytes());
    arena.run(&["run", "e.toml"], crate::attack::arena::USUAL).unwrap();
    let mut server = Server::start_in(&arena.lab, &arena.path(""), &[]);
    campaign("slow_and_many_visitors", Tries { short: 1, full: 20 }, |random| {
        let beginning =
            random.pick(&["GET / HT", "", "GET / HTTP/1.1\r\nHost: localhost\r\nX: y"]).as_bytes();
        let mut visitors = Vec::new();
        for _ in 0..1000 {
            // There may be fewer descriptors here than there.
            let Ok(mut visitor) = TcpStream::connect(&server.address) else { break };
            visitor.write_all(beginning).map_err(|error| error.to_string())?;
            visitors.push(visitor);
        }
        is_well(&mut server)?;
        drop(visitors);
        is_well(&mut server)
    });
}
