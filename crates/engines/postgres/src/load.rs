//! The connections of a load ([`servers::load`]).

use super::failed_at;
use super::waits::FLUSH_OWN_COUNTERS;
use super::wire::{PostgresWire, StatementText};
use crate::client::{Client, Config};
use engine::EngineError;
use servers::load::Opened;
use std::sync::Arc;

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub type Backends = servers::load::Sessions<i32>;

/// Opens a connection of a load.
pub fn open(
    config: &Config,
    number: u32,
    statements: &Arc<[StatementText]>,
) -> Result<Opened<PostgresWire, i32>, EngineError> {
    let doing = format!("opening connection {number}");
    let client = Client::connect(config).map_err(failed_at(&doing))?;
    let publishes = client.server_version() >= PUBLISHES_SINCE;
    Ok(Opened {
        session: client.backend_pid(),
        report: publishes.then_some(FLUSH_OWN_COUNTERS),
        stream: client.into_stream().map_err(failed_at(&doing))?,
        wire: PostgresWire::new(Arc::clone(statements)),
    })
}
