use super::WaitsError;
use super::error::while_doing;
use pgclient::{Client, Config};
use std::time::Duration;

/// What our connections call themselves; they are left out of what they report.
pub const OBSERVER: &str = "steelbench observer";

/// A server that does not answer a question about its state for so long is in more trouble than
/// waits could tell.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens a connection that can change nothing and asks for little.
pub(super) fn connect(config: &Config) -> Result<Client, WaitsError> {
    let config = config.clone().with_application_name(OBSERVER);
    let mut client = Client::connect(&config).map_err(while_doing("connecting"))?;
    client.set_read_timeout(Some(PATIENCE)).map_err(while_doing("connecting"))?;
    let major = client.server_version() / 10_000;
    if major < 14 {
        return Err(WaitsError::TooOld { major });
    }
    // The settings of a database or a role may be made for other work than ours.
    let settings = "SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET lock_timeout = 0; \
                    SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
                    SET jit = off; SET max_parallel_workers_per_gather = 0; SET datestyle = 'ISO'; \
                    SET search_path = pg_catalog";
    client.batch(settings).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}
