//! How an alternative is forced: by hints of an extension where the server has it and the
//! configuration permits it, otherwise as the engine can by itself.

use crate::ask::Asker;
use crate::facts::FORCED_BY;
use crate::optimizer::{Alternative, HintSet, Optimizer};
use crate::settings::{FORCING, Forcing};
use experiment::Configuration;
use observations::Fact;
use probe::ProbeError;

/// The way by which settings of the session force an alternative.
const BY_SETTINGS: &str = "settings of the session";
/// The way by which words in the query force one.
const BY_QUERY: &str = "hints in the query";

/// The server has no such extension.
#[derive(Debug, thiserror::Error)]
#[error(
    "workload.forcing = \"hints\": the server has no {name} that this user may load; install it, \
     or set shared_preload_libraries"
)]
pub(crate) struct NoHints {
    name: &'static str,
}

/// An alternative, and the way by which it is forced.
#[derive(Debug, Clone)]
pub(crate) struct Forced {
    /// The alternative.
    pub alternative: &'static Alternative,
    /// Statements of a session that uses it.
    pub session: Vec<String>,
    /// Name of the way.
    pub by: &'static str,
}

/// The hints of an extension, as a session of this server can use them.
#[derive(Debug, Clone)]
pub struct Hints {
    /// The hints.
    pub set: &'static HintSet,
    /// The statement after which a session heeds them.
    pub enabling: String,
}

/// Asks for the hints that a session of this server heeds; `None`: it has none, or the
/// configuration does without them.
///
/// # Errors
/// When the configuration needs them and the server has none.
pub fn hints(
    asker: &mut Asker<'_>,
    optimizer: &Optimizer,
    configuration: &Configuration,
) -> Result<Option<Hints>, ProbeError> {
    let forcing = configuration.get(FORCING);
    let Some(set) = optimizer.hints.filter(|_| forcing != Forcing::Settings) else {
        return Ok(None);
    };
    match asker.cell(set.enabling)? {
        Some(enabling) => Ok(Some(Hints { set, enabling })),
        None if forcing == Forcing::Hints => Err(ProbeError::study(NoHints { name: set.name })),
        None => Ok(None),
    }
}

impl Forced {
    /// Finds the way by which an alternative of the engine is forced on this server.
    ///
    /// # Errors
    /// When the engine refuses, or the configuration needs hints and the server has none.
    pub fn find(
        asker: &mut Asker<'_>,
        optimizer: &Optimizer,
        configuration: &Configuration,
        alternative: &'static Alternative,
    ) -> Result<Self, ProbeError> {
        let found = hints(asker, optimizer, configuration)?;
        let of_set = found.and_then(|Hints { set, enabling }| {
            let alternative = set
                .alternatives
                .iter()
                .find(|named_alternative| named_alternative.name == alternative.name)?;
            Some(Self { alternative, session: vec![enabling], by: set.name })
        });
        Ok(of_set.unwrap_or_else(|| Self {
            alternative,
            session: alternative.session.iter().map(|session| (*session).to_owned()).collect(),
            by: if alternative.is_of_session() { BY_SETTINGS } else { BY_QUERY },
        }))
    }

    /// The fact of the way.
    pub fn fact(&self) -> Fact {
        FORCED_BY.record(self.by, 1.0)
    }
}
