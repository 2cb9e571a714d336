//! The server of consecutive trials.

use super::altered;
use super::instance::{PostgresInstance, Server};
use super::own_database;
use super::server::{Account, Cluster, ClusterOptions, DataOptions, PROGRAM, ServerSetup, Stop};
use super::settings::{
    self, DATA_CHECKSUMS, LOG_VOLUME, RESET, URL, USER, VOLUME, WAL_SEGMENT_SIZE,
};
use crate::client::Config;
use engine::setup::Setup;
use engine::{EngineError, Folders, Host, Instance, lock};
use experiment::Configuration;
use servers::altered::is_permitted;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::Cancel;

/// Connections that a private server has room for at least; more come in powers of two, so that
/// numbers of connections can be a factor without a new server for each.
const CONNECTIONS_MIN: u32 = 128;

/// How long a server by URL may take to let us in, and to be silent below what it has to say.
const CONNECTING: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(30);

/// Keeps the private server from one trial to the next.
pub struct PostgresHost {
    pub folders: Folders,
    /// The server, and what it was made with: what cannot be changed of a cluster.
    pub kept: Option<(ClusterOptions, Arc<Mutex<Cluster>>)>,
}

impl PostgresHost {
    /// The private server, running, with the settings of a configuration and put back as it says.
    fn cluster(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Arc<Mutex<Cluster>>, EngineError> {
        let wanted = self.options(configuration, connections)?;
        let resets = configuration.get(RESET);
        let resets: Vec<&str> = resets.iter().map(String::as_str).collect();
        // One that is of no use goes first: it is in the way in the same folder.
        let kept = self.kept.take().filter(|(made, cluster)| {
            // What a trial has done to tables that it did not make cannot be undone.
            let is_as_made = made.setup.is_none() && !resets.contains(&"cluster");
            *made == wanted && is_as_made && !lock(cluster).has_died()
        });
        let cluster = match kept {
            Some((_, cluster)) => {
                put_back(&mut lock(&cluster), &resets, cancel)?;
                cluster
            }
            None => Arc::new(Mutex::new(Cluster::create(wanted.clone(), cancel)?)),
        };
        lock(&cluster).apply(&settings::server_settings(configuration), cancel)?;
        self.kept = Some((wanted, cluster.clone()));
        Ok(cluster)
    }

    fn options(
        &self,
        configuration: &Configuration,
        connections: u32,
    ) -> Result<ClusterOptions, EngineError> {
        let log_volume = configuration.get(LOG_VOLUME);
        let setup = Setup::from_settings(configuration);
        // Tablespaces are for tables that we make: a user's are where the server has its own.
        let volumes = configuration.get(VOLUME);
        let directory = match volumes.first().filter(|_| setup.is_some()) {
            Some(volume) => self.folders.volume(volume)?,
            None => &self.folders.directory,
        };
        Ok(ClusterOptions {
            installation: settings::installation(configuration)?,
            directory: directory.clone(),
            setup: setup.map(|own| ServerSetup::new(own, settings::server_settings(configuration))),
            wal_directory: log_volume
                .map(|name| self.folders.volume(&name).cloned())
                .transpose()?,
            account: Account::for_server(configuration.get(USER).as_deref(), PROGRAM)?,
            data: DataOptions {
                checksums: configuration.get(DATA_CHECKSUMS),
                wal_segment_mb: configuration
                    .get(WAL_SEGMENT_SIZE)
                    .map(|bytes| (bytes >> 20) as u32),
            },
            connections: connections.next_power_of_two().max(CONNECTIONS_MIN),
            cgroups: self.folders.cgroup_joins.clone(),
        })
    }
}

/// A server that somebody else runs can go away without a word: neither we nor it wait for hours,
/// as the defaults of systems are. What the text and the variables say goes before.
pub fn patient(config: Config) -> Config {
    let seconds = SILENCE.as_secs();
    let (idle, interval) = (seconds / 2, seconds / 6);
    config.with_default_patience(CONNECTING, SILENCE).with_options(&format!(
        "-c tcp_keepalives_idle={idle} -c tcp_keepalives_interval={interval} -c \
         tcp_keepalives_count=3"
    ))
}

/// Brings a server that has served a trial into the state that its file asks for.
fn put_back(cluster: &mut Cluster, resets: &[&str], cancel: &Cancel) -> Result<(), EngineError> {
    if resets.contains(&"restart") {
        cluster.stop(Stop::Fast, cancel)?;
    } else if resets.contains(&"checkpoint") && cluster.is_running() {
        cluster.checkpoint(cancel)?;
    }
    if resets.contains(&"os-cache") {
        cluster.drop_os_cache(cancel)?;
    }
    cluster.start(cancel)
}

impl Host for PostgresHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let mut session_settings = BTreeMap::new();
        let (cluster, config) = if let Some(url) = configuration.get(URL) {
            let config = Config::parse(&url)
                .map_err(|error| EngineError::failed("reading target.url", error.to_string()))?;
            let config = patient(config);
            // Beside the folder of the host, which goes with it.
            let run = self.folders.directory.parent().unwrap_or(&self.folders.directory);
            session_settings = if is_permitted(configuration) {
                altered::apply(run, &config, configuration, cancel)?
            } else {
                settings::server_settings(configuration)
            };
            let own = Setup::from_settings(configuration);
            let own =
                own.map(|setup| own_database::copy(run, &config, &setup, cancel)).transpose()?;
            (None, own.unwrap_or(config))
        } else {
            let cluster = self.cluster(configuration, connections, cancel)?;
            let config = lock(&cluster).config();
            (Some(cluster), config)
        };
        let server = Server { cluster, config, session_settings };
        let instance =
            PostgresInstance::create(server, configuration, &self.folders, connections, cancel)?;
        Ok(Box::new(instance))
    }

    fn rest(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        self.kept.as_ref().map_or(Ok(()), |(_, cluster)| lock(cluster).stop(Stop::Fast, cancel))
    }
}
