//! Remarks on real plans: each rule has a statement that triggers it and one that stays silent.
//! Plans without times have the planner's costs as shares, which are the same on every machine.

use super::plan_formats::{explain, read};
use inspection::plans::{Remark, Rule, Terms, remarks};
use inspection::postgres::PLANS;
use testing::postgres_client::{Server, bindirs};

const SETUP: &str = "
    CREATE TABLE big (id int PRIMARY KEY, x int, y int, name text, at timestamp);
    INSERT INTO big SELECT i, (i::bigint * 7919) % 1000, i % 100, 'name ' || repeat('x', 150) || i,
        timestamp '2020-01-01' + i * interval '1 minute' FROM generate_series(1, 120000) i;
    CREATE INDEX big_x ON big (x);
    CREATE TABLE few (k int, z int); INSERT INTO few SELECT i, i FROM generate_series(1, 300) i;
    ANALYZE;";

const SERIAL: &str = "SET max_parallel_workers_per_gather = 0;";

/// A rule with the settings and statements that trigger it or not.
struct Case {
    rule: Rule,
    settings: &'static str,
    found: &'static str,
    silent_settings: &'static str,
    silent: &'static str,
}

const fn case(rule: Rule, found: &'static str, silent: &'static str) -> Case {
    Case { rule, settings: "", found, silent_settings: "", silent }
}

const CASES: [Case; 14] = [
    case(
        Rule::ReadForNothing,
        "SELECT * FROM big WHERE y = 5 AND name LIKE 'other%'",
        "SELECT * FROM big WHERE y <> 5",
    ),
    case(
        Rule::Function,
        "SELECT count(*) FROM big WHERE date_part('year', at) = 2020",
        "SELECT count(*) FROM big WHERE at >= now() - interval '1 day'",
    ),
    case(
        Rule::Conversion,
        "SELECT count(*) FROM big WHERE at::date = '2020-02-01'",
        "SELECT count(*) FROM big WHERE at = '2020-02-01'",
    ),
    case(
        Rule::Arithmetic,
        "SELECT count(*) FROM big WHERE y + 1 = 7",
        "SELECT count(*) FROM big WHERE y = 7 - 1",
    ),
    case(
        Rule::Case,
        "SELECT count(*) FROM big WHERE y = CASE WHEN x > 5 THEN 3 ELSE 4 END",
        "SELECT CASE WHEN x > 5 THEN 3 ELSE 4 END FROM big WHERE y = 3",
    ),
    case(
        Rule::LeadingWildcard,
        "SELECT count(*) FROM big WHERE name LIKE '%x9'",
        "SELECT count(*) FROM big WHERE name LIKE 'x9%'",
    ),
    case(
        Rule::AlternativeKeys,
        "SELECT count(*) FROM big JOIN few ON big.y = few.k OR big.x = few.z",
        "SELECT count(*) FROM big JOIN few ON big.y = few.k AND (big.x = 3 OR big.x = 4)",
    ),
    case(
        Rule::NullAware,
        "SELECT count(*) FROM big WHERE y NOT IN (SELECT z FROM few)",
        "SELECT count(*) FROM big WHERE NOT EXISTS (SELECT FROM few WHERE z = y)",
    ),
    Case {
        rule: Rule::LossyBitmap,
        settings: "SET enable_seqscan = off; SET enable_indexscan = off; SET work_mem = '64kB'",
        found: "SELECT sum(y) FROM big WHERE x < 300",
        silent_settings: "SET enable_seqscan = off; SET enable_indexscan = off; \
                          SET work_mem = '64MB'",
        silent: "SELECT sum(y) FROM big WHERE x < 300",
    },
    Case {
        rule: Rule::Warning,
        settings: "SET work_mem = '64kB'",
        found: "SELECT * FROM big ORDER BY name",
        silent_settings: "SET work_mem = '256MB'",
        silent: "SELECT * FROM big ORDER BY name",
    },
    Case {
        rule: Rule::Warning,
        settings: "SET work_mem = '64kB'; SET enable_mergejoin = off; SET enable_nestloop = off",
        found: "SELECT count(*) FROM big a JOIN big b ON a.id + 0 = b.id",
        silent_settings: "SET work_mem = '256MB'; SET enable_mergejoin = off; \
                          SET enable_nestloop = off",
        silent: "SELECT count(*) FROM big a JOIN big b ON a.id + 0 = b.id",
    },
    Case {
        rule: Rule::WorkersMissing,
        settings: "SET max_parallel_workers_per_gather = 2; SET max_parallel_workers = 0; \
                   SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; \
                   SET min_parallel_table_scan_size = 0",
        found: "SELECT sum(y) FROM big",
        silent_settings: "SET max_parallel_workers_per_gather = 2; SET max_parallel_workers = 8; \
                          SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; \
                          SET min_parallel_table_scan_size = 0",
        silent: "SELECT sum(y) FROM big",
    },
    Case {
        rule: Rule::Executions,
        settings: "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off",
        found: "SELECT count(*) FROM big a JOIN big b ON b.id = a.id + 0",
        silent_settings: "SET enable_hashjoin = off; SET enable_mergejoin = off",
        silent: "SELECT count(*) FROM few a JOIN big b ON b.id = a.k",
    },
    Case {
        rule: Rule::HeapFetches,
        settings: "SET enable_seqscan = off; SET enable_bitmapscan = off",
        found: "SELECT count(x) FROM big WHERE x < 300",
        silent_settings: "VACUUM big",
        silent: "SELECT count(x) FROM big WHERE x < 300",
    },
];

#[test]
fn each_rule_is_triggered_and_stays_silent_by_a_real_plan() {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[("jit", "off"), ("autovacuum", "off")]);
        let mut client = server.connect();
        client.batch(SETUP).unwrap();
        let mut found = |settings: &str, statement: &str| {
            client.batch("RESET ALL").unwrap();
            for setting in SERIAL.split(';').chain(settings.split(';')) {
                if !setting.trim().is_empty() {
                    client.batch(setting).unwrap();
                }
            }
            let text = explain(&mut client, "ANALYZE, TIMING OFF, BUFFERS OFF", statement);
            let remarks = remarks(read(&text).plan.as_ref().unwrap(), &Terms::NONE);
            (remarks, text)
        };
        for case in &CASES {
            let has = |text: &[Remark]| text.iter().any(|remark| remark.rule == case.rule);
            let (remarks, text) = found(case.settings, case.found);
            assert!(has(&remarks), "{:?} is missing in {remarks:#?}\n{text}", case.rule);
            let parts = remarks.iter().filter_map(|remark| remark.share).map(|share| share.part);
            assert!(parts.clone().all(|part| (0.0..=1.0).contains(&part)), "{remarks:#?}");
            assert!(parts.is_sorted_by(|a, b| a >= b), "the largest share first: {remarks:#?}");
            let (remarks, text) = found(case.silent_settings, case.silent);
            assert!(!has(&remarks), "{:?} in {remarks:#?}\n{text}", case.rule);
        }
    }
}

/// Compilation is built into few installations: these are plans as a server prints them.
#[test]
fn compilation_and_copies_are_remarked_by_their_share_of_the_time() {
    let plan = |scan: &str, copy: &str, compiled: &str| {
        let text = format!(
            "Nested Loop  (cost=0.00..900.00 rows=9000 width=8) (actual time=1.0..100.0 rows=9000 \
             loops=1)\n  ->  Seq Scan on a  (cost=0.00..5.00 rows=300 width=4) (actual \
             time=0.1..{scan} rows=300 loops=1)\n  ->  Materialize  (cost=0.00..5.00 rows=30 \
             width=4) (actual time=0.0..{copy} rows=30 loops=300)\n        ->  Seq Scan on b  \
             (cost=0.00..4.00 rows=30 width=4) (actual time=0.1..0.2 rows=30 loops=1)\nPlanning \
             Time: 0.300 ms\nJIT:\n  Functions: 9\n  Timing: Generation 1.0 ms, Inlining 1.0 ms, \
             Optimization 1.0 ms, Emission 1.0 ms, Total {compiled} ms\nExecution Time: 110.0 ms\n"
        );
        let statement = read(&text);
        let remarks = remarks(statement.plan.as_ref().unwrap(), &Terms::NONE);
        remarks.into_iter().map(|remark| remark.rule).collect::<Vec<_>>()
    };
    assert_eq!(plan("2.0", "0.2", "30.0"), [Rule::Materialized, Rule::Compilation]);
    assert_eq!(plan("2.0", "0.01", "3.0"), []);
    // An unknown property is named.
    let unknown = "Seq Scan on t  (cost=0.00..9.00 rows=42 width=4)\n  Quantum State: up\n";
    assert_eq!(read(unknown).plan.unwrap().unknown, ["Quantum State"]);
    assert!((PLANS.recognise)(unknown));
}
