//! PostgreSQL's description of a statement before it runs, and the session settings that shape its
//! plan.

use super::errors::failed_at;
use crate::client::{Client, quote_identifier, quote_literal};
use engine::planned::{STATEMENT_MS_MAX, each, literal};
use engine::{EngineError, Explained, NoPlan, PlanRequest, Planned, Result};
use observations::Fact;
use std::fmt::Write as _;
use work::sql::Syntax;
use work::sql::statement::shown;
use work::{Operation, Parameter, Table, Work};

/// Settings of the load's sessions that its work asks for. The leader of a parallel query is one of
/// its processors.
pub fn session_options(work: &Work) -> String {
    let mut options = String::new();
    if let Some(degree) = work.degree {
        // Writing to a string cannot fail.
        let _ = write!(options, " -c max_parallel_workers_per_gather={}", degree.saturating_sub(1));
    }
    if let Some(limit) = work.statement_limit {
        let _ = write!(options, " -c statement_timeout={}", limit.as_millis().max(1));
    }
    if work.operations.iter().any(|operation| matches!(operation, Operation::LookupEach { .. })) {
        options.push_str(" -c enable_hashjoin=off -c enable_mergejoin=off");
        options.push_str(" -c max_parallel_workers_per_gather=0");
    }
    options
}

/// Explains a statement of a load on a session like those of the load. The plan of one with
/// parameters is that for any values.
pub fn explain(client: &mut Client, sql: &str, table: &Table, analyze: bool) -> Result<Explained> {
    let doing = format!("explaining {sql}");
    let failed = |error| failed_at(&doing)(error);
    client.batch("SET plan_cache_mode = force_generic_plan").map_err(failed)?;
    client.batch(&format!("PREPARE explained AS {sql}")).map_err(failed)?;
    let count =
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'explained'";
    let parameters: usize =
        client.cell(count).map_err(failed)?.and_then(|count| count.parse().ok()).unwrap_or(0);
    let values = match parameters {
        0 => String::new(),
        count => format!("({})", vec!["NULL"; count].join(", ")),
    };
    let mut explain = |options: &str| {
        let rows = client
            .query(&format!("EXPLAIN ({options}) EXECUTE explained{values}"), &[])
            .map_err(failed)?;
        Ok::<_, EngineError>(rows.iter().map(|row| row.text(0)).collect::<Vec<_>>().join("\n"))
    };
    let plan = Some(planned(&explain("COSTS")?, false));
    // With NULL for its parameters it would find nothing.
    let analysis = (analyze && parameters == 0).then(|| explain("ANALYZE, BUFFERS")).transpose()?;
    let counters = analysis.as_deref().map(counters).unwrap_or_default();
    // Partitions are one level deep.
    let name = quote_identifier(table.name).replace('\'', "''");
    let size = format!(
        "SELECT sum(pg_relation_size(oid)), current_setting('block_size') FROM (SELECT \
         '{name}'::regclass::oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = \
         '{name}'::regclass) AS parts (oid)"
    );
    let rows = client.query(&size, &[]).map_err(failed)?;
    let number = |column| rows.first().and_then(|row| row.parse::<u64>(column));
    let page_bytes = number(1).filter(|bytes| *bytes > 0);
    let pages = number(0).zip(page_bytes).map(|(bytes, page_bytes)| bytes / page_bytes);
    Ok(Explained { plan, analysis, pages, page_bytes, counters })
}

/// After this many executions with a plan for their values, a session compares a generic plan with
/// them (`choose_custom_plan` in plancache.c).
const CUSTOM_PLANS: usize = 5;

/// The plans of the user's statements on a session like those of the load. Explaining cannot change
/// anything, and waits for no lock.
pub fn plans(
    client: &mut Client,
    plan_requests: &[PlanRequest],
) -> Result<Vec<Result<Planned, NoPlan>>> {
    let limits = format!(
        "SET statement_timeout = {STATEMENT_MS_MAX}; SET lock_timeout = 1000; SET \
         default_transaction_read_only = on"
    );
    client.batch(&limits).map_err(failed_at("setting limits for EXPLAIN"))?;
    Ok(each(plan_requests, |plan_request: &PlanRequest| {
        plan(client, plan_request).map_err(NoPlan::refused)
    }))
}

/// With values the plan is the one that a session uses after some executions; without, the generic
/// plan. A request with parameters cannot contain further statements.
fn plan(client: &mut Client, plan_request: &PlanRequest) -> Result<Planned, crate::client::Error> {
    let sql = plan_request.statement.sql(|number| format!("${number}"));
    let explain = |client: &mut Client, what: &str| {
        let rows = client.query(&format!("EXPLAIN {what}"), &[])?;
        Ok::<_, crate::client::Error>(
            rows.iter().map(|row| row.text(0)).collect::<Vec<_>>().join("\n"),
        )
    };
    if plan_request.parameters() == 0 {
        return Ok(planned(&explain(client, &sql)?, plan_request.values.is_some()));
    }
    client.batch("DEALLOCATE ALL; RESET plan_cache_mode")?;
    client.query(&format!("PREPARE explained AS {sql}"), &[])?;
    let Some(values) = &plan_request.values else {
        client.batch("SET plan_cache_mode = force_generic_plan")?;
        let nulls = vec!["NULL"; plan_request.parameters()].join(", ");
        return Ok(planned(&explain(client, &format!("EXECUTE explained({nulls})"))?, false));
    };
    // A constant in quotes takes the type of its parameter.
    let execute = format!(
        "EXECUTE explained({})",
        values
            .iter()
            .map(|value| match value {
                Parameter::Null => "NULL".to_owned(),
                value => quote_literal(&literal(value, str::to_owned)),
            })
            .collect::<Vec<_>>()
            .join(", ")
    );
    for _ in 0..CUSTOM_PLANS {
        explain(client, &execute)?;
    }
    Ok(planned(&explain(client, &execute)?, true))
}

/// Takes off what the optimizer estimated, and hides the constants of conditions where they come
/// from the load.
fn planned(text: &str, has_constants: bool) -> Planned {
    const COSTS: &str = "  (cost=";
    let (mut rows, mut cost, mut lines) = (None, None, Vec::new());
    // The lines about compilation follow the plan and depend on its cost.
    for line in text.lines().take_while(|line| *line != "JIT:") {
        let (line, costs) = line.split_once(COSTS).unwrap_or((line, ""));
        if lines.is_empty() {
            let figure = |from: &str| {
                costs.split_once(from)?.1.split([' ', ')']).next()?.parse::<f64>().ok()
            };
            (rows, cost) = (figure("rows="), figure(".."));
        }
        let depth = line.len() - line.trim_start().len();
        // Lines with parentheses are conditions and expressions.
        let is_condition = has_constants && line.contains('(');
        let part = if is_condition {
            shown(line, Syntax::Postgres, false)
        } else {
            line.trim_start().to_owned()
        };
        lines.push(format!("{}{part}", &line[..depth]));
    }
    Planned { text: lines.join("\n"), rows, cost }
}

/// Reads `EXPLAIN (ANALYZE, BUFFERS)` of a whole statement: its time, and the buffers of its first
/// node, which include all nodes below.
fn counters(analysis: &str) -> Vec<Fact> {
    let mut lines = analysis.lines().map(str::trim);
    let buffers =
        lines.clone().find_map(|line| line.strip_prefix("Buffers: shared ")).unwrap_or_default();
    // No pages are not mentioned; what follows a comma is of other kinds.
    let pages = |kind: &str| {
        let shared = buffers.split(',').next().unwrap_or_default();
        shared.split(' ').find_map(|part| part.strip_prefix(kind)?.parse().ok()).unwrap_or(0.0)
    };
    let ms = lines
        .find_map(|line| line.strip_prefix("Execution Time: ")?.split(' ').next()?.parse().ok());
    let fact = |name: &str, unit: &str, value| Fact { name: name.into(), unit: unit.into(), value };
    ms.map_or_else(Vec::new, |ms| {
        vec![
            fact("analyzed_ms", "ms", ms),
            fact("analyzed_pages_hit", "", pages("hit=")),
            fact("analyzed_pages_read", "", pages("read=")),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::{counters, planned};

    /// As PostgreSQL 15 printed it, with a session's plan for its values.
    #[test]
    fn a_plan_is_the_same_whatever_was_estimated_and_asked_for() {
        let plan = |cost: &str, rows: u32, value: &str| {
            format!(
                "Limit  (cost=0.00..{cost} rows={rows} width=36)\n  ->  Gather  \
                 (cost=0.00..{cost} rows={rows} width=36)\n        Workers Planned: 2\n        ->  \
                 Parallel Seq Scan on \"It 2\"  (cost=0.00..9.5 rows=7 width=36)\n              \
                 Filter: ((note = {value}::text) AND (id > 7))\nJIT:\n  Functions: 3"
            )
        };
        let first = planned(&plan("17.00", 42, "'a b'"), true);
        let text = "Limit\n  ->  Gather\n        Workers Planned: 2\n        ->  Parallel Seq \
                    Scan on \"It 2\"\n              Filter: ((note = ?::text) AND (id > ?))";
        assert_eq!((first.text.as_str(), first.rows, first.cost), (text, Some(42.0), Some(17.0)));
        assert_eq!(planned(&plan("18.50", 1, "'it''s (x)'"), true).text, text);
        assert!(
            planned(&plan("18.50", 1, "'a b'"), false)
                .text
                .contains("(note = 'a b'::text) AND (id > 7)")
        );
        assert_eq!(planned("Seq Scan on t", false).rows, None);
    }

    /// As PostgreSQL 15 printed it.
    #[test]
    fn time_and_pages_are_those_of_the_whole_statement() {
        let analysis = "Aggregate  (cost=1925.00..1925.01 rows=1 width=8) (actual \
                        time=8.801..8.802 rows=1 loops=1)\n  Buffers: shared hit=64 read=861, \
                        temp read=3\n  ->  Seq Scan on synthetic  (actual time=0.010..4.9 \
                        rows=50000 loops=1)\n        Buffers: shared hit=60 read=861\nPlanning \
                        Time: 0.059 ms\nExecution Time: 8.822 ms";
        let found: Vec<(String, f64)> =
            counters(analysis).into_iter().map(|fact| (fact.name, fact.value)).collect();
        let expected =
            [("analyzed_ms", 8.822), ("analyzed_pages_hit", 64.0), ("analyzed_pages_read", 861.0)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(counters("Seq Scan on t"), []);
    }
}
