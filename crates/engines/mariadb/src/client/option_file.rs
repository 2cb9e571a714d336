//! `~/.my.cnf`: what users keep there for MariaDB's and MySQL's programs.

use crate::client::environment::Environment;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use transport::files::read_file_and_metadata;

/// Groups of an option file that are for clients.
const GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];

/// The options for clients in `~/.my.cnf`. One that others may read keeps its password to itself,
/// which is the warning.
pub fn option_file(environment: &Environment) -> (Vec<(String, String)>, Option<String>) {
    let Some(path) = environment.get("HOME").map(|home| Path::new(&home).join(".my.cnf")) else {
        return (Vec::new(), None);
    };
    let (bytes, metadata) = match read_file_and_metadata(&path) {
        Ok(read) => read,
        Err(error) if error.kind() == ErrorKind::NotFound => return (Vec::new(), None),
        Err(error) => {
            return (Vec::new(), Some(format!("{} ignored: {error}", path.display())));
        }
    };
    let mut options = options(&String::from_utf8_lossy(&bytes));
    let is_private = metadata.permissions().mode().trailing_zeros() >= 6;
    if is_private || !options.iter().any(|(name, _)| name == "password") {
        return (options, None);
    }
    options.retain(|(name, _)| name != "password");
    let path = path.display();
    (
        options,
        Some(format!(
            "password in {path} ignored: other users can read the file; run chmod 600 {path}"
        )),
    )
}

/// The options of the groups for clients
/// (<https://mariadb.com/kb/en/configuring-mariadb-with-option-files/>).
fn options(text: &str) -> Vec<(String, String)> {
    let (mut options, mut is_ours) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[') {
            is_ours = GROUPS.contains(&group.split(']').next().unwrap_or_default().trim());
        } else if is_ours && !line.is_empty() && !line.starts_with(['#', ';']) {
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name.trim(), unquoted(value.trim())),
                // An option without a value is switched on.
                None if line.contains("ssl") || line.ends_with("key") => (line, "1".to_owned()),
                None => continue,
            };
            options.push((name.replace('_', "-"), value));
        }
    }
    options
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.0.to_owned();
        }
    }
    // A comment can follow a value.
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}
