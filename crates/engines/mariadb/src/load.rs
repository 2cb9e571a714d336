//! The connections of a load ([`servers::load`]), also of a part that another process generates.

use super::errors::failed_at;
use super::wire::{Features, MariaWire, StatementText};
use crate::client::{Client, Config};
use engine::Result;
use servers::load::{Load, Opening};
use std::sync::Arc;
use work::Cancel;

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
    pub fn connect(&self) -> Result<Client> {
        let mut client = Client::connect(&self.config).map_err(failed_at("connecting"))?;
        for (name, value) in &self.session {
            let doing = format!("setting {name} = {value} in a session");
            client.run(&format!("SET SESSION {name} = {value}")).map_err(failed_at(&doing))?;
        }
        Ok(client)
    }
}

impl Load for LoadConfig {
    type Config = Config;
    type Wire = MariaWire;
    type Session = u32;
    type Statement = StatementText;
    type Options = Vec<(String, String)>;
    const LATE: &'static str = "have not answered";

    fn open(&self, _: u32, statements: &Arc<[StatementText]>) -> Result<Opening<MariaWire, u32>> {
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

    fn target(&self) -> (String, Self::Options) {
        (self.config.database.clone().unwrap_or_default(), self.session.clone())
    }

    fn of_target(config: Config, database: &str, session: Self::Options, cancel: &Cancel) -> Self {
        Self { config: config.with_database(database).with_stop(cancel.stop()), session }
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
