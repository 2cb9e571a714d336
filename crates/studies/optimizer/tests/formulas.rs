//! The crossover of PostgreSQL's plans equals its documented cost formulas on uniform data. The
//! formulas are written here once more, from the documentation of the cost constants and the
//! comments of costsize.c and selfuncs.c, and look for the crossover row by row.

use crate::engines::postgres;
use experiment::Value;
use optimizer::OptimizerProbe;
use optimizer::facts::{BY_FORMULAS, BY_PLANS, CHANGES_ESTIMATED, PLAN_CROSSOVER, REVERSALS};
use probe::TrialContext;
use testing::trials::ask;
use work::Statement;

const ROWS: u32 = 20_000;

/// Pages of the table and of the index, and the correlation of values and places.
struct Table {
    heap: f64,
    leaves: f64,
    correlation: f64,
}

fn number(context: &TrialContext<'_>, sql: &str) -> f64 {
    let answer = ask(context, Statement::Text(sql)).unwrap();
    answer.last[0].as_ref().unwrap().parse().unwrap()
}

impl Table {
    fn read(context: &TrialContext<'_>) -> Self {
        let blocks = |name: &str| {
            number(
                context,
                &format!(
                    "SELECT pg_relation_size(oid) / 8192 FROM pg_class WHERE \
                                      relname = '{name}' AND pg_table_is_visible(oid)"
                ),
            )
        };
        let statistics = Self {
            heap: blocks("dials"),
            leaves: blocks("a_dials"),
            correlation: number(
                context,
                "SELECT correlation FROM pg_stats WHERE tablename = 'dials' AND attname = 'a' AND \
                 schemaname = current_schema()",
            ),
        };
        // A root above the leaves, and all pages cached.
        assert!((3.0..250.0).contains(&statistics.leaves) && statistics.heap < 10_000.0);
        statistics
    }

    /// Rows from which on the sequential scan is chosen.
    fn crossover(&self, random: f64) -> u32 {
        (1..=ROWS).find(|rows| self.is_scanned(f64::from(*rows), random)).unwrap()
    }

    fn is_scanned(&self, n: f64, random: f64) -> bool {
        let (all, operator) = (f64::from(ROWS), 0.0025);
        let sequential = self.heap + all * (0.01 + operator);
        // Leaves are random pages; an entry costs 0.005 and one comparison. The way down: a binary
        // search over all entries, and 50 operators in each of two levels.
        let index = (n / all * self.leaves).ceil() * random
            + n * (0.005 + operator)
            + operator * (all.log2().ceil() + 100.0);
        // Mackert and Lohman: pages that n rows anywhere touch.
        let touched = (2.0 * self.heap * n / (2.0 * self.heap + n)).min(self.heap).ceil();
        let bitmap = {
            let price = random - (random - 1.0) * (touched / self.heap).sqrt();
            let price = if touched < 2.0 { random } else { price };
            index + 0.1 * operator * n + touched * price + n * (0.01 + operator)
        };
        let ordered = random + ((n / all * self.heap).ceil() - 1.0);
        let square = self.correlation * self.correlation;
        let plain = index + touched * random * (1.0 - square) + ordered * square + n * 0.01;
        // Costs within 1 % count as equal, and the scan starts at once.
        sequential <= 1.01 * bitmap.min(plain)
    }
}

#[test]
fn the_crossover_of_plans_is_that_of_the_documented_formulas() {
    let Some(engine) = postgres() else { return };
    let settings = [
        ("workload.rows", Value::Integer(ROWS.into())),
        ("workload.rows_per_page", Value::Integer(40)),
        ("workload.degree", Value::Integer(1)),
        ("workload.runs", Value::Integer(1)),
    ];
    let removed = engine.measured(&OptimizerProbe, &settings, |context, result| {
        let observations = result.unwrap();
        let table = Table::read(context);
        let rows = f64::from(ROWS);
        let expected = f64::from(table.crossover(4.0));
        let members: Vec<(&str, f64)> = CHANGES_ESTIMATED.members(&observations).collect();
        let (name, estimated) =
            *members.iter().find(|(name, _)| name.contains("-> Seq Scan")).unwrap();
        println!("{name}: estimated {} rows, by formulas {expected}", estimated * rows);
        // In the unit of the planner, its estimated rows, both agree to a few rows: the planner
        // rounds at other places.
        assert!((estimated * rows - expected).abs() <= 0.005 * expected + 2.0, "{members:?}");
        // In selected rows, up to the resolution of its histogram of 100 parts.
        let by_plan = PLAN_CROSSOVER.read(&observations).unwrap() * rows;
        assert!((by_plan / expected - 1.0).abs() < 0.05, "{by_plan} {expected}");
        for (constant, random) in [("random_page_cost = 4", 4.0), ("random_page_cost = 1.1", 1.1)] {
            let expected = f64::from(table.crossover(random));
            let formulas = BY_FORMULAS.read(constant, &observations).unwrap() * rows;
            let plans = BY_PLANS.read(constant, &observations).unwrap() * rows;
            println!("{constant}: {expected} predicted {formulas} by plans {plans}");
            assert!((formulas - expected).abs() <= 1.5, "{constant}: {formulas} {expected}");
            assert!((plans / expected - 1.0).abs() < 0.05, "{constant}: {plans} {expected}");
        }
        assert_eq!(REVERSALS.read(&observations), Some(0.0));
    });
    removed.unwrap();
}
