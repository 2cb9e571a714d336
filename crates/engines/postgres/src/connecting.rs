//! Sessions that observe a server, and advice on failed connections.

use crate::client::Client;
use engine::ServerError;
use observe::process_title;

/// Keeps the statements of this session out of the server's statistics, as superusers may choose.
pub fn leave_no_statistics(client: &mut Client) {
    let mark = engine::query_reader::MARK;
    let _ = client.batch(&format!("SET /* {mark} */ pg_stat_statements.track = 'none'"));
}

/// Says what was being done when the server or the connection failed.
pub fn while_doing(doing: &str) -> impl FnOnce(crate::client::Error) -> ServerError + '_ {
    move |error| ServerError { what: format!("{doing}: {error}"), advice: what_to_do(&error) }
}

/// Returns true when the process of this session is one of this machine: the connection is local,
/// and the process with its number calls itself a session of this user.
pub fn is_local(client: &Client, user: &str) -> bool {
    let title = client.is_local().then(|| process_title(client.backend_pid())).flatten();
    title.is_some_and(|title| {
        title.starts_with("postgres:") && title.split(' ').any(|word| word == user)
    })
}

/// Advice on a server that does not let us connect.
pub fn what_to_do(error: &crate::client::Error) -> Option<&'static str> {
    if let Some(code) = error.code() {
        // Appendix A of PostgreSQL's documentation: error codes.
        return match code {
            "28P01" => Some("Wrong password: set it in PGPASSWORD or ~/.pgpass."),
            "28000" => Some(
                "Login refused for this user or host: check pg_hba.conf, and sslmode in the URL.",
            ),
            "3D000" => Some("The database does not exist. Most servers have one named postgres."),
            "53300" => Some(
                "All connections are in use, and two are needed. A superuser, or a role with \
                 pg_use_reserved_connections (16 and later), can use reserved connections.",
            ),
            "57P03" => {
                Some("The server is starting or stopping: retry when it accepts connections.")
            }
            _ => None,
        };
    }
    match error {
        crate::client::Error::Attempts(errors) => errors.iter().rev().find_map(what_to_do),
        crate::client::Error::Connect { .. } => Some(
            "Is the server running? Give its address as a URL \
             (postgres://user@host:port/database) or in the PG* variables.",
        ),
        crate::client::Error::Tls { .. } => {
            Some("Check sslmode and sslrootcert in the URL, or PGSSLMODE and PGSSLROOTCERT.")
        }
        _ => None,
    }
}
