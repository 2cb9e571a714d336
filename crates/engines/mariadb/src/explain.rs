//! Plans and sizes.

use super::admin::DATABASE;
use super::errors::failed_at;
use super::load::statement_limit;
use crate::client::{Client, quote_identifier, quote_literal};
use engine::planned::{STATEMENT_MS_MAX, each, literal};
use engine::{Explained, NoPlan, PlanRequest, Planned, Result};
use serde_json::Value;
use work::sql::Syntax;
use work::sql::statement::shown;
use work::{Parameter, Table};

/// Returns the server's description of a statement before it runs, and with `analyze` of one run
/// (MariaDB's ANALYZE). A statement with parameters has no plan without values: where they are the
/// table's key, those of an existing row are used.
pub fn explain(client: &mut Client, sql: &str, table: &Table, analyze: bool) -> Result<Explained> {
    one_format(client);
    let mut explained = Explained {
        pages: leaf_pages(client, table),
        page_bytes: cell(client, "SELECT @@innodb_page_size").and_then(|bytes| bytes.parse().ok()),
        ..Explained::default()
    };
    let parameters = sql.matches('?').count();
    if parameters > 0 {
        if parameters == table.key.len() {
            let key: Vec<String> =
                table.key.iter().map(|column| quote_identifier(column)).collect();
            let row =
                format!("SELECT {} FROM {} LIMIT 1", key.join(", "), quote_identifier(table.name));
            explained.plan = of_a_row(client, sql, &row).ok();
        }
        return Ok(explained);
    }
    let is_mariadb = client.is_mariadb();
    let mut text = |verb: &str| {
        let sql = format!("{verb} FORMAT=JSON {sql}");
        client.cell(&sql).map_err(failed_at(&sql))
    };
    explained.plan = text("EXPLAIN")?.map(|plan| planned(&plan, false));
    if analyze && is_mariadb {
        explained.analysis = text("ANALYZE")?;
    }
    Ok(explained)
}

/// Has MySQL write plans as all its versions do, also of what its newer format, the default from
/// 9.x on, has no plan for: changes of one table
/// (<https://dev.mysql.com/doc/refman/9.4/en/explain.html>, `explain_json_format_version`). Servers
/// that do not know the variable have this format alone.
pub(super) fn one_format(client: &mut Client) {
    if !client.is_mariadb() {
        let _ = client.run("SET SESSION explain_json_format_version = 1");
    }
}

/// The plan of a statement whose parameters are the columns of a row.
fn of_a_row(client: &mut Client, sql: &str, row: &str) -> Result<Planned, crate::client::Error> {
    let variables: Vec<String> =
        (0..sql.matches('?').count()).map(|number| format!("@value{number}")).collect();
    client.run(&format!("{row} INTO {}", variables.join(", ")))?;
    prepared(client, sql, &variables)
}

/// The plans of the user's statements, for the values that the load sends.
pub fn plans(client: &mut Client, plan_requests: &[PlanRequest]) -> Vec<Result<Planned, NoPlan>> {
    // A server that knows no such limit has none.
    let (limit, value) = statement_limit(client, STATEMENT_MS_MAX as f64 / 1e3);
    let _ = client.run(&format!("SET {limit} = {value}"));
    one_format(client);
    let _ = client.run("SET lock_wait_timeout = 1");
    each(plan_requests, |plan_request| {
        let Some(values) = &plan_request.values else {
            return Err(NoPlan::ValuesNeeded);
        };
        plan(client, plan_request, values).map_err(NoPlan::refused)
    })
}

fn plan(
    client: &mut Client,
    plan_request: &PlanRequest,
    values: &[Parameter],
) -> Result<Planned, crate::client::Error> {
    let variables: Vec<String> =
        (0..values.len()).map(|number| format!("@value{number}")).collect();
    for (variable, value) in variables.iter().zip(values) {
        client.run(&format!("SET {variable} = {}", literal(value, quote_literal)))?;
    }
    prepared(client, &plan_request.statement.sql(|_| "?".to_owned()), &variables)
}

/// Prepares exactly one statement; refuses a text with several.
fn prepared(
    client: &mut Client,
    sql: &str,
    variables: &[String],
) -> Result<Planned, crate::client::Error> {
    client.run(&format!(
        "PREPARE explained FROM {}",
        quote_literal(&format!("EXPLAIN FORMAT=JSON {sql}"))
    ))?;
    let using = if variables.is_empty() {
        String::new()
    } else {
        format!(" USING {}", variables.join(", "))
    };
    let plan = client.cell(&format!("EXECUTE explained{using}"))?;
    Ok(planned(&plan.unwrap_or_default(), true))
}

/// Estimates in plans of MariaDB 10.6 to 11 and MySQL 8, by name.
const ESTIMATES: [&str; 10] = [
    "rows",
    "filtered",
    "cost",
    "loops",
    "cost_info",
    "rows_examined_per_scan",
    "rows_produced_per_join",
    "r_loops",
    "r_rows",
    "query_optimization",
];

/// Takes off what the optimizer estimated, and hides the constants of conditions where they come
/// from the load. The rows are those that a statement on one table is expected to read.
fn planned(plan: &str, has_constants: bool) -> Planned {
    let Ok(mut json) = serde_json::from_str::<Value>(plan) else {
        return Planned { text: plan.to_owned(), ..Planned::default() };
    };
    let block = &json["query_block"];
    let table = &block["nested_loop"][0]["table"];
    let table = if table.is_object() && block["nested_loop"][1].is_null() {
        table
    } else {
        &block["table"]
    };
    let rows = table["rows"].as_f64().or_else(|| table["rows_examined_per_scan"].as_f64());
    let cost =
        block["cost"].as_f64().or_else(|| block["cost_info"]["query_cost"].as_str()?.parse().ok());
    strip(&mut json, has_constants);
    Planned { text: serde_json::to_string_pretty(&json).unwrap_or_default(), rows, cost }
}

fn strip(json: &mut Value, has_constants: bool) {
    match json {
        Value::Object(fields) => {
            fields.retain(|name, _| !ESTIMATES.contains(&name.as_str()));
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if has_constants && name.ends_with("condition") => {
                        *text = shown(text, Syntax::MariaDb, false);
                    }
                    value => strip(value, has_constants),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip(value, has_constants)),
        _ => {}
    }
}

/// Pages that hold the rows of a table, from the statistics that ANALYZE TABLE made
/// (<https://mariadb.com/kb/en/mysqlinnodb_index_stats/>); `None` where the account may not read
/// them.
fn leaf_pages(client: &mut Client, table: &Table) -> Option<u64> {
    let name = quote_literal(table.name);
    let sql = format!(
        "SELECT sum(stat_value) FROM mysql.innodb_index_stats WHERE database_name = '{DATABASE}' \
         AND (table_name = {name} OR table_name LIKE concat({name}, '#P#%')) AND index_name IN \
         ('PRIMARY', 'GEN_CLUST_INDEX') AND stat_name = 'n_leaf_pages'"
    );
    cell(client, &sql)?.parse().ok()
}

fn cell(client: &mut Client, sql: &str) -> Option<String> {
    client.cell(sql).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::planned;

    /// As MariaDB 10.11 and 11.4 print it.
    #[test]
    fn a_plan_is_the_same_whatever_was_estimated_and_asked_for() {
        let old = |rows: u32, value: &str| {
            format!(
                r#"{{"query_block": {{"select_id": 1, "table": {{"table_name": "t",
                    "access_type": "ref", "key": "i",
                    "key_length": "5", "rows": {rows}, "filtered": 100,
                    "attached_condition": "t.a = {value}"}}}}}}"#
            )
        };
        let first = planned(&old(12, "'x'"), true);
        assert_eq!((first.rows, first.cost), (Some(12.0), None));
        assert_eq!(first.text, planned(&old(900, "'y'"), true).text);
        assert!(
            first.text.contains("\"attached_condition\": \"t.a = ?\"")
                && !first.text.contains("rows"),
            "{}",
            first.text
        );
        assert_ne!(first.text, planned(&old(12, "'x'").replace("\"ref\"", "\"ALL\""), true).text);
        let new = r#"{"query_block": {"cost": 0.25, "nested_loop": [{"table": {"table_name": "t",
            "rows": 7, "loops": 1}}]}}"#;
        assert_eq!((planned(new, true).rows, planned(new, true).cost), (Some(7.0), Some(0.25)));
        assert_eq!(planned("no JSON", true).text, "no JSON");
    }
}
