//! Errors of the server and of connections.

use crate::client::{Error, ServerError};
use engine::{EngineError, RetryCause};

/// Says what was being done when the server or the connection failed.
pub fn failed_at(doing: &str) -> impl FnOnce(Error) -> EngineError + '_ {
    move |error| match error {
        _ if error.is_stopped() => EngineError::Cancelled,
        Error::Server(server) => said_by_server(doing, &server),
        error => EngineError::failed(doing, error.to_string()),
    }
}

/// An error that the server sent. The numbers are those of
/// <https://mariadb.com/kb/en/mariadb-error-codes/>.
pub fn said_by_server(doing: &str, error: &ServerError) -> EngineError {
    match error.code {
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, and ER_CHECKREAD of innodb_snapshot_isolation
        code @ (1205 | 1213 | 1020) => EngineError::Retry {
            doing: doing.into(),
            message: error.to_string(),
            cause: match code {
                1205 => RetryCause::LockTimeout,
                1213 => RetryCause::Deadlock,
                _ => RetryCause::Conflict,
            },
        },
        // ER_DUP_ENTRY, ER_NO_REFERENCED_ROW_2, ER_ROW_IS_REFERENCED_2, ER_BAD_NULL_ERROR,
        // ER_CONSTRAINT_FAILED, ER_CHECK_CONSTRAINT_VIOLATED
        1062 | 1452 | 1451 | 1048 | 4025 | 3819 => {
            EngineError::Violation { doing: doing.into(), message: error.to_string() }
        }
        // ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL
        1969 | 3024 => EngineError::time_limit(doing, error),
        // ER_DISK_FULL, ER_RECORD_FILE_FULL
        1021 | 1114 => EngineError::DiskFull { doing: format!("{doing}: {}", error.message) },
        _ => EngineError::failed(doing, error.to_string()),
    }
}

/// Advice on a server that does not let us connect.
pub fn what_to_do(error: &Error) -> Option<&'static str> {
    match (error, error.code()) {
        // ER_ACCESS_DENIED_ERROR
        (_, Some(1045 | 1698)) => {
            Some("Set the user in the URL and the password in ~/.my.cnf or MYSQL_PWD.")
        }
        // ER_CON_COUNT_ERROR
        (_, Some(1040)) => Some("All connections are in use: see max_connections."),
        (Error::Connect(..), _) => Some(
            "Is the server running? Give its address as a URL: mariadb://user@host/, or with \
             ?socket=/path.",
        ),
        _ => None,
    }
}
