//! The connections to a server that is asked, one to each database that matters.

use crate::postgres::session::leave_no_statistics;
use crate::query_reader::{QueryLimits, SampleCounts};
use crate::statements::{Counter, Statement};
use engine::server::MARK;
use engine::{AdminOptions, AdminSession, Fault, Server, ServerError, while_doing};
use observations::order;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;
use work::Stop;

/// The prefix of the names of dropped databases and roles.
const DROPPED: &str = "(dropped, OID ";
/// Timeout for reading the last counters after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Asks a server, over a connection to each database that matters.
pub(crate) struct Reader {
    server: Rc<dyn Server>,
    /// The database that is named.
    pub(super) home: String,
    pub(super) limits: QueryLimits,
    pub(super) stop: Stop,
    pub(super) sessions: BTreeMap<String, Box<dyn AdminSession>>,
    /// The database that has `pg_stat_statements`, and the schema that it is in, quoted.
    pub(super) extension: Option<(String, String)>,
    /// Texts with values that sessions were seen to run, by the server's number of the statement.
    pub(super) running: HashMap<String, String>,
    pub(super) sampled: SampleCounts,
}

impl Reader {
    /// Connects to the database that is named.
    pub fn start(
        server: &Rc<dyn Server>,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let session = open(&**server, None, stop).map_err(while_doing("connecting"))?;
        let home = session.server().database.clone();
        Ok(Self {
            server: Rc::clone(server),
            limits,
            stop: stop.clone(),
            sessions: BTreeMap::from([(home.clone(), session)]),
            home,
            extension: None,
            running: HashMap::new(),
            sampled: SampleCounts::default(),
        })
    }

    pub(super) fn home(&mut self) -> Result<&mut dyn AdminSession, ServerError> {
        let database = self.home.clone();
        self.session(&database)
    }

    /// The session in a database.
    pub(super) fn session(&mut self, database: &str) -> Result<&mut dyn AdminSession, ServerError> {
        let session = match self.sessions.entry(database.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(open(&*self.server, Some(database), &self.stop)?),
        };
        Ok(&mut **session)
    }

    /// Returns whether a lost connection says nothing of the server: it is to another database than
    /// the one that was named, which still answers.
    pub(super) fn is_of_dropped(&mut self, error: &ServerError, database: &str) -> bool {
        error.fault == Fault::Loss
            && *database != self.home
            && self.home().and_then(|session| session.query("SELECT 1")).is_ok()
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
            time.into_iter().filter(|(name, _)| *name != self.home).collect();
        order::by_key(&mut all, &|(_, time)| std::cmp::Reverse(*time));
        let others = all.into_iter().map(|(name, _)| name.to_owned());
        std::iter::once(self.home.clone()).chain(others).collect()
    }
}

/// A session that changes nothing, waits for no lock, and leaves no statistics of its own where it
/// may choose that. A plan that was kept would be one for values.
fn open(
    server: &dyn Server,
    database: Option<&str>,
    stop: &Stop,
) -> Result<Box<dyn AdminSession>, ServerError> {
    let application = "steelbench queries";
    let options = AdminOptions { application, database, grace: LAST_ANSWERS };
    let mut session = server.session(&options, stop)?;
    leave_no_statistics(&mut *session);
    session.limit(Duration::from_secs(30))?;
    for setting in [
        "default_transaction_read_only = on",
        "lock_timeout = '500ms'",
        "plan_cache_mode = force_generic_plan",
    ] {
        session.run(&format!("SET /* {MARK} */ {setting}"))?;
    }
    Ok(session)
}

/// Stands for the name of a database or role that was dropped.
pub(super) fn dropped(oid: &str) -> String {
    format!("{DROPPED}{oid})")
}

/// Returns true for a name by [`dropped`].
pub(super) fn is_dropped(name: &str) -> bool {
    name.starts_with(DROPPED)
}

/// Major and minor version of a server.
pub(super) fn version(session: &dyn AdminSession) -> [u32; 2] {
    let text = &session.server().version;
    let text = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let text = text.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    let mut numbers = text.split('.').filter_map(|part| part.parse().ok());
    [(); 2].map(|()| numbers.next().unwrap_or(0))
}
