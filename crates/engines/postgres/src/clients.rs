//! Sessions and programs on private servers, as studies use them.

use crate::admin::{ADMIN, LOAD};
use crate::client::Config;
use crate::connecting::stoppable;
use crate::errors::failed_at;
use crate::load::PostgresLoad;
use crate::server::{PostgresProduct, SUPERUSER};
use crate::session::Session;
use engine::{AdminSession, ConnectionSet, Program, ProgramNames, Result};
use servers::administration::SCHEMA;
use servers::load::{Ending, LoadConnections, Sessions};
use servers::node::Clients;
use std::time::Duration;
use work::Cancel;

impl Clients for PostgresProduct {
    const SOCKET: &'static str = ".s.PGSQL.5432";
    const SUPERUSER: &'static str = SUPERUSER;
    const DATABASE: &'static str = SUPERUSER;

    fn in_database(config: Config, database: &str) -> Config {
        config.with_database(database)
    }

    fn admin_session(
        config: Config,
        answer: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Box<dyn AdminSession>> {
        let config = in_schema(&config, ADMIN);
        let mut client = stoppable(&config, &cancel.stop()).map_err(failed_at("connecting"))?;
        client.set_answer_timeout(answer);
        Ok(Box::new(Session::of_client(client, config)))
    }

    fn load_session(
        config: &Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>> {
        let config =
            in_schema(config, LOAD).with_connect_timeout(Some(patience)).with_stop(cancel.stop());
        let load = PostgresLoad { config, options: String::new() };
        let none = crate::wire::statements(std::iter::empty());
        let ending = Ending { checkpoint: None, cancel: cancel.clone() };
        Ok(Box::new(LoadConnections::open(&load, &none, 1, Sessions::default(), ending)?))
    }

    fn environment(config: &Config) -> Vec<(String, Option<String>)> {
        config.client_environment()
    }

    fn client_program(&self, program: ProgramNames) -> Result<Program> {
        Ok(self.installation.client_program(program))
    }
}

fn in_schema(config: &Config, name: &str) -> Config {
    config.clone().with_application_name(name).with_options(&format!("-c search_path={SCHEMA}"))
}
