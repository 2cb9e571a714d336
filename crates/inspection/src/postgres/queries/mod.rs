//! Statements by `pg_stat_statements`, indexes by the catalogues and the cumulative statistics,
//! plans by EXPLAIN. All are asked over the connections of a [`Reader`].
//!
//! <https://www.postgresql.org/docs/current/pgstatstatements.html>,
//! <https://www.postgresql.org/docs/current/monitoring-stats.html>

mod counters;
mod explain;
mod health;
mod indexes;
mod reader;
mod storage;

use crate::OpenedReader;
use crate::postgres::ENGINE;
use crate::query_reader::{QueryLimits, QueryReader, StatementSamples, StorageDetail, remember};
use crate::statements::{Advice, Hypothetical, Snapshot, Span};
use engine::{Server, ServerError, View, while_doing};
use reader::{Reader, version};
use std::rc::Rc;
use work::Stop;

/// The queries about statements.
const FILE: &str = include_str!("statements.sql");

/// Connects to the database that the URL names.
pub(super) fn open(server: &Rc<dyn Server>, limits: QueryLimits, stop: &Stop) -> OpenedReader {
    Ok(Box::new(Reader::start(server, limits, stop)?))
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let session = self.home().map_err(while_doing("connecting"))?;
        let [major, minor] = version(session);
        let now = View::new("time", FILE).sql();
        let rows = session.query(&now).map_err(while_doing("reading the server's time"))?;
        let server = format!("PostgreSQL {major}.{minor}");
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
            let session = self.home().map_err(while_doing("connecting"))?;
            storage::files(session, &mut snapshot);
        }
        let databases = self.databases(&snapshot.statements);
        let left_out = databases.len().saturating_sub(self.limits.databases);
        for database in databases.into_iter().take(self.limits.databases.max(1)) {
            let read = self.session(&database).and_then(|session| {
                let mut tables = indexes::tables(session, &database)?;
                match storage::statistics(session, detail, &mut tables) {
                    Err(error) if error.is_silence() => Err(error),
                    read => Ok((tables, read.err())),
                }
            });
            match read {
                Ok((tables, refused)) => {
                    snapshot.tables.extend(tables);
                    if let Some(error) = refused {
                        let what = format!("statistics of database {database}");
                        snapshot.note_unread(what, error.what);
                    }
                }
                // A database that is dropped takes its connections with it.
                Err(error) if error.is_silence() && !self.is_of_dropped(&error, &database) => {
                    let doing = format!("reading the tables of database {database}");
                    return Err(while_doing(&doing)(error));
                }
                Err(error) => {
                    if error.is_silence() {
                        self.sessions.remove(&database);
                    }
                    let what = format!("tables and indexes of database {database}");
                    snapshot.note_unread(what, error.what);
                }
            }
        }
        if left_out > 0 {
            let what = format!("tables and indexes of {left_out} more databases");
            snapshot.note_unread(what, "excluded by --databases");
        }
        Ok(snapshot)
    }

    fn look(&mut self) -> Result<(), ServerError> {
        let sql = View::new("running statements", FILE).sql();
        let rows = self
            .home()
            .and_then(|session| session.query(&sql))
            .map_err(while_doing("reading running statements"))?;
        for row in rows.iter() {
            if let (Some(digest), Some(wait)) = (row.parse(0), row.parse(2)) {
                self.sampled.add(digest, wait);
            }
        }
        let pairs = rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?)));
        remember(&mut self.running, pairs.filter(|(_, text): &(_, String)| !text.contains('$')));
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
