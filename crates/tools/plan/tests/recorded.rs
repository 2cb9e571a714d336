//! Plans of statements and what became of their latencies, by hand.

use analysis::{Finding, FindingKind, summarize, summarize_with};
use observations::{Observations, QueryPlan, Recording, ScriptStatement};
use testing::recordings::{data_files, observed};

const SELECT: &str = "SELECT count(*)\n  FROM t WHERE a = :a";
const SCAN: &str = "Aggregate\n  ->  Seq Scan on t\n        Filter: (a = $1)";
const INDEX: &str = "Aggregate\n  ->  Index Only Scan using t_a on t\n        Index Cond: (a = $1)";
/// Milliseconds of the SELECT in each block, without and with the index.
const WITHOUT_MS: [f64; 4] = [4.0, 4.4, 3.8, 4.2];
const WITH_MS: [f64; 4] = [1.0, 1.2, 0.9, 1.1];

fn trial(elapsed_s: f64, select_ms: f64, insert_ms: f64, plan: &str, cost: f64) -> Observations {
    let statement = |text: &str, each_ms: f64| ScriptStatement {
        script: "s.sql".into(),
        text: text.into(),
        count: 1000,
        wall_s: each_ms,
        ..ScriptStatement::default()
    };
    let mut observations = observed(elapsed_s);
    observations.statements = vec![statement(SELECT, select_ms), statement("INSERT", insert_ms)];
    observations.plans = vec![
        QueryPlan::new(SELECT, plan.into()).estimated(Some(10.0), Some(cost)),
        QueryPlan::new("INSERT", "Insert on t\n  ->  Result".into()),
        QueryPlan::none("VACUUM", "VACUUM has no plan".into()),
    ];
    observations
}

/// Two levels, of which the second is faster; in the fourth block it may have the plan of the
/// first.
fn run(last: &str) -> Recording {
    let mut run = data_files(&["1", "4"], &[&[2.0, 2.1, 1.9, 2.0], &[1.0, 1.05, 0.96, 1.0]]);
    for record in &mut run.trials {
        let (block, elapsed_s) =
            (record.block as usize - 1, record.observations.as_ref().unwrap().elapsed_s);
        record.observations = Some(match record.configuration {
            0 => trial(
                elapsed_s,
                WITHOUT_MS[block],
                1.0 + block as f64 / 100.0,
                SCAN,
                100.0 + block as f64,
            ),
            _ => trial(elapsed_s, WITH_MS[block], 2.0, if block == 3 { last } else { INDEX }, 8.0),
        });
    }
    run
}

/// Findings on plans.
fn found(run: &Recording) -> Vec<Finding> {
    let findings = summarize_with(run, &[&plan::STUDY], Vec::new()).findings();
    findings.into_iter().filter(|finding| finding.kind == FindingKind::Plan).collect()
}

#[test]
fn statements_are_compared_by_paired_blocks() {
    let run = run(INDEX);
    let gains = summarize(&run).statement_gains();
    let [select, insert] = &gains[..] else { panic!("{gains:?}") };
    let logs: Vec<f64> =
        WITHOUT_MS.iter().zip(WITH_MS).map(|(from, to)| (from / to).ln()).collect();
    let mean = logs.iter().sum::<f64>() / 4.0;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 3.0;
    // t(0.975, 3), and t(0.99, 3): intervals that agree with Holm's verdicts on two comparisons are
    // wider than Bonferroni's.
    let [half, widest] = [3.182_446, 4.540_703].map(|t| t * (variance / 4.0).sqrt());
    let near = |ours: f64, expected: f64| {
        assert!((ours / expected - 1.0).abs() < 1e-5, "{ours} {expected}");
    };
    near(select.gain.value, mean.exp());
    let interval = select.gain.interval.unwrap();
    let [low, high] = [interval.low, interval.high].map(f64::ln);
    assert!(low <= mean - half && low >= mean - widest - 1e-5, "{low} {mean} {half} {widest}");
    assert!(high >= mean + half && high <= mean + widest + 1e-5, "{high} {mean} {half} {widest}");
    // Two comparisons are one family.
    near(
        select.gain.adjusted_p.unwrap(),
        select.gain.p_value.unwrap().max(2.0 * insert.gain.p_value.unwrap()),
    );
    assert!(insert.gain.value < 0.52 && insert.gain.supported(), "the price: {insert:?}");
    near(select.latency.as_ref().unwrap().mean, 1.05);
    assert_eq!((select.index, insert.text.as_str()), (1, "INSERT"));
}

#[test]
fn a_plan_that_changed_is_told_with_what_became_of_the_statement() {
    let run = run(INDEX);
    let plans = plan::recorded::plans(&summarize(&run));
    assert_eq!(plans.iter().map(|plan| plan.plans.len()).collect::<Vec<_>>(), [2, 1, 1]);
    let variants = &plans[0].plans;
    assert_eq!((variants[0].configurations.as_slice(), variants[0].trials), (&[0][..], 4));
    assert_eq!(variants[0].estimated_cost, Some((100.0, 103.0)));
    assert_eq!(variants[1].operators, ["Aggregate", "Index Only Scan using t_a on t"]);
    assert_eq!(plans[2].plans[0].reason.as_deref(), Some("VACUUM has no plan"));
    let found = found(&run);
    let [finding] = &found[..] else { panic!("{found:?}") };
    let begin = "The plan of `SELECT count(*) FROM t WHERE a = :a` changes from data_files=1 to \
                 4: Seq Scan on t -> Index Only Scan using t_a on t; the statement is 3.9";
    assert!(
        finding.text.starts_with(begin) && finding.text.ends_with("] faster."),
        "{}",
        finding.text
    );
    assert!(
        finding.evidence.starts_with("4 trials with 1 plan against 4 trials with 1 plan"),
        "{}",
        finding.evidence
    );
}

#[test]
fn nothing_is_told_where_a_plan_is_on_both_sides_or_nothing_is_faster() {
    let is_found = |run: &Recording| !found(run).is_empty();
    assert!(is_found(&run(INDEX)));
    assert!(!is_found(&run(SCAN)), "one of the trials with the index had the plan without it");
    // A statement that gains is reported also where losses of other statements cancel the gain.
    let mut balanced = run(INDEX);
    for record in &mut balanced.trials {
        let observations = record.observations.as_mut().unwrap();
        observations.elapsed_s = 2.0 + f64::from(record.block) / 100.0;
        observations.responses = observed(observations.elapsed_s).responses;
    }
    assert!(is_found(&balanced));
    for record in &mut balanced.trials {
        record.observations.as_mut().unwrap().statements[0].wall_s =
            4.0 + f64::from(record.block) / 10.0;
    }
    assert!(!is_found(&balanced), "no statement is faster");
}
