//! Plans that the server makes anew for texts with values. No statement is run: EXPLAIN goes through PREPARE, which refuses
//! what is more than one statement, and the session is read-only.

use super::Reader;
use crate::query_reader::{BEYOND_LIMIT, MARK, NO_PLAN};
use plans::{Engine, Plan};
use queries::{Origin, Snapshot, StatementPlan, fingerprint};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Time for all plans together.
const TIME_MAX: Duration = Duration::from_secs(30);

const NO_SAMPLE: &str = "no text with values is known, and MariaDB plans for values only: the server keeps such texts while the \
     consumers events_statements_history and events_statements_current are on (performance_schema.setup_consumers), or run this \
     with --seconds while the statement runs";

/// Makes a plan for each statement that can have one, in their order.
pub(super) fn all(reader: &mut Reader, snapshot: &mut Snapshot) {
    // What cannot be looked at gives no texts.
    let _ = reader.look_at_sessions();
    let begun = Instant::now();
    let mut made = 0;
    for statement in &mut snapshot.statements {
        let fingerprint = fingerprint(&statement.text, Engine::MariaDb);
        let known =
            reader.sampled.get(&statement.digest).or_else(|| reader.running.get(&fingerprint)).cloned();
        let why_not = match &known {
            _ if !statement.can_be_explained() => Some(NO_PLAN),
            _ if made == reader.limits.plans => Some(BEYOND_LIMIT),
            _ if begun.elapsed() > TIME_MAX || reader.stop.is_asked() => {
                Some("there was no time left for plans")
            }
            None => Some(NO_SAMPLE),
            Some(_) => None,
        };
        if let Some(why) = why_not {
            statement.not_explained = Some(why.into());
            continue;
        }
        match reader.plan(&statement.database, &known.unwrap_or_default()) {
            Ok(plan) => {
                made += 1;
                statement.plans.push(StatementPlan { origin: Origin::Sample, runs: 0, plan });
            }
            Err(why) => statement.not_explained = Some(why),
        }
    }
}

impl Reader {
    fn plan(&mut self, database: &str, text: &str) -> Result<Plan, String> {
        let said = |error: mysqlclient::Error| error.to_string();
        if !database.is_empty() {
            self.client.run(&format!("USE `{}`", database.replace('`', "``"))).map_err(said)?;
        }
        let mut hex = String::new();
        for byte in format!("EXPLAIN FORMAT=JSON {text}").bytes() {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        self.client
            .run(&format!("SET @{MARK} = CONVERT(x'{hex}' USING utf8mb4); PREPARE {MARK} FROM @{MARK}"))
            .map_err(said)?;
        let explained = self.client.cell(&format!("EXECUTE {MARK}"));
        let _ = self.client.run(&format!("DEALLOCATE PREPARE {MARK}"));
        let json = explained.map_err(said)?.unwrap_or_default();
        let read = plans::read(json.as_bytes()).map_err(|error| error.to_string())?;
        read.into_iter().next().and_then(|one| one.plan).ok_or_else(|| "the server returned no plan".into())
    }
}
