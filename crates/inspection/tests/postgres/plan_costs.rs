//! Costs by the planner's formulas, on every installed version: what they imply is held against the
//! server's catalogue.

use super::plan_formats::{PLANNERS, READS, each_server, explain, read};
use inspection::plans::{CostPart, CostTerm, Operator};
use postgres::client::Client;
use std::collections::BTreeMap;

fn operators(text: &str) -> Vec<Operator> {
    let plan = read(text).plan.unwrap();
    plan.operators().into_iter().map(|(_, operator)| operator.clone()).collect()
}

/// The explained operator of this name in the plan of a statement.
fn explained(client: &mut Client, options: &str, statement: &str, name: &str) -> CostPart {
    let text = explain(client, options, statement);
    let operator = operators(&text).into_iter().find(|operator| operator.name == name);
    let mut parts = operator.unwrap_or_else(|| panic!("{name}: {text}")).cost_parts;
    assert_eq!(parts.len(), 1, "{name}: {text}");
    parts.remove(0)
}

fn count(part: &CostPart, of: &str) -> Option<f64> {
    part.terms.iter().find(|term| term.of == of).map(|term| term.count)
}

fn catalogue(client: &mut Client, sql: &str) -> f64 {
    client.simple_query(sql).unwrap().first().unwrap().text(0).parse().unwrap()
}

/// Many scans in these plans, most of which were made to be odd.
#[test]
fn most_scans_agree_with_the_formula() {
    each_server(|client| {
        let mut by_name: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for planner in PLANNERS {
            client.batch(&format!("RESET ALL; {planner}")).unwrap();
            for statement in READS {
                for operator in operators(&explain(client, "SETTINGS", statement)) {
                    for part in &operator.cost_parts {
                        let sum: f64 = part.terms.iter().map(CostTerm::cost).sum();
                        assert!((sum - part.cost).abs() <= 0.011 * part.cost + 0.03, "{part:?}");
                    }
                    let (all, agreeing) = by_name.entry(operator.name).or_default();
                    *all += 1;
                    *agreeing += usize::from(!operator.cost_parts.is_empty());
                }
            }
        }
        println!("nodes, and those whose cost agrees: {by_name:?}");
        let (all, agreeing) = by_name.get("Seq Scan").copied().unwrap_or_default();
        assert!(agreeing as f64 >= 0.5 * all as f64 && agreeing > 0, "{by_name:?}");
    });
}

#[test]
fn implied_pages_are_those_of_the_table() {
    each_server(|client| {
        client.batch("SET max_parallel_workers_per_gather = 0").unwrap();
        let pages = catalogue(client, "SELECT relpages FROM pg_class WHERE relname = 'l'");
        assert!(pages > 50.0, "{pages}");
        let scan = explained(client, "FORMAT TEXT", "SELECT * FROM l", "Seq Scan");
        assert_eq!((count(&scan, "pages"), count(&scan, "rows")), (Some(pages), Some(20_000.0)));
        // The rows that a filter drops are not in the plan.
        let filtered = "SELECT * FROM l WHERE q = 3 AND t <> 'x (= y'";
        client.batch("SET enable_bitmapscan = off; SET enable_indexscan = off").unwrap();
        let silent = operators(&explain(client, "FORMAT TEXT", filtered));
        assert!(silent[0].cost_parts.is_empty(), "{silent:?}");
        // Constants are those of the plan.
        client.batch("SET seq_page_cost = 3; SET cpu_tuple_cost = 0.07").unwrap();
        for format in ["TEXT", "JSON"] {
            let options = format!("SETTINGS, FORMAT {format}");
            let scan = explained(client, &options, "SELECT * FROM l", "Seq Scan");
            assert_eq!(count(&scan, "pages"), Some(pages), "{scan:?}");
            assert_eq!((scan.terms[0].price, scan.terms[0].is_implied), (3.0, true));
        }
    });
}
