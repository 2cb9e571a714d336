//! Servers that run already: observed, asked how they are set, and dumped.

use super::connecting::{CONNECTING, SILENCE};
use super::{Postgres, queries, sample, server, survey, waits};
use crate::client::Config;
use engine::sample::Sample;
use engine::{
    CopySource, CopyVersion, Dumps, Engine as _, EngineError, LiveObserver, ObserveOptions,
    QueryLimits, QueryReader, Server, ServerError, Servers,
};
use observations::{Advice, Survey, SurveyedServer, Unread};
use std::path::Path;
use work::Stop;

impl Servers for Postgres {
    fn engine(&self) -> &'static str {
        self.name()
    }

    fn url_schemes(&self) -> &'static [&'static str] {
        &["postgres", "postgresql", ""]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        let config = Config::parse(url).map_err(ServerError::new)?;
        Ok(Box::new(config.with_default_patience(CONNECTING, SILENCE)))
    }

    fn advice(&self, server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
        survey::rules::advice(server, survey)
    }

    fn dumps(&self) -> Option<&dyn Dumps> {
        Some(self)
    }

    fn copy_version(
        &self,
        source: &CopySource<'_>,
        test_server: Option<&str>,
        stop: &Stop,
    ) -> Result<CopyVersion, EngineError> {
        server::copy_version(source, test_server, stop)
    }
}

impl Dumps for Postgres {
    fn dump(&self, url: &str, to: &Path, stop: &Stop) -> Result<(), EngineError> {
        server::dump(url, to, stop)
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
        Ok(Box::new(waits::PostgresObserver::start(self, options, stop)?))
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

    fn sample(&self, table: &str, rows_max: u64, stop: &Stop) -> Result<Sample, ServerError> {
        sample::sample(self, table, rows_max, stop)
    }
}
