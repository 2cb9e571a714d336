//! Environment of a connection string: variables, the user, the home folder with its password file
//! (<https://www.postgresql.org/docs/current/libpq-pgpass.html>), and service files
//! (<https://www.postgresql.org/docs/current/libpq-pgservice.html>).

use crate::client::ConfigError;
use observations::Secret;
use std::collections::BTreeMap;
use std::env;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use transport::files::{read_file, read_file_and_metadata};

/// Keywords with their values.
pub type Pairs = Vec<(String, String)>;

/// Variables that libpq turns into settings of the session.
const SESSION: [(&str, &str); 3] =
    [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// Where [`Config::parse_in`](crate::client::Config::parse_in) finds what the text leaves open.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    user: String,
}

impl Environment {
    /// This process's.
    pub fn of_process() -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("PG"));
        Self {
            variables: variables.collect(),
            home: env::home_dir(),
            user: servers::account::process_user().unwrap_or_default(),
        }
    }

    /// No variables.
    pub fn new(user: &str, home: &Path) -> Self {
        Self { variables: BTreeMap::new(), home: Some(home.to_owned()), user: user.to_owned() }
    }

    /// With one variable more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A file in the home folder.
    pub(crate) fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }

    /// The name of the user who runs this process.
    pub fn user(&self) -> &str {
        &self.user
    }

    pub(super) fn session_settings(&self) -> Vec<(&'static str, String)> {
        let value =
            |variable| self.variable(variable).filter(|value| !value.is_empty()).map(str::to_owned);
        SESSION
            .iter()
            .filter_map(|(variable, setting)| Some((*setting, value(variable)?)))
            .collect()
    }

    /// The settings of a service, from the user's file or else the system's.
    pub(super) fn service(&self, name: &str, file: Option<PathBuf>) -> Result<Pairs, ConfigError> {
        let is_given = file.is_some();
        let user = file.or_else(|| self.in_home(".pg_service.conf"));
        let system = self.variable("PGSYSCONFDIR").unwrap_or("/etc/postgresql-common");
        let files: Vec<PathBuf> =
            user.into_iter().chain([PathBuf::from(system).join("pg_service.conf")]).collect();
        for (index, path) in files.iter().enumerate() {
            let text = match read_file(path) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                // Only a file that was asked for has to be there.
                Err(source) if is_given && index == 0 => {
                    return Err(ConfigError::Value(
                        "servicefile",
                        format!("{}: {source}", path.display()),
                    ));
                }
                Err(_) => continue,
            };
            if let Some(settings) = section(&text, name)? {
                return Ok(settings);
            }
        }
        let files =
            files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or ");
        Err(ConfigError::Value("service", format!("`{name}` is not defined in {files}")))
    }
}

/// Entries of a password file in their order: host, port, database and user, of which `None`
/// matches all; password.
#[derive(Clone, Default)]
pub(crate) struct Passfile(Vec<([Option<String>; 4], Secret)>);

impl Passfile {
    /// Reads the given file or the default one. A missing file is an empty one; a file that others
    /// may read, or that cannot be read, is too, with a warning.
    pub fn read(path: Option<PathBuf>, environment: &Environment) -> (Self, Option<String>) {
        let Some(path) = path.or_else(|| environment.in_home(".pgpass")) else {
            return (Self::default(), None);
        };
        match secret_text(&path) {
            Ok(text) => (Self(text.lines().filter_map(entry).collect()), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), None),
            Err(error) => {
                let warning = format!("password file {} is ignored: {error}", path.display());
                (Self::default(), Some(warning))
            }
        }
    }

    /// The password of the first entry that matches.
    pub fn find(&self, host: &str, port: u16, database: &str, user: &str) -> Option<&Secret> {
        let port = port.to_string();
        let parts = [host, &port, database, user];
        let mut entries = self.0.iter();
        entries
            .find(|(fields, _)| {
                fields
                    .iter()
                    .zip(parts)
                    .all(|(field, host)| field.as_deref().is_none_or(|f| f == host))
            })
            .map(|(_, password)| password)
    }
}

fn secret_text(path: &Path) -> io::Result<String> {
    let (bytes, metadata) = read_file_and_metadata(path)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("group or others have access to it; run chmod 0600 on it"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `host:port:database:user:password`; a backslash takes the next character literally.
fn entry(line: &str) -> Option<([Option<String>; 4], Secret)> {
    if line.starts_with('#') {
        return None;
    }
    let mut parts = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        match (c, is_escaped, parts.len()) {
            // libpq ends the password at a further colon too.
            (':', false, 5) => break,
            (':', false, _) => parts.push(String::new()),
            (c, ..) => parts.last_mut()?.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    let [host, port, database, user, password] = <[String; 5]>::try_from(parts).ok()?;
    // An escaped star is a name.
    let fields = [host, port, database, user].map(|part| (part != "*").then(|| unescaped(&part)));
    (!password.is_empty()).then(|| (fields, unescaped(&password).into()))
}

fn unescaped(text: &str) -> String {
    let mut rest = text.chars();
    std::iter::from_fn(|| rest.next().and_then(|c| if c == '\\' { rest.next() } else { Some(c) }))
        .collect()
}

fn section(text: &str, name: &str) -> Result<Option<Pairs>, ConfigError> {
    let header = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != header);
    if lines.next().is_none() {
        return Ok(None);
    }
    let mut settings: Pairs = Vec::new();
    for line in lines.take_while(|line| !line.starts_with('[')) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((keyword, value)) = line.split_once('=') else {
            return Err(ConfigError::Syntax(format!("service `{name}`: a line has no `=`")));
        };
        // The first of several counts.
        if !settings.iter().any(|(known, _)| known == keyword) {
            settings.push((keyword.to_owned(), value.to_owned()));
        }
    }
    Ok(Some(settings))
}
