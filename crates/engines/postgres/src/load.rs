//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::admin::LOAD;
use super::failed_at;
use super::settings::DATA_FILES;
use super::waits::FLUSH_OWN_COUNTERS;
use super::wire::{PostgresWire, StatementText};
use crate::client::{Client, Config};
use engine::{ConnectionSet, EngineError, Instance, Shared, Tables, lock, open_files};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use servers::load::{Ending, LoadConnections, Opened};
use std::sync::Arc;
use work::{Cancel, Work};

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub type Backends = servers::load::Sessions<i32>;

/// Opens a connection of a load.
pub fn open(
    config: &Config,
    number: u32,
    statements: &Arc<[StatementText]>,
) -> Result<Opened<PostgresWire, i32>, EngineError> {
    let doing = format!("opening connection {number}");
    let client = Client::connect(config).map_err(failed_at(&doing))?;
    let publishes = client.server_version() >= PUBLISHES_SINCE;
    Ok(Opened {
        session: client.backend_pid(),
        report: publishes.then_some(FLUSH_OWN_COUNTERS),
        stream: client.into_stream().map_err(failed_at(&doing))?,
        wire: PostgresWire::new(Arc::clone(statements)),
    })
}

/// The knowledge of a target that other processes need in addition to its URL.
#[derive(Debug, Serialize, Deserialize)]
pub struct Attachment {
    /// The database, which may be a copy that this trial has to itself.
    database: String,
    /// Options of the load's sessions.
    options: String,
    /// The statements of the load, as the conducting process has compiled them.
    statements: Vec<StatementText>,
}

impl Attachment {
    /// Returns the text of an attachment.
    ///
    /// # Errors
    /// Never for text of this kind.
    pub fn write(
        database: &str,
        options: String,
        statements: &[StatementText],
    ) -> Result<String, EngineError> {
        let own = Self { database: database.into(), options, statements: statements.to_vec() };
        serde_json::to_string(&own).map_err(|error| EngineError::failed("attaching", error))
    }
}

/// A target that another process has prepared.
struct AttachedPostgres {
    load: Config,
    statements: Arc<[StatementText]>,
    data_files: u32,
    backends: Backends,
    cancel: Cancel,
}

/// Attaches to a target on a server that another process has prepared.
///
/// # Errors
/// When the attachment is not one of this engine's.
pub fn attach(
    config: Config,
    configuration: &Configuration,
    attachment: &str,
    cancel: &Cancel,
) -> Result<Box<dyn Instance>, EngineError> {
    let own: Attachment = serde_json::from_str(attachment)
        .map_err(|error| EngineError::failed("attaching", error))?;
    let load = config.with_database(&own.database).with_application_name(LOAD);
    Ok(Box::new(AttachedPostgres {
        load: load.with_options(&own.options).with_stop(cancel.stop()),
        statements: own.statements.into(),
        data_files: configuration.get(DATA_FILES),
        backends: Backends::default(),
        cancel: cancel.clone(),
    }))
}

impl Instance for AttachedPostgres {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let all = u64::from(connections);
        open_files::allow(all, || format!("opening {all} connections"))?;
        let late = "have not reported their counters";
        // The checkpoint is the conducting process's.
        let ending = Ending { late, checkpoint: None, cancel: self.cancel.clone() };
        Ok(Box::new(LoadConnections::open(connections, self.backends.clone(), ending, |number| {
            open(&self.load, number, &self.statements)
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

impl Tables for AttachedPostgres {
    /// The tables are there and the statements known.
    fn create(&self, _: Work) -> Result<(), EngineError> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }
}

impl Shared for AttachedPostgres {
    fn attachment(&self) -> Result<String, EngineError> {
        Attachment::write(&self.load.database, String::new(), &self.statements)
    }

    fn sessions(&self) -> Vec<i64> {
        lock(&self.backends).iter().copied().map(i64::from).collect()
    }

    fn adopt(&self, _: &[i64]) {}

    fn flush(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
