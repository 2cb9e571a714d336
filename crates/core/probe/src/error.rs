use engine::EngineError;
use work::conductor::LoadError;

/// Why a probe has nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A setting accepted by the plan has since become invalid: a script was changed.
    #[error(transparent)]
    Invalid(#[from] experiment::Invalid),
    /// The load of a study failed for a reason of its own.
    #[error(transparent)]
    Study(Box<dyn std::error::Error + Send + Sync>),
    /// The part of a load that this process generated was delivered to the process that conducts
    /// it: the regular end of a probe in a load generator.
    #[error("the record of the load was delivered")]
    Delivered,
    /// Other processes cannot work on the target.
    #[error("load generators in other processes cannot work on this target")]
    NotShared,
    /// The load threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl ProbeError {
    /// A study's own error.
    pub fn study(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Study(Box::new(error))
    }
}
