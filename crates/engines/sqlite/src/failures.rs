//! Errors of SQLite as those of the engine.

use engine::EngineError;

/// Turns an error of SQLite into one of the engine.
pub fn failed(doing: String, error: &rusqlite::Error) -> EngineError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => EngineError::DiskFull { doing },
        Some(rusqlite::ErrorCode::ConstraintViolation) => {
            EngineError::Violation { doing, message: error.to_string() }
        }
        _ => {
            let message = match error {
                // Without memory for a connection the message is the file's path.
                rusqlite::Error::SqliteFailure(code, Some(path)) if doing.ends_with(path) => {
                    code.to_string()
                }
                _ => error.to_string(),
            };
            EngineError::failed(doing, message)
        }
    }
}
