//! Encryption: every mode against every kind of server and certificate, compared with psql.

use postgres::client::{Client, Config, Environment, Error, LoginError};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use testing::postgres_client::{OWNER, Server, bindirs, give, tls_bindirs};

const HBA: &str = "
hostssl all secure 127.0.0.1/32 trust
hostnossl all plain 127.0.0.1/32 trust
hostssl all certified 127.0.0.1/32 cert
host all scrammer 127.0.0.1/32 scram-sha-256
host all owner 127.0.0.1/32 trust";
const ROLES: &str = "CREATE ROLE secure LOGIN; CREATE ROLE plain LOGIN; CREATE ROLE certified \
                     LOGIN;
    CREATE ROLE scrammer LOGIN PASSWORD 'right'";

/// Keys and certificates, made by openssl; the names are files.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Self {
        let all = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(all.0.path(), Permissions::from_mode(0o755)).unwrap();
        all.self_signed("root", "/CN=the root");
        all.self_signed("stranger", "/CN=another root");
        // `openssl req -x509` calls it an authority, and PostgreSQL's manual makes servers' so.
        all.self_signed("alone", "/CN=localhost");
        all.signed("server", "/CN=ignored", "subjectAltName=DNS:localhost");
        all.signed("named", "/CN=localhost", "basicConstraints=CA:FALSE");
        all.signed("sha384", "/CN=localhost", "subjectAltName=DNS:localhost");
        all.signed("certified", "/CN=certified", "basicConstraints=CA:FALSE");
        all.old("old", "/CN=localhost");
        all
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn openssl(&self, arguments: &str) {
        let mut openssl = Command::new("openssl");
        let done = openssl.args(arguments.split('|')).current_dir(self.0.path()).output().unwrap();
        assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn self_signed(&self, name: &str, subject: &str) {
        self.openssl(&format!(
            "req|-x509|-newkey|ec|-pkeyopt|ec_paramgen_curve:\
             prime256v1|-nodes|-days|2|-subj|{subject}|-keyout|{name}.key|-out|{name}.crt"
        ));
    }

    /// Signed by the root, with an extension, so of version 3.
    fn signed(&self, name: &str, subject: &str, extension: &str) {
        self.request(name, subject);
        fs::write(self.path("extension"), extension).unwrap();
        let hash = if name == "sha384" { "-sha384" } else { "-sha256" };
        self.openssl(&format!(
            "x509|-req|-in|{name}.csr|-CA|root.crt|-CAkey|root.\
             key|-CAcreateserial|-days|2|{hash}|-extfile|extension|-out|{name}.crt"
        ));
    }

    /// A certificate of version 1: OpenSSL up to 3.1 makes it without extensions.
    fn old(&self, name: &str, subject: &str) {
        self.request(name, subject);
        self.openssl(&format!(
            "x509|-req|-in|{name}.csr|-CA|root.crt|-CAkey|root.\
             key|-CAcreateserial|-days|2|-out|{name}.crt"
        ));
    }

    fn request(&self, name: &str, subject: &str) {
        self.openssl(&format!(
            "req|-newkey|rsa:2048|-nodes|-subj|{subject}|-keyout|{name}.key|-out|{name}.csr"
        ));
    }
}

/// A server that shows this certificate.
fn server(bin: &Path, certificates: &Certificates, name: &str) -> Server {
    let server = Server::start(bin, HBA, &[]);
    server.connect().batch(ROLES).unwrap();
    for ending in ["key", "crt"] {
        let copy = server.folder().join(format!("server.{ending}"));
        fs::copy(certificates.path(&format!("{name}.{ending}")), &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o600)).unwrap();
        give(&copy);
    }
    let folder = server.folder().to_str().unwrap();
    let mut owner = server.connect();
    for (setting, value) in [
        ("ssl_cert_file", format!("{folder}/server.crt")),
        ("ssl_key_file", format!("{folder}/server.key")),
        ("ssl_ca_file", certificates.path("root.crt")),
        ("ssl", "on".to_owned()),
    ] {
        owner.query(&format!("ALTER SYSTEM SET {setting} = '{value}'"), &[]).unwrap();
    }
    owner.batch("SELECT pg_reload_conf()").unwrap();
    while server.connect().query("SHOW ssl", &[]).unwrap().first().unwrap().get(0) != Some("on") {
        thread::sleep(Duration::from_millis(10));
    }
    server
}

fn connect(server: &Server, conninfo: &str) -> Result<Client, Error> {
    let conninfo = format!(
        "host=localhost hostaddr=127.0.0.1 port={} dbname=postgres {conninfo}",
        server.port
    );
    Client::connect(
        &Config::parse_in(&conninfo, &Environment::new(OWNER, server.folder())).unwrap(),
    )
}

const TLS_STATE: &str =
    "SELECT ssl, coalesce(client_dn, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

/// Both clients see the same connection, or neither connects.
fn same(server: &Server, conninfo: &str) -> Option<String> {
    let ours = connect(server, conninfo).map(|mut client| {
        let rows = client.query(TLS_STATE, &[]).unwrap();
        let row = rows.first().unwrap();
        assert_eq!(client.is_tls(), row.get(0) == Some("t"));
        format!("{}|{}", row.get(0).unwrap(), row.get(1).unwrap())
    });
    let full = format!(
        "host=localhost hostaddr=127.0.0.1 port={} dbname=postgres {conninfo}",
        server.port
    );
    let psql = server.psql::<&str>(&full, &[], TLS_STATE);
    match (ours, psql) {
        (Ok(ours), Ok(psql)) => {
            assert_eq!(ours, psql, "{conninfo}");
            Some(ours)
        }
        (Err(_), Err(_)) => None,
        (ours, psql) => panic!("{conninfo}\n  ours: {ours:?}\n  psql: {psql:?}"),
    }
}

#[test]
fn modes_mean_what_they_mean_to_psql() {
    for bin in tls_bindirs() {
        let certificates = Certificates::make();
        let server = server(&bin, &certificates, "server");
        let (root, stranger) = (certificates.path("root.crt"), certificates.path("stranger.crt"));
        let (encrypted, plain, refused) = (Some("t|"), Some("f|"), None);
        for (conninfo, expected) in [
            ("user=owner sslmode=disable".to_owned(), plain),
            ("user=owner sslmode=allow".to_owned(), plain),
            ("user=owner sslmode=prefer".to_owned(), encrypted),
            ("user=owner".to_owned(), encrypted),
            ("user=owner sslmode=require".to_owned(), encrypted),
            ("user=secure sslmode=disable".to_owned(), refused),
            ("user=secure sslmode=allow".to_owned(), encrypted),
            ("user=plain sslmode=prefer".to_owned(), plain),
            ("user=plain sslmode=require".to_owned(), refused),
            ("user=owner sslmode=verify-ca".to_owned(), refused),
            (format!("user=owner sslmode=verify-ca sslrootcert={root}"), encrypted),
            (format!("user=owner sslmode=verify-ca sslrootcert={stranger}"), refused),
            (format!("user=owner sslmode=verify-full sslrootcert={root}"), encrypted),
            (format!("user=owner sslmode=verify-full sslrootcert={root} host=127.0.0.1"), refused),
            (format!("user=owner sslmode=verify-full sslrootcert={root} host=elsewhere"), refused),
            (format!("user=owner sslmode=verify-ca sslrootcert={root} host=elsewhere"), encrypted),
            (format!("user=owner sslmode=require sslrootcert={root} host=elsewhere"), encrypted),
            (format!("user=owner sslmode=require sslrootcert={stranger}"), refused),
            (format!("user=owner sslmode=prefer sslrootcert={stranger}"), plain),
            ("user=owner sslmode=require sslrootcert=/nowhere".to_owned(), encrypted),
            ("user=owner sslmode=verify-full sslrootcert=/nowhere".to_owned(), refused),
        ] {
            assert_eq!(same(&server, &conninfo).as_deref(), expected, "{conninfo}");
        }
        // The default file.
        fs::create_dir(server.folder().join(".postgresql")).unwrap();
        fs::copy(&stranger, server.folder().join(".postgresql/root.crt")).unwrap();
        assert_eq!(same(&server, "user=owner sslmode=require"), None);
        fs::copy(&root, server.folder().join(".postgresql/root.crt")).unwrap();
        assert_eq!(same(&server, "user=owner sslmode=verify-full").as_deref(), encrypted);
        // Roots of the platform do not know this server.
        let error = connect(&server, "user=owner sslrootcert=system").unwrap_err();
        assert!(matches!(error, Error::Tls { .. }), "{error}");
    }
}

#[test]
fn a_plain_server_cannot_encrypt() {
    for bin in bindirs() {
        let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
        assert!(!connect(&server, "user=owner").unwrap().is_tls());
        for mode in ["require", "verify-full sslrootcert=/etc/hostname"] {
            let error = connect(&server, &format!("user=owner sslmode={mode}")).unwrap_err();
            assert!(matches!(error, Error::Tls { .. }), "{error}");
        }
        // Unix sockets are never encrypted.
        let folder = server.folder().display();
        let conninfo =
            format!("host={folder} port={} dbname=postgres sslmode=require", server.port);
        let config =
            Config::parse_in(&conninfo, &Environment::new(OWNER, server.folder())).unwrap();
        assert!(!Client::connect(&config).unwrap().is_tls());
    }
}

/// Certificates that PostgreSQL's manual and old habits make.
#[test]
fn unusual_certificates_are_taken_as_by_psql() {
    for bin in tls_bindirs() {
        let certificates = Certificates::make();
        let root = certificates.path("root.crt");
        let alone = server(&bin, &certificates, "alone");
        let itself = certificates.path("alone.crt");
        assert!(same(&alone, "user=owner sslmode=require").is_some());
        assert!(
            same(&alone, &format!("user=owner sslmode=verify-full sslrootcert={itself}")).is_some()
        );
        assert!(
            same(&alone, &format!("user=owner sslmode=verify-ca sslrootcert={root}")).is_none()
        );
        let named = server(&bin, &certificates, "named");
        let full = format!("user=owner sslmode=verify-full sslrootcert={root}");
        assert!(same(&named, &full).is_some());
        assert!(same(&named, &format!("{full} host=other")).is_none());
        // Not verified, version 1 is enough; verified, the reason is given.
        let old = server(&bin, &certificates, "old");
        assert!(same(&old, "user=owner sslmode=require").is_some());
        match connect(&old, &format!("user=owner sslmode=verify-ca sslrootcert={root}")) {
            Ok(client) => assert!(client.is_tls()),
            Err(error) => assert!(error.to_string().contains("version 3"), "{error}"),
        }
    }
}

#[test]
fn clients_show_their_certificate() {
    for bin in tls_bindirs() {
        let certificates = Certificates::make();
        let server = server(&bin, &certificates, "server");
        let key = |name: &str, mode: u32| {
            let path = certificates.path(name);
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let certificate = certificates.path("certified.crt");
        let key_file = key("certified.key", 0o600);
        let pair = format!("user=certified sslcert={certificate} sslkey={key_file}");
        assert_eq!(
            same(&server, &format!("{pair} sslmode=require")).as_deref(),
            Some("t|/CN=certified")
        );
        assert_eq!(same(&server, "user=certified sslmode=require"), None);
        let wrong = key("server.key", 0o600);
        let mixed = format!("user=certified sslmode=require sslcert={certificate} sslkey={wrong}");
        assert_eq!(same(&server, &mixed), None);
        key("certified.key", 0o644);
        assert_eq!(same(&server, &format!("{pair} sslmode=require")), None);
        let error = connect(&server, &format!("{pair} sslmode=require")).unwrap_err();
        assert!(error.to_string().contains("chmod 0600"), "{error}");
    }
}

#[test]
fn passwords_are_bound_to_the_channel() {
    for bin in tls_bindirs() {
        let certificates = Certificates::make();
        for name in ["server", "alone", "sha384"] {
            let server = server(&bin, &certificates, name);
            let scrammer = "user=scrammer password=right";
            let bound = format!("{scrammer} channel_binding=require");
            assert!(same(&server, &format!("{bound} sslmode=require")).is_some());
            assert!(same(&server, &format!("{bound} sslmode=disable")).is_none());
            assert!(
                same(&server, &format!("{scrammer} channel_binding=disable sslmode=require"))
                    .is_some()
            );
            assert!(same(&server, "user=secure channel_binding=require sslmode=require").is_none());
            let error = connect(&server, "user=secure channel_binding=require sslmode=require")
                .unwrap_err();
            assert!(matches!(error, Error::Login(_, LoginError::NoBinding)), "{error}");
        }
    }
}

#[test]
fn requests_work_encrypted() {
    for bin in tls_bindirs() {
        let server = server(&bin, &Certificates::make(), "server");
        let mut client = connect(&server, "user=secure sslmode=require").unwrap();
        let long = "x".repeat(1 << 20);
        let rows =
            client.query("SELECT $1::text FROM generate_series(1, 5)", &[Some(&long)]).unwrap();
        assert!(rows.len() == 5 && rows.iter().all(|row| row.get(0) == Some(&long)));
        client.batch("CREATE TEMP TABLE t (id int)").unwrap();
        let mut copy = client.copy_in("COPY t FROM STDIN").unwrap();
        for n in 0..100_000 {
            copy.write(format!("{n}\n").as_bytes()).unwrap();
        }
        assert_eq!(copy.finish().unwrap(), 100_000);

        client.set_answer_timeout(Some(Duration::from_millis(300)));
        assert!(matches!(client.query("SELECT pg_sleep(1000)", &[]), Err(Error::Timeout(_))));
        client.canceller().cancel().unwrap();
        client.set_answer_timeout(None);
        assert_eq!(
            client.query("SELECT count(*) FROM t", &[]).unwrap().first().unwrap().get(0),
            Some("100000")
        );

        let mut stream = client.into_stream().unwrap();
        assert!(stream.is_tls());
        // A simple query of 3 MB, whose answer is as long.
        let sql = format!("SELECT '{}'\0", "y".repeat(3 << 20));
        let length = (sql.len() as u32 + 4).to_be_bytes();
        let request = [b"Q", &length[..], sql.as_bytes()].concat();
        let (mut sent, mut received, mut buffer) = (0, Vec::new(), vec![0; 5000]);
        while !received.ends_with(b"Z\0\0\0\x05I") {
            let written = if sent < request.len() {
                stream.write(&request[sent..])
            } else {
                stream.flush().map(|()| 0)
            };
            let read = stream.read(&mut buffer);
            sent += written.as_ref().unwrap_or(&0);
            received.extend_from_slice(&buffer[..*read.as_ref().unwrap_or(&0)]);
            for error in [written.err(), read.err()].into_iter().flatten() {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                thread::sleep(Duration::from_micros(100));
            }
        }
        assert!(!stream.wants_write() && received.len() > 3 << 20);
    }
}
