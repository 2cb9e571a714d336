//! Servers that run already: observed, and asked how they are set.

use super::mariadb::{CONNECTING, MariaDb};
use super::{queries, survey, waits};
use crate::client::Config;
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
