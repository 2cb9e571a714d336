//! The connections to a server that is asked, one to each database that matters.

use crate::client::{Client, Config, Error};
use crate::connecting::{leave_no_statistics, while_doing};
use engine::ServerError;
use engine::query_reader::{MARK, QueryLimits, SampleCounts};
use inspection::statements::{Counter, Statement};
use observations::order;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use work::Stop;

/// The prefix of the names of dropped databases and roles.
const DROPPED: &str = "(dropped, OID ";
/// Timeout for reading the last counters after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Asks a server, over a connection to each database that matters.
pub(crate) struct Reader {
    pub(super) config: Config,
    pub(super) limits: QueryLimits,
    pub(super) stop: Stop,
    pub(super) clients: BTreeMap<String, Client>,
    /// The database that has `pg_stat_statements`, and the schema that it is in, quoted.
    pub(super) extension: Option<(String, String)>,
    /// Texts with values that sessions were seen to run, by the server's number of the statement.
    pub(super) running: HashMap<String, String>,
    pub(super) sampled: SampleCounts,
}

impl Reader {
    /// Connects to the database that is named.
    pub fn start(config: &Config, limits: QueryLimits, stop: &Stop) -> Result<Self, ServerError> {
        let mut reader = Self {
            config: config.clone(),
            limits,
            stop: stop.clone(),
            clients: BTreeMap::new(),
            extension: None,
            running: HashMap::new(),
            sampled: SampleCounts::default(),
        };
        reader.client(&config.database).map_err(while_doing("connecting"))?;
        Ok(reader)
    }

    pub(super) fn home(&mut self) -> Result<&mut Client, Error> {
        let database = self.config.database.clone();
        self.client(&database)
    }

    /// The connection to a database.
    pub(super) fn client(&mut self, database: &str) -> Result<&mut Client, Error> {
        match self.clients.entry(database.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(connect(&self.config, database, &self.stop)?)),
        }
    }

    /// Returns whether a lost connection says nothing of the server: it is to another database than
    /// the one that was named, which still answers.
    pub(super) fn is_of_dropped(&mut self, error: &Error, database: &str) -> bool {
        matches!(error, Error::Lost(_))
            && *database != self.config.database
            && self.home().and_then(|client| client.query("SELECT 1", &[])).is_ok()
    }

    /// Databases that clients use, those with most time first; the one that was named is always one
    /// of them.
    pub(super) fn databases(&mut self, statements: &[Statement]) -> Vec<String> {
        let mut time: BTreeMap<&str, u64> = BTreeMap::new();
        for statement in statements.iter().filter(|statement| !is_dropped(&statement.database)) {
            *time.entry(&statement.database).or_default() +=
                statement.get(Counter::TimeNs).unwrap_or(0);
        }
        let mut all: Vec<(&str, u64)> =
            time.into_iter().filter(|(name, _)| *name != self.config.database).collect();
        order::by_key(&mut all, &|(_, time)| std::cmp::Reverse(*time));
        let others = all.into_iter().map(|(name, _)| name.to_owned());
        std::iter::once(self.config.database.clone()).chain(others).collect()
    }
}

/// A session that changes nothing, waits for no lock, and leaves no statistics of its own where it
/// may choose that. A plan that was kept would be one for values.
fn connect(config: &Config, database: &str, stop: &Stop) -> Result<Client, Error> {
    let config = config
        .clone()
        .with_database(database)
        .with_application_name("steelbench queries")
        .with_stop(stop.clone());
    let mut client = Client::connect(&config)?;
    client.set_answer_timeout(Some(work::silence_max()));
    client.set_stop(stop.clone(), LAST_ANSWERS);
    leave_no_statistics(&mut client);
    for setting in [
        "default_transaction_read_only = on",
        "statement_timeout = '30s'",
        "lock_timeout = '500ms'",
        "plan_cache_mode = force_generic_plan",
    ] {
        client.batch(&format!("SET /* {MARK} */ {setting}"))?;
    }
    Ok(client)
}

/// Stands for the name of a database or role that was dropped.
pub(super) fn dropped(oid: &str) -> String {
    format!("{DROPPED}{oid})")
}

/// Returns true for a name by [`dropped`].
pub(super) fn is_dropped(name: &str) -> bool {
    name.starts_with(DROPPED)
}
