//! The address of a server, and the login: a URL, and for what it leaves open `~/.my.cnf` and the
//! variables of MariaDB's programs (<https://mariadb.com/kb/en/mariadb-environment-variables/>).

use crate::client::environment::Environment;
use crate::client::error::ConfigError;
use crate::client::option_file::option_file;
use crate::client::server_key::ServerKey;
use crate::client::tls::TlsSettings;
use crate::client::url::Url;
use engine::ServerError;
use observations::Secret;
use servers::network::Relayed;
use servers::programs::mysql::Login;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Stop;

const PORT: u16 = 3306;

/// Where packages put the socket: Debian, Red Hat, sources.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Unix(PathBuf),
    Tcp { host: String, port: u16 },
}

impl Default for Place {
    fn default() -> Self {
        Self::Unix(PathBuf::new())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix socket {}", path.display()),
            Self::Tcp { host, port } => write!(out, "host {host}, port {port}"),
        }
    }
}

/// The parameters of a connection. It is displayed, and printed for developers, without its
/// password.
#[derive(Clone, Default)]
pub struct Config {
    pub(crate) place: Place,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    /// The database that statements are about.
    pub database: Option<String>,
    pub(crate) tls: TlsSettings,
    pub(crate) server_key: ServerKey,
    /// The time that connecting may take; `None`: as long as the system lets it.
    pub connect_timeout: Option<Duration>,
    pub(crate) stop: Option<Stop>,
    /// How a program behind a relay wants its session.
    pub(crate) program: Option<Login>,
    /// Doubts about the URL, one sentence each.
    pub warnings: Vec<String>,
}

impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "mariadb://{}@", self.user)?;
        match &self.place {
            Place::Tcp { host, port } => write!(out, "{host}:{port}/")?,
            Place::Unix(_) => write!(out, "localhost/")?,
        }
        write!(out, "{}", self.database.as_deref().unwrap_or_default())?;
        if let Place::Unix(path) = &self.place {
            write!(out, "?socket={}", path.display())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Config {
    /// From `mariadb://user@host:port/database` or `mysql://...`. `localhost` without a
    /// port means the unix socket, as it does to MariaDB's programs; `?socket=` names it. What the
    /// URL leaves open comes from `~/.my.cnf` and the variables `MYSQL_*` of this process.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        Self::parse_in(url, &Environment::of_process())
    }

    /// Parses a URL in another environment.
    pub fn parse_in(url: &str, environment: &Environment) -> Result<Self, ConfigError> {
        let url = Url::parse(url)?;
        let (file, warning) = option_file(environment);
        let option = |name: &str| {
            file.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let value_of = |text: &Option<String>, name: &str| text.clone().or_else(|| option(name));
        let user = value_of(&url.user, "user").or_else(|| environment.get("USER"));
        let user = user.or_else(|| environment.get("LOGNAME")).unwrap_or_else(|| "root".into());
        let password = url
            .password
            .clone()
            .or_else(|| option("password").map(Secret::from))
            .or_else(|| environment.get("MYSQL_PWD").map(Secret::from));
        let host = value_of(&url.host, "host").or_else(|| environment.get("MYSQL_HOST"));
        let socket = url.parameter("socket").or_else(|| option("socket"));
        let socket = socket.or_else(|| environment.get("MYSQL_UNIX_PORT")).map(PathBuf::from);
        let port = url
            .port
            .clone()
            .or_else(|| option("port"))
            .or_else(|| environment.get("MYSQL_TCP_PORT"));
        let port = match port.map(|port| port.parse::<u16>()) {
            None => PORT,
            Some(Ok(port)) if port > 0 => port,
            Some(_) => return Err(ConfigError::Value("the port", "a number from 1 to 65535")),
        };
        let local = host.as_deref().is_none_or(|host| host == "localhost");
        let place = match (host, url.parameter("socket"), socket) {
            (_, Some(socket), _) => Place::Unix(socket.into()),
            // Who names a port in the URL means it: another server may have the socket.
            (host, ..) if local && url.port.is_some() => {
                Place::Tcp { host: host.unwrap_or_else(|| "localhost".into()), port }
            }
            (_, _, Some(socket)) if local => Place::Unix(socket),
            (Some(host), ..) if !local => Place::Tcp { host, port },
            _ => Place::Unix(default_socket()),
        };
        let timeout = url.parameter("connect-timeout").map(|seconds| seconds.parse::<u64>());
        let connect_timeout = match timeout.transpose() {
            Ok(seconds) => seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs),
            Err(_) => return Err(ConfigError::Value("connect-timeout", "a number of seconds")),
        };
        let either = |name: &str| url.parameter(name).or_else(|| option(name));
        let (tls, server_key) = (TlsSettings::take(either)?, ServerKey::take(either)?);
        let (database, warnings) = (url.database.clone(), warning.into_iter().collect());
        Ok(Self {
            place,
            user,
            password,
            database,
            tls,
            server_key,
            connect_timeout,
            warnings,
            ..Self::default()
        })
    }

    /// To a server's unix socket, with nothing from the environment.
    pub fn unix(socket: &Path, user: &str) -> Self {
        Self { place: Place::Unix(socket.into()), user: user.into(), ..Self::default() }
    }

    /// With this database.
    #[must_use]
    pub fn with_database(self, name: &str) -> Self {
        Self { database: Some(name.into()), ..self }
    }

    /// With these times where the URL gives none.
    #[must_use]
    pub fn with_default_timeout(self, timeout: Duration) -> Self {
        Self { connect_timeout: self.connect_timeout.or(Some(timeout)), ..self }
    }

    /// Limits the timeout of the URL to this.
    #[must_use]
    pub fn with_timeout(self, most: Duration) -> Self {
        Self {
            connect_timeout: Some(self.connect_timeout.map_or(most, |timeout| timeout.min(most))),
            ..self
        }
    }

    /// Lets `stop` end connecting.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Where the server is: without user and password.
    pub fn place(&self) -> String {
        self.place.to_string()
    }

    /// The bytes of its password; empty without one.
    pub(crate) fn password_bytes(&self) -> &[u8] {
        self.password.as_ref().map(Secret::reveal).unwrap_or_default().as_bytes()
    }

    /// Returns whether a password is known.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns whether the server is reached over a unix socket or the loopback interface, and so
    /// most likely shares our kernel.
    pub fn is_local(&self) -> bool {
        match &self.place {
            Place::Unix(_) => true,
            Place::Tcp { host, .. } => ["127.0.0.1", "::1", "localhost"].contains(&host.as_str()),
        }
    }

    /// Variables by which MariaDB's programs find the server; `None`: one that must not be there.
    pub fn client_environment(&self) -> Vec<(String, Option<String>)> {
        let (host, port, socket) = match &self.place {
            Place::Unix(path) => {
                (Some("localhost".to_owned()), None, Some(path.display().to_string()))
            }
            Place::Tcp { host, port } => (Some(host.clone()), Some(port.to_string()), None),
        };
        let variables = [
            ("MYSQL_HOST", host),
            ("MYSQL_TCP_PORT", port),
            ("MYSQL_UNIX_PORT", socket),
            ("MYSQL_PWD", self.password.as_ref().map(|password| password.reveal().to_owned())),
        ];
        variables.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

impl Relayed for Config {
    fn address(&self) -> Result<Option<SocketAddr>, ServerError> {
        let Place::Tcp { host, port } = &self.place else { return Ok(None) };
        let found = (host.as_str(), *port).to_socket_addrs();
        let mut found = found.map_err(|error| ServerError::new(format!("{host}: {error}")))?;
        Ok(found.next())
    }

    fn at_socket_in(mut self, folder: &Path) -> Self {
        if let Place::Unix(path) = &mut self.place {
            *path = folder.join(path.file_name().unwrap_or_default());
        }
        self
    }

    /// Certificates need the name 127.0.0.1 then.
    fn relayed_by(self, port: u16) -> Self {
        Self { place: Place::Tcp { host: "127.0.0.1".into(), port }, ..self }
    }
}

fn default_socket() -> PathBuf {
    SOCKETS
        .iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
        .unwrap_or_else(|| SOCKETS[0].into())
}

#[cfg(test)]
mod tests {
    use super::Config;
    use crate::client::Environment;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let config = Config::parse_in(url, &Environment { variables });
        config.map(|config| config.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_url_goes_before_the_variables_and_is_shown_without_its_password() {
        let variables = [
            ("USER", "me"),
            ("MYSQL_HOST", "db"),
            ("MYSQL_TCP_PORT", "3307"),
            ("MYSQL_UNIX_PORT", "/s"),
        ];
        for (url, shown) in [
            ("mariadb://", "mariadb://me@db:3307/"),
            ("mysql://you:s%65cret@[::1]:3308/app", "mariadb://you@::1:3308/app"),
            ("mariadb://localhost/app", "mariadb://me@localhost/app?socket=/s"),
            ("mariadb://root@localhost:3310/app", "mariadb://root@localhost:3310/app"),
            ("mariadb://root@localhost?socket=/a%20b", "mariadb://root@localhost/?socket=/a b"),
        ] {
            assert_eq!(parsed(url, &variables).as_deref(), Ok(shown), "{url}");
        }
        let config = Config::parse_in("mysql://you:secret@db", &Environment::default()).unwrap();
        assert!(config.has_password() && !format!("{config:?}").contains("secret"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (url, why) in [
            ("postgres://me@db", "expected mariadb://"),
            ("mariadb://db:port", "the port must be a number"),
            ("mariadb://db?sockets=/s", "did you mean `socket`?"),
            ("mariadb://%2", "two hexadecimal digits"),
            ("mariadb://me:a?b@db", "write / as %2F"),
            ("mariadb://me:1/b@db", "write / as %2F"),
            ("mariadb://me:a@b?c@db", "write / as %2F"),
            // What cannot be given must not be ignored.
            ("mariadb://db?ssl-crl=/x", "unknown connection parameter `ssl-crl`"),
            ("mariadb://db?ssl-mode=require", "did you mean `REQUIRED`?"),
            ("mariadb://db?ssl-cert=/x", "ssl-cert and ssl-key"),
        ] {
            let error = parsed(url, &[]).unwrap_err();
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn a_password_in_a_file_that_others_may_read_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".my.cnf");
        std::fs::write(&file, "[mysqld]\nuser=no\n[client]\nuser = \"you\"\npassword='a#b' # c\n")
            .unwrap();
        let variables = vec![("HOME".to_owned(), home.path().into())];
        let environment = Environment { variables };
        for (mode, known) in [(0o600, true), (0o644, false)] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let config = Config::parse_in("mariadb://db", &environment).unwrap();
            assert_eq!(
                (config.has_password(), config.warnings.is_empty()),
                (known, known),
                "{mode:o}"
            );
            assert_eq!(config.to_string(), "mariadb://you@db:3306/");
        }
    }
}
