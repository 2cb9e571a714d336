//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::settings::{DATA_FILES, URL};
use super::wire::{Features, MariaWire, StatementText};
use super::{MariaDb, failed_at};
use crate::client::{Client, Config};
use engine::{ConnectionSet, EngineError, Instance, Shared, Sharing, Tables, lock, open_files};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use servers::host::Hosted;
use servers::load::{Ending, LoadConnections, Opened};
use std::sync::Arc;
use work::{Cancel, Work};

/// The numbers of the connections that serve a load.
pub type Sessions = servers::load::Sessions<u32>;

/// The connections of a load.
#[derive(Debug, Clone)]
pub struct LoadConfig {
    /// To which server and database.
    pub config: Config,
    /// Settings of each session.
    pub session: Vec<(String, String)>,
}

impl LoadConfig {
    /// Opens one connection and sets what its session has to have.
    pub fn connect(&self) -> Result<Client, EngineError> {
        let mut client = Client::connect(&self.config).map_err(failed_at("connecting"))?;
        for (name, value) in &self.session {
            let doing = format!("setting {name} = {value} in a session");
            client.run(&format!("SET SESSION {name} = {value}")).map_err(failed_at(&doing))?;
        }
        Ok(client)
    }

    /// Opens a connection of a load.
    pub fn open(
        &self,
        statements: &Arc<[StatementText]>,
    ) -> Result<Opened<MariaWire, u32>, EngineError> {
        let client = self.connect()?;
        let features =
            Features { caches_metadata: client.caches_metadata(), bulk: client.has_bulk() };
        Ok(Opened {
            session: client.connection_id(),
            // A session's time with its client counts once its next statement comes.
            report: Some("DO 0"),
            stream: client.into_stream(),
            wire: MariaWire::new(Arc::clone(statements), features),
        })
    }
}

/// The knowledge of a target that other processes need in addition to its URL.
#[derive(Debug, Serialize, Deserialize)]
pub struct Attachment {
    /// The database.
    database: String,
    /// Settings of each session.
    session: Vec<(String, String)>,
    /// The statements of the load, as the conducting process has compiled them.
    statements: Vec<StatementText>,
}

impl Attachment {
    /// Returns the text of an attachment.
    ///
    /// # Errors
    /// Never for text of this kind.
    pub fn write(load: &LoadConfig, statements: &[StatementText]) -> Result<String, EngineError> {
        let own = Self {
            database: load.config.database.clone().unwrap_or_default(),
            session: load.session.clone(),
            statements: statements.to_vec(),
        };
        serde_json::to_string(&own).map_err(|error| EngineError::failed("attaching", error))
    }
}

/// A target that another process has prepared.
struct AttachedMaria {
    load: LoadConfig,
    statements: Arc<[StatementText]>,
    data_files: u32,
    sessions: Sessions,
    cancel: Cancel,
}

/// Attaches to a target on a server that another process has prepared.
fn attach(
    config: Config,
    configuration: &Configuration,
    attachment: &str,
    cancel: &Cancel,
) -> Result<Box<dyn Instance>, EngineError> {
    let own: Attachment = serde_json::from_str(attachment)
        .map_err(|error| EngineError::failed("attaching", error))?;
    let config = config.with_database(&own.database).with_stop(cancel.stop());
    Ok(Box::new(AttachedMaria {
        load: LoadConfig { config, session: own.session },
        statements: own.statements.into(),
        data_files: configuration.get(DATA_FILES),
        sessions: Sessions::default(),
        cancel: cancel.clone(),
    }))
}

impl Sharing for MariaDb {
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str> {
        let is_private = configuration.get(URL).is_none();
        is_private.then_some("a private server admits only its own process; give target.url")
    }

    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let url = configuration.get(URL).unwrap_or_default();
        attach(<Self as Hosted>::config(&url)?, configuration, attachment, cancel)
    }
}

impl Instance for AttachedMaria {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let all = u64::from(connections);
        open_files::allow(all, || format!("opening {all} connections"))?;
        // The checkpoint is the conducting process's.
        let ending =
            Ending { late: "have not answered", checkpoint: None, cancel: self.cancel.clone() };
        let sessions = self.sessions.clone();
        Ok(Box::new(LoadConnections::open(connections, sessions, ending, |_| {
            self.load.open(&self.statements)
        })?))
    }

    fn space_bytes(&self) -> Option<u64> {
        None
    }

    fn tables(&self) -> Option<&dyn Tables> {
        Some(self)
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

impl Tables for AttachedMaria {
    /// The tables are there and the statements known.
    fn create(&self, _: Work) -> Result<(), EngineError> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }
}

impl Shared for AttachedMaria {
    fn attachment(&self) -> Result<String, EngineError> {
        Attachment::write(&self.load, &self.statements)
    }

    fn sessions(&self) -> Vec<i64> {
        lock(&self.sessions).iter().copied().map(i64::from).collect()
    }

    fn adopt(&self, _: &[i64]) {}

    fn flush(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
