//! Errors of the server as those of the engine.

use crate::live::client::Error;
use engine::{EngineError, RetryCause};

/// Deadlock victim, lock timeout, update conflicts of snapshots and of memory-optimized tables
/// (<https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>).
const RETRY: [u32; 7] = [1205, 1222, 3960, 41_302, 41_305, 41_325, 41_301];

/// Why a transaction with this error is repeated.
fn retry_cause(number: u32) -> RetryCause {
    match number {
        1205 => RetryCause::Deadlock,
        1222 => RetryCause::LockTimeout,
        _ => RetryCause::Conflict,
    }
}

/// Duplicates of a primary key, a constraint or an index, other constraints, NULL.
const VIOLATED: [u32; 4] = [2627, 2601, 547, 515];

/// No room in a file, a filegroup or the log.
const FULL: [u32; 5] = [1101, 1105, 9002, 5149, 3257];

/// Says what was being done when the server or the connection failed.
pub fn failed_at(doing: &str) -> impl FnOnce(Error) -> EngineError + '_ {
    move |error| match error {
        Error::Stopped => EngineError::Cancelled,
        Error::Server { number, .. } if RETRY.contains(&number) => EngineError::Retry {
            doing: doing.into(),
            message: error.to_string(),
            cause: retry_cause(number),
        },
        Error::Server { number, .. } if VIOLATED.contains(&number) => {
            EngineError::Violation { doing: doing.into(), message: error.to_string() }
        }
        Error::Server { number, message } if FULL.contains(&number) => {
            EngineError::DiskFull { doing: format!("{doing}: {message}") }
        }
        error => {
            let advice = error.advice().map(|advice| format!(". {advice}")).unwrap_or_default();
            EngineError::failed(doing, format!("{error}{advice}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::failed_at;
    use crate::live::client::Error;
    use engine::EngineError;

    #[test]
    fn deadlocks_and_update_conflicts_are_tried_again_and_a_full_log_is_a_full_disk() {
        let failed =
            |number| failed_at("inserting")(Error::Server { number, message: "refused".into() });
        for number in [1205, 3960, 1222] {
            assert!(matches!(failed(number), EngineError::Retry { .. }), "{number}");
        }
        assert!(matches!(failed(9002), EngineError::DiskFull { .. }));
        assert_eq!(failed(208).to_string(), "inserting: error 208: refused");
        assert!(failed(300).to_string().contains("GRANT VIEW SERVER STATE"));
        assert!(matches!(failed_at("x")(Error::Stopped), EngineError::Cancelled));
    }
}
