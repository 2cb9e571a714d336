//! The parts of a host that are PostgreSQL's own ([`servers::host`]).

use super::Postgres;
use super::instance::PostgresSchema;
use super::own_database;
use super::server::{DataOptions, PostgresProduct, PrivateServer, checkpoint, drop_os_cache};
use super::settings::{
    self, DATA_CHECKSUMS, LOG_VOLUME, RESET, URL, USER, VOLUME, WAL_SEGMENT_SIZE,
};
use crate::client::Config;
use engine::setup::Setup;
use engine::{EngineError, Instance};
use experiment::Configuration;
use servers::altered::Alter;
use servers::host::{HostSettings, Hosted, Target, Trial};
use servers::private::{Settings, Stop};
use std::path::Path;
use std::time::Duration;
use work::Cancel;

/// Timeouts of a server by URL: for connecting, and for silence of the network.
const CONNECTING: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(30);

/// Limits how long Steelbench and your server wait for each other after one disappears silently;
/// the systems' defaults are hours. Settings of the URL and the variables take precedence.
pub fn patient(config: Config) -> Config {
    let seconds = SILENCE.as_secs();
    let (idle, interval) = (seconds / 2, seconds / 6);
    config.with_default_patience(CONNECTING, SILENCE).with_options(&format!(
        "-c tcp_keepalives_idle={idle} -c tcp_keepalives_interval={interval} -c \
         tcp_keepalives_count=3"
    ))
}

impl Hosted for Postgres {
    type Product = PostgresProduct;
    const SETTINGS: HostSettings = HostSettings {
        url: URL,
        user: USER,
        volumes: VOLUME,
        log_volume: LOG_VOLUME,
        resets: RESET,
    };
    const NEW_SERVER: &'static str = "cluster";

    fn product(trial: &Trial<'_>) -> Result<PostgresProduct, EngineError> {
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
        settings::server_settings(configuration)
    }

    fn reset(
        server: &mut PrivateServer,
        resets: &[String],
        cancel: &Cancel,
    ) -> Result<(), EngineError> {
        let has = |name: &str| resets.iter().any(|own| own == name);
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

    fn config(url: &str) -> Result<Config, EngineError> {
        let config = Config::parse(url);
        let config =
            config.map_err(|error| EngineError::failed("reading target.url", error.to_string()))?;
        Ok(patient(config))
    }

    fn alter(config: &Config, trial: &Trial<'_>, run: &Path) -> Result<Settings, EngineError> {
        <Self as Alter>::alter(config, &trial.change(run))
    }

    fn database(config: Config, trial: &Trial<'_>, run: &Path) -> Result<Config, EngineError> {
        match Setup::from_settings(trial.configuration) {
            Some(setup) => own_database::copy(run, &config, &setup, trial.cancel),
            None => Ok(config),
        }
    }

    fn instance(
        target: Target<PostgresProduct>,
        trial: &Trial<'_>,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(PostgresSchema::create(target, trial)?))
    }
}
