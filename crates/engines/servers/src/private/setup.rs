//! Tables of the user that a private server begins with.

use engine::setup::Setup;
use std::collections::BTreeMap;

/// A setup, and the settings of the server on which it runs, as far as they matter to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSetup {
    /// The dump and the SQL.
    pub setup: Setup,
    pub(super) settings: BTreeMap<String, String>,
}

impl ServerSetup {
    /// Combines a setup with those of a server's settings that change what it makes: `shaping`.
    pub fn new(setup: Setup, settings: BTreeMap<String, String>, shaping: &[&str]) -> Self {
        Self { setup, settings: shaped_by(settings, shaping) }
    }

    pub(super) fn identity(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("{name} = {value:?}\n"));
        settings.chain([self.setup.identity()]).collect()
    }
}

/// Settings that matter to data that is made with them: `shaping`.
pub(super) fn shaped_by(
    mut settings: BTreeMap<String, String>,
    shaping: &[&str],
) -> BTreeMap<String, String> {
    settings.retain(|name, _| shaping.contains(&name.to_lowercase().as_str()));
    settings
}
