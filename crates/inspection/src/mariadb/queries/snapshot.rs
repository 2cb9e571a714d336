//! Snapshots of a server, and what goes with them: waits, samples, plans and findings.

use super::{FILE, Reader, explain, health, storage};
use crate::mariadb::{ENGINE, RULES};
use crate::query_reader::{QueryReader, StatementSamples, StorageDetail};
use crate::statements::{Advice, Snapshot, Span, fingerprint};
use engine::{ServerError, View, while_doing};
use observations::Wait;

/// Facts hidden by `performance_schema = OFF`, and the remedy.
const OFF: &str =
    "the Performance Schema is off: set performance_schema = ON and restart the server";

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let sql = View::new("time", FILE).sql();
        let rows = self.rows(&sql).map_err(while_doing("reading the server's time"))?;
        let [now, page, instruments] = rows.into_iter().next().unwrap_or_default();
        let server = self.session.server().version.clone();
        let span = Span { to_ms: now.parse::<f64>().unwrap_or(0.0) as i64, ..Span::default() };
        let mut snapshot = Snapshot::new(ENGINE, server, span, page.parse().unwrap_or(16_384));
        let is_on = instruments == "1";
        if !is_on {
            snapshot.note_unread("statements and index usage", OFF);
        } else if let Err(error) = self.statements(&mut snapshot) {
            if error.is_silence() {
                return Err(while_doing("reading the statements")(error));
            }
            snapshot.note_unread("statements", error);
        }
        if !self.limits.tables {
            return Ok(snapshot);
        }
        if let Err(error) = self.tables(&mut snapshot, is_on) {
            if error.is_silence() {
                return Err(while_doing("reading the tables")(error));
            }
            snapshot.note_unread("tables and indexes", error);
        }
        if is_on && self.limits.storage > StorageDetail::Nothing {
            snapshot.files = snapshot.read("files", self.files()).unwrap_or_default();
            if snapshot.files.len() == storage::FILES_MAX {
                let most = format!("Files: the {} with most time.", storage::FILES_MAX);
                snapshot.notes.push(most);
            }
        }
        Ok(snapshot)
    }

    fn waits(&mut self) -> Result<Option<Vec<Wait>>, ServerError> {
        let waits = self.waits_of_clients().map_err(while_doing("reading the waits"))?;
        // It counts none while the Performance Schema or its instruments are off.
        Ok(Some(waits).filter(|waits| !waits.is_empty()))
    }

    fn look(&mut self) -> Result<(), ServerError> {
        self.look_at_sessions().map_err(while_doing("reading running statements"))
    }

    fn samples(&mut self) -> Vec<StatementSamples> {
        let all = self.waits.take().into_iter();
        // The server numbers a statement when it has ended.
        let known = all.filter_map(|sample| {
            let digest = self.digests.get(&sample.digest)?.clone();
            Some(StatementSamples { digest, ..sample })
        });
        known.collect()
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let each = snapshot.statements.iter();
        self.digests = each
            .map(|statement| (fingerprint(&statement.text, &RULES), statement.digest.clone()))
            .collect();
        explain::all(self, snapshot);
    }

    fn health(&mut self, snapshot: &mut Snapshot) -> Vec<Advice> {
        health::health(self, snapshot)
    }
}
