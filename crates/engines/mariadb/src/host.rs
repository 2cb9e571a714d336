//! The server of consecutive trials.

use super::CONNECTING;
use super::altered;
use super::instance::{MariaInstance, Server};
use super::server::{PACKAGES_ACCOUNT, PrivateServer, ServerOptions, ServerSetup, Stop};
use super::settings::{self, LOG_VOLUME, RESET, URL, USER, VOLUME};
use crate::client::Config;
use engine::setup::Setup;
use engine::{EngineError, Folders, Host, Instance, lock};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use servers::account::Account;
use servers::altered::is_permitted;
use servers::files::absolute;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use work::Cancel;

/// Connections that a private server has room for at least; more come in powers of two, so that
/// numbers of connections can be a factor without a new server for each.
const CONNECTIONS_MIN: u32 = 128;

/// What is decided when a data directory is made.
const PAGE_SIZE: &str = "innodb_page_size";

/// Keeps the private server from one trial to the next.
pub struct MariaHost {
    pub folders: Folders,
    /// The server, and what it was made with.
    pub kept: Option<(ServerOptions, Arc<Mutex<PrivateServer>>)>,
}

impl MariaHost {
    /// The private server, running, with the settings of a configuration and put back as it says.
    fn server(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Arc<Mutex<PrivateServer>>, EngineError> {
        let wanted = self.options(configuration, connections)?;
        let resets = configuration.get(RESET);
        let resets = |name: &str| resets.iter().any(|own| own == name);
        // One that is of no use goes first: it is in the way in the same folder.
        let kept = self
            .kept
            .take()
            // What a trial has done to tables that it did not make cannot be undone.
            .filter(|(made, _)| made.setup.is_none() && *made == wanted && !resets("server"))
            .filter(|(_, server)| !lock(server).has_died());
        let server = match kept {
            Some((_, server)) => {
                if resets("restart") || resets("os-cache") {
                    lock(&server).restart(resets("os-cache"), cancel)?;
                }
                server
            }
            None => Arc::new(Mutex::new(PrivateServer::create(wanted.clone(), cancel)?)),
        };
        lock(&server).apply(&settings::server_settings(configuration), cancel)?;
        self.kept = Some((wanted, server.clone()));
        Ok(server)
    }

    fn options(
        &self,
        configuration: &Configuration,
        connections: u32,
    ) -> Result<ServerOptions, EngineError> {
        let log_volume = configuration.get(LOG_VOLUME);
        let setup = Setup::from_settings(configuration);
        // Folders of data files are for tables that we make: a user's are where the server has its
        // own.
        let volumes = configuration.get(VOLUME);
        let directory = match volumes.first().filter(|_| setup.is_some()) {
            Some(volume) => self.folders.volume(volume)?,
            None => &self.folders.directory,
        };
        let installation = settings::installation(configuration)?;
        let mut table_directories = Vec::new();
        for name in volumes.iter().filter(|_| installation.is_mysql() && setup.is_none()) {
            table_directories.push(absolute(self.folders.volume(name)?)?);
        }
        Ok(ServerOptions {
            installation,
            directory: directory.clone(),
            setup: setup.map(|own| ServerSetup::new(own, settings::server_settings(configuration))),
            table_directories,
            log_directory: log_volume
                .map(|name| self.folders.volume(&name).cloned())
                .transpose()?,
            account: Account::for_server(configuration.get(USER).as_deref(), PACKAGES_ACCOUNT)?,
            page_bytes: settings::server_settings(configuration).remove(PAGE_SIZE),
            connections: connections.next_power_of_two().max(CONNECTIONS_MIN),
            instruments: configuration.get(OBSERVE_WAITS),
            cgroups: self.folders.cgroup_joins.clone(),
        })
    }
}

impl Host for MariaHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let server = if let Some(url) = configuration.get(URL) {
            let config = Config::parse(&url)
                .map_err(|error| EngineError::failed("reading target.url", error.to_string()))?;
            let config = config.with_default_timeout(CONNECTING);
            // Beside the folder of the host, which goes with it.
            let run = self.folders.directory.parent().unwrap_or(&self.folders.directory);
            let session_settings = if is_permitted(configuration) {
                altered::apply(run, &config, configuration, cancel)?
            } else {
                settings::server_settings(configuration)
            };
            Server { private: None, config, session_settings }
        } else {
            let server = self.server(configuration, connections, cancel)?;
            let config = lock(&server).config();
            Server { private: Some(server), config, session_settings: BTreeMap::new() }
        };
        Ok(Box::new(MariaInstance::create(
            server,
            configuration,
            &self.folders,
            connections,
            cancel,
        )?))
    }

    fn rest(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        self.kept.as_ref().map_or(Ok(()), |(_, server)| lock(server).stop(Stop::Clean, cancel))
    }
}
