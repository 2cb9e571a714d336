use super::ServerNameError;
use clap::Args;

/// The server that psql's options name. What they leave open comes from the PG* variables, and the
/// password from `PGPASSWORD` or `~/.pgpass`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server (as in psql)")]
pub struct Psql {
    /// Host name, or folder of the unix socket
    #[arg(short = 'h', long, value_name = "HOST")]
    pub host: Option<String>,
    /// Port
    #[arg(short, long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Role to log in as; the password comes from PGPASSWORD or ~/.pgpass
    #[arg(short = 'U', long, value_name = "ROLE")]
    pub username: Option<String>,
    /// Database, URL or connection string
    #[arg(short, long, value_name = "DATABASE")]
    pub dbname: Option<String>,
}

impl Psql {
    /// Returns true when no option is given.
    pub fn is_empty(&self) -> bool {
        self.host.is_none()
            && self.port.is_none()
            && self.username.is_none()
            && self.dbname.is_none()
    }

    /// The connection string of the server that they name, with `database` as psql's argument
    /// without an option.
    ///
    /// # Errors
    /// When parts of it are given twice.
    pub fn url(&self, database: Option<&str>) -> Result<String, ServerNameError> {
        let database = match (self.dbname.as_deref(), database) {
            (Some(_), Some(_)) => {
                return Err(ServerNameError::DatabaseTwice);
            }
            (named, other) => named.or(other),
        };
        let port = self.port.map(|port| port.to_string());
        let parts = [("host", &self.host), ("port", &port), ("user", &self.username)];
        let pairs: Vec<(&'static str, &str)> = parts
            .iter()
            .filter_map(|(keyword, value)| Some((*keyword, value.as_deref()?)))
            .collect();
        if let Some(url) = database.filter(|name| name.contains("://") || name.contains('=')) {
            return match pairs.first() {
                Some((keyword, _)) => Err(ServerNameError::BesideUrl(keyword)),
                None => Ok(url.to_owned()),
            };
        }
        let parameters = pairs.into_iter().chain(database.map(|name| ("dbname", name)));
        let words: Vec<String> =
            parameters.map(|(keyword, value)| format!("{keyword}={}", quoted(value))).collect();
        Ok(words.join(" "))
    }
}

/// A value of a connection string.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}
