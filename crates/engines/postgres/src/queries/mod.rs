//! Statements by `pg_stat_statements`, indexes by the catalogues and the cumulative statistics,
//! plans by EXPLAIN.
//!
//! <https://www.postgresql.org/docs/current/pgstatstatements.html>,
//! <https://www.postgresql.org/docs/current/monitoring-stats.html>

mod counters;
mod explain;
mod health;
mod indexes;
mod storage;

use super::while_doing;
use crate::client::{Client, Config};
use crate::plan_reader::ENGINE;
use engine::ServerError;
use engine::query_reader::{
    MARK, QueryLimits, QueryReader, Sampled, StatementSamples, StorageDetail, remember,
};
use observations::Unread;
use statements::{Advice, Hypothetical, Snapshot, Span, Statement};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use work::Stop;

/// The prefix of the names of dropped databases and roles.
const DROPPED: &str = "(dropped, OID ";
/// Timeout for reading the last counters after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Asks a server, over a connection to each database that matters.
pub(super) struct Reader {
    config: Config,
    limits: QueryLimits,
    stop: Stop,
    clients: BTreeMap<String, Client>,
    /// The database that has `pg_stat_statements`, and the schema that it is in, quoted.
    extension: Option<(String, String)>,
    /// Texts with values that sessions were seen to run, by the server's number of the statement.
    running: HashMap<String, String>,
    sampled: Sampled,
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
            sampled: Sampled::default(),
        };
        reader.client(&config.database).map_err(while_doing("connecting"))?;
        Ok(reader)
    }

    fn home(&mut self) -> Result<&mut Client, crate::client::Error> {
        let database = self.config.database.clone();
        self.client(&database)
    }

    /// The connection to a database.
    fn client(&mut self, database: &str) -> Result<&mut Client, crate::client::Error> {
        match self.clients.entry(database.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(connect(&self.config, database, &self.stop)?)),
        }
    }

    /// Returns whether a lost connection says nothing of the server: it is to another database than
    /// the one that was named, which still answers.
    fn is_of_dropped(&mut self, error: &crate::client::Error, database: &str) -> bool {
        matches!(error, crate::client::Error::Lost(_))
            && *database != self.config.database
            && self.home().and_then(|client| client.query("SELECT 1", &[])).is_ok()
    }

    /// Databases that clients use, those with most time first; the one that was named is always one
    /// of them.
    fn databases(&mut self, statements: &[Statement]) -> Vec<String> {
        let mut time: BTreeMap<&str, u64> = BTreeMap::new();
        for one in statements.iter().filter(|one| !is_dropped(&one.database)) {
            *time.entry(&one.database).or_default() +=
                one.get(statements::Counter::TimeNs).unwrap_or(0);
        }
        let mut all: Vec<(&str, u64)> =
            time.into_iter().filter(|(name, _)| *name != self.config.database).collect();
        all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let others = all.into_iter().map(|(name, _)| name.to_owned());
        std::iter::once(self.config.database.clone()).chain(others).collect()
    }
}

/// A session that changes nothing, waits for no lock, and leaves no statistics of its own where it
/// may choose that. A plan that was kept would be one for values.
fn connect(config: &Config, database: &str, stop: &Stop) -> Result<Client, crate::client::Error> {
    let config = config
        .clone()
        .with_database(database)
        .with_application_name("steelbench queries")
        .with_stop(stop.clone());
    let mut client = Client::connect(&config)?;
    client.set_answer_timeout(Some(work::silence_max()));
    client.set_stop(stop.clone(), LAST_ANSWERS);
    super::leave_no_statistics(&mut client);
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
fn dropped(oid: &str) -> String {
    format!("{DROPPED}{oid})")
}

/// Returns true for a name by [`dropped`].
fn is_dropped(name: &str) -> bool {
    name.starts_with(DROPPED)
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let client = self.home().map_err(while_doing("connecting"))?;
        let version = client.server_version();
        let now = format!(
            "SELECT /* {MARK} */ (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8, \
             pg_catalog.current_setting('block_size')"
        );
        let rows = client.query(&now, &[]).map_err(while_doing("reading the server's time"))?;
        let server = format!("PostgreSQL {}.{}", version / 10_000, version % 10_000);
        let now_ms = rows.first().and_then(|row| row.parse(0)).unwrap_or(0);
        let page = rows.first().and_then(|row| row.parse(1)).unwrap_or(8192);
        let span = Span { to_ms: now_ms, ..Span::default() };
        let mut snapshot = Snapshot::new(ENGINE, server, span, page);
        self.statements(&mut snapshot).map_err(while_doing("reading the statements"))?;
        if !self.limits.tables {
            return Ok(snapshot);
        }
        let detail = self.limits.storage;
        if detail > StorageDetail::Nothing {
            let client = self.home().map_err(while_doing("connecting"))?;
            storage::files(client, &mut snapshot);
        }
        let databases = self.databases(&snapshot.statements);
        let left_out = databases.len().saturating_sub(self.limits.databases);
        for database in databases.into_iter().take(self.limits.databases.max(1)) {
            let read = self.client(&database).and_then(|client| {
                let mut tables = indexes::tables(client, &database)?;
                match storage::statistics(client, detail, &mut tables) {
                    Err(error) if error.is_silence() => Err(error),
                    read => Ok((tables, read.err())),
                }
            });
            match read {
                Ok((tables, refused)) => {
                    snapshot.tables.extend(tables);
                    snapshot.unread.extend(refused.map(|error| Unread {
                        what: format!("statistics of database {database}"),
                        why: error.to_string(),
                    }));
                }
                // A database that is dropped takes its connections with it.
                Err(error) if error.is_silence() && !self.is_of_dropped(&error, &database) => {
                    let doing = format!("reading the tables of database {database}");
                    return Err(while_doing(&doing)(error));
                }
                Err(error) => {
                    if error.is_silence() {
                        self.clients.remove(&database);
                    }
                    snapshot.unread.push(Unread {
                        what: format!("tables and indexes of database {database}"),
                        why: error.to_string(),
                    });
                }
            }
        }
        if left_out > 0 {
            let why = "excluded by --databases".to_owned();
            snapshot.unread.push(Unread {
                what: format!("tables and indexes of {left_out} more databases"),
                why,
            });
        }
        Ok(snapshot)
    }

    fn look(&mut self) -> Result<(), ServerError> {
        let sql = format!(
            "SELECT /* {MARK} */ query_id, query, CASE state WHEN 'active' THEN \
             coalesce(wait_event_type || ':' || wait_event, 'CPU') END FROM \
             pg_catalog.pg_stat_activity WHERE query_id IS NOT NULL AND backend_type = 'client \
             backend' AND pid <> pg_catalog.pg_backend_pid() AND query NOT LIKE '%{MARK}%'"
        );
        let rows = self
            .home()
            .and_then(|client| client.query(&sql, &[]))
            .map_err(while_doing("reading running statements"))?;
        for row in rows.iter() {
            if let (Some(digest), Some(wait)) = (row.parse(0), row.parse(2)) {
                self.sampled.add(digest, wait);
            }
        }
        let seen = rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?)));
        remember(&mut self.running, seen.filter(|(_, text): &(_, String)| !text.contains('$')));
        Ok(())
    }

    fn samples(&mut self) -> Vec<StatementSamples> {
        self.sampled.take()
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        explain::all(self, snapshot);
    }

    fn health(&mut self, snapshot: &mut Snapshot) -> Vec<Advice> {
        health::health(self, snapshot)
    }

    fn hypothetical(&mut self, snapshot: &Snapshot, advice: &Advice) -> Option<Hypothetical> {
        explain::hypothetical(self, snapshot, advice)
    }
}
