//! psql, `pg_dump` and the `mariadb` client, started for a URL, under the rules of our own clients:
//! no password in cleartext, no file of this machine.

use crate::common::{Exit, Lab};
use crate::servers;
use crate::servers::by_url::{Server, bindirs};
use crate::servers::proxy::{Act, Proxy, Sent};
use postgres::client::Client;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// It goes to no server in cleartext, and to no program.
const PASSWORD: &str = "Geh3imnis";
const FILE: &str = "/etc/passwd";

fn experiment(target: &str) -> Lab {
    let lab = servers::lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\nsetup.sql = \
         \"schema.sql\"\n[workload]\nprobe = \"script\"\nscript = \"r.sql\"\nconnections = \
         1\ntransactions = 1\nprotocol = \"simple\"\n[observe]\nwaits = false\n[repeats]\nblocks \
         = 1\n"
    ));
    lab.write("r.sql", "SELECT count(*) FROM items;\n");
    lab
}

fn with_password(lab: &Lab, arguments: &[&str]) -> Command {
    let mut command = lab.command(arguments);
    command.env("XDG_CACHE_HOME", lab.path("cache"));
    command.env("PGPASSWORD", PASSWORD).env("MYSQL_PWD", PASSWORD);
    // What would turn it on again.
    command.env("LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN", "1").env("PGREQUIREAUTH", "");
    command
}

fn run(lab: &Lab) -> Exit {
    Exit::from(with_password(lab, &["run", "e.toml", "--fresh"]).output().unwrap())
}

/// A server with a role that has the password; rules for logins by TCP.
fn postgres(bin: &std::path::Path, hba: &str) -> Server {
    let server = Server::start(bin, hba, &[("password_encryption", "scram-sha-256")]);
    let mut client = server.connect();
    client.batch(&format!("CREATE ROLE app LOGIN CREATEDB PASSWORD '{PASSWORD}'")).unwrap();
    client.batch("CREATE DATABASE prod OWNER app").unwrap();
    server
}

#[test]
fn psql_and_pg_dump_do_not_know_the_password_that_the_server_needs() {
    for bin in bindirs() {
        let server = postgres(&bin, "host all app 127.0.0.1/32 scram-sha-256\n");
        let proxy = Proxy::start(server.port, |_: &Sent<'_>| Act::Pass);
        let url = format!(
            "host=127.0.0.1 port={} user=app dbname=prod sslmode=disable options='-c work_mem=8MB'",
            proxy.port
        );
        let lab = experiment(&format!("engine = \"postgres\"\nurl = \"{url}\""));
        // The settings of the session are those of the URL, also in a session that psql opens.
        lab.write(
            "schema.sql",
            &format!(
                "\\! env > {env}\n\\c\nCREATE TABLE items AS SELECT current_setting('work_mem') AS \
                 own;\nSELECT own = '8MB' AS ok FROM items \\gset\n\\if :ok\n\\else\nSELECT \
                 wrong;\n\\endif\n",
                env = lab.path("env").display()
            ),
        );
        run(&lab).expect(0);
        let environment = lab.read("env");
        assert!(environment.contains("PGHOST=") && !environment.contains(PASSWORD));
        let line = [
            "queries",
            "try",
            &url,
            "--engine=postgres",
            "-f",
            "r.sql",
            "--set",
            "enable_seqscan=off",
            "--test-server",
            &url,
            "-T",
            "0.1",
            "--warmup=0",
            "--blocks=1",
        ];
        let prod = server.config().with_database("prod");
        Client::connect(&prod)
            .unwrap()
            .batch("CREATE TABLE items (a int); ALTER TABLE items OWNER TO app")
            .unwrap();
        Exit::from(with_password(&lab, &line).output().unwrap()).expect(0);
        assert!(!proxy.has_heard(PASSWORD.as_bytes()));
    }
}

/// The server lets our client in and asks psql, which is in another database, for the password.
#[test]
fn a_server_that_asks_psql_for_cleartext_does_not_get_the_password() {
    for bin in bindirs() {
        let hba = "host prod app 127.0.0.1/32 trust\nhost all app 127.0.0.1/32 password\n";
        let server = postgres(&bin, hba);
        let proxy = Proxy::start(server.port, |_: &Sent<'_>| Act::Pass);
        let url = format!(
            "host=127.0.0.1 port={} user=app dbname=prod sslmode=disable \
             require_auth=none,scram-sha-256",
            proxy.port
        );
        let lab = experiment(&format!("engine = \"postgres\"\nurl = \"{url}\""));
        lab.write("schema.sql", "CREATE TABLE items (a int);\n");
        run(&lab).expect(1);
        let causes = servers::causes(&lab).concat();
        assert!(causes.contains("psql") && causes.contains("require_auth"), "{causes}");
        assert!(!proxy.has_heard(PASSWORD.as_bytes()));
    }
}

#[test]
fn a_server_that_asks_pg_dump_for_cleartext_does_not_get_the_password() {
    for bin in bindirs() {
        let server = postgres(&bin, "host all app 127.0.0.1/32 password\n");
        let proxy = Proxy::start(server.port, |_: &Sent<'_>| Act::Pass);
        let url = format!(
            "host=127.0.0.1 port={} user=app dbname=prod sslmode=disable \
             require_auth=scram-sha-256",
            proxy.port
        );
        let lab = experiment("engine = \"postgres\"");
        let line = ["queries", "try", &url, "-f", "r.sql", "--set", "enable_seqscan=off"];
        let ended = Exit::from(with_password(&lab, &line).output().unwrap()).expect(1);
        ended.says("pg_dump").says("require_auth");
        assert!(!proxy.has_heard(PASSWORD.as_bytes()));
        assert!(!lab.path("try.dump").exists());
    }
}

/// A packet of MariaDB's protocol.
fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], body].concat()
}

/// The marker in the SQL at which the server turns hostile.
const HOSTILE: &str = "hostile_from_here";

fn mariadb() -> Option<servers::mariadb::Server> {
    let server = servers::mariadb::Server::start(&[])?;
    let sql = format!(
        "CREATE USER app@127.0.0.1 IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO app@127.0.0.1; \
         SET GLOBAL local_infile = ON"
    );
    server.connect().run(&sql).unwrap();
    Some(server)
}

fn on_mariadb(proxy: &Proxy) -> Lab {
    let url = format!("mariadb://app@127.0.0.1:{}/?ssl-mode=DISABLED", proxy.port);
    let lab = experiment(&format!("engine = \"mariadb\"\nurl = \"{url}\""));
    let sql = format!("CREATE TABLE items (a int);\nSELECT '{HOSTILE}';\n");
    lab.write("schema.sql", &sql);
    lab
}

#[test]
fn the_mariadb_client_runs_sql_without_knowing_the_password() {
    let Some(server) = mariadb() else { return };
    let proxy = Proxy::start(server.port, |_: &Sent<'_>| Act::Pass);
    let lab = on_mariadb(&proxy);
    let sql = format!(
        "CREATE TABLE items (a int, b text);\nDELIMITER //\nCREATE PROCEDURE fill() BEGIN INSERT \
         INTO items VALUES (1, 'é'); END //\nDELIMITER ;\nCALL fill();\n\\! env > {}\n",
        lab.path("env").display()
    );
    lab.write("schema.sql", &sql);
    lab.write("r.sql", "SELECT a / 0 FROM items WHERE hex(b) = 'C3A9';\n");
    run(&lab).expect(0);
    let environment = lab.read("env");
    assert!(environment.contains("PATH=") && !environment.contains(PASSWORD), "{environment}");
    assert!(!proxy.has_heard(PASSWORD.as_bytes()));
}

#[test]
fn a_server_that_asks_the_mariadb_client_for_a_file_does_not_get_it() {
    let Some(server) = mariadb() else { return };
    let request = packet(1, &[b"\xfb", FILE.as_bytes()].concat());
    let proxy = Proxy::start(server.port, move |sent: &Sent<'_>| {
        if sent.has(HOSTILE) { Act::Answer(request.clone()) } else { Act::Pass }
    });
    let lab = on_mariadb(&proxy);
    run(&lab).expect(1);
    assert!(proxy.has_heard(HOSTILE.as_bytes()), "the program has run the statement");
    let file = std::fs::read(FILE).unwrap();
    assert!(!proxy.has_heard(&file[..file.len().min(20)]));
}

/// From the time on when our client has its database, logins are switched to a password in
/// cleartext.
#[test]
fn a_server_that_asks_the_mariadb_client_for_cleartext_does_not_get_the_password() {
    let Some(server) = mariadb() else { return };
    let is_hostile = AtomicBool::new(false);
    let proxy = Proxy::start(server.port, move |sent: &Sent<'_>| {
        is_hostile.fetch_or(sent.has("CREATE TABLE made_by_steelbench"), Ordering::SeqCst);
        if sent.is_first && is_hostile.load(Ordering::SeqCst) {
            return Act::Answer(packet(2, b"\xfemysql_clear_password\0"));
        }
        Act::Pass
    });
    let lab = on_mariadb(&proxy);
    run(&lab).expect(1);
    let causes = servers::causes(&lab).concat();
    assert!(causes.contains("mysql_clear_password") || causes.contains("cleartext"), "{causes}");
    assert!(!proxy.has_heard(PASSWORD.as_bytes()));
}
