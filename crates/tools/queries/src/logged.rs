//! Plans of a server's log, and the statements that they belong to.

use command_line::{Context, Failure};
use inspection::plan_files;
use inspection::plans::{self, FILE_BYTES_MAX};
use inspection::statements::{Origin, Rules, Snapshot, StatementPlan, fingerprint};
use observations::number::plural;
use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;
use work::sql::{Syntax, tokens};

/// Plans of one statement that are kept: those that took longest.
const PLANS_MAX: usize = 5;

/// Plans that could not be read whose reason is noted.
const DAMAGED_MAX: usize = 5;

/// The plans of logs of `auto_explain`.
pub(crate) fn read_logs(
    context: &Context,
    files: &[PathBuf],
) -> Result<Vec<plans::Statement>, Failure> {
    let mut logged = Vec::new();
    for file in files {
        let unreadable =
            |error: &dyn Display| Failure::usage(format!("{}: {error}", file.display()));
        let bytes =
            experiment::read_bytes(file, FILE_BYTES_MAX).map_err(|error| unreadable(&error))?;
        let mut read = plan_files::read(context.registry.adapters(), &bytes)
            .map_err(|error| unreadable(&error))?;
        for damage in read.iter_mut().filter_map(|statement| statement.damage.as_mut()) {
            *damage = format!("{}, {damage}", file.display());
        }
        logged.extend(read);
    }
    Ok(logged)
}

/// The text of a logged statement with the values that it ran with in place of `$1`; `None` where
/// one is not known.
pub fn with_values(statement: &plans::Statement, syntax: Syntax) -> Option<String> {
    let parameters = statement.plan.as_ref().map_or(&[][..], |plan| &plan.parameters);
    let mut out = String::new();
    for token in tokens(&statement.text, syntax) {
        if token.is_numbered_parameter() {
            let value = parameters.iter().find(|parameter| parameter.name == token.text)?;
            out.push_str(value.run.as_deref()?);
        } else {
            out.push_str(token.text);
        }
    }
    (!out.trim().is_empty()).then_some(out)
}

/// Adds the plans of a log to their statements, by the server's number or by the text; of one shape
/// the run that took longest. Notes count plans of other statements and unreadable ones.
pub fn attach_logged(snapshot: &mut Snapshot, logged: Vec<plans::Statement>, rules: &Rules) {
    let mut by_digest: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, statement) in snapshot.statements.iter().enumerate() {
        by_digest.entry(statement.digest.clone()).or_default().push(at);
        by_text.entry(fingerprint(&statement.text, rules)).or_default().push(at);
    }
    let (mut unknown, mut damaged) = (0, 0);
    for mut statement in logged {
        if let Some(damage) = statement.damage.take() {
            damaged += 1;
            if damaged <= DAMAGED_MAX {
                snapshot.notes.push(format!("Unreadable plan in the log: {damage}."));
            }
            continue;
        }
        let sample = with_values(&statement, rules.syntax);
        let by_hash = statement.query_hash.as_ref().and_then(|hash| by_digest.get(hash));
        let found = by_hash.or_else(|| by_text.get(&fingerprint(&statement.text, rules)));
        let (Some(found), Some(plan)) = (found, statement.plan) else {
            unknown += 1;
            continue;
        };
        for at in found {
            add(
                &mut snapshot.statements[*at].plans,
                StatementPlan {
                    runs: 1,
                    sample: sample.clone(),
                    ..StatementPlan::new(Origin::Logged, plan.clone())
                },
            );
        }
    }
    if damaged > DAMAGED_MAX {
        let more = plural(damaged - DAMAGED_MAX, "more plan");
        snapshot.notes.push(format!("{more} in the log unreadable."));
    }
    if unknown > 0 {
        snapshot
            .notes
            .push(format!("{} in the log: not of these statements.", plural(unknown, "plan")));
    }
}

fn add(known: &mut Vec<StatementPlan>, new: StatementPlan) {
    let shape = new.shape();
    let same = known
        .iter_mut()
        .find(|candidate| candidate.origin == Origin::Logged && candidate.shape() == shape);
    if let Some(same) = same {
        let runs = same.runs + 1;
        if new.plan.elapsed_ms > same.plan.elapsed_ms {
            *same = new;
        }
        same.runs = runs;
        return;
    }
    known.push(new);
    let logged = known.iter().filter(|statement| statement.origin == Origin::Logged).count();
    if logged > PLANS_MAX {
        let ms = |at: &usize| known[*at].plan.elapsed_ms.unwrap_or(0.0);
        let logged = (0..known.len()).filter(|at| known[*at].origin == Origin::Logged);
        if let Some(quickest) = logged.min_by(|a, b| ms(a).total_cmp(&ms(b))) {
            known.remove(quickest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{attach_logged, with_values};
    use inspection::plans::{self, PlanError};
    use inspection::postgres::{ENGINE, PLANS, RULES};
    use inspection::statements::{Snapshot, Span, Statement};

    fn read(log: &str) -> Result<Vec<plans::Statement>, PlanError> {
        (PLANS.read)(log)
    }

    #[test]
    fn a_plan_is_of_the_table_whose_name_has_the_same_case() {
        let mut snapshot = Snapshot::new(ENGINE, String::new(), Span::default(), 8192);
        snapshot.statements = ["T", "t"]
            .map(|name| Statement {
                text: format!("SELECT a FROM \"{name}\" WHERE id = $1"),
                ..Statement::default()
            })
            .into();
        let log = "x LOG:  duration: 1.5 ms  plan:\n\tQuery Text: SELECT a FROM \"t\" WHERE id = \
                   5\n\tSeq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n";
        attach_logged(&mut snapshot, read(log).unwrap(), &RULES);
        assert_eq!(
            snapshot.statements.iter().map(|statement| statement.plans.len()).collect::<Vec<_>>(),
            [0, 1]
        );
        assert!(snapshot.notes.is_empty(), "{:?}", snapshot.notes);
    }

    #[test]
    fn values_of_a_run_stand_in_its_text() {
        let log = |parameters: &str| {
            format!(
                "x LOG:  duration: 1.5 ms  plan:\n\tQuery Text: SELECT größe, '$1', \"$2\" FROM \
                 t\n\tWHERE a = $1 AND b = $2::text || $10\n{parameters}\tSeq Scan on t  \
                 (cost=0.00..1.00 rows=1 width=4)\n"
            )
        };
        let of = |parameters: &str| with_values(&read(&log(parameters)).unwrap()[0], RULES.syntax);
        assert_eq!(
            of("\tQuery Parameters: $1 = '5', $2 = 'it''s, $1 = ', $10 = NULL\n").as_deref(),
            Some(
                "SELECT größe, '$1', \"$2\" FROM t\nWHERE a = '5' AND b = 'it''s, $1 = '::text || \
                 NULL"
            )
        );
        assert_eq!(
            of("\tQuery Parameters: $1 = '5', $2 = 'long...', $10 = NULL\n"),
            None,
            "cut off"
        );
        assert_eq!(of(""), None);
        let later = format!(
            "{}x LOG:  duration: 1.6 ms  execute s1: SELECT größe, '$1', \"$2\" FROM t\n\tWHERE a \
             = $1 AND b = $2::text || $10\nx DETAIL:  parameters: $1 = '7', $2 = 'x', $10 = '1'\n",
            log("")
        );
        let found = read(&later).unwrap();
        assert_eq!(found.len(), 1);
        assert!(
            with_values(&found[0], RULES.syntax)
                .unwrap()
                .ends_with("WHERE a = '7' AND b = 'x'::text || '1'"),
            "{found:?}"
        );
    }
}
