use super::{Psql, ServerNameError};
use clap::Args;
use std::fmt::Write;

/// The server that options of MariaDB's client name: those that psql does not have; `-h` is common
/// to both. What they leave open comes from `~/.my.cnf` and the `MYSQL_*` variables, and the
/// password from `~/.my.cnf` or `MYSQL_PWD`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server (as in mariadb)")]
pub struct MariaDb {
    /// Port of a MariaDB or MySQL server
    #[arg(short = 'P', id = "mariadb_port", value_name = "PORT")]
    pub port: Option<u16>,
    /// User on that server; the password comes from ~/.my.cnf or `MYSQL_PWD`
    #[arg(short = 'u', id = "mariadb_user", value_name = "USER")]
    pub user: Option<String>,
    /// Database on that server
    #[arg(short = 'D', id = "mariadb_database", value_name = "DATABASE")]
    pub database: Option<String>,
    /// The unix socket
    #[arg(short = 'S', id = "mariadb_socket", value_name = "PATH")]
    pub socket: Option<String>,
}

impl MariaDb {
    /// Returns true when no option is given.
    pub fn is_empty(&self) -> bool {
        self.port.is_none()
            && self.user.is_none()
            && self.database.is_none()
            && self.socket.is_none()
    }

    /// The URL of the server, from these options and psql's `-h`; [psql's URL](Psql::url) when no
    /// option is given. `server`: the positional argument.
    ///
    /// # Errors
    /// When parts are given in both ways, or twice.
    pub fn url(&self, psql: &Psql, server: Option<&str>) -> Result<String, ServerNameError> {
        if self.is_empty() {
            return psql.url(server);
        }
        if psql.port.is_some() || psql.username.is_some() || psql.dbname.is_some() {
            return Err(ServerNameError::TwoClients);
        }
        let database = match (self.database.as_deref(), server) {
            (Some(_), Some(_)) => return Err(ServerNameError::DatabaseTwice),
            (_, Some(server)) if server.contains("://") => {
                return Err(ServerNameError::MariaDbBesideUrl);
            }
            (named, other) => named.or(other),
        };
        let mut url = "mariadb://".to_owned();
        if let Some(user) = &self.user {
            url.push_str(&encoded(user));
            url.push('@');
        }
        // As to MariaDB's programs, a port alone is one of this machine.
        let default = if self.port.is_some() { "127.0.0.1" } else { "" };
        let name = psql.host.as_deref().unwrap_or(default);
        let host = if name.contains(':') { format!("[{name}]") } else { encoded(name) };
        url.push_str(&host);
        if let Some(port) = self.port {
            url.push(':');
            url.push_str(&port.to_string());
        }
        url.push('/');
        url.push_str(&encoded(database.unwrap_or_default()));
        if let Some(socket) = &self.socket {
            url.push_str("?socket=");
            url.push_str(&encoded(socket));
        }
        Ok(url)
    }
}

/// A part of a URL: what is neither letter nor digit as `%` with two hexadecimal digits.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte as char);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{MariaDb, Psql};

    #[test]
    fn options_of_the_client_name_a_url() {
        let psql = |host: &str| Psql { host: Some(host.into()), ..Psql::default() };
        let user = MariaDb { user: Some("o'b@r".into()), ..MariaDb::default() };
        let url = MariaDb::url;
        assert_eq!(url(&user, &psql("db1"), Some("shop")).unwrap(), "mariadb://o%27b%40r@db1/shop");
        let port = MariaDb { port: Some(3307), ..MariaDb::default() };
        assert_eq!(url(&port, &Psql::default(), None).unwrap(), "mariadb://127.0.0.1:3307/");
        assert_eq!(url(&port, &psql("::1"), None).unwrap(), "mariadb://[::1]:3307/");
        let socket = MariaDb { socket: Some("/a b".into()), ..MariaDb::default() };
        assert_eq!(url(&socket, &Psql::default(), None).unwrap(), "mariadb:///?socket=%2Fa%20b");
        assert_eq!(
            url(&MariaDb::default(), &psql("db1"), Some("shop")).unwrap(),
            "host='db1' dbname='shop'"
        );
        let both = Psql { username: Some("me".into()), ..Psql::default() };
        assert!(url(&user, &both, None).unwrap_err().to_string().contains("use either"));
        assert!(
            url(&user, &psql("h"), Some("mariadb://x/"))
                .unwrap_err()
                .to_string()
                .contains("with a URL")
        );
    }
}
