//! Servers that run already: observed, and asked how they are set.

use super::{CONNECTING, MariaDb, queries, survey, waits, what_to_do};
use crate::client::{Client, Config, Error};
use engine::{
    LiveObserver, ObserveOptions, QueryLimits, QueryReader, Server, ServerError, Servers,
};
use observations::{Advice, Survey, SurveyedServer, Unread};
use work::Stop;

impl Servers for MariaDb {
    fn engine(&self) -> &'static str {
        "mariadb"
    }

    fn url_schemes(&self) -> &'static [&'static str] {
        &["mariadb", "mysql"]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        let config = Config::parse(url).map_err(ServerError::new)?;
        Ok(Box::new(config.with_default_timeout(CONNECTING)))
    }

    fn advice(&self, server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
        survey::rules::advice(server, survey)
    }
}

impl Server for Config {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn observe(
        &self,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(waits::MariaObserver::start(self, options, stop)?))
    }

    fn survey(&self, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        survey::survey(self, stop)
    }

    fn queries(
        &self,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Ok(Box::new(queries::Reader::start(self, limits, stop)?))
    }
}

/// The default database of sessions that observe. The server counts statements by it: those with
/// this one are ours.
pub const OBSERVED_FROM: &str = "information_schema";

/// Opens a connection that changes nothing. The settings of a server may be made for other work
/// than ours.
pub fn connect_to_observe(config: &Config, stop: &Stop) -> Result<Client, ServerError> {
    let config = config.clone().with_stop(stop.clone());
    let mut client = Client::connect(&config).map_err(while_doing("connecting"))?;
    client.set_answer_timeout(Some(work::silence_max()));
    client.set_stop(stop.clone());
    client
        .run(&format!(
            "USE {OBSERVED_FROM}; SET SESSION TRANSACTION READ ONLY; SET SESSION \
             lock_wait_timeout = 30"
        ))
        .map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Returns the product of the server.
pub fn product(client: &Client) -> &'static str {
    if client.is_mariadb() { "MariaDB" } else { "MySQL" }
}

/// The table of the server's status variables: MySQL keeps it in the Performance Schema, which
/// MariaDB fills only while that is on.
pub fn global_status(client: &Client) -> &'static str {
    if client.is_mariadb() {
        "information_schema.global_status"
    } else {
        "performance_schema.global_status"
    }
}

/// Says what was being done when the server or the connection failed.
pub fn while_doing(doing: &str) -> impl FnOnce(Error) -> ServerError + '_ {
    move |error| ServerError { what: format!("{doing}: {error}"), advice: what_to_do(&error) }
}
