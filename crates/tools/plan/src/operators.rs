//! A plan in short: its operators with the tables and indexes that they use, from the text of the
//! plan.

use serde_json::Value;

/// Operators that are named; the rest of a longer plan is in its text.
const OPERATORS_MAX: usize = 100;

/// The operators of a plan, from the top: `Limit`, `Index Scan using i on t` (PostgreSQL), `ref on
/// t using i` (MariaDB), `SEARCH t USING INDEX i (a=?)` (SQLite), `SEQ_SCAN on t` (DuckDB).
pub fn operators(plan: &str) -> Vec<String> {
    let mut all = match serde_json::from_str::<Value>(plan) {
        Ok(json) => {
            let mut all = Vec::new();
            tables(&json, &mut all);
            all
        }
        Err(_) if plan.contains('│') => boxes(plan),
        Err(_) => lines(plan),
    };
    all.truncate(OPERATORS_MAX);
    all
}

/// A line for each operator: PostgreSQL has an arrow before all but the first, and properties below
/// them.
fn lines(plan: &str) -> Vec<String> {
    const ARROW: &str = "->  ";
    let has_arrows = plan.lines().any(|line| line.trim_start().starts_with(ARROW));
    plan.lines()
        .enumerate()
        .filter_map(|(number, line)| {
            let line = line.trim();
            let is_operator = number == 0 || !has_arrows && !line.contains(": ");
            let operator = line.strip_prefix(ARROW).or(is_operator.then_some(line));
            operator.filter(|operator| !operator.is_empty()).map(str::to_owned)
        })
        .collect()
}

/// Operators in the boxes that DuckDB draws: each box holds a name in capitals.
fn boxes(plan: &str) -> Vec<String> {
    let cells = plan.lines().flat_map(|line| line.split('│')).map(str::trim);
    cells
        .filter(|cell| cell.len() > 2 && cell.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .map(str::to_owned)
        .collect()
}

/// MariaDB and MySQL: how each table is read, and what is sorted or kept.
fn tables(json: &Value, all: &mut Vec<String>) {
    match json {
        Value::Object(fields) => {
            if let (Some(table), access) = (fields.get("table_name"), fields.get("access_type")) {
                let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
                let key =
                    text(fields.get("key")).map_or_else(String::new, |key| format!(" using {key}"));
                let access = text(access).unwrap_or_else(|| "change".to_owned());
                all.push(format!("{access} on {}{key}", table.as_str().unwrap_or_default()));
            }
            let kept = ["filesort", "temporary_table", "ordering_operation", "grouping_operation"];
            for (name, value) in fields {
                all.extend(kept.contains(&name.as_str()).then(|| name.clone()));
                tables(value, all);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| tables(value, all)),
        _ => {}
    }
}

/// Operators that only one of two plans has: `Seq Scan on t -> Index Scan using i on t`. All
/// operators where only their order differs; `None` where they are equal.
pub fn change(from: &[String], to: &[String]) -> Option<String> {
    let without = |of: &[String], other: &[String]| {
        let mut other = other.to_vec();
        of.iter()
            .filter(|operator| match other.iter().position(|candidate| candidate == *operator) {
                Some(at) => {
                    other.remove(at);
                    false
                }
                None => true,
            })
            .cloned()
            .collect::<Vec<_>>()
    };
    let (gone, new) = (without(from, to), without(to, from));
    if from == to {
        return None;
    }
    let [gone, new] =
        if gone.is_empty() || new.is_empty() { [from, to] } else { [&gone[..], &new[..]] };
    Some(format!("{} -> {}", gone.join(", "), new.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{change, operators};

    /// As PostgreSQL 15, SQLite 3.50, DuckDB 1.5 and MariaDB 10.11 print them.
    #[test]
    fn operators_have_their_tables_and_indexes() {
        let postgres = "Limit\n  InitPlan 1 (returns $0)\n    ->  Seq Scan on u\n  ->  Bitmap \
                        Heap Scan on t\n        Recheck Cond: (a = $1)\n        ->  Bitmap Index \
                        Scan on i";
        let expected =
            ["Limit", "Seq Scan on u", "Bitmap Heap Scan on t", "Bitmap Index Scan on i"];
        assert_eq!(operators(postgres), expected);
        assert_eq!(operators("Seq Scan on t\n  Filter: (a = 1)"), ["Seq Scan on t"]);
        let sqlite = "SEARCH t USING INDEX i (a=?)\nUSE TEMP B-TREE FOR ORDER BY";
        assert_eq!(operators(sqlite), sqlite.lines().collect::<Vec<_>>());
        assert_eq!(operators("FILTER\n  SEQ_SCAN on memory.main.t, Sequential Scan").len(), 2);
        let drawn = "┌───────────┐\n│ HASH_JOIN ├──┐\n│  SEQ_SCAN │  │ SEQ_SCAN  │\n│ Type: \
                     Sequential Scan │";
        assert_eq!(operators(drawn), ["SEQ_SCAN", "SEQ_SCAN"]);
        let mariadb = r#"{"query_block": {"filesort": {"table": {"table_name": "t",
            "access_type": "ref", "key": "i"}}}}"#;
        assert_eq!(operators(mariadb), ["filesort", "ref on t using i"]);
        let delete =
            r#"{"query_block": {"table": {"delete": 1, "table_name": "t", "access_type": "ALL"}}}"#;
        assert_eq!(operators(delete), ["ALL on t"]);
        assert_eq!(operators(""), Vec::<String>::new());
    }

    #[test]
    fn a_change_names_what_differs() {
        let list = |operators: &[&str]| {
            operators.iter().map(|operator| (*operator).to_owned()).collect::<Vec<_>>()
        };
        let (scan, index) =
            (list(&["Limit", "Seq Scan on t"]), list(&["Limit", "Index Scan using i on t"]));
        assert_eq!(
            change(&scan, &index).as_deref(),
            Some("Seq Scan on t -> Index Scan using i on t")
        );
        assert_eq!(
            change(&scan, &list(&["Seq Scan on t"])).as_deref(),
            Some("Limit, Seq Scan on t -> Seq Scan on t")
        );
        assert_eq!(change(&scan, &scan), None);
    }
}
