//! The parts of an engine from which hosts of its servers are made, and what they prepare.

use crate::files::last_lines;
use crate::load::Load;
use crate::private::{Product, Reached, Server, Settings};
use engine::{CacheState, EngineError, Folders, Instance, Result, ServerError, lock, wait_for};
use experiment::{Configuration, Invalid, Setting, Value};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::{Cancel, Stop};

/// Lines of the server's log that explain a failure.
const LOG_LINES: usize = 15;

/// The time that after a failure the server may take to write of it.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The time that your server may take for each answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The parts of an engine that all products of servers have alike.
pub struct ServerEngine<E>(PhantomData<fn() -> E>);

impl<E: Hosted> ServerEngine<E> {
    /// The parts of this product's engine.
    pub const PARTS: &'static Self = &Self(PhantomData);
}

/// The parts of an engine from which its hosts are made.
pub trait Hosted: Send + Sized + 'static {
    /// The private servers, and how it connects.
    type Product: Product;
    /// How the loads of its trials connect.
    type Load: Load<Config = Config<Self>>;
    /// The settings that every such engine has.
    const SETTINGS: HostSettings;
    /// The reset that makes a new private server.
    const NEW_SERVER: &'static str;

    /// Returns what only this product decides when a private server is made.
    fn product(trial: &Trial<'_>) -> Result<Self::Product>;
    /// Returns the settings of the server that a configuration asks for.
    fn server_settings(configuration: &Configuration) -> Settings;
    /// Brings a private server that has served a trial into the state that these resets ask for.
    fn reset(server: &mut Server<Self::Product>, resets: &[String], cancel: &Cancel) -> Result<()>;
    /// Reads the URL of your server, to ask it.
    fn at_url(url: &str) -> Result<Config<Self>, ServerError>;
    /// Reads the URL of your server, to work on it.
    fn config(url: &str) -> Result<Config<Self>> {
        Self::at_url(url).map_err(|error| EngineError::failed("reading target.url", error))
    }
    /// Connects to your server to ask it.
    fn connect(config: &Config<Self>, stop: &Stop) -> Result<Client<Self>, ServerError> {
        Self::Product::connect(config, ANSWER, stop)
    }
    /// Returns how to reach the database of your server that a trial works in: one made for it
    /// where the trial brings tables, else the one that the URL names.
    fn database(config: Config<Self>, _trial: &Trial<'_>, _run: &Path) -> Result<Config<Self>> {
        Ok(config)
    }
    /// Prepares the target of a trial.
    fn instance(target: Target<Self::Product>, trial: &Trial<'_>) -> Result<Box<dyn Instance>>;
}

/// The address and the login of an engine's server.
pub type Config<E> = <<E as Hosted>::Product as Reached>::Config;

/// A connection to an engine's server.
pub type Client<E> = <<E as Hosted>::Product as Reached>::Client;

/// The settings in `[target]` that hosts read.
pub struct HostSettings {
    /// Your server.
    pub url: Setting<Option<String>>,
    /// The version of a private server.
    pub version: Setting<Option<Value>>,
    /// The folders of its programs.
    pub bindirs: Setting<Vec<String>>,
    /// The user of the system as which a private server runs.
    pub user: Setting<Option<String>>,
    /// The volumes of its tables.
    pub volumes: Setting<Vec<String>>,
    /// The number of data files of a table.
    pub data_files: Setting<u32>,
    /// The volume of its log.
    pub log_volume: Setting<Option<String>>,
    /// The state of the caches.
    pub cache: Setting<CacheState>,
    /// Resets between two trials.
    pub resets: Setting<Vec<String>>,
    /// True if a measurement ends with a checkpoint.
    pub final_checkpoint: Setting<bool>,
    /// Samples of waits a second.
    pub sample_rate: Setting<f64>,
}

impl HostSettings {
    /// Returns which server a configuration means.
    pub fn server(&self, configuration: &Configuration) -> impl PartialEq + use<> {
        let (version, bindirs) = (configuration.get(self.version), configuration.get(self.bindirs));
        (configuration.get(self.url), version, bindirs)
    }

    /// Objections to settings for private servers where your server is named: to these, and to
    /// further ones.
    pub fn objections_by_url(
        &self,
        configuration: &Configuration,
        more: &[&'static str],
    ) -> Vec<Invalid> {
        let [version, bindirs, user] = [self.version.path(), self.bindirs.path(), self.user.path()];
        let all = [version, bindirs, user, self.volumes.path(), self.log_volume.path()];
        let named = all.iter().chain(more).filter(|path| configuration.value(path).is_some());
        let message = "this applies to private servers only; target.url names an existing server";
        let mut invalid: Vec<Invalid> = named.map(|path| Invalid::new(*path, message)).collect();
        if configuration.get(self.cache) != CacheState::Warm {
            let message = "Steelbench cannot control the caches of a server by URL; use warm, or \
                           a private server";
            invalid.push(Invalid::new(self.cache.path(), message));
        }
        invalid
    }

    /// The objection to several volumes of a server that begins with tables of the user.
    pub fn objection_to_volumes(&self, configuration: &Configuration) -> Option<Invalid> {
        let message = "target.setup needs a single volume: the server keeps its tables with all \
                       other data";
        (configuration.get(self.volumes).len() > 1)
            .then(|| Invalid::new(self.volumes.path(), message))
    }
}

/// A trial that is prepared.
pub struct Trial<'a> {
    /// The settings.
    pub configuration: &'a Configuration,
    /// The server's settings among them.
    pub settings: &'a Settings,
    /// Where its files go.
    pub folders: &'a Folders,
    /// The number of connections that its load opens.
    pub connections: u32,
    /// The stop request.
    pub cancel: &'a Cancel,
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
    pub(crate) log_bytes: u64,
}

impl<P: Product> Target<P> {
    pub(crate) fn private(server: Arc<Mutex<Server<P>>>) -> Self {
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
