//! The server of consecutive trials, brought into the same state before each of them: a private
//! server, which is kept, or yours by URL.

use crate::account::Account;
use crate::altered::{Alter, Change, Scope, is_permitted};
use crate::hosted::{HostSettings, Hosted, Target, Trial};
use crate::private::{Options, Product, Server, ServerSetup, Stop};
use engine::setup::Setup;
use engine::{Folders, Host, Instance, Result, lock};
use experiment::Configuration;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use work::Cancel;

/// Connections that a private server has room for at least; more come in powers of two, so that
/// numbers of connections can be a factor without a new server for each.
const CONNECTIONS_MIN: u32 = 128;

/// Keeps the private server from one trial to the next.
pub struct ServerHost<E: Hosted> {
    folders: Folders,
    /// The server, and what it was made with: what cannot be changed of it.
    server: Option<PrivateServer<E::Product>>,
}

struct PrivateServer<P: Product> {
    made: Options<P>,
    server: Arc<Mutex<Server<P>>>,
}

impl<E: Alter> ServerHost<E> {
    /// Returns a host in these folders; nothing is started yet.
    pub fn new(folders: Folders) -> Self {
        Self { folders, server: None }
    }

    /// The private server, running, with the settings of a configuration and put back as it says.
    fn private(&mut self, trial: &Trial<'_>) -> Result<Target<E::Product>> {
        let options = options::<E>(trial)?;
        let resets = trial.configuration.get(E::SETTINGS.resets);
        // Remove the unusable one first: both use this folder.
        let kept = self.server.take().filter(|PrivateServer { made, server }| {
            // Changes that a trial made to the user's tables cannot be undone.
            let is_as_made = made.setup.is_none()
                && !resets.iter().any(|reset_name| reset_name == E::NEW_SERVER);
            *made == options && is_as_made && !lock(server).has_died() && !lock(server).is_spent
        });
        let server = match kept {
            Some(PrivateServer { server, .. }) => {
                E::reset(&mut lock(&server), &resets, trial.cancel)?;
                server
            }
            None => Arc::new(Mutex::new(Server::create(options.clone(), trial.cancel)?)),
        };
        lock(&server).apply(trial.settings, trial.cancel)?;
        self.server = Some(PrivateServer { made: options, server: Arc::clone(&server) });
        Ok(Target::private(server))
    }

    /// Your server, with the settings that the configuration may change.
    fn by_url(url: &str, trial: &Trial<'_>) -> Result<Target<E::Product>> {
        let config = E::config(url)?;
        // Beside the folder of the host, which goes with it.
        let directory = &trial.folders.directory;
        let run = directory.parent().unwrap_or(directory);
        let Trial { configuration, settings, cancel, .. } = *trial;
        let session_settings = if is_permitted(configuration) {
            let scope = Scope::Server;
            E::alter(&config, &Change { configuration, settings, scope, run, cancel })?
        } else {
            settings.clone()
        };
        let config = E::database(config, trial, run)?;
        Ok(Target { private: None, config, session_settings, log_bytes: 0 })
    }
}

/// Returns where the private servers of these configurations are, if their user cannot enter this
/// folder. A server by URL has its records there, and no files.
pub fn other_place<E: Hosted>(configurations: &[&Configuration], folder: &Path) -> Option<PathBuf> {
    if configurations.iter().any(|configuration| configuration.get(E::SETTINGS.url).is_some()) {
        return None;
    }
    account::<E>(configurations.first()?).ok()?.place_instead_of(folder)
}

/// Verifies that the user of a private server can run this program, and enter the folders of its
/// trials.
///
/// # Errors
/// When the user does not exist or lacks a right, with how to give it.
pub fn verify_account<E: Hosted>(
    configuration: &Configuration,
    folders: &Folders,
    program: &Path,
) -> Result<()> {
    let HostSettings { volumes, log_volume, .. } = E::SETTINGS;
    let account = account::<E>(configuration)?;
    account.can_run(program)?;
    let log_volume = configuration.get(log_volume);
    account.can_enter_all(folders, configuration.get(volumes).into_iter().chain(log_volume))
}

/// Returns the user of the private servers of a configuration.
fn account<E: Hosted>(configuration: &Configuration) -> Result<Account> {
    let user = configuration.get(E::SETTINGS.user);
    Account::for_server(user.as_deref(), E::Product::CONSTANTS.account)
}

/// Returns the options of a trial's private server.
fn options<E: Hosted>(trial: &Trial<'_>) -> Result<Options<E::Product>> {
    let Trial { configuration, folders, .. } = trial;
    let constants = E::Product::CONSTANTS;
    let setup = Setup::from_settings(configuration)
        .map(|setting| ServerSetup::new(setting, trial.settings.clone(), constants.shaping));
    // Volumes are for tables that Steelbench makes: a user's are where the server has its own.
    let volumes = configuration.get(E::SETTINGS.volumes);
    let directory: &PathBuf = match volumes.first().filter(|_| setup.is_some()) {
        Some(volume) => folders.volume(volume)?,
        None => &folders.directory,
    };
    let log_volume = configuration.get(E::SETTINGS.log_volume);
    Ok(Options {
        product: E::product(trial)?,
        directory: directory.clone(),
        log_directory: log_volume.map(|name| folders.volume(&name).cloned()).transpose()?,
        account: account::<E>(configuration)?,
        setup,
        connections: trial.connections.next_power_of_two().max(CONNECTIONS_MIN),
        cgroups: folders.cgroup_joins.clone(),
    })
}

impl<E: Alter> Host for ServerHost<E> {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        let folders = &self.folders.clone();
        let settings = &E::server_settings(configuration);
        let trial = Trial { configuration, settings, folders, connections, cancel };
        let target = match configuration.get(E::SETTINGS.url) {
            Some(url) => Self::by_url(&url, &trial)?,
            None => self.private(&trial)?,
        };
        E::instance(target, &trial)
    }

    fn rest(&mut self, cancel: &Cancel) -> Result<()> {
        self.server.as_ref().map_or(Ok(()), |kept| lock(&kept.server).stop(Stop::Clean, cancel))
    }
}
