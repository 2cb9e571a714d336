//! Plans that the server makes again for texts with values. No statement is run: EXPLAIN goes
//! through PREPARE, which refuses what is more than one statement, and the session is read-only.

use super::Reader;
use crate::client::quote_identifier;
use crate::plan_reader::JsonPlans;
use crate::statement_rules::RULES;
use engine::NoPlan;
use engine::Plans as _;
use engine::query_reader::{MARK, explain_each};
use plans::Plan;
use statements::{Origin, Snapshot, StatementPlan, aliases, fingerprint, has_names};

const NO_SAMPLE: &str = "no statement text with values is available, which the server needs to \
                         make a plan. Enable the consumers events_statements_history and \
                         events_statements_current (performance_schema.setup_consumers), or use \
                         --seconds while the statement runs";

/// Access to a database, a table, a column or a view is denied.
const DENIED: [u16; 4] = [1044, 1142, 1143, 1345];

/// `ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION`.
const READ_ONLY: u16 = 1792;
const NOT_OF_CHANGES: &str = "the server explains data changes only in read-write sessions, and \
                              this session is read-only";
const CUT_OFF: &str = "the server truncated the statement text \
                       (performance_schema_max_sql_text_length), so it cannot be parsed";

/// Makes a plan for each statement that can have one, in their order.
pub(super) fn all(reader: &mut Reader, snapshot: &mut Snapshot) {
    // Unreadable sessions give no texts.
    let _ = reader.look_at_sessions();
    let (plans, stop) = (reader.limits.plans, reader.stop.clone());
    explain_each(&mut snapshot.statements, plans, &stop, |statement| {
        let known = reader
            .sampled
            .get(&statement.digest)
            .or_else(|| {
                let sent = reader.running.get(&fingerprint(&statement.text, &RULES))?;
                has_names(sent, &statement.text, RULES.syntax).then_some(sent)
            })
            .cloned();
        let known = known.ok_or_else(|| NoPlan::refused(NO_SAMPLE))?;
        statement.sample = Some(known.clone());
        let mut plan = reader.plan(&statement.database, &known)?;
        // MariaDB calls tables as the statement does.
        let aliases = aliases(&known, RULES.syntax);
        plan.visit_operators(|operator| {
            for object in &mut operator.objects {
                if let Some(table) = aliases.get(&object.table.to_lowercase()) {
                    object.table.clone_from(table);
                }
            }
        });
        Ok(vec![StatementPlan::new(Origin::Sample, plan)])
    });
}

impl Reader {
    fn plan(&mut self, database: &str, text: &str) -> Result<Plan, NoPlan> {
        let said = |error: crate::client::Error| {
            if error.code().is_some_and(|code| DENIED.contains(&code)) {
                return NoPlan::Denied { message: error.to_string() };
            }
            NoPlan::refused(match error.code() {
                Some(READ_ONLY) => NOT_OF_CHANGES.to_owned(),
                // "parse error", which quotes the text with its constants
                Some(1064) => CUT_OFF.to_owned(),
                _ => error.to_string(),
            })
        };
        if !database.is_empty() {
            self.client.run(&format!("USE {}", quote_identifier(database))).map_err(said)?;
        }
        let hex = observations::hexadecimal(format!("EXPLAIN FORMAT=JSON {text}").as_bytes());
        self.client
            .run(&format!(
                "SET @{MARK} = CONVERT(x'{hex}' USING utf8mb4); PREPARE {MARK} FROM @{MARK}"
            ))
            .map_err(said)?;
        let explained = self.client.cell(&format!("EXECUTE {MARK}"));
        let _ = self.client.run(&format!("DEALLOCATE PREPARE {MARK}"));
        let json = explained.map_err(said)?.unwrap_or_default();
        Ok(JsonPlans.read_one(&json)?)
    }
}
