//! Servers that run already: observed, and asked how they are set.

use super::mariadb::{CONNECTING, MariaDb};
use super::server::{Installation, dumped_version};
use super::{queries, survey, waits};
use crate::client::Config;
use engine::{
    CopySource, CopyVersion, EngineError, LiveObserver, ObserveOptions, QueryLimits, QueryReader,
    Server, ServerError, Servers,
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

    fn copy_version(
        &self,
        source: &CopySource<'_>,
        test_server: Option<&str>,
        _: &Stop,
    ) -> Result<CopyVersion, EngineError> {
        let version = match source {
            // Not dumped from a URL.
            CopySource::Url(_) => None,
            CopySource::Dump(path) => dumped_version(path).filter(|_| test_server.is_none()),
        };
        // Without an installation, the run reports the error.
        let found =
            version.and_then(|source| Some((Installation::for_source(&[], &source).ok()?, source)));
        Ok(found.map_or_else(CopyVersion::default, |(installation, source)| CopyVersion {
            setting: Some(installation.series()),
            substitution: installation.substitution(&source),
        }))
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
