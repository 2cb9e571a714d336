//! Plans that the server makes again for texts with values. No statement is run: EXPLAIN goes
//! through PREPARE, which refuses what is more than one statement, and the session is read-only.

use super::Reader;
use crate::mariadb::statement_rules::quoted;
use crate::mariadb::{PLANS, RULES};
use crate::query_reader::{SAMPLED_ROWS, counted_distinct, distinct_query, explain_each};
use crate::statements::{
    Column, Counter, Origin, Snapshot, StatementPlan, aliases, fingerprint, has_names,
};
use engine::{NoPlan, ServerError};
use work::sql::{Kind, Syntax, tokens};

const NO_SAMPLE: &str = "no statement text with values is available, which the server needs to \
                         make a plan. Enable the consumers events_statements_history and \
                         events_statements_current (performance_schema.setup_consumers), or use \
                         --seconds while the statement runs";

/// Access to a database, a table, a column or a view is denied.
const DENIED: [&str; 4] = ["1044", "1142", "1143", "1345"];

/// `ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION`.
const READ_ONLY: &str = "1792";
const NOT_OF_CHANGES: &str = "the server explains data changes only in read-write sessions, and \
                              this session is read-only";
const CUT_OFF: &str = "the server truncated the statement text \
                       (performance_schema_max_sql_text_length), so it cannot be parsed";

/// Makes a plan for each statement that can have one, in their order.
pub(super) fn all(reader: &mut Reader, snapshot: &mut Snapshot) {
    // Unreadable sessions give no texts.
    let _ = reader.look_at_sessions();
    reader.sample_columns(snapshot);
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
        statement.sample.clone_from(&known);
        let (origin, known) = match known {
            Some(known) => (Origin::Sample, known),
            None => (Origin::Generic, with_any_values(&statement.text)),
        };
        let mut found = reader
            .plan(&statement.database, &known, origin)
            .map_err(|why| if origin == Origin::Generic { unknown(why) } else { why })?;
        // MariaDB calls tables as the statement does.
        let aliases = aliases(&known, RULES.syntax);
        found.plan.visit_operators(|operator| {
            for object in &mut operator.objects {
                if let Some(table) = aliases.get(&object.table.to_lowercase()) {
                    object.table.clone_from(table);
                }
            }
        });
        Ok(vec![found])
    });
}

/// A text whose values are not known is refused for the value in their place, too.
fn unknown(why: NoPlan) -> NoPlan {
    match why {
        NoPlan::Refused { message } if message == CUT_OFF => NoPlan::refused(NO_SAMPLE),
        why => why,
    }
}

/// Words whose value is a number.
const BEFORE_NUMBERS: [&str; 4] = ["limit", "offset", "interval", ","];

/// The server's text of a statement with a value for each `?`: its access paths are mostly those
/// of other values. A text is converted to the type of the column; a number is not.
fn with_any_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = text.replace("(...)", "(?, ?)").replace("...", "?");
    let mut before = String::new();
    let mut is_limit = false;
    for token in tokens(&text, Syntax::MariaDb) {
        is_limit |= token.is_keyword("limit");
        if token.text == "?" {
            let number = BEFORE_NUMBERS.iter().any(|word| before.eq_ignore_ascii_case(word));
            out.push_str(if number && (is_limit || before != ",") { "1" } else { "'1'" });
        } else {
            out.push_str(token.text);
        }
        if token.kind != Kind::Space {
            token.text.clone_into(&mut before);
        }
    }
    out
}

impl Reader {
    fn plan(
        &mut self,
        database: &str,
        text: &str,
        origin: Origin,
    ) -> Result<StatementPlan, NoPlan> {
        let reason = |error: ServerError| {
            let code = error.code.as_deref();
            if code.is_some_and(|code| DENIED.contains(&code)) {
                return NoPlan::Denied { message: error.to_string() };
            }
            NoPlan::refused(match code {
                Some(READ_ONLY) => NOT_OF_CHANGES.to_owned(),
                // "parse error", which quotes the text with its constants
                Some("1064") => CUT_OFF.to_owned(),
                _ => error.to_string(),
            })
        };
        if !database.is_empty() {
            self.session.run(&format!("USE {}", quoted(database))).map_err(reason)?;
        }
        let explain = format!("EXPLAIN FORMAT=JSON {text}");
        let name = self.session.prepare(&explain).map_err(reason)?;
        let explained = self.session.cell(&format!("EXECUTE {name}"));
        let _ = self.session.run(&format!("DEALLOCATE PREPARE {name}"));
        let json = explained.map_err(reason)?.unwrap_or_default();
        let plan = PLANS.read_one(&json).map_err(NoPlan::refused)?;
        Ok(StatementPlan::new(origin, plan).with_text("json", json))
    }
}

/// Tables whose columns are sampled, and the columns that are read of each.
const SAMPLED_TABLES: usize = 20;
const SAMPLED_COLUMNS: usize = 24;
/// Types whose values are not counted.
const LARGE: &str = "blob mediumblob longblob text mediumtext longtext json geometry tinyblob \
                     tinytext";

impl Reader {
    /// Counts different values among the first rows of tables that statements read whole: the
    /// server knows nothing of columns without an index. Where that is refused they stay unknown.
    pub(super) fn sample_columns(&mut self, snapshot: &mut Snapshot) {
        let mut left = SAMPLED_TABLES;
        for table in &mut snapshot.tables {
            let rows = table.rows.unwrap_or(0.0);
            let is_read = rows >= SAMPLED_ROWS as f64
                && snapshot.statements.iter().any(|statement| {
                    statement.by_call(Counter::RowsRead).is_some_and(|read| read >= rows / 2.0)
                        && statement.text.to_lowercase().contains(&table.name.to_lowercase())
                });
            if !is_read || left == 0 || self.stop.is_asked() {
                continue;
            }
            left -= 1;
            let mut columns: Vec<&mut Column> = table
                .columns
                .iter_mut()
                .filter(|column| {
                    !LARGE.split(' ').any(|kind| column.kind.eq_ignore_ascii_case(kind))
                })
                .take(SAMPLED_COLUMNS)
                .collect();
            let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
            let Ok(found) = self.session.query(&distinct_query(&table.quoted, &names)) else {
                continue;
            };
            counted_distinct(&mut columns, &found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_any_values;

    #[test]
    fn each_value_is_one_that_its_place_takes() {
        assert_eq!(
            with_any_values(
                "SELECT `a` FROM `t` WHERE `b` IN (...) AND `c` > NOW ( ) - INTERVAL ? DAY LIMIT \
                 ?, ?"
            ),
            "SELECT `a` FROM `t` WHERE `b` IN ('1', '1') AND `c` > NOW ( ) - INTERVAL 1 DAY LIMIT \
             1, 1"
        );
    }
}
