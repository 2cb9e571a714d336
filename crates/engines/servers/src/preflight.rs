//! The check of trials before the first of them: of private servers, and of yours.

use crate::altered::{ALLOW_RESTART, is_permitted};
use crate::host::other_place;
use crate::hosted::{Client, Config, HostSettings, Hosted, ServerEngine};
use crate::network;
use engine::{
    Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Prerequisites, Program, ProgramNames,
    Result, Server, ServerError, failed_at,
};
use experiment::{Configuration, Invalid};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use work::Stop;

/// Connections of a trial in addition to those of the load: of administration, and of the observer
/// of waits.
pub const OWN_CONNECTIONS: u32 = 2;

/// How an engine's trials are checked.
pub trait Checked: Hosted {
    /// The name of its servers, where none is installed.
    const NAME: &'static str;

    /// Names a part that the private server of a configuration lacks.
    ///
    /// # Errors
    /// When no server is installed.
    fn lacking(configuration: &Configuration) -> Result<Option<String>>;
    /// Finds a client program for a private server; `None`: no server is installed.
    fn program(configuration: &Configuration, program: ProgramNames) -> Option<Result<Program>>;
    /// States how the private server of a configuration differs from its source.
    fn difference(configuration: &Configuration) -> Option<String>;
    /// Returns the objections to a private server: to its programs, its user and its settings.
    fn private(configuration: &Configuration, folders: &Folders) -> Result<Vec<Invalid>>;
    /// Finds the missing rights and settings of your server, and what a run has left there.
    fn ask(
        client: &mut Client<Self>,
        config: &Config<Self>,
        needs: &[&Need<'_>],
        stop: &Stop,
        found: &mut Preflight,
    ) -> Result<(), ServerError>;
    /// Plans statements.
    fn plans(
        client: &mut Client<Self>,
        plan_requests: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, NoPlan>>>;
}

/// A setting of your server that trials need.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeededSetting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// True if settings of the whole server may be changed.
    pub is_permitted: bool,
    /// True if the server may be restarted for it.
    pub may_restart: bool,
}

/// Returns the settings that trials need, each once.
pub fn settings<E: Hosted>(needs: &[&Need<'_>]) -> BTreeSet<NeededSetting> {
    let of_need = |need: &&Need<'_>| {
        let is_permitted = is_permitted(need.configuration);
        let may_restart = need.configuration.get(ALLOW_RESTART).is_some();
        let settings = E::server_settings(need.configuration).into_iter();
        settings.map(move |(name, value)| NeededSetting { name, value, is_permitted, may_restart })
    };
    needs.iter().flat_map(of_need).collect()
}

/// Objects to a setting that only the whole server has; `kind`: the name of what sessions can set.
pub fn server_wide(why: &str, kind: &str) -> String {
    format!(
        "{why}. On a server by URL, Steelbench changes session {kind} only. Set \
         target.allow_server_settings = true, set it on the server yourself, or remove target.url \
         to use a private server"
    )
}

impl<E: Checked> Prerequisites for ServerEngine<E>
where
    Config<E>: Server,
{
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        let is_private = configuration.get(E::SETTINGS.url).is_none();
        match if is_private { E::lacking(configuration) } else { Ok(None) } {
            Ok(part) => part.or_else(|| network::missing(configuration)),
            Err(error) => Some(format!("{} is not installed: {error}", E::NAME)),
        }
    }

    fn program(
        &self,
        configuration: &Configuration,
        program: ProgramNames,
    ) -> Option<Result<Program>> {
        let is_private = configuration.get(E::SETTINGS.url).is_none();
        is_private.then(|| E::program(configuration, program)).flatten()
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
        let mut found = Preflight::default();
        let HostSettings { url, volumes, .. } = E::SETTINGS;
        let by_url = found.of_private(needs, folders, url, volumes, |configuration| {
            E::private(configuration, folders)
        });
        for need in needs.iter().filter(|need| need.configuration.get(url).is_none()) {
            found.note(E::difference(need.configuration));
        }
        for (text, needs) in by_url {
            // One that cannot be parsed is an objection of validation.
            let Ok(config) = E::at_url(&text) else { continue };
            let checked = E::connect(&config, stop)
                .and_then(|mut client| E::ask(&mut client, &config, &needs, stop, &mut found));
            if let Err(error) = checked {
                let warnings = config.warnings().iter().map(String::as_str);
                let advice = error.advice.into_iter().chain(warnings);
                let advice = advice.fold(String::new(), |all, advice| format!("{all}. {advice}"));
                found.misses(format!("{}: {error}{advice}", url.path()));
            }
        }
        found
    }

    fn other_place(&self, configurations: &[&Configuration], folder: &Path) -> Option<PathBuf> {
        other_place::<E>(configurations, folder)
    }

    fn plan_by_url(
        &self,
        configuration: &Configuration,
        plan_requests: &[PlanRequest],
        stop: &Stop,
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>>> {
        let url = configuration.get(E::SETTINGS.url)?;
        let connected = E::at_url(&url).and_then(|config| E::connect(&config, stop));
        let client = connected.map_err(failed_at("connecting"));
        Some(client.and_then(|mut client| E::plans(&mut client, plan_requests)))
    }
}
