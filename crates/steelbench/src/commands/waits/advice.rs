use pgclient::Error;

/// What to do about a server that does not let us observe it.
pub fn advice(error: &Error) -> Option<&'static str> {
    if let Some(code) = error.code() {
        // Appendix A of PostgreSQL's documentation: error codes.
        return match code {
            "28P01" => Some("The password is wrong: give it in PGPASSWORD or ~/.pgpass."),
            "28000" => Some(
                "The server does not admit this user from here: see pg_hba.conf, and sslmode in the URL.",
            ),
            "3D000" => Some("Name a database that exists: postgres://user@host/postgres has most servers."),
            "53300" => Some(
                "All connections are taken. Two are needed: a role with pg_use_reserved_connections (16 and later) or a \
                 superuser may use the reserved ones.",
            ),
            "57P03" => Some("The server is starting or stopping: try again when it accepts connections."),
            _ => None,
        };
    }
    match error {
        Error::Attempts(errors) => errors.iter().rev().find_map(advice),
        Error::Connect { .. } => Some(
            "Is the server running there? Name it by URL (postgres://user@host:port/database) or PG* variables.",
        ),
        Error::Tls { .. } => Some("See sslmode and sslrootcert in the URL, or PGSSLMODE and PGSSLROOTCERT."),
        _ => None,
    }
}
