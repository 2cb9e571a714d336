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

/// Many nodes of each kind in these plans, most of which were made to be odd.
#[test]
fn most_nodes_agree_with_a_formula() {
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
        for (name, least) in [
            ("Seq Scan", 0.5),
            ("Index Scan", 0.3),
            ("Index Only Scan", 0.3),
            ("Bitmap Heap Scan", 0.5),
            ("Sort", 0.8),
            ("Hash Join", 0.6),
            ("Merge Join", 0.1),
            ("Nested Loop", 0.3),
            ("Aggregate", 0.5),
            ("HashAggregate", 0.5),
            ("GroupAggregate", 0.3),
            ("Gather", 0.8),
            ("Gather Merge", 0.8),
            ("Limit", 0.5),
        ] {
            let (all, agreeing) = by_name.get(name).copied().unwrap_or_default();
            assert!(agreeing as f64 >= least * all as f64 && agreeing > 0, "{name}: {by_name:?}");
        }
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
        assert!(!scan.is_checked());
        // The rows that a filter drops are known of a run only.
        let filtered = "SELECT * FROM l WHERE q = 3 AND t <> 'x (= y'";
        client.batch("SET enable_bitmapscan = off; SET enable_indexscan = off").unwrap();
        let silent = operators(&explain(client, "FORMAT TEXT", filtered));
        assert!(silent[0].cost_parts.is_empty(), "{silent:?}");
        let run = explained(client, "ANALYZE, TIMING OFF", filtered, "Seq Scan");
        let found = (count(&run, "pages"), count(&run, "rows"), count(&run, "comparisons"));
        assert_eq!(found, (Some(pages), Some(20_000.0), Some(40_000.0)));
        // Constants are those of the plan; functions have costs that a plan does not show.
        client.batch("SET seq_page_cost = 3; SET cpu_tuple_cost = 0.07").unwrap();
        for format in ["TEXT", "JSON"] {
            let options = format!("SETTINGS, FORMAT {format}");
            let scan = explained(client, &options, "SELECT * FROM l", "Seq Scan");
            assert_eq!(count(&scan, "pages"), Some(pages), "{scan:?}");
            assert_eq!((scan.terms[0].price, scan.terms[0].is_implied), (3.0, true));
        }
        client.batch("RESET ALL; SET max_parallel_workers_per_gather = 0").unwrap();
        let function = "SELECT * FROM l WHERE lower(t) = 'x'";
        let scans = operators(&explain(client, "ANALYZE, TIMING OFF", function));
        assert!(scans[0].cost_parts.is_empty(), "{scans:?}");
    });
}

/// The bitmap's pages are of a table of the catalogue's size; a bucket has the rows of a key.
#[test]
fn bitmaps_and_hash_joins_imply_the_size_of_tables_and_buckets() {
    each_server(|client| {
        client.batch("SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off").unwrap();
        let pages = catalogue(client, "SELECT relpages FROM pg_class WHERE relname = 'l'");
        let text = explain(client, "SETTINGS", "SELECT * FROM l WHERE o BETWEEN 10 AND 100");
        let all = operators(&text);
        let heap = all.iter().find(|entry| entry.name == "Bitmap Heap Scan").expect(&text);
        let of = format!("pages of a table of {pages}");
        let total = heap.cost_parts.iter().find(|part| part.name == "total cost").expect(&text);
        assert!(total.terms.iter().any(|term| term.of == of && term.is_implied), "{total:?}");
        client.batch("RESET enable_seqscan").unwrap();
        let text = explain(client, "SETTINGS", "SELECT * FROM l JOIN o ON l.q = o.c");
        let all = operators(&text);
        let join = all.iter().find(|entry| entry.name == "Hash Join").expect(&text);
        let [startup, total] = join.cost_parts.as_slice() else { panic!("{text}") };
        assert!(startup.is_checked() && !total.is_checked());
        assert_eq!(count(startup, "rows hashed"), Some(5_000.0));
        // Half of the 50 rows that have the same c, and of those that share their bucket.
        let each = count(total, "comparisons in buckets").unwrap() / 20_000.0;
        assert!((20.0..=40.0).contains(&each), "{total:?}");
    });
}

#[test]
fn a_sort_is_explained_in_memory_on_disk_and_for_the_first_rows() {
    each_server(|client| {
        client.batch("SET max_parallel_workers_per_gather = 0").unwrap();
        let all = "SELECT * FROM l ORDER BY t, q";
        let memory = explained(client, "SETTINGS", all, "Sort");
        let comparisons = 20_000.0 * 20_000.0_f64.log2();
        assert!((count(&memory, "comparisons").unwrap() - comparisons).abs() < 1.0);
        assert_eq!((memory.terms.len(), memory.is_checked()), (3, true));
        client.batch("SET work_mem = '64kB'").unwrap();
        let disk = explained(client, "SETTINGS", all, "Sort");
        assert!(count(&disk, "pages written and read") > Some(100.0), "{disk:?}");
        client.batch("RESET work_mem").unwrap();
        let first = explained(client, "SETTINGS", &format!("{all} LIMIT 10"), "Sort");
        let comparisons = 20_000.0 * 20.0_f64.log2();
        assert!((count(&first, "comparisons").unwrap() - comparisons).abs() < 1.0, "{first:?}");
    });
}

#[test]
fn calls_of_aggregate_functions_follow_from_the_cost() {
    each_server(|client| {
        client.batch("SET max_parallel_workers_per_gather = 0").unwrap();
        for (statement, name, calls) in [
            ("SELECT count(*) FROM l", "Aggregate", 1.0),
            ("SELECT count(*), max(o), min(q) FROM l", "Aggregate", 3.0),
            ("SELECT q, count(*), sum(o) FROM l GROUP BY q", "HashAggregate", 2.0),
        ] {
            let part = explained(client, "FORMAT JSON", statement, name);
            assert_eq!(count(&part, "calls of functions"), Some(20_000.0 * calls), "{statement}");
        }
    });
}
