//! The queries on real engines: the same answers everywhere, and the published ones at scale 1.

use decision_support::{CANCELLED, DecisionSupport, QUERIES};
use engine::{EngineError, Results};
use experiment::Value;
use observations::Observations;
use probe::TrialContext;
use testing::trials::{Session, TestEngine, ask, installed, text};
use work::Statement;

/// Position of Q1 among the operations of a trial.
const FIRST: usize = 1;

/// Returns whether two answers have as many rows, and last rows that differ by rounding alone.
fn are_equal(results: &Results, other: &Results) -> bool {
    let is_close = |pair: (&Option<String>, &Option<String>)| {
        let [cell, other] = [pair.0, pair.1].map(|cell| cell.as_deref().unwrap_or("").trim());
        match (cell.parse::<f64>(), other.parse::<f64>()) {
            (Ok(cell), Ok(other)) => (cell - other).abs() <= 1e-3 * other.abs().max(1.0),
            _ => cell.split(' ').next() == other.split(' ').next(),
        }
    };
    results.rows == other.rows
        && results.last.len() == other.last.len()
        && results.last.iter().zip(&other.last).all(is_close)
}

/// Each stream has run each query once; the response is the mean of their times.
fn are_recorded(observations: &Observations, streams: u64, name: &str) {
    assert_eq!(observations.work.amount, streams * 22, "{name}");
    let mut statements = observations.statements.iter();
    assert!(
        statements.all(|statement| statement.count == streams && statement.wall_s > 0.0),
        "{name}"
    );
    let means = QUERIES.iter().map(|query| {
        let name = format!("query: {}", query.label());
        observations.latency(&name).unwrap().min_mean_max_ns().1 / 1e9
    });
    let mean_s = means.product::<f64>().powf(1.0 / 22.0);
    let response = observations.response("geometric_mean").unwrap();
    assert!((response / mean_s - 1.0).abs() < 1e-9, "{name}: {response} for {mean_s}");
    let q1 = observations.latencies.iter().find(|latency| latency.name == "query: Q1");
    assert_eq!(q1.map(|q1| q1.histogram.len()), Some(streams), "{name}");
}

#[test]
fn all_engines_have_the_same_answers() {
    let mut known = Vec::<Results>::new();
    for engine in installed() {
        let settings =
            [("workload.scale", Value::Float(0.01)), ("workload.indexes", text("references"))];
        let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
            are_recorded(&result.unwrap(), 1, &engine.name);
            let answers: Vec<Results> = (FIRST..=QUERIES.len())
                .map(|operation| ask(context, Statement::Operation(operation)).unwrap())
                .collect();
            if known.is_empty() {
                known.clone_from(&answers);
            }
            for ((answer, other), query) in answers.iter().zip(&known).zip(QUERIES.iter()) {
                let label = query.label();
                assert!(are_equal(answer, other), "{} {label}: {answer:?} {other:?}", engine.name);
            }
        });
        removed.unwrap();
    }
    // Q2, Q16 and others find rows even in small tables, so that equality says something.
    let rows: Vec<u64> = known.iter().map(|answer| answer.rows).collect();
    assert!(rows.iter().filter(|rows| **rows > 0).count() >= 20, "{rows:?}");
}

/// 1.9 million rows of demographics are loaded at every scale: two engines are enough for each run.
#[test]
#[ignore = "lane all: loads all tables of TPC-DS"]
fn own_queries_on_tpcds_have_the_same_answers() {
    let first_two = installed().into_iter().take(2);
    own_queries_on_tpcds(first_two.collect());
}

#[test]
#[ignore = "lane all: all engines"]
fn own_queries_on_tpcds_have_the_same_answers_everywhere() {
    own_queries_on_tpcds(installed());
}

/// Queries of the user's files on the tables of TPC-DS: the engines have the same sums, NULLs among
/// them, and the times of the queries.
fn own_queries_on_tpcds(engines: Vec<TestEngine>) {
    let files = ["star-brands.sql", "star-returns.sql", "star-channels.sql", "star-stock.sql"];
    let paths = files.map(|name| text(testing::ready::file(name).display().to_string()));
    let mut known = Vec::<Results>::new();
    for engine in engines {
        let settings = [
            ("workload.data", text("tpcds")),
            ("workload.scale", Value::Float(0.001)),
            ("workload.files", Value::List(paths.to_vec())),
            ("workload.indexes", text("references")),
        ];
        let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
            let observations = result.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
            assert_eq!(observations.work.amount, 4, "{}", engine.name);
            assert_eq!(observations.latency("query: star-brands").unwrap().len(), 1);
            let sums = "SELECT count(*), count(ss_sold_date_sk), sum(ss_net_profit), \
                        count(i_rec_end_date), count(i_color), sum(i_current_price) FROM \
                        store_sales JOIN item ON i_item_sk = ss_item_sk";
            let answers: Vec<Results> = (FIRST..=files.len())
                .map(Statement::Operation)
                .chain([Statement::Text(sums)])
                .map(|statement| ask(context, statement).unwrap())
                .collect();
            if known.is_empty() {
                known.clone_from(&answers);
            }
            for (at, (answer, other)) in answers.iter().zip(&known).enumerate() {
                assert!(are_equal(answer, other), "{} {at}: {answer:?} {other:?}", engine.name);
            }
        });
        removed.unwrap();
    }
    let [.., channels, _, sums] = &known[..] else { panic!("{known:?}") };
    assert!(channels.rows >= 15, "{known:?}");
    let cell = |at: usize| sums.last[at].as_ref().unwrap().parse::<f64>().unwrap();
    assert!(cell(1) < cell(0), "some sales have no date: {sums:?}");
}

fn number(context: &TrialContext<'_>, sql: &str) -> f64 {
    let results =
        ask(context, Statement::Text(sql)).unwrap_or_else(|error| panic!("{sql}: {error}"));
    results.last[0].as_ref().unwrap().parse().unwrap()
}

/// Orders with keys of the tables, with keys of new orders, and lines without an order.
fn orders(context: &TrialContext<'_>) -> [f64; 3] {
    [
        "SELECT count(*) FROM orders WHERE o_orderkey % 32 < 8",
        "SELECT count(*) FROM orders WHERE o_orderkey % 32 >= 8",
        "SELECT count(*) FROM lineitem LEFT JOIN orders ON o_orderkey = l_orderkey WHERE \
         o_orderkey IS NULL",
    ]
    .map(|sql| number(context, sql))
}

/// Both functions change 0.1 % of the orders, 15 of 15,000 in each pair: in the stream of a power
/// run, and on a connection of their own beside two streams.
#[test]
#[ignore = "lane all: all engines"]
fn refresh_functions_replace_orders() {
    // The functions within a stream are the same requests: one engine is enough for them.
    for (streams, pairs, engines) in [(1, 2, 1), (2, 4, usize::MAX)] {
        let mut known = None;
        for engine in installed().into_iter().take(engines) {
            let settings = [
                ("workload.queries", Value::List(vec![text("Q6"), text("Q14")])),
                ("workload.streams", Value::Integer(streams)),
                ("workload.rounds", Value::Integer(2)),
                ("workload.refresh", Value::Bool(true)),
                ("workload.warmup", Value::Float(0.01)),
            ];
            let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
                let observations =
                    result.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
                let count =
                    |kind: &str| observations.latency(&format!("query: {kind}")).unwrap().len();
                let tasks = ["Q6", "Q14", "RF1", "RF2"].map(count);
                assert_eq!(
                    tasks.map(|count| count as i64),
                    [2 * streams, 2 * streams, pairs, pairs]
                );
                assert_eq!(observations.work.amount as i64, tasks.iter().sum::<u64>() as i64);
                let replaced = 15 * pairs;
                assert_eq!(
                    orders(context).map(|count| count as i64),
                    [15_000 - replaced, replaced, 0],
                    "{}",
                    engine.name
                );
                let left =
                    number(context, "SELECT sum(l_extendedprice + l_quantity) FROM lineitem");
                let left = (left * 100.0).round() as i64;
                assert_eq!(*known.get_or_insert(left), left, "{}", engine.name);
                assert!(observations.response("geometric_mean").is_some(), "{}", engine.name);
            });
            removed.unwrap();
        }
    }
}

/// A join of four tables without a condition would take years; every engine cancels it at the
/// limit and answers on the same connection afterwards.
#[test]
fn engines_cancel_a_statement_at_its_time_limit() {
    for engine in installed() {
        let settings = [
            ("workload.queries", Value::List(vec![text("Q6")])),
            ("workload.query_limit", Value::Float(0.5)),
        ];
        let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
            result.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
            let mut session = Session::open(context).unwrap();
            let endless = "SELECT sum(a.l_quantity + b.l_tax * c.l_tax + d.l_tax) FROM lineitem a, \
                           lineitem b, lineitem c, lineitem d";
            let ended = session.run(Statement::Text(endless));
            assert!(
                matches!(ended, Err(EngineError::TimeLimit { .. })),
                "{}: {ended:?}",
                engine.name
            );
            let rows = session.run(Statement::Text("SELECT count(*) FROM region")).unwrap();
            assert_eq!(rows.last, [Some("5".to_owned())], "{}", engine.name);
        });
        removed.unwrap();
    }
}

/// 0.1 ms are too short for Q1, whose 100,000 steps SQLite takes before it looks at the time.
#[test]
fn cancelled_queries_are_counted_and_have_a_time() {
    let engine = installed().remove(0);
    let settings = [
        ("workload.queries", Value::List(vec![text("Q1")])),
        ("workload.rounds", Value::Integer(3)),
        ("workload.query_limit", Value::Float(0.0001)),
    ];
    let removed = engine.measured(&DecisionSupport, &settings, |_, observations| {
        let observations = observations.unwrap();
        assert_eq!(CANCELLED.read("Q1", &observations), Some(3.0));
        assert_eq!(
            (observations.work.amount, observations.work.errors, observations.statements[0].count),
            (3, 0, 3)
        );
        assert!(observations.response("geometric_mean") >= Some(0.0001));
    });
    removed.unwrap();
}

/// Drawn parameters are the same on every engine and find rows.
#[test]
#[ignore = "lane all: all queries on all engines again"]
fn drawn_parameters_have_the_same_answers_everywhere() {
    let mut known = Vec::<Results>::new();
    for engine in installed() {
        let settings = [
            ("workload.parameters", text("drawn")),
            ("workload.streams", Value::Integer(2)),
            ("workload.indexes", text("references")),
        ];
        let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
            are_recorded(&result.unwrap(), 2, &engine.name);
            let operations = FIRST..FIRST + 2 * QUERIES.len();
            let answers = operations.map(|at| ask(context, Statement::Operation(at)).unwrap());
            let answers: Vec<Results> = answers.collect();
            if known.is_empty() {
                known.clone_from(&answers);
            }
            for (at, (answer, other)) in answers.iter().zip(&known).enumerate() {
                assert!(are_equal(answer, other), "{} {at}: {answer:?} {other:?}", engine.name);
            }
        });
        removed.unwrap();
    }
    let differ = (0..QUERIES.len()).filter(|at| known[*at] != known[at + QUERIES.len()]).count();
    assert!(differ >= 15, "{differ} queries differ between the streams");
}
