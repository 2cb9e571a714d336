//! The parts of a host that are PostgreSQL's own ([`servers::host`]).

use super::connecting::{at_url, parsed, patient};
use super::instance::PostgresSchema;
use super::load::PostgresLoad;
use super::own_database;
use super::postgres::Postgres;
use super::server::{DataOptions, PostgresProduct, PrivateServer, checkpoint, drop_os_cache};
use super::settings::{self, DATA_CHECKSUMS, WAL_SEGMENT_SIZE};
use crate::client::Config;
use engine::setup::Setup;
use engine::{Instance, Result, ServerError};
use experiment::Configuration;
use servers::hosted::{HostSettings, Hosted, Target, Trial};
use servers::private::{Settings, Stop};
use servers::settings::from_configuration;
use std::path::Path;
use work::Cancel;

impl Hosted for Postgres {
    type Product = PostgresProduct;
    type Load = PostgresLoad;
    const SETTINGS: HostSettings = settings::HOST;
    const NEW_SERVER: &'static str = "cluster";

    fn product(trial: &Trial<'_>) -> Result<PostgresProduct> {
        let configuration = trial.configuration;
        let segment = configuration.get(WAL_SEGMENT_SIZE);
        Ok(PostgresProduct {
            installation: settings::installation(configuration)?,
            data: DataOptions {
                checksums: configuration.get(DATA_CHECKSUMS),
                wal_segment_mb: segment.map(|bytes| (bytes >> 20) as u32),
            },
        })
    }

    fn server_settings(configuration: &Configuration) -> Settings {
        from_configuration(configuration, ["off", "on"])
    }

    fn reset(server: &mut PrivateServer, resets: &[String], cancel: &Cancel) -> Result<()> {
        let has = |name: &str| resets.iter().any(|reset_name| reset_name == name);
        if has("restart") {
            server.stop(Stop::Clean, cancel)?;
        } else if has("checkpoint") && server.is_running() {
            checkpoint(server, cancel)?;
        }
        if has("os-cache") {
            drop_os_cache(server, cancel)?;
        }
        server.start(cancel)
    }

    fn at_url(url: &str) -> Result<Config, ServerError> {
        at_url(url)
    }

    fn config(url: &str) -> Result<Config> {
        Ok(patient(parsed(url)?))
    }

    fn database(config: Config, trial: &Trial<'_>, run: &Path) -> Result<Config> {
        match Setup::from_settings(trial.configuration) {
            Some(setup) => own_database::copy(run, &config, &setup, trial.cancel),
            None => Ok(config),
        }
    }

    fn instance(target: Target<PostgresProduct>, trial: &Trial<'_>) -> Result<Box<dyn Instance>> {
        Ok(Box::new(PostgresSchema::create(target, trial)?))
    }
}
