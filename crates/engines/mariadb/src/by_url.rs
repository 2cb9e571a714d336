//! Servers that run already: observed and asked.

use super::mariadb::{MARIADB, MariaDb};
use super::server::{Installation, dumped_version};
use super::session::Session;
use super::waits;
use crate::client::Config;
use engine::{
    AdminOptions, AdminSession, CopySource, CopyVersion, LiveObserver, ObserveOptions, Result,
    Server, ServerError, Servers,
};
use servers::hosted::Hosted as _;
use work::Stop;

impl Servers for MariaDb {
    fn url_schemes(&self) -> &'static [&'static str] {
        &["mariadb", "mysql"]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        Ok(Box::new(Self::at_url(url)?))
    }

    fn copy_version(
        &self,
        source: &CopySource<'_>,
        test_server: Option<&str>,
        _: &Stop,
    ) -> Result<CopyVersion> {
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
}

impl Server for Config {
    fn engine(&self) -> &'static str {
        MARIADB.name
    }

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

    fn session(
        &self,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn AdminSession>, ServerError> {
        Ok(Box::new(Session::open(self, options, stop)?))
    }
}
