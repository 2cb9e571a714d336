//! The parts of a host that are MariaDB's and MySQL's own ([`servers::host`]).

use super::instance::MariaSchema;
use super::load::LoadConfig;
use super::mariadb::MariaDb;
use super::observing::CONNECTING;
use super::server::{MariaProduct, PrivateServer, variables};
use super::settings::{self, VOLUME};
use crate::client::Config;
use engine::setup::Setup;
use engine::{Instance, Result, ServerError};
use experiment::Configuration;
use experiment::common::OBSERVE_WAITS;
use servers::files::absolute;
use servers::hosted::{HostSettings, Hosted, Target, Trial};
use servers::private::Settings;
use work::Cancel;

/// Variable that is fixed when a data directory is made.
const PAGE_SIZE: &str = "innodb_page_size";

impl Hosted for MariaDb {
    type Product = MariaProduct;
    type Load = LoadConfig;
    const SETTINGS: HostSettings = settings::HOST;
    const NEW_SERVER: &'static str = "server";

    fn product(trial: &Trial<'_>) -> Result<MariaProduct> {
        let configuration = trial.configuration;
        let installation = settings::installation(configuration)?;
        let mut table_directories = Vec::new();
        if installation.is_mysql() && Setup::from_settings(configuration).is_none() {
            for name in configuration.get(VOLUME) {
                table_directories.push(absolute(trial.folders.volume(&name)?)?);
            }
        }
        Ok(MariaProduct {
            installation,
            table_directories,
            page_bytes: trial.settings.get(PAGE_SIZE).cloned(),
            instruments: configuration.get(OBSERVE_WAITS),
        })
    }

    fn server_settings(configuration: &Configuration) -> Settings {
        variables::from_configuration(configuration)
    }

    fn reset(server: &mut PrivateServer, resets: &[String], cancel: &Cancel) -> Result<()> {
        let has = |name: &str| resets.iter().any(|reset_name| reset_name == name);
        if has("restart") || has("os-cache") {
            server.restart(has("os-cache"), cancel)?;
        }
        Ok(())
    }

    fn at_url(url: &str) -> Result<Config, ServerError> {
        let config = Config::parse(url).map_err(ServerError::new)?;
        Ok(config.with_default_timeout(CONNECTING))
    }

    fn instance(target: Target<MariaProduct>, trial: &Trial<'_>) -> Result<Box<dyn Instance>> {
        Ok(Box::new(MariaSchema::create(target, trial)?))
    }
}
