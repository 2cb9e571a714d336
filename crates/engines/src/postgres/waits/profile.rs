use super::WaitsError;
use super::error::while_doing;
use pgclient::{Client, Statement, quote_identifier};
use std::collections::HashMap;

const DOING: &str = "reading pg_wait_sampling's profile";

/// The profile of waits that the extension `pg_wait_sampling` keeps: it looks at every process once
/// in `pg_wait_sampling.profile_period` and counts the waits that it sees.
#[derive(Debug)]
pub(super) struct Profile {
    read: Statement,
    before: HashMap<ProfileKey, u64>,
    /// Samples a second.
    pub(super) hz: f64,
}

/// A line of the profile. Without type and event: on a processor (versions 1.1.6 and later).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ProfileKey {
    pub(super) pid: i32,
    pub(super) kind: String,
    pub(super) event: String,
    pub(super) query_id: Option<i64>,
}

impl Profile {
    /// The profile, where the extension is installed in this database, loaded, readable for us,
    /// and tells processes apart.
    pub(super) fn find(client: &mut Client) -> Option<Self> {
        let setting = "SELECT quote_ident(n.nspname), \
                       current_setting('pg_wait_sampling.profile_period', true)::float8, \
                       current_setting('pg_wait_sampling.profile_pid', true)::bool \
                       FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
                       WHERE e.extname = 'pg_wait_sampling'";
        let rows = client.query(setting, &[]).ok()?;
        let row = rows.iter().next()?;
        let period_ms: f64 = row.get(1)?.parse().ok().filter(|period| *period > 0.0)?;
        if row.get(2) != Some("t") {
            return None;
        }
        let sql = format!(
            "SELECT pid, event_type, event, queryid, count FROM {}.{}",
            row.get(0)?,
            quote_identifier("pg_wait_sampling_profile")
        );
        let read = client.prepare(&sql).ok()?;
        let mut profile = Self { read, before: HashMap::new(), hz: 1000.0 / period_ms };
        // Reading fails where the extension is installed but not loaded, or not for our role.
        profile.advance(client).ok()?;
        Some(profile)
    }

    /// What was counted since the last call.
    pub(super) fn advance(&mut self, client: &mut Client) -> Result<HashMap<ProfileKey, u64>, WaitsError> {
        let rows = client.query_prepared(&self.read, &[]).map_err(while_doing(DOING))?;
        let mut now = HashMap::with_capacity(rows.len());
        for row in rows.iter() {
            let number = |index: usize| row.get(index).and_then(|number| number.parse::<i64>().ok());
            let key = ProfileKey {
                pid: number(0).unwrap_or(0) as i32,
                kind: row.get(1).unwrap_or_default().to_owned(),
                event: row.get(2).unwrap_or_default().to_owned(),
                query_id: number(3).filter(|id| *id != 0),
            };
            *now.entry(key).or_insert(0) += number(4).unwrap_or(0) as u64;
        }
        let mut counted = HashMap::new();
        for (key, count) in &now {
            let before = self.before.get(key).copied().unwrap_or(0);
            match count.checked_sub(before) {
                Some(0) => {}
                Some(more) => drop(counted.insert(key.clone(), more)),
                None => return Err(WaitsError::Reset { view: "pg_wait_sampling_profile".to_owned() }),
            }
        }
        if self.before.keys().any(|key| !now.contains_key(key)) {
            return Err(WaitsError::Reset { view: "pg_wait_sampling_profile".to_owned() });
        }
        self.before = now;
        Ok(counted)
    }
}
