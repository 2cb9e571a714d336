//! Text and JSON of EXPLAIN give the same model, on every installed version.

use inspection::plans::{self, Plan, Statement};
use inspection::postgres::PLANS;
use postgres::client::Client;
use testing::postgres_client::{Server, bindirs};

/// Tables of which plans are made: with indexes, partitions and names that need quotes.
const SETUP: &str = "
    CREATE TABLE o (id int PRIMARY KEY, c int, d date, note text);
    INSERT INTO o SELECT i, i % 100, date '2020-01-01' + i % 700, 'n' || i % 50
        FROM generate_series(1, 5000) i;
    CREATE TABLE l (id int PRIMARY KEY, o int, q int, t text);
    INSERT INTO l SELECT i, i % 5000 + 1, i % 7, repeat('x', i % 40)
    FROM generate_series(1, 20000) i;
    CREATE INDEX l_o ON l (o); CREATE INDEX l_q ON l (q); CREATE INDEX o_c ON o (c);
    CREATE SCHEMA \"S x\"; CREATE TABLE \"S x\".\"T (a) on b\" (\"k: v\" int, w text);
    INSERT INTO \"S x\".\"T (a) on b\" SELECT i, 'a:b' FROM generate_series(1, 100) i;
    CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
    CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (500);
    CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (500) TO (1000);
    INSERT INTO p SELECT i, i % 10 FROM generate_series(0, 999) i;
    ANALYZE;";

/// Statements that read.
pub const READS: [&str; 44] = [
    "SELECT * FROM o WHERE id = 7",
    "SELECT * FROM o WHERE c = 7 AND note <> 'it''s: (odd' AND note <> E'two\\nlines (a'",
    "SELECT * FROM o WHERE c = 7 OR c = 9 OR id < 5",
    "SELECT id FROM l WHERE o BETWEEN 10 AND 400 AND q = 3",
    "SELECT count(*) FROM l",
    "SELECT q, count(*), sum(o) FROM l GROUP BY q",
    "SELECT q, count(*) FROM l GROUP BY q HAVING count(*) > 10 ORDER BY 2 DESC LIMIT 3",
    "SELECT c, q, count(*) FROM o JOIN l ON l.o = o.id GROUP BY GROUPING SETS ((c), (q), ())",
    "SELECT * FROM o JOIN l ON l.o = o.id WHERE o.c < 5",
    "SELECT * FROM o LEFT JOIN l ON l.o = o.id AND l.q = 9 WHERE l.id IS NULL",
    "SELECT * FROM o RIGHT JOIN l ON l.o = o.id WHERE l.id < 100",
    "SELECT * FROM o FULL JOIN l ON l.o = o.id",
    "SELECT * FROM o WHERE EXISTS (SELECT 1 FROM l WHERE l.o = o.id AND l.q = 3)",
    "SELECT * FROM o WHERE NOT EXISTS (SELECT 1 FROM l WHERE l.o = o.id)",
    "SELECT * FROM o WHERE id IN (SELECT o FROM l WHERE q = 2)",
    "SELECT * FROM o WHERE id NOT IN (SELECT o FROM l WHERE q = 2)",
    "SELECT id, (SELECT max(l.id) FROM l WHERE l.o = o.id) FROM o WHERE c = 3",
    "SELECT * FROM l WHERE id > (SELECT avg(id) FROM l) AND q = (SELECT min(q) FROM l)",
    "SELECT (SELECT count(*) FROM o), (SELECT count(*) FROM l), id FROM o WHERE id < 9 \
     ORDER BY note",
    "WITH x AS MATERIALIZED (SELECT o, count(*) AS n FROM l GROUP BY o) SELECT * FROM x \
     WHERE n > 3",
    "WITH x AS MATERIALIZED (SELECT o, q FROM l) SELECT * FROM x a JOIN x b ON a.o = b.q",
    "WITH a AS MATERIALIZED (SELECT * FROM o), b AS MATERIALIZED (SELECT c, count(*) FROM a \
     GROUP BY c) SELECT * FROM b, (SELECT count(*) FROM a) s",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 50) \
     SELECT * FROM r",
    "SELECT * FROM p WHERE k > 400 ORDER BY v",
    "SELECT count(*) FROM p a JOIN p b USING (k)",
    "SELECT id, row_number() OVER (PARTITION BY c ORDER BY d), sum(c) OVER () FROM o",
    "SELECT DISTINCT note FROM o",
    "SELECT DISTINCT ON (c) c, d FROM o ORDER BY c, d",
    "SELECT c FROM o UNION SELECT q FROM l",
    "SELECT c FROM o UNION ALL SELECT q FROM l ORDER BY 1 LIMIT 10",
    "SELECT c FROM o INTERSECT SELECT q FROM l",
    "SELECT c FROM o EXCEPT ALL SELECT q FROM l",
    "SELECT * FROM generate_series(1, 10) g, LATERAL (SELECT * FROM l WHERE l.o = g LIMIT 2) x",
    "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v (n, s) JOIN o ON o.id = v.n",
    "SELECT 1",
    "SELECT * FROM o WHERE false",
    "SELECT max(id), min(id) FROM l",
    "SELECT * FROM l TABLESAMPLE BERNOULLI (10) REPEATABLE (1)",
    "SELECT * FROM o WHERE ctid = '(0,1)'",
    "SELECT * FROM \"S x\".\"T (a) on b\" \"al: ias\" WHERE \"k: v\" < 10 AND w = 'a:b'",
    "SELECT * FROM l ORDER BY t, q",
    "SELECT * FROM o ORDER BY c, note LIMIT 50",
    "SELECT * FROM o WHERE d = ANY (SELECT d FROM o WHERE c = 1) OR c IN (1, 2, 3) FOR UPDATE",
    "SELECT unnest(ARRAY[1, 2, 3]), * FROM o WHERE c = (SELECT 5 OFFSET 0)",
];

/// Statements that change, which are not run.
const CHANGES: [&str; 6] = [
    "INSERT INTO o VALUES (9999, 1) ON CONFLICT (id) DO UPDATE SET c = 2",
    "INSERT INTO l SELECT id + 100000, c, 1, note FROM o",
    "UPDATE p SET v = v + 1 WHERE v = 3",
    "DELETE FROM l USING o WHERE l.o = o.id AND o.c = 3",
    "WITH gone AS (DELETE FROM o WHERE c = 1 RETURNING id) INSERT INTO l (id) SELECT id FROM gone",
    "WITH i AS (INSERT INTO o VALUES (7777) RETURNING id) SELECT 1",
];

/// Settings under which the planner chooses other nodes.
pub const PLANNERS: [&str; 3] = [
    "SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0",
    "SET enable_hashjoin = off; SET enable_hashagg = off; SET enable_seqscan = off; \
     SET max_parallel_workers_per_gather = 0",
    "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; \
     SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; \
     SET max_parallel_workers_per_gather = 3",
];

pub fn explain(client: &mut Client, options: &str, statement: &str) -> String {
    let rows = client.simple_query(&format!("EXPLAIN ({options}) {statement}"));
    let rows = rows.unwrap_or_else(|error| panic!("{options}: {statement}: {error}"));
    rows.iter().map(|row| row.text(0)).collect::<Vec<_>>().join("\n")
}

pub fn read(text: &str) -> Statement {
    assert!((PLANS.recognise)(text), "{text}");
    let mut all = (PLANS.read)(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

pub fn each_server(test: impl Fn(&mut Client)) {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[("jit", "off"), ("autovacuum", "off")]);
        let mut client = server.connect();
        client.batch(SETUP).unwrap();
        test(&mut client);
    }
}

#[test]
fn text_and_json_are_the_same_model() {
    each_server(|client| {
        let mut compared = 0;
        for planner in PLANNERS {
            client.batch(&format!("RESET ALL; {planner}")).unwrap();
            let is_serial = planner.contains("gather = 0");
            let all = READS
                .iter()
                .map(|statement| (statement, is_serial))
                .chain(CHANGES.iter().map(|change| (change, false)));
            for (statement, is_run) in all {
                // With times of their own, two runs would not be comparable.
                let run = "ANALYZE, TIMING OFF, BUFFERS OFF";
                for costs in ["ON", "OFF"] {
                    if costs == "OFF" && !is_run {
                        continue;
                    }
                    let options = format!(
                        "{}, COSTS {costs}, SUMMARY OFF",
                        if is_run { run } else { "VERBOSE" }
                    );
                    let mut of = |format: &str| {
                        let text =
                            explain(client, &format!("{options}, FORMAT {format}"), statement);
                        (read(&text), text)
                    };
                    let (json, _) = of("JSON");
                    let (other, text) = of("TEXT");
                    assert_eq!(other, json, "{statement}\n{text}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 100, "{compared}");
    });
}

#[test]
fn other_formats_are_refused_with_those_to_use() {
    each_server(|client| {
        for format in ["YAML", "XML"] {
            let text = explain(client, &format!("ANALYZE, FORMAT {format}"), READS[8]);
            assert!((PLANS.recognise)(&text), "{text}");
            let error = (PLANS.read)(&text).unwrap_err().to_string();
            let expected = "of EXPLAIN is not read: use FORMAT JSON or FORMAT TEXT";
            assert_eq!(error, format!("the {format} {expected}"), "{text}");
        }
    });
}

#[test]
fn own_times_and_costs_add_up() {
    each_server(|client| {
        for planner in &PLANNERS[..2] {
            client.batch(&format!("RESET ALL; {planner}")).unwrap();
            for statement in READS {
                for format in ["TEXT", "JSON"] {
                    let text = explain(client, &format!("ANALYZE, FORMAT {format}"), statement);
                    adds_up(read(&text).plan.as_ref().unwrap(), &text);
                }
            }
        }
    });
}

fn adds_up(plan: &Plan, text: &str) {
    let root = plan.root.as_ref().unwrap();
    let sum = |of: fn(&plans::NetCost) -> Option<f64>| {
        plan.net_costs().iter().filter_map(of).sum::<f64>()
    };
    let (cost, ms) =
        (sum(|operator_share| operator_share.cost), sum(|operator_share| operator_share.ms));
    let (root_cost, run) = (root.cost.unwrap(), root.elapsed_ms.unwrap());
    assert!((cost - root_cost).abs() <= 0.001 * root_cost + 1e-9, "{cost} of {root_cost}: {text}");
    // Times are rounded to a microsecond for each run of each node.
    assert!((ms - run).abs() <= 0.05 * run + 0.002, "{ms} of {run} ms: {text}");
    assert!(run <= plan.elapsed_ms.unwrap() + 0.001, "{text}");
}
