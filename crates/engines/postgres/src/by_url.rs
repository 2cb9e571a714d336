//! Servers that run already: observed, asked, and dumped.

use super::postgres::{POSTGRES, Postgres};
use super::session::Session;
use super::{sample, server, waits};
use crate::client::Config;
use engine::sample::Sample;
use engine::{
    AdminOptions, AdminSession, CopySource, CopyVersion, Dump, LiveObserver, ObserveOptions,
    Result, Server, ServerError, Servers,
};
use servers::hosted::Hosted as _;
use work::Stop;

impl Servers for Postgres {
    fn url_schemes(&self) -> &'static [&'static str] {
        &["postgres", "postgresql", ""]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        Ok(Box::new(Self::at_url(url)?))
    }

    fn dump(&self) -> Option<Dump> {
        Some(server::dump)
    }

    fn copy_version(
        &self,
        source: &CopySource<'_>,
        test_server: Option<&str>,
        stop: &Stop,
    ) -> Result<CopyVersion> {
        server::copy_version(source, test_server, stop)
    }
}

impl Server for Config {
    fn engine(&self) -> &'static str {
        POSTGRES.name
    }

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

    fn session(
        &self,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn AdminSession>, ServerError> {
        Ok(Box::new(Session::open(self, options, stop)?))
    }

    fn sample(&self, table: &str, rows_max: u64, stop: &Stop) -> Result<Sample, ServerError> {
        sample::sample(self, table, rows_max, stop)
    }
}
