//! The engines whose private servers can be disturbed and replicated.

use crate::log::Replication;
use crate::pair::Pair;
use crate::{mariadb, postgres};
use engine::{Ability, EngineError};
use experiment::common::{ENGINE, PROBE};
use experiment::{Configuration, Invalid};
use probe::{Target, TrialContext};

const NO_REPLICAS: &str =
    "this engine has no replicas that Steelbench can make; use postgres or mariadb";
/// The setting that names a server by URL.
const URL: &str = "target.url";
/// The beginning of the paths of the server's own settings.
const SETTINGS: &str = "target.settings.";

/// How the log of this engine is read; `None`: its servers cannot be disturbed.
pub fn for_engine(name: &str) -> Option<&'static Replication> {
    match name {
        "postgres" => Some(&postgres::REPLICATION),
        "mariadb" => Some(&mariadb::REPLICATION),
        _ => None,
    }
}

/// Objections of a study that makes a replica: to the engine, to a server by URL, for the reason
/// `why`, and to settings that it decides itself.
pub(crate) fn objections(
    configuration: &Configuration,
    target: &Target,
    why: &str,
) -> Vec<Invalid> {
    let has_statements = target.abilities.contains(&Ability::Statements);
    let Some(replication) = for_engine(&configuration.get(ENGINE)).filter(|_| has_statements)
    else {
        return vec![Invalid::new(PROBE.path(), NO_REPLICAS)];
    };
    let mut names = configuration.below(SETTINGS).map(|(name, _)| name);
    let objection = names.find(|name| replication.own_settings.contains(name)).map(|name| {
        let message = "the study sets this itself; for commits that wait for the replica use \
                       workload.synchronous";
        Invalid::new(format!("{SETTINGS}{name}"), message)
    });
    let by_url =
        configuration.value(URL).map(|_| Invalid::new(URL, format!("{why}; remove {URL}")));
    by_url.into_iter().chain(objection).collect()
}

/// The private server of a trial, which has no replica yet.
///
/// # Errors
/// When the target has no such server, for `what`.
pub(crate) fn pair<'a>(
    context: &'a TrialContext<'_>,
    what: &'static str,
) -> Result<Pair<'a>, EngineError> {
    let server = context.instance.parts().private_server;
    let found = server.zip(for_engine(&context.configuration.get(ENGINE)));
    let unsupported = EngineError::Unsupported { engine: "this target", what };
    let (server, replication) = found.ok_or(unsupported)?;
    Ok(Pair::new(server, replication, context.cancel))
}
