//! Plans that the server makes again. No statement is run: each is first parsed by itself, so that
//! what is more than one is refused, and then explained without ANALYZE in a read-only session.
//!
//! From 16 on the plan for any values is that of `EXPLAIN (GENERIC_PLAN)`
//! (<https://www.postgresql.org/docs/current/sql-explain.html>). Before, it is that of a prepared
//! statement under `plan_cache_mode = force_generic_plan`, to which NULL is given for each value
//! (<https://www.postgresql.org/docs/current/sql-prepare.html>).

use super::{Reader, is_dropped};
use crate::client::{Client, Error};
use crate::plan_reader::ExplainPlans;
use engine::NoPlan;
use engine::Plans as _;
use engine::query_reader::{MARK, explain_each};
use plans::Plan;
use statements::{Advice, Hypothetical, Origin, Snapshot, StatementPlan};

/// Makes a plan for each statement that can have one, in their order.
pub(super) fn all(reader: &mut Reader, snapshot: &mut Snapshot) {
    let (plans, stop) = (reader.limits.plans, reader.stop.clone());
    explain_each(&mut snapshot.statements, plans, &stop, |statement| {
        let seen =
            reader.running.get(&statement.digest).filter(|text| !text.contains('$')).cloned();
        let logged = statement.plans.iter().find_map(|one| one.sample.clone());
        if is_dropped(&statement.database) {
            return Err(NoPlan::refused("its database was dropped"));
        }
        let client = reader.client(&statement.database).map_err(NoPlan::refused)?;
        let generic =
            plan(client, &statement.text).map(|plan| StatementPlan::new(Origin::Generic, plan));
        let text = logged.or_else(|| seen.filter(|_| generic.is_err()));
        let sample = text
            .and_then(|text| Some(StatementPlan::new(Origin::Sample, plan(client, &text).ok()?)));
        match (generic, sample) {
            (Err(why), None) => Err(why),
            (generic, sample) => Ok(generic.into_iter().chain(sample).collect()),
        }
    });
}

/// The plan of a text for any values, or why there is none.
fn plan(client: &mut Client, text: &str) -> Result<Plan, NoPlan> {
    let said = |error: Error| {
        NoPlan::refused(match error.code() {
            // "undefined table", "undefined function"
            Some("42P01" | "42883") => {
                format!(
                    "{error}: it was dropped, is temporary, or is in a schema outside this \
                     session's search_path"
                )
            }
            // "syntax error", "indeterminate datatype", "ambiguous function"
            Some("42601" | "42P18" | "42725") => {
                format!(
                    "{}: it cannot be planned without parameter values",
                    error.to_string().trim_end_matches('.')
                )
            }
            _ => error.to_string(),
        })
    };
    let parsed = client.prepare(text).map_err(said)?;
    let explained = if client.server_version() >= 160_000 {
        client.simple_query(&format!(
            "EXPLAIN /* {MARK} */ (FORMAT JSON, VERBOSE, GENERIC_PLAN) {text}"
        ))
    } else {
        let nulls = vec!["NULL"; parsed.parameter_types.len()].join(", ");
        let arguments = if nulls.is_empty() { nulls } else { format!("({nulls})") };
        client.simple_query(&format!(
            "EXPLAIN /* {MARK} */ (FORMAT JSON, VERBOSE) EXECUTE {} {arguments}",
            parsed.name
        ))
    };
    // A statement that cannot be deallocated ends with the session.
    let _ = client.batch(&format!("DEALLOCATE /* {MARK} */ {}", parsed.name));
    let rows = explained.map_err(said)?;
    let json = rows.first().map(|row| row.text(0)).unwrap_or_default();
    Ok(ExplainPlans.read_one(&json)?)
}

/// By hypopg, which knows indexes that are there only for our session's planner
/// (<https://hypopg.readthedocs.io/en/latest/usage.html>).
pub(super) fn hypothetical(
    reader: &mut Reader,
    snapshot: &Snapshot,
    advice: &Advice,
) -> Option<Hypothetical> {
    let statement = &snapshot.statements[*advice.statements.first()?];
    let replanned = statement.plans.iter().find(|plan| plan.origin == Origin::Generic)?;
    let client = reader.client(&advice.database).ok()?;
    let sql = format!(
        "SELECT /* {MARK} */ pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
         JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'hypopg'"
    );
    let schema = client.cell(&sql).ok()??;
    let create = format!("SELECT /* {MARK} */ indexrelid FROM {schema}.hypopg_create_index($1)");
    client.query(&create, &[advice.ddl.as_deref()]).ok()?;
    let with = plan(client, &statement.text);
    let _ = client.query(&format!("SELECT /* {MARK} */ {schema}.hypopg_reset()"), &[]);
    Some(Hypothetical { cost_without: replanned.plan.cost?, cost_with: with.ok()?.cost? })
}
