//! Sessions and programs on private servers, as studies use them.

use crate::admin::DATABASE;
use crate::client::{Client, Config};
use crate::errors::failed_at;
use crate::load::LoadConfig;
use crate::server::{MariaProduct, SOCKET, SUPERUSER};
use crate::session::Session;
use engine::{AdminSession, ConnectionSet, Program, ProgramNames, Result};
use servers::load::{Ending, LoadConnections, Sessions};
use servers::node::Clients;
use std::time::Duration;
use work::Cancel;

impl Clients for MariaProduct {
    const SOCKET: &'static str = SOCKET;
    const SUPERUSER: &'static str = SUPERUSER;
    const DATABASE: &'static str = DATABASE;

    fn in_database(config: Config, database: &str) -> Config {
        config.with_database(database)
    }

    fn admin_session(
        config: Config,
        answer: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Box<dyn AdminSession>> {
        let connected = Client::connect_until(&config, &cancel.stop());
        let mut client = connected.map_err(failed_at("connecting"))?;
        client.set_answer_timeout(answer);
        Ok(Box::new(Session::of_client(client, config)))
    }

    fn load_session(
        config: &Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>> {
        let mut config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
        config.connect_timeout = Some(patience);
        let load = LoadConfig { config, session: Vec::new() };
        let ending = Ending { checkpoint: None, cancel: cancel.clone() };
        Ok(Box::new(LoadConnections::open(&load, &[].into(), 1, Sessions::default(), ending)?))
    }

    fn environment(config: &Config) -> Vec<(String, Option<String>)> {
        config.client_environment()
    }

    fn client_program(&self, program: ProgramNames) -> Result<Program> {
        self.installation.client_program(program)
    }
}
