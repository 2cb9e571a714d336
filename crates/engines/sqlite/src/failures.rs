//! Errors of SQLite as those of the engine.

use engine::EngineError;

/// Turns an error of SQLite into one of the engine.
pub fn failed(doing: String, error: &rusqlite::Error) -> EngineError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => EngineError::DiskFull { doing },
        Some(rusqlite::ErrorCode::ConstraintViolation) => {
            EngineError::Violation { doing, message: error.to_string() }
        }
        _ => EngineError::failed(doing, error.to_string()),
    }
}
