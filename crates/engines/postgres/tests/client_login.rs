//! Ways to log in, and where passwords come from, compared with psql.

use postgres::client::{Client, Config, Environment, Error, LoginError};
use std::fs::{self, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;
use testing::postgres_client::{OWNER, Server, bindirs};

const HBA: &str = "
host all trusted 127.0.0.1/32 trust
host all md5er 127.0.0.1/32 md5
host all scrammer,\"wörd er\" 127.0.0.1/32 scram-sha-256
host all clear 127.0.0.1/32 password
host all rejected 127.0.0.1/32 reject";

const ROLES: &str = "
CREATE ROLE trusted LOGIN; CREATE ROLE rejected LOGIN;
SET password_encryption = 'md5'; CREATE ROLE md5er LOGIN PASSWORD 'right';
SET password_encryption = 'scram-sha-256'; CREATE ROLE scrammer LOGIN PASSWORD 'right';
CREATE ROLE clear LOGIN PASSWORD 'right';
CREATE ROLE \"wörd er\" LOGIN PASSWORD 'p@ss:w/ö''r\\d';
CREATE ROLE few LOGIN CONNECTION LIMIT 0";

fn server(bin: &Path) -> Server {
    let server = Server::start(bin, HBA, &[]);
    server.connect().batch(ROLES).unwrap();
    server.connect().query("CREATE DATABASE \"data base\"", &[]).unwrap();
    server
}

/// Nothing around it but these variables.
fn environment(server: &Server, variables: &[(&str, String)]) -> Environment {
    let environment = Environment::new(OWNER, server.folder());
    variables.iter().fold(environment, |environment, (name, value)| environment.with(name, value))
}

/// A role and a password over TCP.
fn log_in(server: &Server, user: &str, password: Option<&str>) -> Result<String, Error> {
    let conninfo = format!("host=127.0.0.1 port={} user='{user}' dbname=postgres", server.port);
    let variables: Vec<_> =
        password.iter().map(|password| ("PGPASSWORD", (*password).to_owned())).collect();
    let config = Config::parse_in(&conninfo, &environment(server, &variables)).unwrap();
    let rows = Client::connect(&config)?.query("SELECT current_user", &[])?;
    Ok(rows.first().unwrap().get(0).unwrap().to_owned())
}

#[test]
fn logs_in_as_the_server_asks() {
    for bin in bindirs() {
        let server = server(&bin);
        assert_eq!(log_in(&server, "trusted", None).unwrap(), "trusted");
        for user in ["md5er", "scrammer", "clear"] {
            assert_eq!(log_in(&server, user, Some("right")).unwrap(), user);
            let wrong = log_in(&server, user, Some("wrongsecret")).unwrap_err();
            assert_eq!(wrong.code(), Some("28P01"), "{wrong}");
            assert!(!format!("{wrong} {wrong:?}").contains("wrongsecret"));
            let none = log_in(&server, user, None).unwrap_err();
            assert!(matches!(none, Error::Login(_, LoginError::NoPassword)), "{none}");
            assert!(
                none.to_string().contains("PGPASSWORD") && none.to_string().contains("127.0.0.1")
            );
        }
        assert_eq!(log_in(&server, "wörd er", Some(r"p@ss:w/ö'r\d")).unwrap(), "wörd er");
        assert_eq!(log_in(&server, "rejected", None).unwrap_err().code(), Some("28000"));
        assert_eq!(log_in(&server, "no such role", Some("x")).unwrap_err().code(), Some("28000"));
        let absent = Client::connect(&server.config().with_database("absent")).unwrap_err();
        assert_eq!(absent.code(), Some("3D000"));
        assert!(absent.to_string().contains("\"absent\""), "{absent}");
        let full = Config::unix(server.folder(), server.port, "few", "postgres");
        assert_eq!(Client::connect(&full).unwrap_err().code(), Some("53300"));
    }
}

#[test]
fn ways_to_log_in_are_required_as_psql_does() {
    for bin in bindirs() {
        let server = server(&bin);
        let port = server.port;
        let known = server.psql(
            &format!("host=127.0.0.1 port={port} user=trusted dbname=postgres require_auth=none"),
            NONE,
            "SELECT 1",
        );
        if known.is_err() {
            // psql has it from version 16 on.
            continue;
        }
        let mut successes = 0;
        for required in [
            "none",
            "password",
            "md5",
            "scram-sha-256",
            "gss",
            "!none",
            "!password",
            "!md5",
            "!scram-sha-256",
            "!none,!gss",
            "none,md5",
            "password,scram-sha-256",
            "!none,md5",
            "md5,",
            "nonsense",
        ] {
            for user in ["trusted", "md5er", "scrammer", "clear"] {
                let conninfo = format!(
                    "host=127.0.0.1 port={port} user={user} dbname=postgres \
                     require_auth={required}"
                );
                let variables = [("PGPASSWORD", "right".to_owned())];
                let psql = server.psql(&conninfo, &variables, "SELECT current_user");
                let ours = Config::parse_in(&conninfo, &environment(&server, &variables));
                let ours = ours.is_ok_and(|config| Client::connect(&config).is_ok());
                assert_eq!(ours, psql.is_ok(), "{conninfo}: {psql:?}");
                successes += usize::from(ours);
            }
        }
        assert!(successes > 20, "{successes}");
    }
}

const NONE: &[(&str, String)] = &[];

#[test]
fn passwords_come_from_where_psql_takes_them() {
    for bin in bindirs() {
        let server = server(&bin);
        let port = server.port;
        let file = |name: &str, text: &str, mode: u32| {
            let path = server.folder().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path.to_str().unwrap().to_owned()
        };
        file(
            ".pgpass",
            &format!(
                "# not this: 127.0.0.1:*:*:scrammer:right\n127.0.0.1:{port}:data \
                 base:scrammer:wrong\nnothing\n127.0.0.1:1:*:md5er:wrong\n127.0.0.1:*:*:md5er:\
                 right\n\\*:*:*:*:wrong\n*:*:postgres:wörd \
                 er:p@ss\\:w/ö'r\\\\d\n127.0.0.1:{port}:postgres:scrammer:right:wrong\n"
            ),
            0o600,
        );
        let empty = file("empty", "", 0o600);
        let open = file("open", "*:*:*:*:right", 0o644);
        let file = file("given", "*:*:*:*:right", 0o600);
        let var = |name: &'static str, value: &str| (name, value.to_owned());
        let cases: &[(&str, &[(&str, String)])] = &[
            ("user=scrammer dbname=postgres", &[]),
            ("user=scrammer dbname='data base'", &[]),
            ("user=md5er dbname=postgres", &[]),
            ("user='wörd er' dbname=postgres", &[]),
            ("user=clear dbname=postgres", &[]),
            ("user=scrammer dbname=postgres password=wrong", &[var("PGPASSWORD", "right")]),
            ("user=scrammer dbname=postgres password=right", &[var("PGPASSWORD", "wrong")]),
            ("user=scrammer dbname=postgres", &[var("PGPASSWORD", "wrong")]),
            ("user=clear dbname=postgres", &[var("PGPASSWORD", "right")]),
            ("user=clear dbname=postgres password=''", &[var("PGPASSWORD", "right")]),
            ("user=scrammer dbname=postgres password=''", &[]),
            ("user=scrammer dbname=postgres", &[var("PGPASSFILE", &empty)]),
            ("user=clear dbname=postgres", &[var("PGPASSFILE", &open)]),
            ("user=clear dbname=postgres", &[var("PGPASSFILE", &file)]),
            ("user=clear dbname=postgres", &[var("PGPASSFILE", "/nowhere")]),
        ];
        let mut successes = 0;
        for (conninfo, variables) in cases {
            let conninfo = format!("host=127.0.0.1 port={port} {conninfo}");
            let psql = server.psql(&conninfo, variables, "SELECT current_user");
            let config = Config::parse_in(&conninfo, &environment(&server, variables)).unwrap();
            let ours = Client::connect(&config);
            assert_eq!(ours.is_ok(), psql.is_ok(), "{conninfo} {variables:?}: {ours:?} {psql:?}");
            successes += usize::from(ours.is_ok());
            let ignored = variables.iter().any(|(_, value)| *value == open);
            assert_eq!(config.warnings.len(), usize::from(ignored));
            assert!(config.warnings.iter().all(|warning| warning.contains("chmod")));
        }
        assert_eq!(successes, 7);
    }
}

/// A socket file in libpq's own directory is `localhost` in a password file; in others it is
/// itself.
#[test]
fn a_unix_socket_has_its_directory_as_its_name() {
    for bin in bindirs() {
        let server = Server::start(&bin, "local all scrammer scram-sha-256", &[]);
        server.connect().batch(ROLES).unwrap();
        for (name, fits) in [(server.folder().to_str().unwrap(), true), ("localhost", false)] {
            let file = server.folder().join("passwords");
            fs::write(&file, format!("{name}:*:*:*:right")).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            let variables = [("PGPASSFILE", file.to_str().unwrap().to_owned())];
            let folder = server.folder().display();
            let conninfo =
                format!("host={folder} port={} user=scrammer dbname=postgres", server.port);
            let config = Config::parse_in(&conninfo, &environment(&server, &variables)).unwrap();
            assert_eq!(Client::connect(&config).is_ok(), fits);
            assert_eq!(server.psql(&conninfo, &variables, "SELECT 1").is_ok(), fits);
        }
    }
}

#[test]
fn nothing_shows_a_password() {
    let config = Config::parse_in(
        "postgres://me:hush@db.example/x",
        &Environment::new("me", Path::new("/nowhere")).with("PGPASSWORD", "hush too"),
    );
    let config = config.unwrap();
    assert!(!format!("{config} {config:?} {config:#?}").contains("hush"));
    assert_eq!(config.to_string(), "host=db.example port=5432 user=me dbname=x");
    for wrong in [
        "postgres://me:hush%zz@h/d",
        "password=hush x",
        "password='hush",
        "postgres://me:hush%ff@h/",
    ] {
        let error = Config::parse_in(wrong, &Environment::default()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    }
}

#[test]
fn says_which_place_does_not_answer() {
    let environment = Environment::new("me", Path::new("/nowhere"));
    let config = |text: &str| Config::parse_in(text, &environment).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = Client::connect(&config(&format!("host=127.0.0.1 port={free}"))).unwrap_err();
    assert!(matches!(&refused, Error::Connect(_, source)
        if source.kind() == io::ErrorKind::ConnectionRefused));
    assert!(refused.to_string().contains(&free.to_string()));
    let absent = Client::connect(&config("host=/nowhere port=77")).unwrap_err();
    assert!(absent.to_string().contains("/nowhere/.s.PGSQL.77"), "{absent}");
    let both =
        Client::connect(&config(&format!("host=127.0.0.1,/nowhere port={free},77"))).unwrap_err();
    assert!(matches!(&both, Error::Attempts(errors) if errors.len() == 2), "{both}");
    let unknown = Client::connect(&config("host=no.such.host.invalid")).unwrap_err();
    assert!(unknown.to_string().contains("no.such.host.invalid"), "{unknown}");
}

/// Something else listens there: it says nothing, or what is not ours.
#[test]
fn others_than_servers_are_recognised() {
    type IsExpected = fn(&Error) -> bool;
    let answers: [(&str, IsExpected); 3] = [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", |error| {
            error.to_string().contains("not a PostgreSQL server")
        }),
        ("", |error| matches!(error, Error::Connect { .. })),
        ("silence", |error| {
            matches!(error,
                Error::Connect(_, source) if source.kind() == io::ErrorKind::TimedOut)
        }),
    ];
    for (answer, is_expected) in answers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            use std::io::{Read, Write};
            let (mut socket, _) = listener.accept().unwrap();
            let _ = socket.read(&mut [0; 100]);
            if answer == "silence" {
                // Until the client gives up.
                while socket.read(&mut [0; 100]).is_ok_and(|count| count > 0) {}
            } else {
                socket.write_all(answer.as_bytes()).unwrap();
            }
        });
        let conninfo = format!("host=127.0.0.1 port={port} sslmode=disable");
        let environment = Environment::new("me", Path::new("/nowhere"));
        let config = Config::parse_in(&conninfo, &environment).unwrap();
        let error = Client::connect(&config.with_connect_timeout(Some(Duration::from_secs(1))))
            .unwrap_err();
        assert!(is_expected(&error), "{answer}: {error:?}");
        server.join().unwrap();
    }
}
