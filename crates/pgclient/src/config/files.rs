//! Files that complete a connection string: the password file
//! (<https://www.postgresql.org/docs/current/libpq-pgpass.html>) and service files
//! (<https://www.postgresql.org/docs/current/libpq-pgservice.html>).

use super::Environment;
use super::text::Pairs;
use crate::ConfigError;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Entries in their order.
#[derive(Clone, Default)]
pub struct Passfile(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    /// Host, port, database, user; `None` matches all.
    fields: [Option<String>; 4],
    password: String,
}

impl Passfile {
    /// Reads the given file or the default one. A missing file is an empty one; a file that others may
    /// read, or that cannot be read, is too, with a warning.
    pub fn read(path: Option<PathBuf>, environment: &Environment) -> (Self, Option<String>) {
        let Some(path) = path.or_else(|| environment.in_home(".pgpass")) else {
            return (Self::default(), None);
        };
        match text(&path) {
            Ok(text) => (Self(text.lines().filter_map(Entry::parse).collect()), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), None),
            Err(error) => {
                let warning = format!("password file {} is ignored: {error}", path.display());
                (Self::default(), Some(warning))
            }
        }
    }

    /// The password of the first entry that matches.
    pub fn find(&self, host: &str, port: u16, database: &str, user: &str) -> Option<&str> {
        let port = port.to_string();
        let wanted = [host, &port, database, user];
        let matches = |entry: &&Entry| {
            entry
                .fields
                .iter()
                .zip(wanted)
                .all(|(field, wanted)| field.as_deref().is_none_or(|f| f == wanted))
        };
        self.0.iter().find(matches).map(|entry| entry.password.as_str())
    }
}

fn text(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("group or others have access to it; run chmod 0600 on it"));
    }
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

impl Entry {
    /// `host:port:database:user:password`; a backslash takes the next character literally.
    fn parse(line: &str) -> Option<Self> {
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
        (!password.is_empty()).then(|| Self { fields, password: unescaped(&password) })
    }
}

fn unescaped(text: &str) -> String {
    let mut rest = text.chars();
    std::iter::from_fn(|| rest.next().and_then(|c| if c == '\\' { rest.next() } else { Some(c) })).collect()
}

/// The settings of a service, from the user's file or else the system's.
pub fn service(name: &str, file: Option<PathBuf>, environment: &Environment) -> Result<Pairs, ConfigError> {
    let is_given = file.is_some();
    let user = file.or_else(|| environment.in_home(".pg_service.conf"));
    let system = environment.variable("PGSYSCONFDIR").unwrap_or("/etc/postgresql-common");
    let files: Vec<PathBuf> =
        user.into_iter().chain([PathBuf::from(system).join("pg_service.conf")]).collect();
    for (index, path) in files.iter().enumerate() {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            // Only a file that was asked for has to be there.
            Err(source) if is_given && index == 0 => {
                return Err(ConfigError::Value("servicefile", format!("{}: {source}", path.display())));
            }
            Err(_) => continue,
        };
        if let Some(settings) = section(&text, name)? {
            return Ok(settings);
        }
    }
    let files = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or ");
    Err(ConfigError::Value("service", format!("`{name}` is not defined in {files}")))
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
            return Err(ConfigError::Syntax(format!("service `{name}`: a line without `=`")));
        };
        // The first of several counts.
        if !settings.iter().any(|(known, _)| known == keyword) {
            settings.push((keyword.to_owned(), value.to_owned()));
        }
    }
    Ok(Some(settings))
}
