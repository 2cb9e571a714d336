//! Statements by the digests of the Performance Schema, indexes by `information_schema` and what
//! was read through them, plans by EXPLAIN. MySQL has the same views.
//!
//! <https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html>

mod counters;
mod explain;
mod health;
mod indexes;
mod snapshot;
mod storage;

use super::cells::cells;
use super::explain::one_format;
use super::load::statement_limit;
use super::observing::{connect_to_observe, while_doing};
use crate::client::{Client, Config, Error};
use engine::ServerError;
use engine::query_reader::{QueryLimits, SampleCounts};
use std::collections::HashMap;
use work::Stop;

/// Asks a server.
pub(super) struct Reader {
    client: Client,
    limits: QueryLimits,
    stop: Stop,
    /// Texts with values that sessions were seen to run, by what statements with other values have
    /// in common.
    running: HashMap<String, String>,
    /// The samples by the server's statement number.
    sampled: HashMap<String, String>,
    /// The states of sessions, by what statements with other values have in common.
    waits: SampleCounts,
    /// The server's statement numbers by the same.
    digests: HashMap<String, String>,
}

impl Reader {
    pub fn start(config: &Config, limits: QueryLimits, stop: &Stop) -> Result<Self, ServerError> {
        let mut client = connect_to_observe(config, stop)?;
        // Counters are still wanted after the user asks to stop; the server limits its answers.
        client.set_stop(Stop::when(|| false));
        let (limit, value) = statement_limit(&client, 30.0);
        client
            .run(&format!("SET SESSION {limit} = {value}"))
            .map_err(while_doing("limiting statement times"))?;
        one_format(&mut client);
        Ok(Self {
            client,
            limits,
            stop: stop.clone(),
            running: HashMap::new(),
            sampled: HashMap::new(),
            waits: SampleCounts::default(),
            digests: HashMap::new(),
        })
    }

    /// Rows with `N` cells, NULL as an empty text.
    fn rows<const N: usize>(&mut self, sql: &str) -> Result<Vec<[String; N]>, Error> {
        Ok(self.client.query(sql)?.rows.into_iter().map(cells).collect())
    }
}
