//! Servers that fall silent at some point of a command: each wait ends in its time, and nothing
//! unfinished is left. A server that works on is waited for.

use crate::common::{Exit, Lab, end, hear, signal};
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::proxy::{Act, Proxy, Sent};
use crate::{common, servers};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::mpsc::Receiver;

/// The longest silence, for these tests.
const SILENCE_S: &str = "0.5";

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// `AuthenticationOk`, `server_version`, `ReadyForQuery`.
fn welcome() -> Vec<u8> {
    let version = message(b'S', b"server_version\x0015.0\0");
    [message(b'R', &[0; 4]), version, message(b'Z', b"I")].concat()
}

/// Columns of text, and a row of them.
fn row(cells: &[&str]) -> Vec<u8> {
    let count = (cells.len() as u16).to_be_bytes();
    let (mut columns, mut values) = (count.to_vec(), count.to_vec());
    for cell in cells {
        columns.extend(*b"c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
        values.extend((cell.len() as u32).to_be_bytes());
        values.extend(cell.as_bytes());
    }
    [message(b'T', &columns), message(b'D', &values)].concat()
}

/// The places at which a server falls silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Falls {
    AfterLogin,
    /// In the answer that lists the columns of a table.
    AtColumns,
    AtCount,
    AfterFirstRow,
    WithinRow,
    /// At what takes long, where it claims to be at work.
    AtWork,
    /// After its settings.
    AtDatabases,
}

const FALLS: [Falls; 5] =
    [Falls::AfterLogin, Falls::AtColumns, Falls::AtCount, Falls::AfterFirstRow, Falls::WithinRow];

/// Answers requests up to the silence.
fn answer(socket: &mut TcpStream, falls: Falls) -> std::io::Result<()> {
    socket.read_exact(&mut [0])?;
    let _ = socket.read(&mut [0; 10_000])?;
    socket.write_all(&welcome())?;
    let mut request = [0; 10_000];
    if falls == Falls::AfterLogin {
        // The request that is not answered.
        return socket.read_exact(&mut [0]);
    }
    loop {
        let length = socket.read(&mut request)?;
        let text = String::from_utf8_lossy(&request[..length]).into_owned();
        let begun: &[u8] = if request[0] == b'P' { b"1\0\0\0\x042\0\0\0\x04" } else { b"" };
        let rows = if text.contains("attname") {
            row(&["a", "integer"])
        } else if text.contains("count(*)") {
            let is_at_work = if falls == Falls::AtWork { "1" } else { "0" };
            row(&[if text.contains("pg_stat_activity") { is_at_work } else { "3" }])
        } else if text.contains("FROM \"t\"") {
            row(&["1"])
        } else {
            Vec::new()
        };
        let is_row = text.contains("FROM \"t\"") && !text.contains("count(*)");
        let sent = match falls {
            Falls::AtColumns if text.contains("attname") => 0,
            Falls::AtCount if text.contains("count(*)") => 0,
            Falls::AtDatabases if text.contains("pg_database") => 0,
            // The first request of pg_dump.
            Falls::AtWork if is_row || text.contains("pg_catalog.set_config") => 0,
            Falls::AfterFirstRow if is_row => rows.len(),
            Falls::WithinRow if is_row => rows.len() - 1,
            _ => {
                let done = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
                socket.write_all(&[begun, &rows, &done].concat())?;
                continue;
            }
        };
        return socket.write_all(&[begun, &rows[..sent]].concat());
    }
}

/// Such a server's URL, and who tells of everybody who waits for it.
fn silent(falls: Falls) -> (String, Receiver<()>) {
    let (port, receiver) = servers::silent(move |socket| answer(socket, falls));
    (format!("postgres://me@127.0.0.1:{port}/d?sslmode=disable"), receiver)
}

fn run(lab: &Lab, arguments: &[&str]) -> Exit {
    let mut command = lab.command(arguments);
    Exit::from(command.env("STEELBENCH_SILENCE_S", SILENCE_S).output().unwrap())
}

const TRY: [&str; 6] = ["--index", "CREATE INDEX ON t (a)", "-f", "r.sql", "--name", "n"];

fn files(lab: &Lab) -> Vec<String> {
    let entries = std::fs::read_dir(lab.path("")).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.contains("dump"));
    names
}

#[test]
fn a_server_that_is_silent_after_login_ends_each_command_in_its_time() {
    let (url, _told) = silent(Falls::AfterLogin);
    for arguments in [
        vec!["waits", &url, "--seconds", "0.1"],
        vec!["queries", &url],
        vec!["queries", &url, "--seconds", "0.1"],
        vec!["capture", &url, "-o", "c.json", "--seconds", "0.1"],
        vec!["survey", "--server", &url],
        vec!["sort-order", &url, "t"],
    ] {
        let ended = run(&Lab::new(), &arguments).expect(1);
        assert!(ended.stderr.contains("no answer within 0.5 s"), "{arguments:?}: {ended:#?}");
    }
}

#[test]
fn sort_order_ends_wherever_the_server_falls_silent() {
    for falls in FALLS {
        let (url, _told) = silent(falls);
        let ended = run(&Lab::new(), &["sort-order", &url, "t"]).expect(1);
        assert!(ended.stderr.contains("no answer within 0.5 s"), "{falls:?}: {ended:#?}");
    }
}

/// The server claims that the session is active whenever it is asked.
#[test]
fn a_server_that_claims_to_work_is_given_up_at_the_deadline() {
    let (url, _told) = silent(Falls::AtWork);
    let ended = run(&Lab::new(), &["sort-order", &url, "t", "--time-limit", "2"]).expect(1);
    ended.says("takes at most 2 s (--time-limit)").says("gave up after 2 s (--time-limit)");
    let Some(lab) = lab_with_statement() else { return };
    let arguments = [&["queries", "try", &url, "--time-limit", "3"][..], &TRY].concat();
    let ended = run(&lab, &arguments).expect(1);
    ended.says("takes at most 3 s (--time-limit)").says("gave up after 3 s (--time-limit)");
    assert_eq!(files(&lab), Vec::<String>::new());
}

#[test]
fn a_capture_asks_a_server_that_fell_silent_no_more() {
    let (url, receiver) = silent(Falls::AtDatabases);
    let arguments = ["capture", &url, "-o", "c.json", "--seconds", "0.1"];
    let ended = run(&Lab::new(), &arguments).expect(1);
    ended.says("takes at most").says("no answer within 0.5 s");
    assert_eq!(receiver.try_iter().count(), 1);
}

/// A lab with the statement of a `queries try`; `None`, with a word about it, without `pg_dump`.
fn lab_with_statement() -> Option<Lab> {
    if bindirs().is_empty() {
        common::skipped("PostgreSQL is not installed");
        return None;
    }
    let lab = Lab::new();
    lab.write("r.sql", "SELECT 1;\n");
    Some(lab)
}

#[test]
fn a_dump_of_a_silent_server_ends_and_leaves_nothing() {
    let Some(lab) = lab_with_statement() else { return };
    let (url, _told) = silent(Falls::AfterLogin);
    let arguments = [&["queries", "try", &url][..], &TRY].concat();
    let ended = run(&lab, &arguments).expect(1);
    // Our own question, or the client's: both are given up after the same time.
    let ways = ["no answer within 0.5 s", "killed after 0.5 s without progress"];
    assert!(ways.iter().any(|way| ended.stderr.contains(way)), "{ended:#?}");
    assert_eq!(files(&lab), Vec::<String>::new());

    // Another server, which reports no client of the first command.
    let (url, receiver) = silent(Falls::AfterLogin);
    let arguments = [&["queries", "try", &url][..], &TRY].concat();
    let mut child = lab
        .command(&arguments)
        .env("STEELBENCH_SILENCE_S", "600")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    hear(&receiver, &mut child);
    signal(&child, libc::SIGINT);
    end(child).expect(130).says("nothing is left");
    assert_eq!(files(&lab), Vec::<String>::new());
}

/// A process that dies during a dump leaves no file that looks whole.
#[test]
fn a_killed_dump_is_not_taken_for_a_whole_one() {
    let Some(lab) = lab_with_statement() else { return };
    let (url, receiver) = silent(Falls::AfterLogin);
    let arguments = [&["queries", "try", &url][..], &TRY].concat();
    let mut child = lab.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
    hear(&receiver, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!lab.path("n.dump").exists());
    assert!(files(&lab).iter().all(|name| name.ends_with(".partial")), "{:?}", files(&lab));
    // The next one removes what is left, and does not recommend it.
    let ended = run(&lab, &arguments).expect(1);
    assert!(!ended.stderr.contains("already exists"), "{ended:#?}");
    assert_eq!(files(&lab), Vec::<String>::new());
}

#[test]
fn a_server_that_works_longer_than_it_may_be_silent_is_waited_for() {
    let Some(bin) = bindirs().pop() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    // Each row that is counted takes time, and nothing is sent until the end.
    server
        .connect()
        .batch(
            "CREATE VIEW slow AS SELECT n AS a, n % 3 AS b FROM generate_series(1, 50) n, LATERAL \
             (SELECT pg_sleep(0.1 + 0 * n)) s",
        )
        .unwrap();
    let url = format!("postgres://{OWNER}@127.0.0.1:{}/postgres?sslmode=disable", server.port);
    // A busy machine takes its time to let in who asks whether the server works.
    let lab = Lab::new();
    let mut command = lab.command(&["sort-order", &url, "slow"]);
    command.env("STEELBENCH_SILENCE_S", "2").stdout(Stdio::piped()).stderr(Stdio::piped());
    end(command.spawn().unwrap()).expect(0);
}

/// The answer to the statement that removes what a run has made never comes.
#[test]
fn the_end_of_a_run_waits_for_a_silent_server_for_a_limited_time() {
    let Some(bin) = bindirs().pop() else {
        return common::skipped("PostgreSQL is not installed");
    };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    let proxy = Proxy::start(server.port, |sent: &Sent<'_>| {
        if sent.has("DROP DATABASE") { Act::PassLast } else { Act::Pass }
    });
    let lab = servers::lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \"host=127.0.0.1 \
         port={} user={OWNER} dbname=postgres sslmode=disable\"\nsetup.sql = \
         \"schema.sql\"\n[workload]\nprobe = \"script\"\nscript = \"r.sql\"\nconnections = \
         1\ntransactions = 1\n[repeats]\nblocks = 1\n",
        proxy.port
    ));
    lab.write("schema.sql", "CREATE TABLE t (a int);\n");
    lab.write("r.sql", "SELECT count(*) FROM t;\n");
    let mut command = lab.command(&["run", "e.toml"]);
    command.env("STEELBENCH_SILENCE_S", "5").stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = end(command.spawn().unwrap()).expect(1);
    ended.says("DROP DATABASE").says("no answer within 5 s");
}

#[test]
fn a_wrong_limit_is_said() {
    let lab = Lab::new();
    let mut command = lab.command(&["waits", "postgres://127.0.0.1/d"]);
    let output = command.env("STEELBENCH_SILENCE_S", "soon").output().unwrap();
    Exit::from(output).expect(2).says("STEELBENCH_SILENCE_S=soon: expected seconds");
}
