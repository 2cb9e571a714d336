//! Passwords by their names, in what commands print, and in what is observed of a server: the same
//! as `secrets.rs`.

use crate::common;
use crate::common::{Exit, Lab, end, scripted, wait_until};
use crate::planted::{SECRET, check_hidden};
use crate::servers;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// A setting named like a password is treated as one.
#[test]
fn settings_that_are_called_secrets_are_refused_and_not_repeated() {
    let table = |engine: &str, target: &str, workload: &str, more: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \
             \"{engine}\"\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = 1\n{more}"
        )
    };
    let insert = "probe = \"insert\"\nconnections = 1\nrows = 10";
    let script = "probe = \"script\"\nscript = \"script.sql\"\nconnections = 1\ntransactions = 1";
    let command = |more: &str| {
        table("none", "", &format!("probe = \"command\"\ncommand = \"true\"\n{more}"), "")
    };
    let argv =
        |words: &str| table("none", "", &format!("probe = \"command\"\ncommand = {words}"), "");
    let factor = |name: &str| {
        format!("[factors]\n\"target.settings.{name}\" = [\"{SECRET}1\", '{SECRET}2']\n")
    };
    let level = format!(
        "[[level]]\nfactor = \"where\"\nname = \"a\"\nset = {{ \
         \"target.settings.motherduck_token\" = \"{SECRET}\" }}\n[[level]]\nfactor = \
         \"where\"\nname = \"b\"\nset = {{}}\n"
    );
    for file in [
        table("duckdb", &format!("settings.http_proxy_password = \"{SECRET}\""), insert, ""),
        table(
            "duckdb",
            &format!("settings = {{ s3_secret_access_key = \"{SECRET}\" }}"),
            insert,
            "",
        ),
        table("duckdb", &format!("settings.motherduck_token = \"\"\"{SECRET}\"\"\""), insert, ""),
        table("duckdb", "", insert, &factor("s3_secret_access_key")),
        table("duckdb", "", insert, &level),
        table(
            "sqlite",
            &format!(
                "setup.sql = \"schema.sql\"\nsetup.variables = {{ app_password = \"{SECRET}\" }}"
            ),
            insert,
            "",
        ),
        table("sqlite", "", &format!("{script}\nvariables.token = \"{SECRET}\""), ""),
        command(&format!("parameters = {{ PGPASSWORD = \"{SECRET}\" }}")),
        command(&format!("setup = \"mysql --password={SECRET}\"")),
        argv(&format!("[\"mysql\", \"--password\", \"{SECRET}\"]")),
        argv(&format!("[\"mysql\", \"--password={SECRET}\"]")),
        argv(&format!("[\"psql\", \"postgres://u:{SECRET}@h\"]")),
    ] {
        let lab = Lab::with(&file);
        lab.write("script.sql", "SELECT 1;\n");
        lab.write("schema.sql", "CREATE TABLE a (b int);\n");
        for arguments in
            [&["check", "e.toml"][..], &["check", "e.toml", "--json"], &["run", "e.toml"]]
        {
            let ended = lab.steelbench(arguments);
            check_hidden(&lab, &ended, &format!("{arguments:?} {file}"));
            ended.expect(2).says("a password in the file");
        }
        assert!(!lab.path("results").exists());
    }
}

#[test]
fn quick_commands_with_a_password_are_refused_and_do_not_repeat_it() {
    let near = format!("postgres://u:{SECRET}@127.0.0.1:1/d");
    let (define, option) = (format!("password={SECRET}"), format!("mysql --password={SECRET}"));
    let vary = format!("http_proxy_password={SECRET},{SECRET}2");
    for arguments in [
        &["pg", "-T", "1", "-d", &near][..],
        &["pg", "-T", "1", "-S", "-D", &define, "--engine", "sqlite"],
        &["pg", "-T", "1", "-S", "--engine", "duckdb", "--vary", &vary],
        &["time", "-r", "1", &option],
        &["time", "-r", "1", "-p", &option, "true"],
        &["time", "-r", "1", "-L", "token", SECRET, "echo {token}"],
        &["time", "-r", "1", "-n", &near, "true"],
        &["time", "-r", "1", "--export-json", "x.json", &near],
    ] {
        for print in [&[][..], &["--print"]] {
            let lab = Lab::new();
            let ended = lab.steelbench(&[arguments, print].concat());
            check_hidden(&lab, &ended, &format!("{arguments:?} {print:?}"));
            ended.expect(2);
            assert!(!lab.path("results").exists(), "{arguments:?}");
        }
    }
}

/// A command knows our environment, and may print it.
#[test]
fn what_a_command_prints_of_our_environment_is_not_recorded() {
    for workload in [
        "command = \"echo $PGPASSWORD; echo said $OTHER_TOKEN >&2; exit 3\"",
        "command = \"echo $PGPASSWORD; exit 3\"",
        "command = \"true\"\nprepare = \"env; exit 1\"",
        // A program quotes the password of a URL alone.
        "command = \"env | grep ^DATABASE_URL | cut -d: -f3 | cut -d@ -f1 >&2; exit 3\"",
        "command = \"env\"\n[workload.responses.n]\nregex = \"no such line ([0-9]+)\"\ndirection \
         = \"lower\"",
        "command = \"env\"\n[workload.responses.n]\nregex = \"OTHER_TOKE[N]=(.*)\"\ndirection = \
         \"lower\"",
        "command = \"printf '{\\\"a\\\": \\\"%s\\\"}' \
         $OTHER_TOKEN\"\n[workload.responses.n]\npointer = \"/a\"\ndirection = \"lower\"",
    ] {
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
             \"command\"\n{workload}\n[repeats]\nblocks = 1\n"
        ));
        for arguments in [&["run", "e.toml"][..], &["show", "t", "--json"], &["report", "t"]] {
            let mut command = lab.command(arguments);
            command.env("PGPASSWORD", SECRET).env("OTHER_TOKEN", SECRET);
            command.env("DATABASE_URL", "postgres://u:Yk3wSECRETz5@h/d");
            let ended = Exit::from(command.output().unwrap());
            check_hidden(&lab, &ended, &format!("{arguments:?} {workload}"));
        }
        assert_eq!(lab.rows("t", "SELECT status FROM trials"), ["failed"], "{workload}");
    }
}

/// The password of a server in the command that finds it is hidden, too.
#[test]
fn what_a_command_prints_of_the_password_of_its_server_is_not_recorded() {
    for bin in servers::by_url::bindirs() {
        let server =
            servers::by_url::Server::start(&bin, "host all app 127.0.0.1/32 scram-sha-256", &[]);
        let mut client = server.connect();
        client
            .batch(&format!(
                "CREATE ROLE app LOGIN PASSWORD '{SECRET}'; GRANT CREATE ON DATABASE postgres TO \
                 app"
            ))
            .unwrap();
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \"host=127.0.0.1 \
             port={} user=app dbname=postgres\"\n[workload]\nprobe = \"command\"\ncommand = \
             \"test -n \\\"$PGPASSWORD\\\" && echo seen $PGPASSWORD >&2; exit \
             9\"\n[repeats]\nblocks = 1\n",
            server.port
        ));
        lab.write(".pgpass", &format!("*:*:*:*:{SECRET}\n"));
        std::fs::set_permissions(lab.path(".pgpass"), std::fs::Permissions::from_mode(0o600))
            .unwrap();
        let mut run = lab.command(&["run", "e.toml", "--full"]);
        let ended = Exit::from(run.env("HOME", lab.path("")).output().unwrap());
        check_hidden(&lab, &ended, "run");
        assert!(ended.expect(1).stdout.contains("seen ***"), "it is there, with stars");
    }
}

/// A password, and how a server's error quotes it: as it is, in Base64 behind `u:`, in hexadecimal,
/// percent-encoded in part, and in quotes of SQL. The other one could be a word.
const QUOTED: [(&str, [&str; 5]); 2] = [
    (
        "Zq7v!SECRET'/x9",
        [
            "Zq7v!SECRET'/x9",
            "dTpacTd2IVNFQ1JFVCcveDk",
            "5a71377621534543524554272f7839",
            "Zq7v!SECRET%27/x9",
            "Zq7v!SECRET''/x9",
        ],
    ),
    (
        "zqvSECRETxq",
        [
            "zqvSECRETxq",
            "dTp6cXZTRUNSRVR4cQ",
            "enF2U0VDUkVUeHE",
            "7a71765345435245547871",
            "'zqvSECRETxq'",
        ],
    ),
];

#[test]
fn an_error_of_a_server_that_quotes_the_password_does_not_show_it() {
    for (password, quoted) in QUOTED {
        let (port, _logins) = servers::silent(move |socket| {
            let _ = socket.read(&mut [0; 10_000])?;
            let fields = format!("SFATAL\0C28P01\0MNO ENTRY for {}\0\0", quoted.join(" or "));
            let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
            socket.write_all(&[b"E", &length[..], fields.as_bytes()].concat())
        });
        let url = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable");
        let lab = Lab::with(
            &scripted(1, "", "")
                .replace("engine = \"null\"", &format!("engine = \"postgres\"\nurl = \"{url}\"")),
        );
        for arguments in [
            &["waits", &url, "--seconds", "0.1"][..],
            &["waits", &url, "--seconds", "0.1", "--json"],
            &["queries", &url],
            &["survey", "--server", &url],
            &["survey", "--server", &url, "--json"],
            &["capture", &url, "--seconds", "0.1", "--output", "c.json"],
            &["check", "e.toml"],
            &["run", "e.toml", "--json"],
        ] {
            let mut command = lab.command(arguments);
            let ended = Exit::from(command.env("PGPASSWORD", password).output().unwrap());
            let printed = format!("{}{}", ended.stdout, ended.stderr);
            assert!(printed.contains("NO ENTRY"), "{arguments:?}: {ended:?}");
            let leak = quoted.iter().find(|form| printed.contains(**form));
            assert_eq!(leak, None, "{arguments:?}: {printed}");
            check_hidden(&lab, &ended, &format!("{arguments:?}"));
        }
    }
}

/// Other programs are shown by their names: `ps` has their words, which are theirs.
#[test]
fn the_command_lines_of_other_programs_are_not_shown() {
    let mut other = Command::new("sh");
    let mut other = other.args(["-c", "while :; do :; done", "sh", SECRET]).spawn().unwrap();
    let pid = other.id().to_string();
    let lab = Lab::with(&scripted(1, "", ""));
    for arguments in [
        &["doctor"][..],
        &["survey", "--full"],
        &["profile", "-p", &pid, "--seconds", "0.2"],
        &["run", "e.toml", "--full"],
        &["show", "t", "--json"],
    ] {
        let ended = lab.steelbench(arguments);
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// A server lists the statements and program names of all sessions; these may hold passwords.
#[test]
fn a_recording_of_waits_has_no_password() {
    for bin in servers::by_url::bindirs() {
        let server = servers::by_url::Server::start(&bin, "", &[]);
        let mut client = server.connect();
        client.batch(&format!("SET application_name = 'token={SECRET}'")).unwrap();
        let sleeps = format!(
            "SELECT pg_sleep(600) /* postgres://u:{SECRET}@h */ AS a, 'password={SECRET}', \
             $$pwd={SECRET}$$"
        );
        let pid = client.backend_pid();
        let thread = std::thread::spawn(move || client.batch(&sleeps));
        let mut admin = server.connect();
        wait_until("it sleeps", || {
            let sql = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'";
            !admin.query(sql, &[Some(&pid.to_string())]).unwrap().is_empty()
        });
        let url = format!(
            "host={} port={} user={} dbname=postgres",
            server.folder().display(),
            server.port,
            servers::by_url::OWNER
        );
        let lab = Lab::new();
        for literals in [&[][..], &["--literals"]] {
            let record = [
                &[
                    "waits",
                    &url,
                    "--seconds=0.5",
                    "--statements",
                    "--tasks",
                    "--output",
                    "w.steelbench",
                ],
                literals,
            ]
            .concat();
            for arguments in [
                &record[..],
                &["waits", "w.steelbench"],
                &["waits", "w.steelbench", "--json"],
                &["show", "w.steelbench"],
            ] {
                let mut command = lab.command(arguments);
                let ended = Exit::from(command.env("PGPASSWORD", SECRET).output().unwrap());
                check_hidden(&lab, &ended, &format!("{arguments:?}"));
                ended.expect(0);
            }
        }
        for arguments in [
            &["compare", "w.steelbench@1", "w.steelbench@2"][..],
            &["survey", "--server", &url],
            &["capture", &url, "--seconds=0.5", "--statements", "--literals", "--output", "c.json"],
            &["waits", "c.json"],
            &["survey", "merge", "c.json"],
        ] {
            let ended = lab.steelbench(arguments);
            check_hidden(&lab, &ended, &format!("{arguments:?}"));
            ended.expect(0);
        }
        admin.query("SELECT pg_terminate_backend($1)", &[Some(&pid.to_string())]).unwrap();
        thread.join().unwrap().unwrap_err();
    }
}

/// A recording of a MariaDB server's waits contains no password.
#[test]
fn a_recording_of_waits_of_mariadb_has_no_password() {
    let Some(server) = servers::mariadb::Server::start(&[]) else { return };
    let mut client = server.connect();
    let id = client.cell("SELECT connection_id()").unwrap().unwrap();
    let sleeps = format!(
        "SELECT sleep(600) /* mysql://u:{SECRET}@h */ AS a, 'password={SECRET}', \"pwd={SECRET}\""
    );
    let thread = std::thread::spawn(move || client.run(&sleeps));
    let mut admin = server.connect();
    wait_until("it sleeps", || {
        let sql = format!(
            "SELECT 1 FROM information_schema.processlist WHERE id = {id} AND state = 'User sleep'"
        );
        admin.cell(&sql).unwrap().is_some()
    });
    let (url, lab) = (server.url("root"), Lab::new());
    for arguments in [
        &["waits", &url, "--seconds=0.5", "--statements", "--tasks", "--output=w.steelbench"][..],
        &[
            "waits",
            &url,
            "--seconds=0.5",
            "--statements",
            "--literals",
            "--tasks",
            "--output",
            "w.steelbench",
        ],
        &["show", "w.steelbench", "--json"],
        &["capture", &url, "--seconds=0.5", "--statements", "--literals", "--output", "c.json"],
        &["waits", "c.json"],
        &["survey", "--server", &url],
    ] {
        let ended = lab.steelbench(arguments);
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
        ended.expect(0);
    }
    admin.run(&format!("KILL QUERY {id}")).unwrap();
    // A sleep that is interrupted ends with a row.
    let _ = thread.join().unwrap();
}

/// The clients of servers are given passwords in their environment, which is theirs alone: `ps`
/// shows everybody the words of a command.
#[test]
fn the_titles_of_clients_that_fill_tables_do_not_show_a_password() {
    let mut targets = Vec::new();
    let start = |bin: &std::path::PathBuf| {
        servers::by_url::Server::start(bin, "host all app 127.0.0.1/32 scram-sha-256", &[])
    };
    let postgres: Vec<_> = servers::by_url::bindirs().iter().take(1).map(start).collect();
    for server in &postgres {
        let role = format!(
            "CREATE ROLE app LOGIN CREATEDB PASSWORD '{SECRET}'; CREATE DATABASE prod OWNER app"
        );
        role.split("; ").for_each(|sql| server.connect().batch(sql).unwrap());
        let url = format!("host=127.0.0.1 port={} user=app dbname=prod", server.port);
        targets.push(("postgres", url, "psql", "SELECT pg_sleep(600);"));
    }
    let mariadb = servers::mariadb::Server::start(&[]);
    if let Some(server) = &mariadb {
        let mut root = server.connect();
        root.run(&format!("CREATE USER app@'127.0.0.1' IDENTIFIED BY '{SECRET}'")).unwrap();
        root.run("GRANT ALL ON steelbench.* TO app@'127.0.0.1'").unwrap();
        let url = format!("mariadb://app@127.0.0.1:{}/", server.port);
        targets.push(("mariadb", url, "mariadb", "SELECT sleep(600);"));
    }
    for (engine, url, client, sql) in targets {
        let target = format!("engine = \"{engine}\"\nurl = \"{url}\"\nsetup.sql = \"schema.sql\"");
        let file = scripted(1, "", "").replace("engine = \"null\"", &target);
        let lab = Lab::with(&file.replace("[factors]\n\"target.data_files\" = [1, 2]\n", ""));
        lab.write("schema.sql", &format!("{sql}\n"));
        let mut run = lab.command(&["run", "e.toml", "--full"]);
        run.env("PGPASSWORD", SECRET).env("MYSQL_PWD", SECRET).env("HOME", lab.path(""));
        let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let children = || -> Vec<String> {
            let of = |pid: &str| {
                std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default()
            };
            let ours = format!(" {} ", child.id());
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let pids = processes.filter_map(|entry| entry.file_name().into_string().ok());
            // After the name: state and parent.
            let is_ours = |pid: &String| {
                of(pid)
                    .rsplit(") ")
                    .next()
                    .is_some_and(|rest| rest.get(1..).is_some_and(|rest| rest.starts_with(&ours)))
            };
            let pids = pids.filter(is_ours);
            pids.map(|pid| {
                std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
            })
            .collect()
        };
        let mut titles = Vec::new();
        wait_until("the client runs", || {
            titles = children();
            // It was asked for its version before.
            titles
                .iter()
                .filter(|title| !title.contains("--version"))
                .any(|title| title.split('\0').next().unwrap_or_default().ends_with(client))
        });
        assert!(titles.iter().all(|title| !title.contains("SECRET")), "{titles:?}");
        common::signal(&child, libc::SIGINT);
        let ended = end(child);
        check_hidden(&lab, &ended, engine);
    }
}
