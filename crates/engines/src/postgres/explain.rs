//! What PostgreSQL tells of a statement before it runs, and what a load's sessions are told of how to run it.

use super::failed_at;
use crate::{EngineError, Explained, Operation, Table, Work};
use observations::Fact;
use pgclient::{Client, quote_identifier};
use std::fmt::Write as _;

/// Settings of the load's sessions that its work asks for. The leader of a parallel query is one of its processors.
pub fn session_options(work: &Work) -> String {
    let mut options = String::new();
    if let Some(degree) = work.degree {
        // Writing to a string cannot fail.
        let _ = write!(options, " -c max_parallel_workers_per_gather={}", degree.saturating_sub(1));
    }
    if work.operations.iter().any(|own| matches!(own, Operation::LookupEach { .. })) {
        options.push_str(" -c enable_hashjoin=off -c enable_mergejoin=off");
        options.push_str(" -c max_parallel_workers_per_gather=0");
    }
    options
}

/// Explains a statement of a load on a session like those of the load. The plan of one with parameters is that for any
/// values.
pub fn explain(
    client: &mut Client,
    sql: &str,
    table: &Table,
    analyze: bool,
) -> Result<Explained, EngineError> {
    let doing = format!("explaining {sql}");
    let failed = |error| failed_at(&doing)(error);
    client.batch("SET plan_cache_mode = force_generic_plan").map_err(failed)?;
    client.batch(&format!("PREPARE explained AS {sql}")).map_err(failed)?;
    let count = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'explained'";
    let parameters: usize =
        client.cell(count).map_err(failed)?.and_then(|count| count.parse().ok()).unwrap_or(0);
    let values = match parameters {
        0 => String::new(),
        count => format!("({})", vec!["NULL"; count].join(", ")),
    };
    let mut explain = |options: &str| {
        let rows =
            client.query(&format!("EXPLAIN ({options}) EXECUTE explained{values}"), &[]).map_err(failed)?;
        Ok::<_, EngineError>(rows.iter().map(|row| row.text(0)).collect::<Vec<_>>().join("\n"))
    };
    let plan = explain("COSTS OFF")?;
    // With NULL for its parameters it would find nothing.
    let analysis = (analyze && parameters == 0).then(|| explain("ANALYZE, BUFFERS")).transpose()?;
    let counters = analysis.as_deref().map(counters).unwrap_or_default();
    // Partitions are one level deep.
    let name = quote_identifier(table.name).replace('\'', "''");
    let size = format!(
        "SELECT sum(pg_relation_size(oid)), current_setting('block_size') FROM (SELECT '{name}'::regclass::oid UNION ALL \
         SELECT inhrelid FROM pg_inherits WHERE inhparent = '{name}'::regclass) AS parts (oid)"
    );
    let rows = client.query(&size, &[]).map_err(failed)?;
    let number = |column| rows.first().and_then(|row| row.parse::<u64>(column));
    let page_bytes = number(1).filter(|bytes| *bytes > 0);
    let pages = number(0).zip(page_bytes).map(|(bytes, page_bytes)| bytes / page_bytes);
    Ok(Explained { plan: Some(plan), analysis, pages, page_bytes, counters })
}

/// What `EXPLAIN (ANALYZE, BUFFERS)` says of a whole statement: its time, and the buffers of its first node, which has
/// those of all below it.
fn counters(analysis: &str) -> Vec<Fact> {
    let mut lines = analysis.lines().map(str::trim);
    let buffers = lines.clone().find_map(|line| line.strip_prefix("Buffers: shared ")).unwrap_or_default();
    // No pages are not mentioned; what follows a comma is of other kinds.
    let pages = |kind: &str| {
        let shared = buffers.split(',').next().unwrap_or_default();
        shared.split(' ').find_map(|part| part.strip_prefix(kind)?.parse().ok()).unwrap_or(0.0)
    };
    let ms = lines.find_map(|line| line.strip_prefix("Execution Time: ")?.split(' ').next()?.parse().ok());
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
    use super::counters;

    /// As PostgreSQL 15 printed it.
    #[test]
    fn time_and_pages_are_those_of_the_whole_statement() {
        let analysis = "Aggregate  (cost=1925.00..1925.01 rows=1 width=8) (actual time=8.801..8.802 rows=1 loops=1)\n  \
            Buffers: shared hit=64 read=861, temp read=3\n  ->  Seq Scan on synthetic  (actual time=0.010..4.9 rows=50000 loops=1)\n        \
            Buffers: shared hit=60 read=861\nPlanning Time: 0.059 ms\nExecution Time: 8.822 ms";
        let found: Vec<(String, f64)> =
            counters(analysis).into_iter().map(|fact| (fact.name, fact.value)).collect();
        let wanted = [("analyzed_ms", 8.822), ("analyzed_pages_hit", 64.0), ("analyzed_pages_read", 861.0)];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(counters("Seq Scan on t"), []);
    }
}
