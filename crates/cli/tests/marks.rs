//! Databases that Steelbench creates on servers by URL, when the run ends between the statement
//! that creates one and the next.

use crate::common::{Exit, Lab, end, signal, wait_until};
use crate::servers;
use crate::servers::by_url::{Server, bindirs};
use crate::servers::installed::sql_server_stand_in;
use crate::servers::proxy::{Act, Proxy, Sent};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals that end a run, and how it ends.
const SIGNALS: [(i32, Option<i32>); 4] = [
    (libc::SIGINT, Some(130)),
    (libc::SIGTERM, Some(130)),
    (libc::SIGHUP, Some(130)),
    (libc::SIGKILL, None),
];

/// A proxy that holds a client once: at a request with a text.
struct Holding {
    proxy: Proxy,
    is_armed: Arc<AtomicBool>,
    holds: Arc<AtomicBool>,
}

impl Holding {
    /// `before`: the request does not reach the server, else its answer does not reach the client.
    fn start(to: u16, text: &'static str, before: bool) -> Self {
        let (is_armed, holds) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (armed, held) = (Arc::clone(&is_armed), Arc::clone(&holds));
        let proxy = Proxy::start(to, move |sent: &Sent<'_>| {
            if !sent.has(text) || !armed.swap(false, Ordering::SeqCst) {
                return Act::Pass;
            }
            held.store(true, Ordering::SeqCst);
            if before { Act::Swallow } else { Act::PassLast }
        });
        Self { proxy, is_armed, holds }
    }

    /// Starts a run and sends it a signal while it is held.
    fn end_while_held(&self, mut run: Command, sent: i32) -> Exit {
        self.holds.store(false, Ordering::SeqCst);
        self.is_armed.store(true, Ordering::SeqCst);
        let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the run is held", || self.holds.load(Ordering::SeqCst));
        signal(&child, sent);
        end(child)
    }
}

fn run(lab: &Lab) -> Command {
    let mut run = lab.command(&["run", "e.toml", "--fresh"]);
    run.env("XDG_CACHE_HOME", lab.path("cache"));
    run
}

fn file(target: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \"script\"\nscript = \
         \"r.sql\"\nconnections = 1\ntransactions = 1\nprotocol = \"simple\"\n[observe]\nwaits = \
         false\n[repeats]\nblocks = 1\n"
    )
}

/// A server with a database of the user, and an experiment that fills databases of its own there.
fn on_postgres(server: &Server, port: u16) -> Lab {
    let mut client = server.connect();
    client.batch("CREATE ROLE app LOGIN CREATEDB").unwrap();
    client.batch("CREATE DATABASE prod OWNER app").unwrap();
    let lab = servers::lab(&file(&format!(
        "engine = \"postgres\"\nurl = \"host=127.0.0.1 port={port} user=app \
         dbname=prod\"\nsetup.sql = \"schema.sql\""
    )));
    lab.write("schema.sql", "CREATE TABLE items (id int);\n");
    lab.write("r.sql", "SELECT count(*) FROM items;\n");
    lab
}

/// Databases of a PostgreSQL server that packages do not make, and whether they have a comment.
fn databases(server: &Server) -> Vec<(String, bool)> {
    let sql = "SELECT datname, shobj_description(oid, 'pg_database') IS NOT NULL FROM pg_database \
               WHERE datname !~ '^(postgres|template.|prod)$' ORDER BY 1";
    let rows = server.connect().query(sql, &[]).unwrap();
    rows.iter().map(|row| (row.text(0), row.get(1) == Some("t"))).collect()
}

const TRUST: &str = "host all app 127.0.0.1/32 trust\n";

#[test]
fn postgres_databases_that_were_just_created_are_dropped_whatever_ends_the_run() {
    for bin in bindirs() {
        // Created and not commented on, and created without an answer.
        for (text, before) in [("COMMENT ON DATABASE", true), ("CREATE DATABASE", false)] {
            let server = Server::start(&bin, TRUST, &[]);
            let holding = Holding::start(server.port, text, before);
            let lab = on_postgres(&server, holding.proxy.port);
            for (sent, code) in SIGNALS {
                let ended = holding.end_while_held(run(&lab), sent);
                assert_eq!(ended.code, code, "{ended:#?}");
                if code.is_some() {
                    assert_eq!(databases(&server), [], "{sent} at {text}: {ended:#?}");
                    continue;
                }
                // The comment was not set yet.
                wait_until("it is created", || !databases(&server).is_empty());
                let left = databases(&server);
                assert!(matches!(&left[..], [(_, false)]), "{left:?}");
                let again = Exit::from(run(&lab).output().unwrap()).expect(0);
                again.says("an earlier run did not end properly: dropped on").says(&left[0].0);
            }
            assert_eq!(databases(&server), []);
        }
    }
}

#[test]
fn a_postgres_database_of_the_user_with_the_same_name_is_refused_and_stays() {
    for bin in bindirs() {
        let server = Server::start(&bin, TRUST, &[]);
        let holding = Holding::start(server.port, "COMMENT ON DATABASE", true);
        let lab = on_postgres(&server, holding.proxy.port);
        holding.end_while_held(run(&lab), libc::SIGKILL);
        wait_until("it is created", || !databases(&server).is_empty());
        let name = databases(&server).remove(0).0;
        let mut client = server.connect();
        wait_until("its session has ended", || {
            client.batch(&format!("DROP DATABASE IF EXISTS {name}")).is_ok()
        });
        client.batch(&format!("CREATE DATABASE {name} OWNER app")).unwrap();
        let refused = Exit::from(run(&lab).output().unwrap());
        assert_ne!(refused.code, Some(0), "{refused:#?}");
        refused.says("Steelbench did not create it");
        assert_eq!(databases(&server), [(name, false)]);
    }
}

#[test]
fn a_mariadb_database_that_was_just_created_is_dropped_whatever_ends_the_run() {
    let Some(server) = servers::mariadb::Server::start(&[]) else { return };
    let there = || {
        let sql = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = \
                   'steelbench'";
        server.connect().cell(sql).unwrap().unwrap() == "1"
    };
    server.connect().run("CREATE USER app@127.0.0.1; GRANT ALL ON *.* TO app@127.0.0.1").unwrap();
    let holding = Holding::start(server.port, "CREATE TABLE made_by_steelbench", true);
    let url = format!("mariadb://app@127.0.0.1:{}/", holding.proxy.port);
    let lab = servers::lab(&file(&format!("engine = \"mariadb\"\nurl = \"{url}\"")));
    lab.write("r.sql", "DO 1;\n");
    for (sent, code) in SIGNALS {
        let ended = holding.end_while_held(run(&lab), sent);
        assert_eq!(ended.code, code, "{ended:#?}");
        assert_eq!(there(), code.is_none(), "{sent}: {ended:#?}");
    }
    let last = Exit::from(run(&lab).output().unwrap()).expect(0);
    last.says("database steelbench of an earlier run is still there; the first trial drops it");
    assert!(!there());
    // Empty ones of the user, and one with tables; also before order entry is loaded.
    let orders = servers::lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \
         \"{url}\"\n[workload]\nprobe = \"order-entry\"\nconnections = 1\ntransactions = \
         1\n[repeats]\nblocks = 1\n"
    ));
    let like_ours = "COLLATE utf8mb4_esperanto_ci COMMENT 'made by steelbench'";
    for (options, table) in [
        ("", ""),
        ("COLLATE utf8mb4_esperanto_ci", ""),
        (like_ours, "CREATE TABLE steelbench.mine (a int)"),
    ] {
        server.connect().run(&format!("CREATE DATABASE steelbench {options}; {table}")).unwrap();
        let refused = Exit::from(run(&lab).output().unwrap());
        assert_ne!(refused.code, Some(0), "{options}: {refused:#?}");
        refused.says("Steelbench did not create it");
        assert!(there());
        let refused = Exit::from(run(&orders).output().unwrap());
        assert_ne!(refused.code, Some(0), "{options}: {refused:#?}");
        refused.says("Steelbench did not create it");
        assert_eq!((there(), orders.trials("t")), (true, 0));
        if !table.is_empty() {
            server.connect().run("SELECT a FROM steelbench.mine").unwrap();
        }
        server.connect().run("DROP DATABASE steelbench").unwrap();
    }
}

#[test]
fn a_sql_server_database_that_was_just_created_is_dropped_whatever_ends_the_run() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let (start, port) = url.rsplit_once(':').unwrap();
    let (port, rest) = port.split_once('/').unwrap();
    let holding = Holding::start(port.parse().unwrap(), "sp_addextendedproperty", true);
    let start = start.replace(":S3c@", "@");
    let url = format!("{start}:{}/{rest}", holding.proxy.port);
    let lab = servers::lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlserver\"\nurl = \
         \"{url}\"\n[workload]\nprobe = \"insert\"\nconnections = 1\nrows = \
         10\nrows_per_transaction = 1\n[repeats]\nblocks = 1\n"
    ));
    let run = || {
        let mut run = run(&lab);
        run.env("SQLCMDPASSWORD", "S3c");
        run
    };
    for (sent, code) in SIGNALS {
        let ended = holding.end_while_held(run(), sent);
        assert_eq!(ended.code, code, "{ended:#?}");
    }
    // The name is free again: nothing that an earlier run has left is in the way.
    let last = Exit::from(run().output().unwrap()).expect(0);
    last.says("database steelbench_not_marked_yet of an earlier run is still there");
}
