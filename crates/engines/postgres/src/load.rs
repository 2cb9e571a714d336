//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::admin::LOAD;
use super::errors::failed_at;
use super::settings::DATA_FILES;
use super::waits::FLUSH_OWN_COUNTERS;
use super::wire::{PostgresWire, StatementText};
use crate::client::{Client, Config};
use engine::{EngineError, Instance};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use servers::attached::{self, Connector};
use servers::load::Opening;
use std::sync::Arc;
use work::Cancel;

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub(crate) type Backends = servers::load::Sessions<i32>;

/// Opens a connection of a load.
pub fn open(
    config: &Config,
    number: u32,
    statements: &Arc<[StatementText]>,
) -> Result<Opening<PostgresWire, i32>, EngineError> {
    let doing = format!("opening connection {number}");
    let client = Client::connect(config).map_err(failed_at(&doing))?;
    let publishes = client.server_version() >= PUBLISHES_SINCE;
    Ok(Opening {
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
        let child = Self { database: database.into(), options, statements: statements.to_vec() };
        attached::attachment(&child)
    }
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
    let received: Attachment = attached::read(attachment)?;
    let load = config.with_database(&received.database).with_application_name(LOAD);
    let load = load.with_options(&received.options).with_stop(cancel.stop());
    let statements = received.statements.into();
    Ok(Box::new(Connector {
        open: move |number| open(&load, number, &statements),
        late: "have not reported their counters",
        attachment: attachment.into(),
        data_files: configuration.get(DATA_FILES),
        sessions: Backends::default(),
        cancel: cancel.clone(),
    }))
}
