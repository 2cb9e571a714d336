//! Statements that spill, are estimated wrongly or vary, and statistics that are older than the
//! data.

use super::place::Place;
use crate::query::{Comparison, Condition, Other, blocks};
use crate::words::{numbers, runs};
use inspection::plans::{self, Access, Kind, Rule, remarks};
use inspection::statements::{
    Advice, AdviceKind, Certainty, Counter, Origin, Rules, Snapshot, Statement, StatementPlan,
    Table,
};
use observations::number::{bytes, count, figure, percent, ratio, seconds};
use report::text::{joined, listed};

/// Estimates that are further off choose other plans: as for single plans (`plans::remarks`).
const OFF: f64 = 10.0;
/// Fewer runs may have had unusual values.
const ESTIMATE_CALLS_MIN: u64 = 10;
/// Fewer rows are nothing to look at.
const ROWS_MIN: f64 = 100.0;
/// Statistics are outdated when this share of the rows has changed: autovacuum gathers them again
/// at 10 % (`autovacuum_analyze_scale_factor`), so that at twice that it does not keep up or is
/// off.
const STALE_SHARE: f64 = 0.2;
const STALE_ROWS_MIN: u64 = 1_000;
/// Times vary when the deviation is this multiple of the mean, without the single longest runs.
const DEVIATIONS: f64 = 2.0;
const VARYING_CALLS_MIN: f64 = 100.0;
const VARYING_MEAN_MS_MIN: f64 = 1.0;
/// Less of tempdb than this in each run is nothing to look at.
const TEMPDB_MIN: f64 = 1_048_576.0;
/// Room that rows take in memory, as a multiple of that in temporary files: about this.
const MEMORY_FACTOR: f64 = 3.0;
/// Number of runs as long as the longest one that may occur by chance.
const OUTLIERS: f64 = 3.0;

/// Findings about single statements.
pub(crate) fn of_statements(snapshot: &Snapshot, rules: &Rules) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, statement) in
        snapshot.statements.iter().enumerate().filter(|(_, statement)| statement.can_be_explained())
    {
        let found = [
            spill(snapshot, statement, rules),
            estimate(snapshot, at, rules),
            varying(statement),
            several(statement),
        ];
        all.extend(found.into_iter().flatten().map(|found| Advice {
            database: statement.database.clone(),
            statements: vec![at],
            subject: numbers(&[at]),
            weight: statement.time_s(),
            ..found
        }));
    }
    all
}

fn spill(snapshot: &Snapshot, statement: &Statement, rules: &Rules) -> Option<Advice> {
    let each = |counter| statement.by_call(counter).filter(|each| *each > 0.0);
    let size = |counter| Some(each(counter)? * snapshot.block_bytes as f64);
    let written = size(Counter::TempWrittenBlocks);
    let tempdb = size(Counter::TempdbBlocks).filter(|size| *size >= TEMPDB_MIN);
    let tables = each(Counter::TempDiskTables).map(figure);
    let passes = each(Counter::SortMergePasses).map(figure);
    let counted = [
        written.map(|size| format!("wrote {} to temporary files each", bytes(size as u64))),
        tempdb.map(|size| format!("used {} of tempdb each", bytes(size as u64))),
        tables.map(|tables| format!("wrote {tables} temporary tables on disk each")),
        passes.map(|passes| format!("made {passes} merge passes of sorts each")),
    ];
    // A temporary table of the statement's own is in tempdb, too.
    let certainty = match (counted.iter().flatten().count(), tempdb) {
        (0, _) => return None,
        (1, Some(_)) => Certainty::Possible,
        _ => Certainty::Counted,
    };
    let (calls, memory) = (runs(statement.calls()), rules.sort_memory);
    let spilling = statement.operators().flat_map(|operator| {
        let spills = operator.warnings.iter().filter(|warning| warning.name == "Spill");
        spills.map(move |warning| format!("{} ({})", operator.name, warning.detail))
    });
    let place = listed(spilling).map(|operators| format!(" In a logged plan: {operators}."));
    Some(Advice {
        ddl: rules
            .give_memory
            .zip(written)
            .and_then(|(give, size)| give(&statement.user, (MEMORY_FACTOR * size) as u64)),
        evidence: format!(
            "{calls} {}.{}",
            joined(counted.into_iter().flatten(), " and "),
            place.unwrap_or_default()
        ),
        change: format!(
            "More {memory} for the session or role that runs it keeps this in memory. So does an \
             index with the rows in order, or fewer rows and columns."
        ),
        price: "Each sort and hash of each session can take this much memory: the total must fit."
            .into(),
        ..Advice::new(AdviceKind::Spill, certainty)
    })
}

/// By a recorded run where there is one; else the rows that runs returned against those that the
/// planner expects for any values.
fn estimate(snapshot: &Snapshot, at: usize, rules: &Rules) -> Option<Advice> {
    let (statement, terms) = (&snapshot.statements[at], &rules.terms);
    let logged = statement.plans.iter().find_map(|found| {
        let operators = found.plan.operators();
        let remarks = remarks(&found.plan, terms);
        let wrong = remarks.into_iter().find(|remark| remark.rule == Rule::Estimate)?;
        let operator = operators[wrong.operator?].1;
        let object = operator.objects.first().map(|object| format!(" of {}", object.label()));
        Some((format!("{}{}", operator.name, object.unwrap_or_default()), operator.rows))
    });
    let better = "Better statistics give the planner the real row counts: ANALYZE; CREATE \
                  STATISTICS for correlated columns; a higher statistics target for skewed values.";
    let price = "ANALYZE reads a sample of the table. The plan may improve or stay the same.";
    let advice = |evidence, certainty| Advice {
        evidence,
        change: better.into(),
        price: price.into(),
        ..Advice::new(AdviceKind::EstimateOff, certainty)
    };
    if let Some((place, rows)) = logged {
        let evidence = format!(
            "In a logged run, {} rows were expected from {place} and {} came; its inputs were as \
             expected.",
            figure(rows.estimated?),
            figure(rows.actual?)
        );
        return Some(advice(evidence, Certainty::Counted));
    }
    // Of columns without an index, other optimizers know nothing that could be off.
    if !rules.estimates_scans {
        return None;
    }
    let (table, columns) = correlated(snapshot, at, rules)?;
    let found = advice(returned(statement)?, Certainty::Estimated);
    let ddl = rules.abilities.statistics.map(|statistics| statistics(table, &columns));
    Some(Advice {
        change: format!(
            "The planner takes the columns ({}) for independent. Statistics of both together, and \
             ANALYZE after that, tell it how they depend on each other.",
            columns.join(", ")
        ),
        ddl,
        ..found
    })
}

/// The columns of a statement that compares several columns of one table with values and does
/// nothing else: elsewhere the mean of all values says little about the values that run.
fn correlated<'a>(
    snapshot: &'a Snapshot,
    at: usize,
    rules: &Rules,
) -> Option<(&'a Table, Vec<String>)> {
    let statement = &snapshot.statements[at];
    statement.get(Counter::Calls).filter(|calls| *calls >= ESTIMATE_CALLS_MIN)?;
    let found = blocks(&statement.text, rules.syntax);
    let [block] = found.as_slice() else { return None };
    let place = Place { snapshot, rules, at, block };
    let [source] = block.sources.as_slice() else { return None };
    let table = &snapshot.tables[place.table(source)?];
    let is_plain = |condition: &Condition| {
        condition.operand.is_plain
            && condition.comparison == Comparison::Equal
            && matches!(condition.other, Other::Value(_))
    };
    let is_simple = !block.has_others
        && block.alternatives.is_empty()
        && block.conditions.len() > 1
        && block.conditions.iter().all(is_plain);
    let names = block.conditions.iter().map(|condition| {
        place.column_of(table, &condition.operand).map(|column| column.name.clone())
    });
    let columns: Option<Vec<String>> = names.collect();
    columns.filter(|_| is_simple).map(|columns| (table, columns))
}

fn returned(statement: &Statement) -> Option<String> {
    let generic = statement.plans.iter().find(|plan| plan.origin == Origin::Generic)?;
    let root = generic.plan.root.as_ref()?;
    // What changes rows returns none in its plan; a limit cuts, and how many groups there are
    // depends on the values.
    let is_cut = root.tree().iter().any(|(_, operator)| {
        operator.access == Some(Access::Change)
            || matches!(operator.kind, Kind::Limit | Kind::Aggregate | Kind::HashAggregate)
    });
    let (expected, came) = (root.rows.estimated?, statement.by_call(Counter::Rows)?);
    let (low, high) = (expected.min(came).max(1.0), expected.max(came));
    (!is_cut && high >= ROWS_MIN && high > OFF * low).then(|| {
        format!(
            "The planner expects {} rows for any values; its {} returned {} on average: {} times \
             {}.",
            figure(expected),
            runs(statement.calls()),
            figure(came),
            figure(high / low),
            if came > expected { "as many" } else { "fewer" }
        )
    })
}

/// A few very long runs may be anything, such as a checkpoint or a lock: only what is left without
/// them counts.
fn varying(statement: &Statement) -> Option<Advice> {
    let spread = statement.spread?;
    let (mean, deviation) = (statement.mean_ms()?, spread.stddev_ms?);
    let calls = statement.get(Counter::Calls)? as f64;
    let outliers = spread.max_ms.map_or(0.0, |max| OUTLIERS * (max - mean).powi(2) / calls);
    let left = (deviation * deviation - outliers).max(0.0).sqrt();
    let varies =
        calls >= VARYING_CALLS_MIN && mean >= VARYING_MEAN_MS_MIN && left >= DEVIATIONS * mean;
    varies.then(|| {
        let ends = spread
            .min_ms
            .zip(spread.max_ms)
            .map(|(min, max)| format!(", from {} to {}", seconds(min / 1e3), seconds(max / 1e3)));
        Advice {
            evidence: format!(
                "Its {} runs took {} on average with a standard deviation of {}{}.",
                count(calls as u64),
                seconds(mean / 1e3),
                seconds(deviation / 1e3),
                ends.unwrap_or_default()
            ),
            change: "If the time depends on the values, compare the plans for a frequent and a \
                     rare value: another plan or an index may shorten the long runs."
                .into(),
            price: "Waits for locks and storage also vary the times: `steelbench waits` shows \
                    them."
                .into(),
            ..Advice::new(AdviceKind::VaryingTimes, Certainty::Possible)
        }
    })
}

/// Plans that ran: those of a log, or of the Query Store.
fn several(statement: &Statement) -> Option<Advice> {
    let ran: Vec<&StatementPlan> = statement
        .plans
        .iter()
        .filter(|plan| matches!(plan.origin, Origin::Logged | Origin::Stored))
        .collect();
    let first = ran.first().filter(|_| ran.len() > 1)?;
    let place = if first.origin == Origin::Logged { "log" } else { "Query Store" };
    let each = ran.iter().map(|plan| {
        let time = |what: &str, ms: f64| format!(", {what} {}", seconds(ms / 1e3));
        let longest = plan.plan.elapsed_ms.map(|ms| time("up to", ms));
        let mean = plan.mean_ms.map(|ms| time("on average", ms));
        let time = mean.or(longest).unwrap_or_default();
        format!("{} ({}{time})", access_path(plan), runs(plan.runs))
    });
    let each = joined(each, "; ");
    Some(Advice {
        evidence: format!("The {place} has {} plans for it: {each}.", ran.len()),
        change: "If the slower plan runs for values that the faster one could serve, better \
                 statistics or an index help."
            .into(),
        price: "None in itself: each plan may be the best for its values.".into(),
        ..Advice::new(AdviceKind::SeveralPlans, Certainty::Counted)
    })
}

/// How a plan gets at its tables: `Seq Scan orders, Index Scan customers (customers_pkey)`.
fn access_path(plan: &StatementPlan) -> String {
    let operators = plan.plan.operators();
    let reads = operators.iter().filter(|(_, operator)| operator.access.is_some());
    let reads = reads.map(|(_, operator)| {
        let object = operator.objects.first().map(plans::Object::label).unwrap_or_default();
        format!("{} {object}", operator.name).trim().to_owned()
    });
    joined(reads, ", ")
}

/// Tables whose statistics are older than the data.
pub fn of_tables(snapshot: &Snapshot) -> Vec<Advice> {
    snapshot.tables.iter().enumerate().filter_map(|(at, table)| stale(at, table)).collect()
}

fn stale(at: usize, table: &Table) -> Option<Advice> {
    let (changed, rows) = (table.changed_since_analyze?, table.rows?.max(0.0));
    let is_stale =
        changed >= STALE_ROWS_MIN && changed as f64 >= STALE_SHARE * rows && table.is_in_use();
    is_stale.then(|| {
        Advice {
            evidence: match table.analyzed_ms {
                None => format!(
                    "{} of its rows have changed; its statistics were never gathered.",
                    count(changed)
                ),
                Some(_) if rows < 1.0 => {
                    format!(
                        "{} rows have changed since its statistics were gathered on the empty \
                     table.",
                        count(changed)
                    )
                }
                Some(_) => format!(
                    "{} rows have changed since its statistics were gathered: {} of its {} rows \
                 (the server's estimate).",
                    count(changed),
                    if changed as f64 > rows {
                        format!("{}x", ratio(changed as f64 / rows))
                    } else {
                        percent(changed as f64 / rows, 0)
                    },
                    count(rows as u64)
                ),
            },
            change: "ANALYZE updates the planner's row counts. Check whether autovacuum is off \
                 for the table or falls behind (autovacuum_analyze_scale_factor)."
                .into(),
            price: "ANALYZE reads a sample of the table.".into(),
            ddl: Some(format!("ANALYZE {}", table.quoted)),
            weight: changed as f64,
            ..Advice::new(AdviceKind::StaleStatistics, Certainty::Counted)
        }
        .about_table(at, table)
    })
}
