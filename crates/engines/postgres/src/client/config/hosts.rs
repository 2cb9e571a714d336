//! The hosts of a connection string, each with its port.

use super::Settings;
use crate::client::ConfigError;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

const PORT: u16 = 5432;
/// Where servers put their sockets: distributions' and PostgreSQL's own choice.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// A host of a connection string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    pub place: Place,
    pub port: u16,
}

/// The path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The directory of a socket; `@name` in Linux's abstract namespace.
    Unix(PathBuf),
    /// A name, used for certificates and passwords, and the address, when it needs no look-up.
    Tcp { name: String, address: Option<IpAddr> },
}

impl Host {
    /// As a connection string gives it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Unix(directory) => directory.display().to_string(),
            Place::Tcp { name, .. } => name.clone(),
        }
    }

    /// The name under which a password file knows it.
    pub fn password_name(&self) -> &str {
        match &self.place {
            Place::Unix(directory) => directory
                .to_str()
                .filter(|directory| !SOCKET_DIRECTORIES.contains(directory))
                .unwrap_or("localhost"),
            Place::Tcp { name, .. } => name,
        }
    }

    /// The socket in a directory.
    pub fn socket_in(&self, directory: &Path) -> PathBuf {
        let socket = directory.join(format!(".s.PGSQL.{}", self.port));
        match socket.to_str().and_then(|name| name.strip_prefix('@')) {
            Some(name) => PathBuf::from(format!("\0{name}")),
            None => socket,
        }
    }
}

/// The hosts that `host`, `hostaddr` and `port` name together.
pub fn hosts(settings: &mut Settings) -> Result<Vec<Host>, ConfigError> {
    let mut list = |keyword| {
        settings
            .take(keyword)
            .map(|list| list.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>())
    };
    let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = addresses.as_ref().or(names.as_ref()).map_or(1, Vec::len);
    if let (Some(names), Some(addresses)) = (&names, &addresses)
        && names.len() != addresses.len()
    {
        let reason =
            format!("{} addresses for {} hosts; give one per host", addresses.len(), names.len());
        return Err(ConfigError::Value("hostaddr", reason));
    }
    let ports = ports.unwrap_or_else(|| vec![String::new()]);
    if ports.len() != 1 && ports.len() != count {
        let reason =
            format!("{} ports for {count} hosts; give one port, or one per host", ports.len());
        return Err(ConfigError::Value("port", reason));
    }
    let part = |list: &Option<Vec<String>>, index: usize| {
        list.as_ref().map_or_else(String::new, |list| list[index].clone())
    };
    (0..count)
        .map(|index| {
            let port = port(&ports[index.min(ports.len() - 1)])?;
            Ok(Host { place: place(part(&names, index), &part(&addresses, index), port)?, port })
        })
        .collect()
}

fn port(text: &str) -> Result<u16, ConfigError> {
    if text.is_empty() {
        return Ok(PORT);
    }
    text.parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| ConfigError::Value("port", "expected a number from 1 to 65535".to_owned()))
}

fn place(name: String, address: &str, port: u16) -> Result<Place, ConfigError> {
    if !address.is_empty() {
        let parsed = address.parse().map_err(|_| {
            ConfigError::Value("hostaddr", format!("`{address}` is not an IP address"))
        })?;
        let name = if name.is_empty() { address.to_owned() } else { name };
        return Ok(Place::Tcp { name, address: Some(parsed) });
    }
    if name.is_empty() {
        return Ok(Place::Unix(default_directory(port)));
    }
    if name.starts_with(['/', '@']) {
        return Ok(Place::Unix(name.into()));
    }
    let address = name.parse().ok();
    Ok(Place::Tcp { name, address })
}

/// libpq has one directory built in. This client is not built with a server, so it takes the first
/// that has a socket of this port.
fn default_directory(port: u16) -> PathBuf {
    let [first, last] = SOCKET_DIRECTORIES.map(PathBuf::from);
    let has_socket = |directory: &Path| directory.join(format!(".s.PGSQL.{port}")).exists();
    if has_socket(&first) || (first.exists() && !has_socket(&last)) { first } else { last }
}
