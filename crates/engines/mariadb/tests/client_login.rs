//! Logging in to a real server: every plugin that it has and every mode of encryption, compared
//! with MariaDB's client.

use mariadb::client::{Client, Config, Environment, Error};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use testing::mariadb_client::{Server, give};

/// Keys and certificates, made by openssl; the names are files.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Self {
        let all = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(all.0.path(), Permissions::from_mode(0o755)).unwrap();
        for root in ["root", "stranger"] {
            all.openssl(&format!(
                "req|-x509|-newkey|ec|-pkeyopt|ec_paramgen_curve:prime256v1|-nodes|-days|2|-subj|/\
                 CN={root}|-keyout|{root}.key|-out|{root}.crt"
            ));
        }
        all.signed("server", "subjectAltName=IP:127.0.0.1");
        all.signed("elsewhere", "subjectAltName=DNS:elsewhere");
        all.signed("client", "basicConstraints=CA:FALSE");
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

    fn signed(&self, name: &str, extension: &str) {
        self.openssl(&format!(
            "req|-newkey|ec|-pkeyopt|ec_paramgen_curve:prime256v1|-nodes|-subj|/\
             CN={name}|-keyout|{name}.key|-out|{name}.csr"
        ));
        fs::write(self.path("extension"), extension).unwrap();
        self.openssl(&format!(
            "x509|-req|-in|{name}.csr|-CA|root.crt|-CAkey|root.\
             key|-CAcreateserial|-days|2|-extfile|extension|-out|{name}.crt"
        ));
    }

    /// Has the server show this one from now on.
    fn show(&self, server: &Server, name: &str) {
        self.copy(server.folder(), name);
        server.connect().run("FLUSH SSL").unwrap();
    }

    fn copy(&self, folder: &Path, name: &str) {
        for ending in ["key", "crt"] {
            let copy = folder.join(format!("server.{ending}"));
            fs::copy(self.path(&format!("{name}.{ending}")), &copy).unwrap();
            give(&copy);
        }
    }
}

fn connect(url: &str, home: &Path) -> Result<Client, Error> {
    let variables = vec![("HOME".to_owned(), home.into())];
    Client::connect(&Config::parse_in(url, &Environment { variables }).unwrap())
}

/// Both connections are encrypted, or neither (`None`) connects.
fn same(server: &Server, user: &str, parameters: &str, options: &[&str]) -> Option<bool> {
    let cipher = "SHOW SESSION STATUS LIKE 'Ssl_cipher'";
    let url = format!("mariadb://{user}@127.0.0.1:{}/?{parameters}", server.port);
    let ours = connect(&url, server.folder()).map(|mut client| {
        let shown = client.query(cipher).unwrap().first().unwrap().get(1).unwrap().to_owned();
        assert_eq!(client.is_tls(), !shown.is_empty(), "{url}");
        client.is_tls()
    });
    let mut all = vec![format!("--user={user}")];
    all.extend(options.iter().map(|option| (*option).to_owned()));
    let theirs = server.mariadb(&all, cipher).map(|shown| shown.trim_end() != "Ssl_cipher");
    assert_eq!(
        ours.as_ref().ok(),
        theirs.as_ref().ok(),
        "{parameters} {options:?}: {ours:?} {theirs:?}"
    );
    ours.ok()
}

const ACCOUNTS: &str = "INSTALL SONAME 'auth_ed25519'; CREATE USER plain@'127.0.0.1'; CREATE USER \
     secure@'127.0.0.1' REQUIRE SSL; CREATE USER certified@'127.0.0.1' REQUIRE X509; CREATE USER \
     native IDENTIFIED VIA mysql_native_password USING PASSWORD('right'); CREATE USER short \
     IDENTIFIED VIA ed25519 USING PASSWORD('right'); CREATE USER either IDENTIFIED VIA ed25519 \
     USING PASSWORD('other') OR mysql_native_password USING PASSWORD('right'); CREATE USER gone \
     IDENTIFIED VIA mysql_old_password USING '606717496665bcba'";

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn each_mode_of_encryption_is_as_mariadbs_client_has_it_or_stricter() {
    let certificates = Certificates::make();
    let keys = tempfile::tempdir().unwrap();
    fs::set_permissions(keys.path(), Permissions::from_mode(0o755)).unwrap();
    certificates.copy(keys.path(), "server");
    let options = [("cert", "server.crt"), ("key", "server.key")];
    let mut options: Vec<String> = options
        .map(|(name, file)| format!("--ssl-{name}={}", keys.path().join(file).display()))
        .into();
    let root = certificates.path("root.crt");
    options.push(format!("--ssl-ca={root}"));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(server) = Server::start(&options) else { return };
    server.connect().run(ACCOUNTS).unwrap();
    let (plain, encrypted, refused) = (Some(false), Some(true), None);
    let stranger = certificates.path("stranger.crt");
    let key = certificates.path("client.key");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let pair = format!("ssl-cert={}&ssl-key={key}", certificates.path("client.crt"));
    let ca = format!("--ssl-ca={root}");
    let wrong = format!("--ssl-ca={stranger}");
    let [cert, key] =
        [format!("--ssl-cert={}", certificates.path("client.crt")), format!("--ssl-key={key}")];
    for (user, parameters, options, expected) in [
        ("plain", "ssl-mode=DISABLED".to_owned(), vec!["--skip-ssl"], plain),
        ("plain", "ssl=0".to_owned(), vec!["--skip-ssl"], plain),
        ("plain", String::new(), vec!["--ssl"], encrypted),
        ("plain", "ssl-mode=required".to_owned(), vec!["--ssl"], encrypted),
        ("plain", format!("ssl-mode=VERIFY_CA&ssl-ca={root}"), vec![&*ca], encrypted),
        ("plain", format!("ssl-ca={root}"), vec![&*ca], encrypted),
        ("plain", format!("ssl-ca={stranger}"), vec![&*wrong, "--ssl-verify-server-cert"], refused),
        (
            "plain",
            format!("ssl-mode=PREFERRED&ssl-ca={stranger}"),
            vec![&*wrong, "--ssl-verify-server-cert"],
            refused,
        ),
        (
            "plain",
            format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"),
            vec![&*ca, "--ssl-verify-server-cert"],
            encrypted,
        ),
        (
            "plain",
            format!("ssl-verify-server-cert&ssl-ca={root}"),
            vec![&*ca, "--ssl-verify-server-cert"],
            encrypted,
        ),
        ("secure", "ssl-mode=DISABLED".to_owned(), vec!["--skip-ssl"], refused),
        ("secure", "ssl-mode=REQUIRED".to_owned(), vec!["--ssl"], encrypted),
        ("certified", "ssl-mode=REQUIRED".to_owned(), vec!["--ssl"], refused),
        ("certified", pair, vec![&*cert, &*key], encrypted),
    ] {
        assert_eq!(same(&server, user, &parameters, &options), expected, "{user} {parameters}");
    }
    options_and_long_packets(&server, &certificates, keys.path());
    // A certificate that is another host's.
    certificates.copy(keys.path(), "elsewhere");
    certificates.show(&server, "elsewhere");
    for (parameters, options, expected) in [
        (format!("ssl-mode=VERIFY_CA&ssl-ca={root}"), vec![&*ca], encrypted),
        (
            format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"),
            vec![&*ca, "--ssl-verify-server-cert"],
            refused,
        ),
    ] {
        assert_eq!(same(&server, "plain", &parameters, &options), expected, "{parameters}");
    }
    // Over the unix socket only on request.
    for (more, is_tls) in [("", false), ("&ssl-mode=REQUIRED", true)] {
        let client = connect(&format!("{}{more}", server.url("root")), server.folder()).unwrap();
        assert_eq!(client.is_tls(), is_tls, "{more}");
    }
}

/// Options without a counterpart in MariaDB's client, and packets longer than a TLS record.
fn options_and_long_packets(server: &Server, certificates: &Certificates, home: &Path) {
    let [root, stranger] = ["root.crt", "stranger.crt"].map(|name| certificates.path(name));
    // The platform's roots do not know this server.
    let url = |more: &str| format!("mariadb://plain@127.0.0.1:{}/?{more}", server.port);
    let error = connect(&url("ssl-mode=VERIFY_CA"), server.folder()).unwrap_err().to_string();
    assert!(error.contains("not signed by a trusted root certificate"), "{error}");
    // Options of ~/.my.cnf.
    let file = format!("[client]\nssl-ca = {stranger}\nssl-verify-server-cert\n");
    fs::write(home.join(".my.cnf"), file).unwrap();
    assert!(connect(&url(""), home).is_err());
    assert!(connect(&url(&format!("ssl-ca={root}")), home).unwrap().is_tls());
    assert!(!connect(&url("ssl-mode=DISABLED"), home).unwrap().is_tls());
    // Packets that are longer than a record of TLS, both ways.
    let mut client = connect(&url("ssl-mode=REQUIRED"), server.folder()).unwrap();
    let long = "x".repeat(3 << 20);
    assert_eq!(client.cell(&format!("SELECT '{long}'")).unwrap(), Some(long));
}

#[test]
fn each_plugin_of_a_server_lets_in_who_has_the_password() {
    let long = "a very long pässword; ".repeat(5);
    let Some(server) = Server::start(&[]) else { return };
    let mut root = server.connect();
    root.run(ACCOUNTS).unwrap();
    let create = format!("CREATE USER lengthy IDENTIFIED VIA ed25519 USING PASSWORD('{long}')");
    root.run(&create).unwrap();
    let login = |user: &str, password: &str| {
        let variables = vec![("MYSQL_PWD".to_owned(), password.into())];
        let config = Config::parse_in(&server.url(user), &Environment { variables }).unwrap();
        Client::connect(&config).and_then(|mut client| client.cell("SELECT user()"))
    };
    for (user, password) in [
        ("native", "right"),
        ("short", "right"),
        ("either", "right"),
        ("either", "other"),
        ("lengthy", &long),
    ] {
        let expected = format!("{user}@localhost");
        assert_eq!(login(user, password).unwrap(), Some(expected), "{user} {password}");
        for wrong in ["", "Right", &format!("{password} ")] {
            let error = login(user, wrong).unwrap_err();
            assert_eq!(error.code(), Some(1045), "{user} {wrong}: {error}");
        }
    }
    // The user name of this process, and another one.
    let me = Command::new("id").arg("-un").output().unwrap();
    let me = String::from_utf8(me.stdout).unwrap().trim().to_owned();
    for user in [&me, "nobody"] {
        root.run(&format!("CREATE OR REPLACE USER {user}@localhost IDENTIFIED VIA unix_socket"))
            .unwrap();
        assert_eq!(login(user, "").is_ok(), user == me, "{user}");
    }
    // One that answers with hashes that are no secret any more.
    let error = login("gone", "right").unwrap_err().to_string();
    assert!(error.contains("mysql_old_password") || error.contains("1275"), "{error}");
    // With a password in the option file, and none in clear in what is shown.
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".my.cnf");
    fs::write(&file, "[client]\nuser = native\npassword = \"right\"\n").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let url = format!("mariadb://localhost/?socket={}", server.socket().display());
    assert_eq!(
        connect(&url, home.path()).unwrap().cell("SELECT user()").unwrap().as_deref(),
        Some("native@localhost")
    );
}

/// The plugins that MySQL has, in every way that a password can be sent; compared with its own
/// client where that can be.
#[test]
fn each_plugin_of_mysql_lets_in_who_has_the_password_and_it_is_sent_to_nobody_else() {
    let Some(server) = Server::mysql(&[]) else { return };
    let mut root = server.connect();
    let long = "x".repeat(200);
    for (user, plugin, password) in [
        ("caching", "caching_sha2_password", "right"),
        ("older", "sha256_password", "right"),
        ("lengthy", "caching_sha2_password", &long),
        ("nothing", "sha256_password", ""),
    ] {
        root.run(&format!("CREATE USER {user} IDENTIFIED WITH {plugin} BY '{password}'")).unwrap();
    }
    let (tcp, socket) = (format!("127.0.0.1:{}/?", server.port), server.socket());
    let socket = format!("localhost/?socket={}&", socket.display());
    let login = |user: &str, password: &str, place: &str| {
        let variables = vec![("MYSQL_PWD".to_owned(), password.into())];
        let url = format!("mysql://{user}@{place}");
        Client::connect(&Config::parse_in(&url, &Environment { variables }).unwrap())
            .map(|client| client.is_tls())
    };
    let plain = format!("{tcp}ssl-mode=DISABLED");
    let key = |path: &Path| format!("{plain}&server-public-key-path={}", path.display());
    let key_file = server.folder().join("data/public_key.pem");
    let with_key = format!("{plain}&get-server-public-key=1");
    for user in ["caching", "older"] {
        for (place, is_tls) in [
            (tcp.as_str(), true),
            (&format!("{tcp}ssl-mode=REQUIRED"), true),
            (&socket, false),
            (&with_key, false),
            (&key(&key_file), false),
        ] {
            // Without what the server remembers of an earlier login.
            root.run("FLUSH PRIVILEGES").unwrap();
            assert_eq!(login(user, "right", place).unwrap(), is_tls, "{user} {place}");
            for wrong in ["", "Right"] {
                root.run("FLUSH PRIVILEGES").unwrap();
                assert_eq!(
                    login(user, wrong, place).unwrap_err().code(),
                    Some(1045),
                    "{user} {wrong} {place}"
                );
            }
        }
        root.run("FLUSH PRIVILEGES").unwrap();
        let error = login(user, "right", &plain).unwrap_err().to_string();
        assert!(error.contains("get-server-public-key"), "{error}");
        // Another server's key, and a file that is not a key.
        let (other, none) = (server.folder().join("other.pem"), server.folder().join("none.pem"));
        let private = server.folder().join("private.pem").display().to_string();
        for arguments in [
            vec!["genrsa", "-out", &private],
            vec!["rsa", "-in", &private, "-pubout", "-out", other.to_str().unwrap()],
        ] {
            assert!(Command::new("openssl").args(arguments).output().unwrap().status.success());
        }
        assert_eq!(login(user, "right", &key(&other)).unwrap_err().code(), Some(1045), "{user}");
        fs::write(&none, "none").unwrap();
        let error = login(user, "right", &key(&none)).unwrap_err().to_string();
        assert!(error.contains("none.pem does not contain an RSA key"), "{error}");
    }
    // A server with the hash in its cache does not need the password, on any connection.
    login("caching", "right", &tcp).unwrap();
    assert!(!login("caching", "right", &plain).unwrap());
    assert!(!login("lengthy", &long, &with_key).unwrap());
    assert!(login("nothing", "", &tcp).unwrap());
}
