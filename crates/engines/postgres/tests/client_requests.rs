//! Requests and their answers, on every installed version.

use postgres::client::{Client, Error, quote_identifier, quote_literal};
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;
use testing::postgres_client::{LONG, Server, bindirs};

fn on_every_version(test: impl Fn(&Server)) {
    for server in shared().iter() {
        test(server);
    }
}

/// The servers that the tests of this file share, as long as one of them runs.
fn shared() -> Arc<Vec<Server>> {
    static SERVERS: Mutex<Weak<Vec<Server>>> = Mutex::new(Weak::new());
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    servers.upgrade().unwrap_or_else(|| {
        let started = bindirs().iter().map(|bin| Server::start(bin, "", &[])).collect();
        let started = Arc::new(started);
        *servers = Arc::downgrade(&started);
        started
    })
}

fn value(client: &mut Client, sql: &str) -> String {
    client.query(sql, &[]).unwrap().first().unwrap().get(0).unwrap().to_owned()
}

#[test]
fn values_come_back_as_they_went() {
    on_every_version(|server| {
        let mut client = server.connect();
        let long = "wörld 🐘 '\"\\ \n".repeat(20_000);
        let texts = [Some("plain"), Some(""), None, Some(&*long)];
        let rows = client
            .query("SELECT $1::text AS a, $2::text, $3::text, $4::text AS d", &texts)
            .unwrap();
        assert_eq!(rows.len(), 1);
        let row = rows.first().unwrap();
        assert_eq!([row.get(0), row.get(1), row.get(2), row.get(3)], texts);
        assert_eq!((row.get(3), row.get(4)), (Some(&*long), None));
        assert_eq!(rows.columns(), ["a", "text", "text", "d"]);

        let many =
            "SELECT n, repeat('x', n % 100), nullif(n % 3, 0) FROM generate_series(1, 50000) n";
        let rows = client.query(many, &[]).unwrap();
        assert_eq!(rows.len(), 50_000);
        for (n, row) in (1..).zip(rows.iter()) {
            assert_eq!(row.get(0).unwrap(), n.to_string());
            assert_eq!(row.get(1).unwrap().len(), n % 100);
            assert_eq!(row.get(2).is_none(), n % 3 == 0);
        }

        let (name, text) = ("we \"ird", r"back\slash 'quote'");
        let sql = format!("SELECT {} AS {}", quote_literal(text), quote_identifier(name));
        let rows = client.query(&sql, &[]).unwrap();
        assert_eq!((rows.columns()[0].as_str(), rows.first().unwrap().get(0)), (name, Some(text)));
        assert!(client.query("", &[]).unwrap().is_empty());
        assert!(matches!(client.query("SELECT '\0'", &[]), Err(Error::Protocol(_))));
        assert_eq!(value(&mut client, "SELECT 1"), "1");
    });
}

#[test]
fn the_session_knows_its_server() {
    on_every_version(|server| {
        let config =
            server.config().with_application_name("its name").with_options("-c work_mem=5MB");
        let mut client = Client::connect(&config).unwrap();
        assert_eq!(
            value(&mut client, "SHOW server_version_num"),
            client.server_version().to_string()
        );
        assert_eq!(value(&mut client, "SELECT pg_backend_pid()"), client.backend_pid().to_string());
        assert_eq!(value(&mut client, "SHOW application_name"), "its name");
        assert_eq!(value(&mut client, "SHOW work_mem"), "5MB");
        assert!(client.is_local() && !client.is_tls());
        client.batch("SET TimeZone = 'Asia/Tokyo'").unwrap();
        assert_eq!(client.parameter("TimeZone"), Some("Asia/Tokyo"));
        client.batch("DO $$ BEGIN RAISE NOTICE 'one'; RAISE WARNING 'two'; END $$").unwrap();
        assert_eq!(value(&mut client, "SELECT 1"), "1", "notices are no answers");
    });
}

#[test]
fn an_error_leaves_the_connection_usable() {
    on_every_version(|server| {
        let mut client = server.connect();
        client
            .batch("CREATE TEMP TABLE t (id int PRIMARY KEY, CONSTRAINT small CHECK (id < 10))")
            .unwrap();
        let refused = client.query("INSERT INTO t VALUES ($1::int)", &[Some("10")]).unwrap_err();
        let server_error = refused.server_error().unwrap();
        assert_eq!(server_error.code, "23514");
        assert!(
            server_error.detail.is_some() && server_error.message.contains("\"small\""),
            "{server_error}"
        );
        let typo = client.query("SELECT  nothing", &[]).unwrap_err();
        assert_eq!(typo.code(), Some("42703"));
        assert_eq!(
            client.query("SELECT $1::int", &[Some("word")]).unwrap_err().code(),
            Some("22P02")
        );
        assert_eq!(client.query("SELECT $1::int", &[]).unwrap_err().code(), Some("08P01"));
        assert_eq!(client.prepare("SELEKT").unwrap_err().code(), Some("42601"));
        let half = client.batch("INSERT INTO t VALUES (1); SELECT 1/0; INSERT INTO t VALUES (2)");
        assert_eq!(half.unwrap_err().code(), Some("22012"));
        // In the middle of rows.
        let late = client.query("SELECT 1 / (1000 - n) FROM generate_series(1, 2000) n", &[]);
        assert_eq!(late.unwrap_err().code(), Some("22012"));
        // Copies in the wrong place are refused, not waited for.
        assert_eq!(client.batch("COPY t FROM STDIN").unwrap_err().code(), Some("57014"));
        assert_eq!(client.query("COPY t FROM STDIN", &[]).unwrap_err().code(), Some("57014"));
        client.batch("COPY (SELECT 1) TO STDOUT").unwrap();
        assert_eq!(value(&mut client, "SELECT count(*) FROM t"), "0");
    });
}

#[test]
fn prepared_statements_run_again_and_again() {
    on_every_version(|server| {
        let mut client = server.connect();
        let add = client.prepare("SELECT $1::int + $2::bigint AS sum, $3::text").unwrap();
        let other = client.prepare("CREATE TEMP TABLE t (id int)").unwrap();
        assert_eq!(add.columns, ["sum", "text"]);
        for n in 0..100 {
            let n = n.to_string();
            let rows = client.query_prepared(&add, &[Some(&n), Some("1"), None]).unwrap();
            let sum: i32 = rows.first().unwrap().get(0).unwrap().parse().unwrap();
            assert_eq!((sum - 1).to_string(), n);
            assert_eq!(rows.first().unwrap().get(1), None);
        }
        client.query_prepared(&other, &[]).unwrap();
        client.query("INSERT INTO t SELECT generate_series(1, 7)", &[]).unwrap();
        let known = "SELECT string_agg(name, ',' ORDER BY name) FROM pg_prepared_statements";
        assert_eq!(value(&mut client, known), format!("{},{}", add.name, other.name));
    });
}

#[test]
fn copies_rows_in() {
    on_every_version(|server| {
        let mut client = server.connect();
        client.batch("CREATE TEMP TABLE t (id int PRIMARY KEY, word text)").unwrap();
        let mut copy = client.copy_in("COPY t FROM STDIN").unwrap();
        for n in 1..=100_000 {
            copy.write(format!("{n}\twörd {n}\n").as_bytes()).unwrap();
        }
        assert_eq!(copy.finish().unwrap(), 100_000);
        let sum = "SELECT concat_ws(' ', count(*), sum(id), count(DISTINCT word)) FROM t";
        assert_eq!(value(&mut client, sum), "100000 5000050000 100000");

        // One write that is longer than any buffer.
        let rows = (100_001..=400_000).map(|n| format!("{n}\tx")).collect::<Vec<_>>().join("\n");
        let mut copy = client.copy_in("COPY t FROM STDIN").unwrap();
        copy.write(rows.as_bytes()).unwrap();
        assert_eq!(copy.finish().unwrap(), 300_000);

        // Given up: nothing stays.
        client.copy_in("COPY t FROM STDIN").unwrap().write(b"-1\tx\n").unwrap();
        assert_eq!(value(&mut client, "SELECT count(*) FROM t WHERE id < 0"), "0");
        // A refusal is noticed, at the latest at the end, and the connection is usable.
        let mut copy = client.copy_in("COPY t FROM STDIN").unwrap();
        let written = copy.write(b"1\tagain\n");
        assert_eq!(written.and_then(|()| copy.finish()).unwrap_err().code(), Some("23505"));
        // Long before the end, when there is much more to come.
        let mut copy = client.copy_in("COPY t FROM STDIN").unwrap();
        let wrong = [&[b'x'; 9_999][..], b"\n"].concat();
        let refused = (0..1_000_000).find_map(|_| copy.write(&wrong).err());
        assert_eq!(refused.unwrap().code(), Some("22P02"));
        drop(copy);
        assert_eq!(client.copy_in("COPY nothing FROM STDIN").unwrap_err().code(), Some("42P01"));
        assert!(matches!(client.copy_in("SELECT 1"), Err(Error::Protocol(_))));
        assert_eq!(value(&mut client, sum), "400000 80000200000 100001");
    });
}

/// Two parties that both only write would wait for each other for ever.
#[test]
fn notices_that_nobody_reads_do_not_stop_a_copy() {
    on_every_version(|server| {
        let mut client = server.connect();
        client.set_answer_timeout(Some(LONG));
        client
            .batch(
                "CREATE TABLE noisy (word text); CREATE FUNCTION shout() RETURNS trigger LANGUAGE \
                 plpgsql AS
                 $$ BEGIN RAISE NOTICE '%', repeat('noise ', 100); RETURN NEW; END $$;
                 CREATE TRIGGER shout BEFORE INSERT ON noisy FOR EACH ROW EXECUTE FUNCTION shout()",
            )
            .unwrap();
        let mut copy = client.copy_in("COPY noisy FROM STDIN").unwrap();
        let row = [&[b'x'; 200][..], b"\n"].concat();
        for _ in 0..20_000 {
            copy.write(&row).unwrap();
        }
        assert_eq!(copy.finish().unwrap(), 20_000);
    });
}

#[test]
fn a_request_is_cancelled_from_another_thread() {
    on_every_version(|server| {
        let mut client = server.connect();
        let canceller = client.canceller();
        let mut watcher = server.connect();
        let pid = client.backend_pid().to_string();
        let sleeper = thread::spawn(move || {
            let error = client.query("SELECT pg_sleep(1000)", &[]).unwrap_err();
            (client, error)
        });
        let sleeps =
            "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int AND wait_event = 'PgSleep'";
        while watcher.query(sleeps, &[Some(&pid)]).unwrap().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        canceller.cancel().unwrap();
        let (mut client, error) = sleeper.join().unwrap();
        assert_eq!(error.code(), Some("57014"));
        assert_eq!(value(&mut client, "SELECT 2"), "2");
    });
}

#[test]
fn a_timeout_keeps_the_connection_in_step() {
    on_every_version(|server| {
        let mut client = server.connect();
        client.set_answer_timeout(Some(Duration::from_millis(100)));
        assert!(matches!(
            client.query("SELECT 'late', pg_sleep(0.5)", &[]),
            Err(Error::Timeout(_))
        ));
        client.set_answer_timeout(None);
        assert_eq!(value(&mut client, "SELECT 'mine'"), "mine");
    });
}

#[test]
fn a_long_statement_is_waited_for_as_long_as_the_server_works_on_it() {
    on_every_version(|server| {
        let mut client = server.connect();
        client.set_answer_timeout(Some(Duration::from_millis(100)));
        let mut requests = 0;
        let mut works = || {
            requests += 1;
            true
        };
        let rows = client.long_query("SELECT 'done', pg_sleep(0.5)", &mut works).unwrap();
        assert_eq!(rows.first().unwrap().get(0), Some("done"));
        assert!(requests > 0);
        let error = client.long_query("SELECT pg_sleep(1000)", &mut || false).unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error}");
        // The one that is late is not given the time again.
        let error = client.query("SELECT 1", &[]).unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error}");
        client.canceller().cancel().unwrap();
        client.set_answer_timeout(None);
        assert_eq!(value(&mut client, "SELECT 'mine'"), "mine");
    });
}

#[test]
fn a_killed_session_tells_why() {
    on_every_version(|server| {
        let mut client = server.connect();
        let pid = client.backend_pid().to_string();
        let mut other = server.connect();
        let end = "SELECT pg_terminate_backend($1::int)";
        other.query(end, &[Some(&pid)]).unwrap();
        let gone = "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int";
        while !other.query(gone, &[Some(&pid)]).unwrap().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        let error = client.query("SELECT 1", &[]).unwrap_err();
        assert_eq!(error.code(), Some("57P01"), "{error}");
        assert!(error.server_error().unwrap().is_fatal());
        assert!(matches!(client.query("SELECT 1", &[]), Err(Error::Lost(_))));

        // While it runs.
        let mut client = server.connect();
        let pid = client.backend_pid().to_string();
        let sleeper =
            thread::spawn(move || client.query("SELECT pg_sleep(1000)", &[]).unwrap_err());
        other.query(end, &[Some(&pid)]).unwrap();
        assert_eq!(sleeper.join().unwrap().code(), Some("57P01"));
    });
}

#[test]
fn a_session_that_vanishes_is_lost() {
    for bin in bindirs() {
        // A server of its own: it ends all its sessions when one of them was killed.
        let server = Server::start(&bin, "", &[]);
        // Killed outright, it can say nothing.
        let mut client = server.connect();
        let pid = client.backend_pid().to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        let error = client.query("SELECT 1", &[]).unwrap_err();
        assert!(matches!(error, Error::Lost(_)), "{error}");
    }
}

#[test]
fn a_stream_speaks_the_protocol() {
    on_every_version(|server| {
        let mut client = server.connect();
        client.prepare("SELECT 6 * 7").unwrap();
        let pid = client.backend_pid().to_string();
        let mut stream = client.into_stream().unwrap();
        assert!(!stream.is_tls() && !stream.wants_write());
        let mut answer = [0; 1000];
        assert_eq!(stream.read(&mut answer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // Bind the unnamed portal to s0 with neither parameters nor formats; execute; sync.
        let bind = b"B\0\0\0\x0e\0s0\0\0\0\0\0\0\0";
        let execute = b"E\0\0\0\x09\0\0\0\0\0";
        let request = [&bind[..], execute, b"S\0\0\0\x04"].concat();
        assert_eq!(stream.write(&request).unwrap(), request.len());
        let mut received = Vec::new();
        while !received.ends_with(b"Z\0\0\0\x05I") {
            match stream.read(&mut answer) {
                Ok(count) => received.extend_from_slice(&answer[..count]),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        let expected = b"2\0\0\0\x04D\0\0\0\x0c\0\x01\0\0\0\x0242C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
        assert_eq!(received, expected);
        drop(stream);
        let mut watcher = server.connect();
        let lives = "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int";
        while !watcher.query(lives, &[Some(&pid)]).unwrap().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn names_and_values_are_quoted_as_sql_has_them() {
    assert_eq!(quote_identifier(r#"say "hi""#), r#""say ""hi""""#);
    assert_eq!(quote_literal("it's"), "'it''s'");
}
