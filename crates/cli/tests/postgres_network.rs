//! A network that is lost in the middle of a trial, and one that is encrypted.

use crate::common::{Lab, end, skipped, wait_until};
use crate::servers::by_url::{OWNER, Server, bindirs, give, tls_bindirs};
use crate::servers::{await_load, causes, lab};
use postgres::client::Client;
use std::process::Command;

/// Switches the loopback interface of this thread's network.
fn loopback(state: &str) -> bool {
    let output = Command::new("ip").args(["link", "set", "lo", state]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Does a test in a network of its own: a thread's, and that of the processes that it starts. Says
/// so where that is not allowed.
fn in_a_network_of_its_own(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| {
        // SAFETY: a system call about the calling thread alone.
        let alone = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
        if alone && loopback("up") {
            test();
        } else {
            skipped("a network of its own needs root, and the program ip");
        }
    });
    thread.join().unwrap();
}

fn file(server: &Server, more: &str, limits: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \"host=127.0.0.1 \
         port={} user={OWNER} dbname=postgres connect_timeout=2 {more}\"\n[workload]\nprobe = \
         \"insert\"\nconnections = 4\nthreads = 2\nduration = \"4 s\"\nrows_per_transaction = \
         10\n[repeats]\nblocks = 2\n{limits}",
        server.port
    )
}

fn statuses(lab: &Lab) -> Vec<String> {
    lab.rows("t", "SELECT status FROM trials ORDER BY id")
}

/// Counts Steelbench's schemas on the server through its unix socket, which needs no network.
fn schemas(server: &Server) -> usize {
    let sql = "SELECT 1 FROM pg_namespace WHERE nspname = 'steelbench'";
    server.connect().query(sql, &[]).unwrap().len()
}

#[test]
fn a_network_that_is_lost_for_a_while_fails_one_trial() {
    let Some(bin) = bindirs().pop() else { return };
    in_a_network_of_its_own(move || {
        let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
        let soon =
            "keepalives_idle=1 keepalives_interval=1 keepalives_count=2 tcp_user_timeout=2000";
        let lab = lab(&file(&server, soon, ""));
        let child = lab.start();
        await_load(&server.config());
        assert!(loopback("down"));
        wait_until("the trial has failed", || lab.trials("t") == 1);
        assert!(loopback("up"));
        end(child).expect(1);
        let causes = causes(&lab);
        assert!(causes[0].contains("lost the connection to the server"), "{causes:?}");
        assert!(causes[0].contains("removing it failed too"), "{causes:?}");
        // The next run takes over what could not be removed.
        assert_eq!((statuses(&lab), schemas(&server)), (vec!["failed".into(), "done".into()], 0));
    });
}

#[test]
fn a_network_that_is_lost_for_good_fails_its_trials_in_their_time() {
    let Some(bin) = bindirs().pop() else { return };
    in_a_network_of_its_own(move || {
        let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
        let lab = lab(&file(&server, "", "[limits]\ntrial_time = \"3 s\"\n"));
        let child = lab.start();
        await_load(&server.config());
        assert!(loopback("down"));
        end(child).expect(1);
        let causes = causes(&lab);
        assert!(causes[0].contains("took longer than limits.trial_time"), "{causes:?}");
        assert!(causes[1].contains("cannot connect to host 127.0.0.1"), "{causes:?}");
    });
}

#[test]
fn a_load_over_tls_inserts_what_it_says() {
    let Some(bin) = tls_bindirs().pop() else { return };
    let server = Server::start(&bin, "hostssl all all 127.0.0.1/32 trust", &[]);
    let (key, certificate) =
        (server.folder().join("data/server.key"), server.folder().join("data/server.crt"));
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]);
    openssl
        .args(["-days", "2", "-subj", "/CN=localhost", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate);
    assert!(openssl.output().unwrap().status.success());
    give(&key);
    give(&certificate);
    let mut client = server.connect();
    client.batch("ALTER SYSTEM SET ssl = on").unwrap();
    client.batch("SELECT pg_reload_conf()").unwrap();
    let lab = lab(&file(&server, "sslmode=require", ""));
    wait_until("the server encrypts", || {
        let over_tcp = format!(
            "host=127.0.0.1 port={} user={OWNER} dbname=postgres sslmode=require",
            server.port
        );
        Client::connect(&postgres::client::Config::parse(&over_tcp).unwrap())
            .is_ok_and(|client| client.is_tls())
    });
    let child = lab.start();
    await_load(&server.config());
    let sql = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
               WHERE application_name LIKE 'steelbench%'";
    let encrypted = client.query(sql, &[]).unwrap();
    assert!(encrypted.len() == 1 && encrypted.first().unwrap().get(0) == Some("t"));
    end(child).expect(0);
    assert_eq!((statuses(&lab), schemas(&server)), (vec!["done".into(), "done".into()], 0));
}

/// The relay delays each answer of a server by URL: as `[network]` says, and as a level does.
#[test]
fn the_link_of_a_file_delays_each_answer() {
    let Some(bin) = bindirs().pop() else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    let more = "[network]\nlatency = \"20 ms\"\n[[level]]\nfactor = \"link\"\nname = \"as \
                given\"\n[[level]]\nfactor = \"link\"\nname = \"slower\"\nset = { \
                \"network.latency\" = \"40 ms\" }\n";
    let text = file(&server, "", more).replace("duration = \"4 s\"", "rows = 40");
    let lab = lab(&text.replace("connections = 4\nthreads = 2", "connections = 1"));
    lab.run(0);
    let latency_ms = |level: &str| -> f64 {
        let sql = format!(
            "SELECT min(r.value) FROM responses r JOIN trials t ON t.id = r.trial
             JOIN configuration_levels l ON l.configuration = t.configuration
             WHERE r.name = 'latency_mean' AND l.level = '{level}'"
        );
        lab.rows("t", &sql)[0].parse().unwrap()
    };
    let (latency_ms, slower) = (latency_ms("as given"), latency_ms("slower"));
    assert!(latency_ms >= 20.0 && slower >= 40.0, "{latency_ms} and {slower} ms");
}
