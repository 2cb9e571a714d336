//! The server of consecutive trials.

use super::instance::{PostgresInstance, Server};
use super::server::{Account, Cluster, ClusterOptions, DataOptions, Installation, Stop};
use super::settings::{self, BINDIR, DATA_CHECKSUMS, LOG_VOLUME, RESET, URL, USER, WAL_SEGMENT_SIZE};
use crate::Cancel;
use crate::engine::{EngineError, Folders, Host, Instance};
use experiment::Configuration;
use pgclient::Config;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Connections that a private server has room for at least; more come in powers of two, so that
/// numbers of connections can be a factor without a new server for each.
const CONNECTIONS_MIN: u32 = 128;

/// How long a server by URL may take to let us in, and to be silent below what it has to say.
const CONNECTING: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(30);

/// Keeps the private server from one trial to the next.
pub struct PostgresHost {
    place: Folders,
    kept: Option<(MadeWith, Arc<Mutex<Cluster>>)>,
}

/// What cannot be changed of a cluster.
#[derive(Debug, Clone, PartialEq)]
struct MadeWith {
    bindir: PathBuf,
    user: Option<String>,
    data: DataOptions,
    log_volume: Option<String>,
    connections: u32,
}

impl PostgresHost {
    pub fn new(place: Folders) -> Self {
        Self { place, kept: None }
    }

    /// The private server, running, with the settings of a configuration and put back as it says.
    fn cluster(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Arc<Mutex<Cluster>>, EngineError> {
        let bindirs: Vec<PathBuf> = configuration.get(BINDIR).into_iter().map(PathBuf::from).collect();
        let version = settings::version(configuration);
        let installation = Installation::find(&bindirs, version.as_deref())?;
        let wanted = MadeWith::of(configuration, connections, &installation);
        let resets = configuration.get(RESET);
        let resets: Vec<&str> = resets.iter().map(String::as_str).collect();
        let usable = |kept: &(MadeWith, Arc<Mutex<Cluster>>)| {
            kept.0 == wanted && !resets.contains(&"cluster") && lock(&kept.1).is_running()
        };
        if !self.kept.as_ref().is_some_and(usable) {
            // The old one goes first: it is in the way in the same folder.
            self.kept = None;
            let mut cluster = Cluster::create(self.options(&wanted, installation)?, cancel)?;
            cluster.apply(&settings::server_settings(configuration), cancel)?;
            let cluster = Arc::new(Mutex::new(cluster));
            self.kept = Some((wanted, cluster.clone()));
            return Ok(cluster);
        }
        let Some((_, cluster)) = &self.kept else { return Err(EngineError::Cancelled) };
        put_back(&mut lock(cluster), &resets, cancel)?;
        lock(cluster).apply(&settings::server_settings(configuration), cancel)?;
        Ok(cluster.clone())
    }

    fn options(&self, wanted: &MadeWith, installation: Installation) -> Result<ClusterOptions, EngineError> {
        let wal_directory = match &wanted.log_volume {
            Some(name) => Some(self.place.volume(name)?.clone()),
            None => None,
        };
        Ok(ClusterOptions {
            installation,
            directory: self.place.directory.clone(),
            wal_directory,
            account: Account::for_server(wanted.user.as_deref())?,
            data: wanted.data.clone(),
            connections: wanted.connections,
            tcp: false,
            cgroups: self.place.cgroup_joins.clone(),
        })
    }
}

/// A server that somebody else runs can go away without a word: neither we nor it wait for hours, as
/// the defaults of systems are. What the text and the variables say goes before.
fn patient(config: Config) -> Config {
    let seconds = SILENCE.as_secs();
    let (idle, interval) = (seconds / 2, seconds / 6);
    config.with_default_patience(CONNECTING, SILENCE).with_options(&format!(
        "-c tcp_keepalives_idle={idle} -c tcp_keepalives_interval={interval} -c tcp_keepalives_count=3"
    ))
}

/// Brings a server that has served a trial into the state that its file asks for.
fn put_back(cluster: &mut Cluster, resets: &[&str], cancel: &Cancel) -> Result<(), EngineError> {
    if resets.contains(&"restart") {
        cluster.stop(Stop::Fast)?;
    } else if resets.contains(&"checkpoint") {
        cluster.checkpoint()?;
    }
    if resets.contains(&"os-cache") {
        cluster.drop_os_cache()?;
    }
    cluster.start(cancel)
}

impl MadeWith {
    fn of(configuration: &Configuration, connections: u32, installation: &Installation) -> Self {
        Self {
            bindir: installation.bindir.clone(),
            user: configuration.get(USER),
            data: DataOptions {
                checksums: configuration.get(DATA_CHECKSUMS),
                wal_segment_mb: configuration.get(WAL_SEGMENT_SIZE).map(|bytes| (bytes >> 20) as u32),
            },
            log_volume: configuration.get(LOG_VOLUME),
            connections: connections.next_power_of_two().max(CONNECTIONS_MIN),
        }
    }
}

/// A lock on the cluster; what a thread that panicked has left of it is found out by using it.
pub fn lock(cluster: &Mutex<Cluster>) -> std::sync::MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host for PostgresHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let server = match configuration.get(URL) {
            Some(url) => {
                let config = Config::parse(&url).map_err(|error| EngineError::Engine {
                    doing: "reading target.url".into(),
                    message: error.to_string(),
                })?;
                Server::ByUrl(Box::new(patient(config)))
            }
            None => Server::Private(self.cluster(configuration, connections, cancel)?),
        };
        Ok(Box::new(PostgresInstance::create(server, configuration, &self.place, connections, cancel)?))
    }
}
