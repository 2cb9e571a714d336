//! Errors of the server and of connections.

use crate::client::{Error, ServerError};
use engine::{EngineError, RetryCause};

/// Says what was being done when the server or the connection failed.
pub fn failed_at(doing: &str) -> impl FnOnce(Error) -> EngineError + '_ {
    move |error| match error.server_error() {
        _ if error.is_stopped() => EngineError::Cancelled,
        Some(server) => said_by_server(doing, server),
        None => EngineError::failed(doing, error.to_string()),
    }
}

/// An error that the server sent. The codes are those of
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub fn said_by_server(doing: &str, error: &ServerError) -> EngineError {
    match error.code.as_str() {
        // serialization_failure, deadlock_detected
        code @ ("40001" | "40P01") => EngineError::Retry {
            doing: doing.into(),
            message: error.to_string(),
            cause: if code == "40P01" { RetryCause::Deadlock } else { RetryCause::Conflict },
        },
        // integrity_constraint_violation
        code if code.starts_with("23") => {
            EngineError::Violation { doing: doing.into(), message: error.to_string() }
        }
        // query_canceled, also by a user
        "57014" if error.message.contains("timeout") => EngineError::time_limit(doing, error),
        // disk_full
        "53100" => EngineError::DiskFull { doing: format!("{doing}: {}", error.message) },
        _ => EngineError::failed(doing, error.to_string()),
    }
}
