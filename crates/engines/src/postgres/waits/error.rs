use crate::EngineError;

/// Why waits could not be observed.
#[derive(Debug, thiserror::Error)]
pub enum WaitsError {
    /// The server refused, or the connection failed.
    #[error("{doing}: {source}")]
    Server {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: pgclient::Error,
    },
    /// The server's views do not have yet what we ask for.
    #[error("the server is PostgreSQL {major}; waits can be observed from version 14 on")]
    TooOld {
        /// Its major version.
        major: u32,
    },
    /// The server's counters cannot be subtracted.
    #[error(
        "the statistics of {view} were reset while they were watched; measure again, and keep others from \
         calling pg_stat_reset meanwhile"
    )]
    Reset {
        /// The view.
        view: String,
    },
    /// The thread that samples is gone.
    #[error("the thread that samples waits has ended")]
    Ended,
    /// No thread could be started.
    #[error("cannot start a thread that samples waits: {0}")]
    Thread(#[from] std::io::Error),
}

impl From<WaitsError> for EngineError {
    fn from(error: WaitsError) -> Self {
        Self::Engine { doing: "observing the server's waits".to_owned(), message: error.to_string() }
    }
}

/// Says what was being done when the server or the connection failed.
pub(super) fn while_doing(doing: &'static str) -> impl FnOnce(pgclient::Error) -> WaitsError {
    move |source| WaitsError::Server { doing, source }
}
