//! Where to connect, as whom and how, from the same words as libpq's
//! (<https://www.postgresql.org/docs/current/libpq-connect.html>).

mod environment;
mod error;
mod hosts;
mod keywords;
mod require_auth;
mod tls;

pub use environment::Environment;
pub use error::ConfigError;
pub use hosts::{Host, Place};
pub use keywords::Settings;
pub use require_auth::{AuthMethod, RequiredAuth};
pub use tls::{Roots, TlsMode, TlsSettings};

use environment::Passfile;
use observations::Secret;
use std::fmt;
use std::path::Path;
use std::time::Duration;
use work::Stop;

/// A complete description of a connection. [`Display`](fmt::Display) and [`Debug`] write it as
/// `keyword=value` without its password.
#[derive(Clone, Default)]
pub struct Config {
    pub(crate) hosts: Vec<Host>,
    /// The role to log in as.
    pub user: String,
    /// The database to log in to.
    pub database: String,
    pub(super) password: Option<Secret>,
    passfile: Passfile,
    application_name: Option<String>,
    options: Option<String>,
    /// Further settings of the session, from the environment.
    session: Vec<(&'static str, String)>,
    pub(crate) connect_timeout: Option<Duration>,
    /// The stop that ends connecting early.
    pub(crate) stop: Option<Stop>,
    pub(crate) keep_alive: KeepAlive,
    pub(crate) tls: TlsSettings,
    pub(crate) channel_binding: ChannelBindingMode,
    pub(crate) required_auth: RequiredAuth,
    /// Notes for the user: a password file that was ignored, and why.
    pub warnings: Vec<String>,
}

/// Channel binding: SCRAM proves that both ends see the same TLS certificate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ChannelBindingMode {
    Disable,
    #[default]
    Prefer,
    Require,
}

/// TCP keepalive; what is `None` is left to the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeepAlive {
    pub is_off: bool,
    pub idle: Option<Duration>,
    pub interval: Option<Duration>,
    pub count: Option<u32>,
    pub user_timeout: Option<Duration>,
}

impl Config {
    /// From a `postgres://` URL, from `keyword=value` pairs, or from the name of a database, as
    /// psql takes them; what the text leaves open comes from its service, the `PG*` variables
    /// of this process and libpq's defaults. An empty text leaves all of it open. Refuses what
    /// libpq would not accept either, and demands on the connection that this client cannot
    /// fulfil.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_in(text, &Environment::of_process())
    }

    /// Parses a text in another environment.
    pub fn parse_in(text: &str, environment: &Environment) -> Result<Self, ConfigError> {
        let mut settings = Settings::from_text(text)?;
        settings.complete(environment)?;
        let channel_binding = [
            ("disable", ChannelBindingMode::Disable),
            ("prefer", ChannelBindingMode::Prefer),
            ("require", ChannelBindingMode::Require),
        ];
        let user = settings.take("user").unwrap_or_else(|| environment.user().to_owned());
        let password = settings.take("password").map(Secret::from);
        let passfile = settings.take("passfile").map(Into::into);
        let (passfile, warning) = match &password {
            Some(_) => (Passfile::default(), None),
            None => Passfile::read(passfile, environment),
        };
        Ok(Self {
            hosts: hosts::hosts(&mut settings)?,
            database: settings.take("dbname").unwrap_or_else(|| user.clone()),
            user,
            password,
            passfile,
            application_name: settings
                .take("application_name")
                .or_else(|| settings.take("fallback_application_name")),
            options: settings.take("options"),
            session: environment.session_settings(),
            connect_timeout: settings.positive("connect_timeout")?.map(Duration::from_secs),
            stop: None,
            keep_alive: KeepAlive {
                is_off: settings.number("keepalives")? == Some(0),
                idle: settings.positive("keepalives_idle")?.map(Duration::from_secs),
                interval: settings.positive("keepalives_interval")?.map(Duration::from_secs),
                count: settings.positive("keepalives_count")?.map(|count| count as u32),
                user_timeout: settings.positive("tcp_user_timeout")?.map(Duration::from_millis),
            },
            tls: TlsSettings::take(&mut settings, environment)?,
            channel_binding: settings.choice(
                "channel_binding",
                &channel_binding,
                channel_binding[1].1,
            )?,
            required_auth: RequiredAuth::take(&mut settings)?,
            warnings: warning.into_iter().collect(),
        })
    }

    /// To a server's unix socket, with nothing from the environment.
    pub fn unix(socket_dir: &Path, port: u16, user: &str, database: &str) -> Self {
        Self {
            hosts: vec![Host { place: Place::Unix(socket_dir.to_owned()), port }],
            user: user.to_owned(),
            database: database.to_owned(),
            ..Self::default()
        }
    }

    /// With this `application_name`.
    #[must_use]
    pub fn with_application_name(mut self, name: &str) -> Self {
        self.application_name = Some(name.to_owned());
        self
    }

    /// With these command-line options of the server added, for example `-c statement_timeout=5s`.
    #[must_use]
    pub fn with_options(mut self, options: &str) -> Self {
        self.options = Some(match self.options {
            Some(before) => format!("{before} {options}"),
            None => options.to_owned(),
        });
        self
    }

    /// To another database of the same server.
    #[must_use]
    pub fn with_database(mut self, database: &str) -> Self {
        database.clone_into(&mut self.database);
        self
    }

    /// With this patience for each address, login included; `None` waits for ever.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Lets `stop` end connecting, login included. After that: see
    /// [`Client::set_stop`](crate::client::Client::set_stop).
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// With limits where the text and the variables say nothing, and libpq would wait for hours:
    /// for connecting, and for the other end of a TCP connection to be silent. A server that is
    /// there is never silent: its system answers for it, however long a request takes.
    #[must_use]
    pub fn with_default_patience(mut self, connecting: Duration, silence: Duration) -> Self {
        self.connect_timeout.get_or_insert(connecting);
        let keep_alive = &mut self.keep_alive;
        keep_alive.idle.get_or_insert(silence / 2);
        keep_alive.interval.get_or_insert(silence / 6);
        keep_alive.count.get_or_insert(3);
        // For what was sent and not received; also by a server that is too busy to read.
        keep_alive.user_timeout.get_or_insert(silence * 2);
        self
    }

    /// Returns whether the text or the variables give a password; one from the password file is
    /// looked up when connecting.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Variables by which libpq's programs reach the same server as the same role, password
    /// included; `None`: one that has to be absent, because it would lead them elsewhere.
    pub fn client_environment(&self) -> Vec<(String, Option<String>)> {
        let list =
            |part: fn(&Host) -> String| self.hosts.iter().map(part).collect::<Vec<_>>().join(",");
        let password = self.hosts.first().and_then(|host| self.password_for(host));
        let settings = [
            ("PGHOST", Some(list(Host::name))),
            ("PGPORT", Some(list(|host| host.port.to_string()))),
            ("PGUSER", Some(self.user.clone())),
            ("PGDATABASE", Some(self.database.clone())),
            ("PGPASSWORD", password.map(|password| password.reveal().to_owned())),
            ("PGAPPNAME", self.application_name.clone()),
            ("PGOPTIONS", self.options.clone()),
            ("PGHOSTADDR", None),
            ("PGSERVICE", None),
        ];
        let tls =
            self.tls.client_environment().into_iter().map(|(name, value)| (name, Some(value)));
        settings.into_iter().chain(tls).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The password for a host: the given one, else the password file's.
    pub(crate) fn password_for(&self, host: &Host) -> Option<&Secret> {
        self.password.as_ref().or_else(|| {
            self.passfile.find(host.password_name(), host.port, &self.database, &self.user)
        })
    }

    /// Returns the parameters sent at the start of a session.
    pub(crate) fn startup_parameters(&self) -> Vec<(&str, &str)> {
        let mut parameters = vec![("user", &*self.user), ("database", &*self.database)];
        parameters.push(("client_encoding", "UTF8"));
        parameters.extend(self.application_name.as_deref().map(|name| ("application_name", name)));
        parameters.extend(self.options.as_deref().map(|options| ("options", options)));
        parameters.extend(self.session.iter().map(|(name, value)| (*name, value.as_str())));
        parameters
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |part: fn(&Host) -> String| self.hosts.iter().map(part).collect::<Vec<_>>().join(",");
        let host = keywords::quoted(&list(Host::name));
        let port = list(|host| host.port.to_string());
        let (user, database) = (keywords::quoted(&self.user), keywords::quoted(&self.database));
        write!(f, "host={host} port={port} user={user} dbname={database}")
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Config({self})")
    }
}
