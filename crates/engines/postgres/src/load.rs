//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::admin::LOAD;
use super::errors::failed_at;
use super::waits::FLUSH_OWN_COUNTERS;
use super::wire::{PostgresWire, StatementText};
use crate::client::{Client, Config};
use engine::Result;
use servers::load::{Load, Opening};
use std::sync::Arc;
use work::Cancel;

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// How a load connects.
pub struct PostgresLoad {
    /// To which server and database, with the options of its sessions.
    pub config: Config,
    /// The options among it that are the trial's.
    pub options: String,
}

impl Load for PostgresLoad {
    type Config = Config;
    type Wire = PostgresWire;
    type Session = i32;
    type Statement = StatementText;
    type Options = String;
    const LATE: &'static str = "have not reported their counters";

    fn open(
        &self,
        number: u32,
        statements: &Arc<[StatementText]>,
    ) -> Result<Opening<PostgresWire, i32>> {
        let doing = format!("opening connection {number}");
        let client = Client::connect(&self.config).map_err(failed_at(&doing))?;
        let publishes = client.server_version() >= PUBLISHES_SINCE;
        Ok(Opening {
            session: client.backend_pid(),
            report: publishes.then_some(FLUSH_OWN_COUNTERS),
            stream: client.into_stream().map_err(failed_at(&doing))?,
            wire: PostgresWire::new(Arc::clone(statements)),
        })
    }

    fn target(&self) -> (String, String) {
        (self.config.database.clone(), self.options.clone())
    }

    fn of_target(config: Config, database: &str, options: String, cancel: &Cancel) -> Self {
        let config = config.with_database(database).with_application_name(LOAD);
        Self { config: config.with_options(&options).with_stop(cancel.stop()), options }
    }
}
