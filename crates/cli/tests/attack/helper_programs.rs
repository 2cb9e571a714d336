//! A man in the middle of Steelbench, or of the programs that it starts (`pg_dump`, `psql`,
//! `mariadb`), and an honest server: on some connection it asks for the password in clear, or for a
//! file. Neither arrives.

use crate::attack::arena::{Arena, Limits, Tries, USUAL, campaign};
use crate::attack::hostile_servers::{FILE, PASSWORD, address};
use crate::common::skipped;
use crate::servers::{by_url, mariadb};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::relay::{self, Fate, From, contains};

/// All that the man in the middle hears.
type Traffic = Arc<Mutex<Vec<u8>>>;

/// Time for all that waits for an answer that never comes.
const LIMITS: Limits = Limits { time: Duration::from_secs(150), bytes: 8 << 30, ..USUAL };

const DUMP: &str = "CREATE TABLE t (a int);\nINSERT INTO t VALUES (1), (2), (3);\n";
const READ: &str = "\\set n random(1, 3)\nSELECT count(*) FROM t WHERE a = :n;\n";

/// Neither the password nor a file of this machine was sent or printed.
fn is_kept(received: &Traffic, printed: &str) -> Result<(), String> {
    let file = std::fs::read(FILE).unwrap();
    let received = received.lock().unwrap();
    for (what, part) in
        [("the password", PASSWORD.as_bytes()), ("a file", &file[..file.len().min(20)])]
    {
        if contains(&received, part) {
            return Err(format!("sends {what} to the man in the middle: {printed}"));
        }
    }
    if printed.contains(PASSWORD) { Err(format!("prints the password: {printed}")) } else { Ok(()) }
}

/// Passes PostgreSQL's messages on, except on this connection, where it asks for the password.
fn postgres_judge(is_attacked: bool, received: Traffic) -> relay::Judge {
    let mut is_asked = false;
    Box::new(move |from, bytes| {
        if from == From::Server {
            return Fate::Pass;
        }
        received.lock().unwrap().extend(bytes);
        if !is_attacked {
            return Fate::Pass;
        }
        // A request to encrypt, by TLS or GSSAPI.
        if bytes.len() == 8 && (bytes.ends_with(&[22, 47]) || bytes.ends_with(&[22, 48])) {
            return Fate::Answer(b"N".to_vec());
        }
        if std::mem::replace(&mut is_asked, true) {
            return Fate::Cut;
        }
        Fate::Answer(b"R\0\0\0\x08\0\0\0\x03".to_vec())
    })
}

#[test]
fn helper_programs_of_postgres() {
    let Some(bin) = by_url::bindirs().into_iter().next() else { return };
    let here = address();
    if here.is_loopback() {
        return skipped("this machine has no address but the loopback interface");
    }
    let server = by_url::Server::start(&bin, "host all all all scram-sha-256", &[]);
    let alter = format!("ALTER ROLE {} PASSWORD '{PASSWORD}'", by_url::OWNER);
    server.connect().batch(&alter).unwrap();
    server.connect().batch(DUMP).unwrap();
    let behind = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port));
    campaign("helper_programs_of_postgres", Tries { short: 2, full: 150 }, |random| {
        let arena = Arena::new();
        arena.write("dump.sql", DUMP.as_bytes());
        arena.write("read.sql", READ.as_bytes());
        let (received, attacked) = (Traffic::default(), random.below(10));
        let shared = Arc::clone(&received);
        let address = relay::start(here, behind, move |number| {
            postgres_judge(number >= attacked, Arc::clone(&shared))
        });
        let mode = *random.pick(&["disable", "prefer"]);
        let url = format!(
            "host={} port={} user={} dbname=postgres sslmode={mode} connect_timeout=5",
            address.ip(),
            address.port(),
            by_url::OWNER
        );
        let common = "-f read.sql -T 0.05 --warmup 0 --blocks 1 --set enable_seqscan=off";
        let ways = [
            vec![url.as_str(), "--test-server", &url],
            vec!["--dump", "dump.sql", "--test-server", &url],
            vec!["--sql", "dump.sql", "--test-server", &url],
        ];
        let way = random.in_turn(&ways);
        let line: Vec<&str> = ["queries", "try"]
            .into_iter()
            .chain(way.iter().copied())
            .chain(common.split(' '))
            .collect();
        let mut command = arena.lab.command(&line);
        command.env("PGPASSWORD", PASSWORD).env("XDG_CACHE_HOME", arena.path("cache"));
        let outcome = arena.run_command(command, LIMITS)?;
        let failure = |why| format!("connection {attacked}, {}: {why}", way[0]);
        is_kept(&received, &outcome.text()).map_err(failure)?;
        if !matches!(outcome.status.code(), Some(0..=2)) {
            return Err(failure(outcome.text()));
        }
        arena.is_clean()
    });
}

/// An attack on a connection of MariaDB's protocol.
#[derive(Clone, Copy, PartialEq)]
enum Demand {
    /// Asks for the login in clear text.
    Clear,
    /// Asks for a file in answer to a statement.
    File,
}

fn mariadb_judge(demand: Option<Demand>, received: Traffic) -> relay::Judge {
    let mut messages = 0;
    Box::new(move |from, bytes| {
        if from == From::Server {
            return Fate::Pass;
        }
        received.lock().unwrap().extend(bytes);
        messages += 1;
        let packet = |number: u8, body: &[u8]| {
            let length = (body.len() as u32).to_le_bytes();
            [&length[..3], &[number], body].concat()
        };
        match demand {
            Some(Demand::Clear) if messages == 1 => {
                Fate::Answer(packet(2, b"\xfemysql_clear_password\0"))
            }
            Some(Demand::Clear) => Fate::Cut,
            // 3 is a statement as text, in a packet of its own.
            Some(Demand::File) if bytes.get(3..5) == Some(&[0, 3]) => {
                Fate::Answer(packet(1, &[b"\xfb", FILE.as_bytes()].concat()))
            }
            // The file that was asked for would be the packet after the request.
            Some(Demand::File)
                if messages > 1 && bytes.get(3).is_some_and(|number| *number > 1) =>
            {
                Fate::Cut
            }
            _ => Fate::Pass,
        }
    })
}

#[test]
fn helper_programs_of_mariadb() {
    let Some(server) = mariadb::Server::start(&[]) else { return };
    let grant = format!(
        "CREATE USER me@'%' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO me@'%' WITH GRANT \
         OPTION"
    );
    for sql in grant.split("; ") {
        server.connect().query(sql).unwrap();
    }
    let (here, behind) = (address(), SocketAddr::from((Ipv4Addr::LOCALHOST, server.port)));
    campaign("helper_programs_of_mariadb", Tries { short: 2, full: 150 }, |random| {
        let arena = Arena::new();
        arena.write("dump.sql", DUMP.as_bytes());
        arena.write("read.sql", READ.as_bytes());
        let demand = *random.in_turn(&[Demand::Clear, Demand::File]);
        let (received, attacked) = (Traffic::default(), random.below(8));
        let shared = Arc::clone(&received);
        let address = relay::start(here, behind, move |number| {
            mariadb_judge((number >= attacked).then_some(demand), Arc::clone(&shared))
        });
        let mode = *random.pick(&["DISABLED", "PREFERRED"]);
        let url = format!("mariadb://me@{address}/?ssl-mode={mode}&connect-timeout=5");
        let way = *random.pick(&["--sql", "--dump"]);
        let line = [
            "queries",
            "try",
            "--engine",
            "mariadb",
            "--test-server",
            &url,
            way,
            "dump.sql",
            "-f",
            "read.sql",
            "-T",
            "0.05",
            "--warmup",
            "0",
            "--blocks",
            "1",
            "--index",
            "CREATE INDEX t_a ON t (a)",
        ];
        let mut command = arena.lab.command(&line);
        command.env("MYSQL_PWD", PASSWORD).env("XDG_CACHE_HOME", arena.path("cache"));
        let outcome = arena.run_command(command, LIMITS)?;
        let failure = |why| format!("connection {attacked}, {way}: {why}");
        is_kept(&received, &outcome.text()).map_err(failure)?;
        if !matches!(outcome.status.code(), Some(0..=2)) {
            return Err(failure(outcome.text()));
        }
        arena.is_clean()
    });
}
