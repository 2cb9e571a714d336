//! The server of consecutive trials, brought into the same state before each of them: a private
//! server, which is kept, or yours by URL.

use crate::account::Account;
use crate::altered::{Change, Scope, is_permitted};
use crate::files::last_lines;
use crate::private::{Options, Product, Server, ServerSetup, Settings, Stop};
use crate::wait_for;
use engine::setup::Setup;
use engine::{EngineError, Folders, Host, Instance, lock};
use experiment::{Configuration, Setting};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::Cancel;

/// Connections that a private server has room for at least; more come in powers of two, so that
/// numbers of connections can be a factor without a new server for each.
const CONNECTIONS_MIN: u32 = 128;

/// Lines of the server's log that explain a failure.
const LOG_LINES: usize = 15;

/// The time that after a failure the server may take to write of it.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The parts of an engine from which its hosts are made.
pub trait Hosted: Send + Sized + 'static {
    /// The private servers, and how it connects.
    type Product: Product;
    /// The settings that every such engine has.
    const SETTINGS: HostSettings;
    /// The reset that makes a new private server.
    const NEW_SERVER: &'static str;

    /// Returns what only this product decides when a private server is made.
    fn product(trial: &Trial<'_>) -> Result<Self::Product, EngineError>;
    /// Returns the settings of the server that a configuration asks for.
    fn server_settings(configuration: &Configuration) -> Settings;
    /// Brings a private server that has served a trial into the state that these resets ask for.
    fn reset(
        server: &mut Server<Self::Product>,
        resets: &[String],
        cancel: &Cancel,
    ) -> Result<(), EngineError>;
    /// Reads a URL.
    fn config(url: &str) -> Result<Config<Self>, EngineError>;
    /// Brings your server to those settings that no session may set. Returns the others.
    fn alter(config: &Config<Self>, trial: &Trial<'_>, run: &Path)
    -> Result<Settings, EngineError>;
    /// Returns how to reach the database of your server that a trial works in: one made for it
    /// where the trial brings tables, else the one that the URL names.
    fn database(
        config: Config<Self>,
        _trial: &Trial<'_>,
        _run: &Path,
    ) -> Result<Config<Self>, EngineError> {
        Ok(config)
    }
    /// Prepares the target of a trial.
    fn instance(
        target: Target<Self::Product>,
        trial: &Trial<'_>,
    ) -> Result<Box<dyn Instance>, EngineError>;
}

/// The address and the login of an engine's server.
pub type Config<E> = <<E as Hosted>::Product as Product>::Config;

/// The settings in `[target]` that hosts read.
pub struct HostSettings {
    /// Your server.
    pub url: Setting<Option<String>>,
    /// The user of the system as which a private server runs.
    pub user: Setting<Option<String>>,
    /// The volumes of its tables.
    pub volumes: Setting<Vec<String>>,
    /// The volume of its log.
    pub log_volume: Setting<Option<String>>,
    /// Resets between two trials.
    pub resets: Setting<Vec<String>>,
}

/// A trial that is prepared.
pub struct Trial<'a> {
    /// The settings.
    pub configuration: &'a Configuration,
    /// Where its files go.
    pub folders: &'a Folders,
    /// The number of connections that its load opens.
    pub connections: u32,
    /// The stop request.
    pub cancel: &'a Cancel,
}

impl<'a> Trial<'a> {
    /// The change of your server that it needs; the notes on it go into the folder of its run.
    pub fn change(&self, run: &'a Path) -> Change<'a> {
        let Self { configuration, cancel, .. } = *self;
        Change { configuration, scope: Scope::Server, run, cancel }
    }
}

/// The server that a trial works on.
pub struct Target<P: Product> {
    /// The server, if it is a private one.
    pub private: Option<Arc<Mutex<Server<P>>>>,
    /// The address and login.
    pub config: P::Config,
    /// Session settings of the load's connections.
    pub session_settings: Settings,
    /// Length of a private server's log when the trial began.
    log_bytes: u64,
}

impl<P: Product> Target<P> {
    fn private(server: Arc<Mutex<Server<P>>>) -> Self {
        // In two statements: a lock is held until the end of its own.
        let config = lock(&server).config();
        let log_bytes = lock(&server).log_bytes();
        Self { private: Some(server), config, session_settings: Settings::new(), log_bytes }
    }

    /// Returns the last lines that a private server has said since the trial began.
    pub fn log_tail(&self) -> Option<String> {
        let server = lock(self.private.as_ref()?);
        // A session notices the end of its server process before the server logs it.
        let wait_for = wait_for(LAST_WORDS, &Cancel::new(), || {
            Ok(Some(server.log_since(self.log_bytes)).filter(|text| !text.is_empty()))
        })
        .ok()
        .flatten();
        wait_for.map(|wait_for| last_lines(&wait_for, LOG_LINES))
    }
}

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

impl<E: Hosted> ServerHost<E> {
    /// Returns a host in these folders; nothing is started yet.
    pub fn new(folders: Folders) -> Self {
        Self { folders, server: None }
    }

    /// The private server, running, with the settings of a configuration and put back as it says.
    fn private(&mut self, trial: &Trial<'_>) -> Result<Target<E::Product>, EngineError> {
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
        lock(&server).apply(&E::server_settings(trial.configuration), trial.cancel)?;
        self.server = Some(PrivateServer { made: options, server: Arc::clone(&server) });
        Ok(Target::private(server))
    }

    /// Your server, with the settings that the configuration may change.
    fn by_url(url: &str, trial: &Trial<'_>) -> Result<Target<E::Product>, EngineError> {
        let config = E::config(url)?;
        // Beside the folder of the host, which goes with it.
        let directory = &trial.folders.directory;
        let run = directory.parent().unwrap_or(directory);
        let session_settings = if is_permitted(trial.configuration) {
            E::alter(&config, trial, run)?
        } else {
            E::server_settings(trial.configuration)
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
    let user = configurations.first()?.get(E::SETTINGS.user);
    let account = Account::for_server(user.as_deref(), E::Product::CONSTANTS.account).ok()?;
    account.place_instead_of(folder)
}

/// Returns the options of a trial's private server.
fn options<E: Hosted>(trial: &Trial<'_>) -> Result<Options<E::Product>, EngineError> {
    let Trial { configuration, folders, .. } = trial;
    let constants = E::Product::CONSTANTS;
    let setup = Setup::from_settings(configuration).map(|setting| {
        ServerSetup::new(setting, E::server_settings(configuration), constants.shaping)
    });
    // Volumes are for tables that Steelbench makes: a user's are where the server has its own.
    let volumes = configuration.get(E::SETTINGS.volumes);
    let directory: &PathBuf = match volumes.first().filter(|_| setup.is_some()) {
        Some(volume) => folders.volume(volume)?,
        None => &folders.directory,
    };
    let log_volume = configuration.get(E::SETTINGS.log_volume);
    let user = configuration.get(E::SETTINGS.user);
    Ok(Options {
        product: E::product(trial)?,
        directory: directory.clone(),
        log_directory: log_volume.map(|name| folders.volume(&name).cloned()).transpose()?,
        account: Account::for_server(user.as_deref(), constants.account)?,
        setup,
        connections: trial.connections.next_power_of_two().max(CONNECTIONS_MIN),
        cgroups: folders.cgroup_joins.clone(),
    })
}

impl<E: Hosted> Host for ServerHost<E> {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let folders = &self.folders.clone();
        let trial = Trial { configuration, folders, connections, cancel };
        let target = match configuration.get(E::SETTINGS.url) {
            Some(url) => Self::by_url(&url, &trial)?,
            None => self.private(&trial)?,
        };
        E::instance(target, &trial)
    }

    fn rest(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        self.server.as_ref().map_or(Ok(()), |kept| lock(&kept.server).stop(Stop::Clean, cancel))
    }
}
