//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::errors::failed_at;
use super::settings::DATA_FILES;
use super::wire::{Features, MariaWire, StatementText};
use crate::client::{Client, Config};
use engine::{EngineError, Instance};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use servers::attached::{self, Connector};
use servers::load::Opening;
use std::sync::Arc;
use work::Cancel;

/// The numbers of the connections that serve a load.
pub type Sessions = servers::load::Sessions<u32>;

/// The connections of a load.
#[derive(Debug, Clone)]
pub(crate) struct LoadConfig {
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
    ) -> Result<Opening<MariaWire, u32>, EngineError> {
        let client = self.connect()?;
        let features =
            Features { caches_metadata: client.caches_metadata(), bulk: client.has_bulk() };
        Ok(Opening {
            session: client.connection_id(),
            // A session's time with its client counts once its next statement comes.
            report: Some("DO 0"),
            stream: client.into_stream(),
            wire: MariaWire::new(Arc::clone(statements), features),
        })
    }
}

/// The variable of a session that limits its statements, and its value. MySQL's limits `SELECT`
/// alone.
pub fn statement_limit(client: &Client, seconds: f64) -> (String, String) {
    if client.is_mariadb() {
        ("max_statement_time".into(), seconds.to_string())
    } else {
        ("max_execution_time".into(), (seconds * 1e3).ceil().to_string())
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
        let load_attachment = Self {
            database: load.config.database.clone().unwrap_or_default(),
            session: load.session.clone(),
            statements: statements.to_vec(),
        };
        attached::attachment(&load_attachment)
    }
}

/// Attaches to a target on a server that another process has prepared.
pub fn attach(
    config: Config,
    configuration: &Configuration,
    attachment: &str,
    cancel: &Cancel,
) -> Result<Box<dyn Instance>, EngineError> {
    let received: Attachment = attached::read(attachment)?;
    let config = config.with_database(&received.database).with_stop(cancel.stop());
    let load = LoadConfig { config, session: received.session };
    let statements = received.statements.into();
    Ok(Box::new(Connector {
        open: move |_| load.open(&statements),
        late: "have not answered",
        attachment: attachment.into(),
        data_files: configuration.get(DATA_FILES),
        sessions: Sessions::default(),
        cancel: cancel.clone(),
    }))
}
