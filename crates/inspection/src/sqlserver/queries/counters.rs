//! Statements by the server's hash of them and their database, whichever of the server's views
//! counted their plans.

use super::views::CREATED_SINCE_S;
use crate::statements::{CountedRow, Counter, Spread, Statement};
use engine::Row;
use engine::server::MARK;
use observations::order;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The place of a plan of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Handle {
    /// In the cache: its handle, and where the statement begins and ends.
    Cached(String, i32, i32),
    /// In the Query Store: its number, how often it ran, and for how long on average, ms.
    Stored(i64, u64, f64),
}

/// Statements with the places of their plans.
pub type Placed = Vec<(Statement, Vec<Handle>)>;

/// Statements of rows that are of a plan each.
pub fn statements<'a>(rows: impl Iterator<Item = Row<'a>>) -> Placed {
    let (mut groups, mut at) = (Vec::<Vec<Row<'_>>>::new(), HashMap::new());
    for row in rows.filter(|row| !row.text("statement_text").contains(MARK)) {
        let number =
            *at.entry((row.text("digest"), row.text("database_name"))).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[number].push(row);
    }
    groups.iter().map(|plans| (statement(plans), handles(plans))).collect()
}

/// The statements of the first, and those of the second that are not among them. One whose database
/// is unknown may be of any.
pub fn merged(mut first: Placed, second: Placed) -> Placed {
    let mut known: HashMap<String, HashSet<String>> = HashMap::new();
    for (statement, _) in &first {
        known.entry(statement.digest.clone()).or_default().insert(statement.database.clone());
    }
    let unknown = second.into_iter().filter(|(statement, _)| {
        let databases = known.get(&statement.digest);
        !databases.is_some_and(|database| {
            database.contains(&statement.database)
                || database.contains("")
                || statement.database.is_empty()
        })
    });
    first.extend(unknown);
    first
}

/// Rows of the cache, each with what tells it from others: its plan, place and compilation. Rows of
/// the Query Store change by its age.
fn rows(plans: &[Row<'_>]) -> Vec<CountedRow> {
    let cached = plans.iter().filter(|row| row.get("plan_id").is_none());
    cached
        .map(|row| {
            let key = ["plan_handle", "begins", "ends", "created"].map(|column| row.text(column));
            let since_s = row.parse::<i64>("created_s").map(|s| s + CREATED_SINCE_S);
            let counters = counters(&[*row]);
            CountedRow {
                id: key.join("/"),
                since_ms: since_s.map(|since_s| since_s * 1000),
                counters: if plans.len() > 1 { counters } else { BTreeMap::new() },
            }
        })
        .collect()
}

/// The sums of counters. Of what a view does not count there is no counter.
fn counters(plans: &[Row<'_>]) -> BTreeMap<Counter, u64> {
    let sum = |column: &str| {
        plans.iter().filter_map(|row| row.parse::<u64>(column)).reduce(u64::saturating_add)
    };
    let reads = sum("logical_reads").zip(sum("physical_reads"));
    let counters = [
        (Counter::Calls, sum("calls")),
        (Counter::TimeNs, sum("elapsed_us").map(|us| us.saturating_mul(1000))),
        (Counter::CpuNs, sum("worker_us").map(|us| us.saturating_mul(1000))),
        (Counter::Rows, sum("total_rows")),
        (
            Counter::SharedHitBlocks,
            reads.map(|(logical, physical)| logical.saturating_sub(physical)),
        ),
        (Counter::SharedReadBlocks, sum("physical_reads")),
        (Counter::TempWrittenBlocks, sum("spills")),
        (Counter::TempdbBlocks, sum("tempdb_pages")),
        (Counter::Errors, sum("errors")),
    ];
    counters.into_iter().filter_map(|(counter, value)| Some((counter, value?))).collect()
}

fn statement(plans: &[Row<'_>]) -> Statement {
    let figures =
        |column: &'static str| plans.iter().filter_map(move |row| row.parse::<f64>(column));
    let first = plans[0];
    let mut statement = Statement {
        digest: first.text("digest"),
        database: first.text("database_name"),
        is_top: true,
        is_stored: first.get("plan_id").is_some(),
        text: behind_parameters(first.get("statement_text").unwrap_or_default()).to_owned(),
        counters: counters(plans),
        rows: rows(plans),
        ..Statement::default()
    };
    let squares = figures("squares_us").reduce(|a, b| a + b).zip(statement.get(Counter::Calls));
    let variance = squares.zip(statement.mean_ms()).map(|((squares, calls), mean)| {
        (squares / 1e6 / calls.max(1) as f64 - mean * mean).max(0.0)
    });
    statement.spread = Some(Spread {
        min_ms: figures("min_us").map(|us| us / 1e3).reduce(f64::min),
        max_ms: figures("max_us").map(|us| us / 1e3).reduce(f64::max),
        stddev_ms: variance.map(f64::sqrt),
    });
    statement
}

/// In the cache, that of the plan that took most time. A plan of the Query Store may stand in
/// several rows.
fn handles(plans: &[Row<'_>]) -> Vec<Handle> {
    let whole = |row: &Row<'_>, column: &str| row.parse(column).unwrap_or(0);
    let mut stored: Vec<(i64, u64, u64)> = Vec::new();
    for row in plans {
        let Some(number) = row.parse::<i64>("plan_id") else {
            return vec![Handle::Cached(
                row.text("plan_handle"),
                whole(row, "begins"),
                whole(row, "ends"),
            )];
        };
        let count = |column: &str| row.parse::<u64>(column).unwrap_or(0);
        let (calls, us) = (count("calls"), count("elapsed_us"));
        match stored.iter_mut().find(|(known, ..)| *known == number) {
            Some(known) => *known = (number, known.1 + calls, known.2 + us),
            None => stored.push((number, calls, us)),
        }
    }
    order::by_key(&mut stored, &|(.., us)| std::cmp::Reverse(*us));
    stored
        .into_iter()
        .map(|(number, calls, us)| {
            Handle::Stored(number, calls, us as f64 / 1e3 / calls.max(1) as f64)
        })
        .collect()
}

/// `(@1 int,@2 decimal(9,2))SELECT ...`, as the Query Store keeps it, without the declarations.
fn behind_parameters(text: &str) -> &str {
    let mut depth = 0_i32;
    let end = text.starts_with("(@").then(|| {
        text.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ')' && depth == 0
        })
    });
    end.flatten().map_or(text, |end| text[end + 1..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::{behind_parameters, merged, statements};
    use crate::statements::Counter;
    use testing::rows::rows;

    #[test]
    fn declarations_of_parameters_are_no_part_of_a_statement() {
        for (text, expected) in [
            ("(@1 int,@2 decimal(9,2), @n nvarchar(max))SELECT (@1)", "SELECT (@1)"),
            ("(SELECT 1) UNION SELECT 2", "(SELECT 1) UNION SELECT 2"),
            ("(@cut off", "(@cut off"),
            ("", ""),
        ] {
            assert_eq!(behind_parameters(text), expected);
        }
    }

    #[test]
    fn a_statement_of_both_views_counts_once() {
        let of = |text: &str| {
            let head = "digest | database_name | calls | elapsed_us | statement_text\n";
            statements(rows(&format!("{head}{text}")).iter())
        };
        let stored = of("0xA1 | shop | 3 | 9 | SELECT 1\n0xA2 | shop | 3 | 9 | SELECT 2");
        let cached = of(
            "0xA1 | shop | 2 | 8 | SELECT 1\n0xA1 | other | 2 | 8 | SELECT 1\n0xA2 | - | 2 | 8 \
             | SELECT 2\n0xA3 | - | 1 | 1 | SELECT 3",
        );
        let all = merged(stored, cached);
        let all: Vec<_> =
            all.iter().map(|(statement, _)| (&*statement.digest, &*statement.database)).collect();
        assert_eq!(all, [("0xA1", "shop"), ("0xA2", "shop"), ("0xA1", "other"), ("0xA3", "")]);
    }

    /// A plan that is compiled again is another row, though its handle is the same.
    #[test]
    fn rows_of_the_cache_keep_their_plan_place_and_compilation() {
        let cached = rows(
            "digest | plan_handle | begins | ends | created | created_s | calls | elapsed_us | \
             database_name | statement_text
             0xA1 | 0x06 | 0 | -1 | 2026-11-24 04:00:00.123 | 848808000 | 3 | 9 | shop | SELECT 1
             0xA1 | 0x06 | 0 | -1 | 2026-11-24 04:05:00.000 | - | 2 | 9 | shop | SELECT 1
             0xA2 | 0x07 | 2 | 40 | 2026-11-24 04:00:00.123 | 5 | 4 | 9 | shop | SELECT 2",
        );
        let found = statements(cached.iter());
        let since: Vec<_> = found[0].0.rows.iter().map(|row| (&*row.id, row.since_ms)).collect();
        assert_eq!(
            since,
            [
                ("0x06/0/-1/2026-11-24 04:00:00.123", Some(1_795_492_800_000)),
                ("0x06/0/-1/2026-11-24 04:05:00.000", None),
            ]
        );
        let calls = |at: usize| found[0].0.rows[at].counters[&Counter::Calls];
        assert_eq!((calls(0), calls(1), found[0].0.get(Counter::Calls)), (3, 2, Some(5)));
        let [single] = &found[1].0.rows[..] else { panic!("{found:?}") };
        assert_eq!(
            (&*single.id, single.since_ms),
            ("0x07/2/40/2026-11-24 04:00:00.123", Some(946_684_805_000))
        );
        assert!(single.counters.is_empty(), "those of the statement are its");
    }
}
