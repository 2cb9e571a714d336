//! What PostgreSQL or the way to it says, as an error of ours.

use crate::EngineError;
use pgclient::ServerError;

/// The engine's words for what a client of ours met.
pub fn of_client(doing: &str, error: &pgclient::Error) -> EngineError {
    match error.server_error() {
        Some(server) => of_server(doing, server),
        None => EngineError::Engine { doing: doing.into(), message: error.to_string() },
    }
}

/// The engine's words for an error that the server sent. The codes are those of
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub fn of_server(doing: &str, error: &ServerError) -> EngineError {
    let doing = doing.to_owned();
    match error.code.as_str() {
        // serialization_failure, deadlock_detected
        "40001" | "40P01" => EngineError::Retry { doing, message: error.to_string() },
        // disk_full
        "53100" => EngineError::DiskFull { doing: format!("{doing}: {}", error.message) },
        _ => EngineError::Engine { doing, message: error.to_string() },
    }
}
