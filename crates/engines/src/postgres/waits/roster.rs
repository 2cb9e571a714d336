use super::error::while_doing;
use super::window::Process;
use super::{OBSERVER, WaitsError};
use pgclient::{Client, Statement};
use std::collections::{HashMap, HashSet};

const DOING: &str = "listing the server's processes";

/// Who is connected: read about once a second, because it costs more than a sample.
#[derive(Debug)]
pub(super) struct Roster {
    list: Statement,
    /// The processes there are, without our own.
    pub(super) present: HashMap<i32, Process>,
    /// Connections of ours, and of other observers like us, which are not reported.
    pub(super) observers: HashSet<i32>,
    /// Texts of statements seen, by their number.
    pub(super) statements: HashMap<i64, String>,
}

impl Roster {
    /// Prepares it; statements' texts are kept only if they are asked for.
    pub(super) fn prepare(client: &mut Client, with_statements: bool) -> Result<Self, WaitsError> {
        let text = if with_statements { "left(query, 1000)" } else { "NULL" };
        let sql = format!(
            "SELECT pid, backend_type, application_name, usename, datname, query_id, {text} AS query, \
             query = '<insufficient privilege>' AS hidden FROM pg_stat_activity"
        );
        let list = client.prepare(&sql).map_err(while_doing(DOING))?;
        Ok(Self { list, present: HashMap::new(), observers: HashSet::new(), statements: HashMap::new() })
    }

    /// Lists the processes anew.
    pub(super) fn read(&mut self, client: &mut Client) -> Result<(), WaitsError> {
        let rows = client.query_prepared(&self.list, &[]).map_err(while_doing(DOING))?;
        self.present.clear();
        for row in rows.iter() {
            let text = |index: usize| row.get(index).unwrap_or_default().to_owned();
            let Some(pid) = row.get(0).and_then(|pid| pid.parse().ok()) else { continue };
            let process = Process {
                kind: text(1),
                application: text(2),
                user: text(3),
                database: text(4),
                hidden: row.get(7) == Some("t"),
            };
            if process.application == OBSERVER {
                self.observers.insert(pid);
                continue;
            }
            if let (Some(id), Some(query)) = (row.get(5).and_then(|id| id.parse().ok()), row.get(6)) {
                self.statements.entry(id).or_insert_with(|| query.to_owned());
            }
            // The number of an observer that has ended may be given to anybody.
            self.observers.remove(&pid);
            self.present.insert(pid, process);
        }
        Ok(())
    }
}
