//! Service files: named groups of settings
//! (<https://www.postgresql.org/docs/current/libpq-pgservice.html>).

use super::{ConfigError, Environment};
use std::fs;
use std::path::PathBuf;

/// The settings of a service, from the user's file or else the system's.
pub fn read(
    name: &str,
    file: Option<PathBuf>,
    environment: &Environment,
) -> Result<Vec<(String, String)>, ConfigError> {
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
                return Err(ConfigError::File { path: path.clone(), source });
            }
            Err(_) => continue,
        };
        if let Some(settings) = section(&text, name)? {
            return Ok(settings);
        }
    }
    let files = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or ");
    Err(ConfigError::Service { name: name.to_owned(), files })
}

fn section(text: &str, name: &str) -> Result<Option<Vec<(String, String)>>, ConfigError> {
    let header = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != header);
    if lines.next().is_none() {
        return Ok(None);
    }
    let mut settings: Vec<(String, String)> = Vec::new();
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
