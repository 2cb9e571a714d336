//! Remarks on published plans of SQL Server: each rule is triggered by one and silent in another.

use super::showplan::read;
use inspection::plans::Rule::{self, *};
use inspection::plans::{Remark, remarks};
use inspection::sqlserver::RULES;
use std::collections::BTreeSet;
use testing::published_plans;

fn found(name: &str) -> Option<Vec<Remark>> {
    let file = published_plans().into_iter().find(|file| file.ends_with(name))?;
    let statements = read(&file);
    let terms = RULES.terms;
    let plans = statements.unwrap().into_iter().filter_map(|statement| statement.plan);
    let of_plan = |plan| {
        let all = remarks(&plan, &terms);
        let shares = all.iter().map(|remark| remark.share.map_or(-1.0, |share| share.part));
        assert!(shares.is_sorted_by(|a, b| a >= b), "{name}: the largest share first");
        all
    };
    Some(plans.flat_map(of_plan).collect())
}

/// A plan, the rules that it triggers, and some that it must not.
const PLANS: [(&str, &[Rule], &[Rule]); 36] = [
    ("case_predicate_plan.sqlplan", &[Case, ReadForNothing, MissingIndex], &[Function, Conversion]),
    ("convert_implicit_plan.sqlplan", &[Conversion, Planning], &[Executions, Lookups]),
    ("eager_table_spool_plan.sqlplan", &[Materialized], &[IndexBuilt]),
    ("exchange_spill_plan.sqlplan", &[Warning, IdleThreads], &[Skew]),
    ("implicit_convert_seek_plan.sqlplan", &[Warning], &[Statistics]),
    ("join_or_clause_plan.sqlplan", &[AlternativeKeys, Executions, LateFilter], &[IdleThreads]),
    ("key_lookup_plan.sqlplan", &[Lookups], &[Executions, Serial]),
    (
        "lazy_spool_plan.sqlplan",
        &[IndexBuilt, Materialized, Executions, SerialByHint],
        &[MemoryUnused, Warning, Serial],
    ),
    ("leading_wildcard_like_plan.sqlplan", &[LeadingWildcard, Statistics], &[Function]),
    ("local_variable_plan.sqlplan", &[UnknownValues, MissingIndex], &[Parameters, Statistics]),
    ("many_to_many_merge_plan.sqlplan", &[ManyToMany, SerialByHint], &[RowGoal, Executions]),
    ("mismatched_data_type_plan.sqlplan", &[MismatchedTypes], &[AlternativeKeys, UnknownValues]),
    ("multi_index_delete_plan.sqlplan", &[ManyIndexes], &[Estimate]),
    ("multi_index_update_plan.sqlplan", &[ManyIndexes], &[Estimate]),
    ("non_sargable_function_plan.sqlplan", &[Function], &[Case, LeadingWildcard, ReadForNothing]),
    ("parallel-skew.sqlplan", &[Skew, Estimate], &[IdleThreads, WorkersMissing]),
    (
        "param-sniffing-posttypeid2.sqlplan",
        &[Parameters, Estimate, Warning],
        &[NullAware, UnknownValues],
    ),
    ("pspo-example.sqlplan", &[Variant, Lookups], &[Parameters]),
    ("rid_lookup_plan.sqlplan", &[Lookups], &[ReadForNothing]),
    ("row-count-spool-slow.sqlplan", &[NullAware, Executions], &[AlternativeKeys, ManyToMany]),
    ("row_goal_plan.sqlplan", &[RowGoal], &[Estimate]),
    (
        "serially-parallel.sqlplan",
        &[Skew, IdleThreads, MemoryUnused, Lookups, Statistics],
        &[SerialByHint, Serial, Planning],
    ),
    ("slow-multi-seek.sqlplan", &[Executions, LateFilter, Estimate], &[Lookups, NullAware]),
    ("spill_plan.sqlplan", &[Warning, Estimate, IdleThreads], &[MemoryUnused]),
    ("table_variable_plan.sqlplan", &[TableVariable], &[TableFunction]),
    ("top_above_scan_plan.sqlplan", &[RowGoal, ReadForNothing, MissingIndex], &[Estimate]),
    ("tvf_plan.sqlplan", &[TableFunction], &[TableVariable, FunctionPerRow]),
    ("udf_plan.sqlplan", &[FunctionPerRow, Serial], &[TableFunction, SerialByHint]),
    ("cursor2.sqlplan", &[DynamicCursor], &[Materialized]),
    ("inequality_index.sqlplan", &[MemoryUnused, MemoryWait], &[Warning, Lookups]),
    ("batch_hash_table_build.sqlplan", &[EarlyAbort, Planning], &[DynamicCursor]),
    ("index_spool.sqlplan", &[IndexBuilt, CacheMissed], &[Materialized]),
    ("spilltotempdb.sqlplan", &[Warning, IdleThreads], &[Lookups]),
    ("columns_with_no_statistics.sqlplan", &[Warning], &[Statistics]),
    ("table_valued_functon.sqlplan", &[Warning], &[TableFunction, FunctionPerRow]),
    ("KeyLookup.sqlplan", &[Lookups], &[Skew, Variant, LateFilter, MismatchedTypes]),
];

/// Cheap or sound plans.
const SILENT: [&str; 11] = [
    "clustered_index_delete.sqlplan",
    "clustered_index_merge.sqlplan",
    "clustered_index_scan.sqlplan",
    "clustered_index_seek.sqlplan",
    "clustered_index_update.sqlplan",
    "index_insert.sqlplan",
    "rid_lookup.sqlplan",
    "sort.sqlplan",
    "stream_aggregate.sqlplan",
    "table_insert.sqlplan",
    "window_spool.sqlplan",
];

#[test]
fn published_plans_trigger_the_rules_that_they_are_named_after() {
    if published_plans().is_empty() {
        println!("SKIPPED, cannot be here: the folder shared/plans beside the project");
        return;
    }
    let (mut triggered, mut silent) = (BTreeSet::new(), BTreeSet::<Rule>::new());
    let mut wrong = Vec::new();
    for (name, rules, others) in PLANS {
        let remarks = found(name).unwrap();
        let has = |rule: &Rule| remarks.iter().any(|remark| remark.rule == *rule);
        let all: Vec<Rule> = remarks.iter().map(|remark| remark.rule).collect();
        if !rules.iter().all(has) || others.iter().any(has) {
            wrong.push(format!("{name}: {all:?}, expected {rules:?} and not {others:?}"));
        }
        triggered.extend(rules);
        silent.extend(others);
        for remark in &remarks {
            let share = remark.share.map_or(1.0, |share| share.part);
            assert!((0.05..=1.0).contains(&share) && !remark.text.is_empty(), "{name}: {remark:?}");
        }
    }
    for name in SILENT {
        let remarks = found(name).unwrap();
        if !remarks.is_empty() {
            wrong.push(format!("{name}: {remarks:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(triggered.len() >= 30, "{}", triggered.len());
    let never: Vec<Rule> =
        triggered.iter().filter(|rule| !silent.contains(*rule)).copied().collect();
    // These are silent in the plans without any remark.
    assert!(
        never.iter().all(|rule| matches!(
            rule,
            MissingIndex | CacheMissed | EarlyAbort | ManyIndexes | MemoryWait
        )),
        "{never:?}"
    );
}
