//! Private servers that a study disturbs.

use crate::admin::DATABASE;
use crate::client::{Client, Config};
use crate::failed_at;
use crate::load::{LoadConfig, Sessions};
use crate::server::{MariaProduct, PrivateServer, SOCKET, ServerOptions};
use engine::{ConnectionSet, EngineError, Replication, Results};
use servers::load::{Ending, LoadConnections};
use servers::pair::Replicating;
use std::time::Duration;
use work::Cancel;

/// How its log is read.
pub static REPLICATION: Replication = Replication {
    replicates: false,
    written: None,
    applied: None,
    since_checkpoint: "SELECT variable_value FROM information_schema.global_status WHERE \
                       variable_name = 'INNODB_CHECKPOINT_AGE'",
    own_settings: &[],
};

/// The time that an answer may take.
const ANSWER: Duration = Duration::from_secs(60);

impl Replicating for MariaProduct {
    const SOCKET: &'static str = SOCKET;

    fn replicate(
        _: &mut PrivateServer,
        _: ServerOptions,
        _: &Cancel,
    ) -> Result<PrivateServer, EngineError> {
        Err(EngineError::Unsupported { engine: "mariadb", what: "replicas of private servers" })
    }

    fn confirm(_: &PrivateServer, _: &Cancel) -> Result<(), EngineError> {
        Err(EngineError::Unsupported { engine: "mariadb", what: "replicas of private servers" })
    }

    fn promote(_: &PrivateServer, _: &Cancel) -> Result<(), EngineError> {
        Err(EngineError::Unsupported { engine: "mariadb", what: "replicas of private servers" })
    }

    fn session(
        config: &Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let mut config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
        config.connect_timeout = Some(patience);
        let load = LoadConfig { config, session: Vec::new() };
        let ending = Ending { late: "", checkpoint: None, cancel: cancel.clone() };
        let none = [].into();
        Ok(Box::new(LoadConnections::open(1, Sessions::default(), ending, |_| load.open(&none))?))
    }

    fn ask(config: &Config, sql: &str, cancel: &Cancel) -> Result<Results, EngineError> {
        let config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
        let mut client = Client::connect(&config).map_err(failed_at("connecting"))?;
        client.set_stop(cancel.stop());
        client.set_answer_timeout(Some(ANSWER));
        let rows = client.query(sql).map_err(failed_at("asking the server"))?;
        let mut results = Results { columns: rows.columns, ..Results::default() };
        rows.rows.into_iter().for_each(|row| results.add(row, true));
        Ok(results)
    }
}
