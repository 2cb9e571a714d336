//! Connection strings lead to where psql goes with them.

use postgres::client::{Client, Config, ConfigError, Environment};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use testing::postgres_client::{OWNER, Server, bindirs};

const WHERE: &str = "SELECT current_user, current_database(), inet_server_port(), \
                     host(inet_server_addr()),
    current_setting('work_mem'), current_setting('DateStyle'), current_setting('TimeZone')";

type Variables<'a> = [(&'static str, String)];

fn ours(server: &Server, conninfo: &str, variables: &Variables<'_>) -> Result<String, String> {
    let environment = Environment::new(OWNER, server.folder());
    let environment =
        variables.iter().fold(environment, |all, (name, value)| all.with(name, value));
    let config = Config::parse_in(conninfo, &environment).map_err(|error| error.to_string())?;
    let mut client = Client::connect(&config).map_err(|error| error.to_string())?;
    let rows = client.query(WHERE, &[]).map_err(|error| error.to_string())?;
    let row = rows.first().unwrap();
    Ok((0..rows.columns().len())
        .map(|index| row.get(index).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("|"))
}

/// Connects as both do, and returns whether they could.
fn same(server: &Server, conninfo: &str, variables: &Variables<'_>) -> bool {
    let (ours, psql) = (ours(server, conninfo, variables), server.psql(conninfo, variables, WHERE));
    match (&ours, &psql) {
        (Ok(ours), Ok(psql)) => assert_eq!(ours, psql, "{conninfo} {variables:?}"),
        (Err(_), Err(_)) => {}
        _ => panic!("{conninfo} {variables:?}\n  ours: {ours:?}\n  psql: {psql:?}"),
    }
    ours.is_ok()
}

fn server(bin: &Path) -> Server {
    let server = Server::start(bin, "host all all 127.0.0.1/32 trust", &[]);
    let mut owner = server.connect();
    owner.batch(r#"CREATE ROLE alice LOGIN; CREATE ROLE "al ice@x'\%" LOGIN"#).unwrap();
    for database in ["alice", r"d'1\ /?%", "owner"] {
        owner
            .query(
                &format!("CREATE DATABASE {}", postgres::client::quote_identifier(database)),
                &[],
            )
            .unwrap();
    }
    server
}

#[test]
fn strings_lead_where_psql_goes() {
    for bin in bindirs() {
        let server = server(&bin);
        let port = server.port;
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = server.folder().to_str().unwrap();
        let encoded = folder.replace('/', "%2F");
        let good = [
            format!("host=127.0.0.1 port={port} user=alice dbname=owner"),
            format!("  host = 127.0.0.1\tport\n={port}  user = 'alice' dbname='postgres'  "),
            format!("host=127.0.0.1 port={port} user='alice'dbname='postgres'"),
            format!(r"host=127.0.0.1 port={port} user='al ice@x\'\\%' dbname=d\'1\\\ /?%"),
            format!("host={folder} port={port} user=alice"),
            format!("host=127.0.0.1 port={port} user=alice user={OWNER} dbname=postgres"),
            format!(
                "host=127.0.0.1 port={port} user=alice dbname=postgres options='-c work_mem=7MB'"
            ),
            format!("hostaddr=127.0.0.1 host=no.such.host.invalid port={port} user=alice"),
            format!("host=127.0.0.1,127.0.0.1 port={free},{port} user=alice"),
            format!("host=/nowhere,{folder} port={port} user=alice"),
            format!("host=no.such.host.invalid,127.0.0.1 port={port} user=alice"),
            format!("postgres://alice@127.0.0.1:{port}/owner"),
            format!("postgresql://alice:ignored@127.0.0.1:{port}"),
            format!("postgresql://alice@127.0.0.1:{port}/"),
            format!("postgres://127.0.0.1:{port}/postgres?user=alice&options=-c%20work_mem%3D9MB"),
            format!("postgres:///postgres?host={encoded}&port={port}&user=alice"),
            format!("postgres://alice@{encoded}:{port}/postgres"),
            format!("postgres://al%20ice%40x%27%5c%25@127.0.0.1:{port}/d%271%5C%20%2F%3f%25"),
            format!(
                "postgres://alice@127.0.0.1:{free},127.0.0.1:{port}/postgres?connect_timeout=10"
            ),
            format!("postgres://alice@127.0.0.1:{port}?application_name=x"),
            format!("postgres://@127.0.0.1:{port}/postgres?user=alice"),
            format!(
                "host=127.0.0.1 port={port} user=alice sslmode=prefer gssencmode=disable \
                 keepalives=0"
            ),
            format!(
                "host=127.0.0.1 port={port} user=alice keepalives_idle=9 tcp_user_timeout=1000"
            ),
        ];
        for conninfo in &good {
            assert!(same(&server, conninfo, &[]), "{conninfo}: {:?}", ours(&server, conninfo, &[]));
        }
        let bad = [
            format!("host=127.0.0.1 port={port} user=alice dbname='postgres"),
            format!("host=127.0.0.1 port={port} user"),
            format!("host=127.0.0.1 prot={port} user=alice"),
            format!("host=127.0.0.1 port={port}x user=alice"),
            "host=127.0.0.1 port=99999 user=alice".to_owned(),
            format!("host=127.0.0.1,127.0.0.1 port={port},{port},{port} user=alice"),
            format!("host=127.0.0.1,127.0.0.1 hostaddr=127.0.0.1 port={port} user=alice"),
            format!("hostaddr=localhost port={port} user=alice"),
            format!("host=127.0.0.1 port={port} user=alice sslmode=perhaps"),
            format!("host=127.0.0.1 port={port} user=alice connect_timeout=soon"),
            format!("host=127.0.0.1 port={port} user=alice dbname=absent"),
            format!("postgres://alice@127.0.0.1:{port}/postgres?nonsense=1"),
            format!("postgres://alice@127.0.0.1:{port}/postgres?user"),
            format!("postgres://alice@127.0.0.1:{port}/postgres?user=a=b"),
            format!("postgres://alice@127.0.0.1:{port}/post%gres"),
            format!("postgres://alice@127.0.0.1:{port}/post%00gres"),
            format!("postgres://alice@[127.0.0.1:{port}/postgres"),
            format!("postgres://alice@[::1]x:{port}/postgres"),
            format!("postgres://alice@[]:{port}/postgres"),
            format!("postgres://alice@127.0.0.1:{port}:1/postgres"),
            format!("postgres://alice@127.0.0.1:{port}/a/b"),
        ];
        for conninfo in &bad {
            assert!(!same(&server, conninfo, &[]), "{conninfo}");
        }
    }
}

#[test]
fn variables_and_services_complete_strings_as_for_psql() {
    for bin in bindirs() {
        let server = server(&bin);
        let port = server.port.to_string();
        let services = server.folder().join("services");
        let text = format!(
            "# ours\n[other]\nport=1\n\n[mine]\nhost=127.0.0.1\nport={port}\nuser=alice\n\
             user=absent\n\n[last]\n"
        );
        fs::write(&services, &text).unwrap();
        fs::write(server.folder().join(".pg_service.conf"), text.replace("[mine]", "[home]"))
            .unwrap();
        let var = |name: &'static str, value: &str| (name, value.to_owned());
        let here =
            || vec![var("PGHOST", "127.0.0.1"), var("PGPORT", &port), var("PGUSER", "alice")];
        let with = |name, value| [here(), vec![var(name, value)]].concat();
        let file = services.to_str().unwrap();
        let good = [
            ("", here()),
            ("postgres", here()),
            ("user=owner", here()),
            ("postgres://owner@/postgres", here()),
            ("postgresql://", here()),
            ("dbname=postgres", with("PGDATABASE", "absent")),
            ("", with("PGDATABASE", "postgres")),
            ("", with("PGOPTIONS", "-c work_mem=11MB")),
            ("options=", with("PGOPTIONS", "-c work_mem=11MB")),
            ("", with("PGTZ", "Asia/Tokyo")),
            ("", with("PGDATESTYLE", "German")),
            ("host=127.0.0.1 dbname=", with("PGDATABASE", "absent")),
            ("", with("PGHOSTADDR", "127.0.0.1")),
            ("", with("PGSSLMODE", "disable")),
            ("service=mine", vec![var("PGSERVICEFILE", file)]),
            ("dbname=postgres", vec![var("PGSERVICEFILE", file), var("PGSERVICE", "mine")]),
            ("service=mine", vec![var("PGSERVICEFILE", file), var("PGUSER", "owner")]),
            ("service=mine user=owner", vec![var("PGSERVICEFILE", file), var("PGPORT", "1")]),
            ("postgres:///postgres?service=home", vec![]),
        ];
        for (conninfo, variables) in &good {
            assert!(
                same(&server, conninfo, variables),
                "{conninfo}: {:?}",
                ours(&server, conninfo, variables)
            );
        }
        let bad = [
            ("", with("PGPORT", "1")),
            ("", with("PGSSLMODE", "perhaps")),
            ("", with("PGCONNECT_TIMEOUT", "soon")),
            ("port=", here()),
            ("", with("PGSERVICE", "absent")),
            ("service=mine", vec![var("PGSERVICEFILE", "/nowhere")]),
            ("service=mine", vec![]),
        ];
        for (conninfo, variables) in &bad {
            assert!(!same(&server, conninfo, variables), "{conninfo}");
        }
    }
}

#[test]
fn mistakes_are_explained() {
    let parse = |text: &str| Config::parse_in(text, &Environment::new("me", Path::new("/nowhere")));
    let error = |text: &str| parse(text).unwrap_err();
    for (typo, meant) in
        [("hots=x", "host"), ("data_base=x", "dbname"), ("SSLMODE=require", "sslmode")]
    {
        let error = error(typo);
        let ConfigError::Unknown(_, nearest) = &error else { panic!("{error}") };
        // Only what looks alike is suggested.
        assert_eq!(*nearest, (meant != "dbname").then_some(meant), "{error}");
    }
    assert!(matches!(error("qqqqqqqqqqqqqq=x"), ConfigError::Unknown(_, None)));
    // Unsupported demands are refused, not ignored.
    for demand in [
        "target_session_attrs=read-write",
        "gssencmode=require",
        "sslcrl=/x",
        "ssl_min_protocol_version=TLSv1.3",
        "load_balance_hosts=random",
        "requirepeer=postgres",
    ] {
        assert!(matches!(error(demand), ConfigError::Unsupported(..)), "{demand}");
    }
    assert!(matches!(error("sslrootcert=system sslmode=require"), ConfigError::Value(..)));
    assert!(matches!(error("sslnegotiation=direct"), ConfigError::Value(..)));
    for wrong in [
        "require_auth=scram",
        "require_auth=md5,!none",
        "require_auth=!none,md5",
        "require_auth=md5,",
    ] {
        assert!(matches!(error(wrong), ConfigError::Value(..)), "{wrong}");
    }
    parse("target_session_attrs=any gssencmode=prefer krbsrvname=x client_encoding=LATIN1")
        .unwrap();
    let config = parse("postgres://[2001:db8::1]:6000/x").unwrap();
    assert_eq!(config.to_string(), "host=2001:db8::1 port=6000 user=me dbname=x");
    let odd = parse(r"user='a b\'c' host=h dbname=x").unwrap();
    assert_eq!(odd.to_string(), r"host=h port=5432 user='a b\'c' dbname=x");
    assert_eq!(parse(&odd.to_string()).unwrap().to_string(), odd.to_string());
}

/// The variables for child programs lead to the same server, without the strings and files that
/// they came from.
#[test]
fn the_variables_for_other_programs_mean_the_same_connection() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pass"), "a:1:d:u:from the file\n").unwrap();
    fs::set_permissions(
        folder.path().join("pass"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let passfile =
        format!("host=a port=1 user=u dbname=d passfile={}", folder.path().join("pass").display());
    let tls = "host=a,/tmp port=1,2 user='u x' password='p w' options='-c work_mem=1MB' \
               sslmode=verify-full sslrootcert=system";
    for conninfo in
        [tls, passfile.as_str(), "host=/tmp sslmode=require sslcert=c sslkey=k sslrootcert=r"]
    {
        let home = || Environment::new(OWNER, folder.path());
        let config = Config::parse_in(conninfo, &home()).unwrap();
        let variables = config.client_environment();
        let variables_set =
            variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let led = variables_set.fold(home(), |all, (name, value)| all.with(name, value));
        let same = Config::parse_in("", &led).unwrap();
        assert!(
            ["PGHOSTADDR", "PGSERVICE"]
                .iter()
                .all(|name| variables.contains(&((*name).to_owned(), None)))
        );
        assert_eq!(
            (same.to_string(), same.client_environment()),
            (config.to_string(), variables),
            "{conninfo}"
        );
    }
}
