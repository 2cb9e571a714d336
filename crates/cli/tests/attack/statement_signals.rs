//! Signals that come while a statement is on its way: at the creation of a database, its mark and
//! its removal, and at a change of the server's settings.

use crate::attack::arena::{Arena, Tries, USUAL, campaign, end_within};
use crate::servers::by_url::{OWNER, Server, bindirs};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::relay::{self, Fate, From};

const SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGKILL];
/// Statements at which signals come, by their beginnings.
const STATEMENTS: [&str; 7] = [
    "CREATE DATABASE",
    "COMMENT ON DATABASE",
    "DROP DATABASE",
    "CREATE TABLE",
    "ALTER SYSTEM",
    "pg_reload_conf",
    "ALTER SYSTEM",
];

/// Aims at one of a kind of statements.
#[derive(Clone)]
struct Aim {
    statement: &'static str,
    signal: i32,
    /// Statements of this kind that come before.
    skip: usize,
    /// Before the server has the statement, or after it had some time for it.
    after: Option<Duration>,
}

/// The process that is aimed at, and whether it was hit.
#[derive(Default)]
struct Target {
    process: AtomicI32,
    passed: AtomicUsize,
    hit: Mutex<bool>,
}

impl Target {
    fn look(&self, aim: &Aim, bytes: &[u8]) {
        if !relay::contains(bytes, aim.statement.as_bytes())
            || self.passed.fetch_add(1, Ordering::SeqCst) != aim.skip
        {
            return;
        }
        let process = self.process.load(Ordering::SeqCst);
        *self.hit.lock().unwrap() = true;
        // SAFETY: the process is a child of the test that was not waited for.
        unsafe { libc::kill(process, aim.signal) };
    }
}

/// A proxy that sends the signal.
fn proxy(server: &Server, aim: &Aim) -> (SocketAddr, Arc<Target>) {
    let target = Arc::<Target>::default();
    let (victim, aim) = (Arc::clone(&target), aim.clone());
    let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
    let address = relay::start(localhost, (localhost, server.port).into(), move |_| {
        let (target, aim) = (Arc::clone(&victim), aim.clone());
        Box::new(move |from, bytes| {
            if from == From::Server {
                return Fate::Pass;
            }
            match aim.after {
                None => target.look(&aim, bytes),
                Some(delay) => {
                    let (target, aim, bytes) = (Arc::clone(&target), aim.clone(), bytes.to_vec());
                    std::thread::spawn(move || {
                        std::thread::sleep(delay);
                        target.look(&aim, &bytes);
                    });
                }
            }
            Fate::Pass
        })
    });
    (address, target)
}

/// A run whose every statement passes the proxy.
fn run(arena: &Arena, aim: &Aim, target: &Target, arguments: &[&str]) -> Result<(), String> {
    let mut command = arena.lab.command(arguments);
    command.current_dir(arena.path("")).env("XDG_CACHE_HOME", arena.path("cache"));
    let log = std::fs::File::create(arena.path("log")).unwrap();
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let mut child = command.spawn().unwrap();
    target.process.store(child.id() as i32, Ordering::SeqCst);
    let status = end_within(&mut child, USUAL.time).ok_or("hangs")?;
    let is_hit = *target.hit.lock().unwrap();
    // The work may be done when the signal comes with the last statement.
    let is_last = ["DROP DATABASE", "ALTER SYSTEM", "pg_reload_conf"].contains(&aim.statement);
    let expected = match (is_hit, aim.signal) {
        (false, _) => status.code() == Some(0),
        (true, libc::SIGKILL) => status.signal() == Some(libc::SIGKILL),
        (true, _) => status.code() == Some(130) || (is_last && status.code() == Some(0)),
    };
    let log = || std::fs::read_to_string(arena.path("log")).unwrap_or_default();
    if expected { Ok(()) } else { Err(format!("hit: {is_hit}: {status}: {}", log())) }
}

const TABLE: &str = "CREATE TABLE t AS SELECT n AS a FROM generate_series(1, 1000) n;\n";
const READ: &str = "\\set n random(1, 1000)\nSELECT count(*) FROM t WHERE a = :n;\n";

fn experiment(url: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
         \"{url}\"\nallow_server_settings = true\nsettings.checkpoint_timeout = \
         \"77s\"\n[workload]\nprobe = \"insert\"\nconnections = 1\nrows = \
         100\nrows_per_transaction = 10\n[repeats]\nblocks = 1\n"
    )
}

#[test]
fn statement_signals() {
    let Some(bin) = bindirs().into_iter().next() else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    campaign("statement_signals", Tries { short: 2, full: 150 }, |random| {
        let arena = Arena::new();
        arena.write("table.sql", TABLE.as_bytes());
        arena.write("read.sql", READ.as_bytes());
        let statement = *random.pick(&STATEMENTS);
        let delay = Duration::from_millis(random.below(30) as u64);
        let aim = Aim {
            statement,
            signal: *random.in_turn(&SIGNALS),
            skip: random.below(2),
            after: (random.below(2) == 0).then_some(delay),
        };
        let (address, target) = proxy(&server, &aim);
        // The second run connects by the same address: the name of a database depends on it.
        let url = format!(
            "host=127.0.0.1 port={} user={OWNER} dbname=postgres sslmode=disable",
            address.port()
        );
        arena.write("e.toml", experiment(&url).as_bytes());
        let of_try: Vec<&str> = "queries try --sql table.sql -f read.sql -T 0.05 --warmup 0 \
                                 --blocks 1 --set enable_bitmapscan=off --test-server"
            .split(' ')
            .chain([url.as_str()])
            .collect();
        let is_try = !["ALTER SYSTEM", "pg_reload_conf"].contains(&statement);
        let arguments: &[&str] = if is_try { &of_try } else { &["run", "e.toml"] };
        let failed =
            |why: String| format!("{} by {} at {statement}: {why}", arguments[0], aim.signal);
        run(&arena, &aim, &target, arguments).map_err(failed)?;
        // No more signals: the next run reclaims what is left and puts settings back.
        target.passed.store(1000, Ordering::SeqCst);
        let mut command = arena.lab.command(arguments);
        command.env("XDG_CACHE_HOME", arena.path("cache"));
        let last = arena.run_command(command, USUAL)?;
        if last.status.code() != Some(0) {
            return Err(failed(format!("does not resume: {}", last.text())));
        }
        for (what, sql) in [
            (
                "databases",
                "SELECT string_agg(datname, ' ') FROM pg_database WHERE datname ~ \
                           'steelbench'",
            ),
            (
                "settings",
                "SELECT string_agg(name, ' ') FROM pg_file_settings WHERE sourcefile ~ \
                          'auto.conf'",
            ),
        ] {
            if let Some(left) = server.connect().cell(sql).unwrap() {
                // The next try begins without it.
                let mut admin = server.connect();
                for name in left.split(' ') {
                    let statement =
                        if what == "databases" { "DROP DATABASE" } else { "ALTER SYSTEM RESET" };
                    admin.batch(&format!("{statement} \"{name}\"")).unwrap();
                }
                return Err(failed(format!("leaves {what} {left}: {}", last.text())));
            }
        }
        arena.is_clean()
    });
}
