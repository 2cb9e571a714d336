//! How far estimates are off. The q-error of an operator is the factor by which its estimated rows
//! differ from the rows that it returned (Moerkotte, Neumann and Steidl, Preventing Bad Plans by
//! Bounding the Impact of Cardinality Estimation Errors, VLDB 2009).

use crate::ask::title;
use inspection::plans::{Kind, Operator, Plan};

/// An operator whose rows were estimated and counted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OperatorError {
    /// Position in the plan, from 0.
    pub position: usize,
    /// The name with its table.
    pub operator: String,
    /// Joins in it and below it.
    pub joins: usize,
    /// The q-error, 1 or more.
    pub q_error: f64,
}

/// The q-error of a number of rows. Less than one row counts as one, as no plan depends on that.
pub fn q_error(estimated: f64, actual: f64) -> f64 {
    let (estimated, actual) = (estimated.max(1.0), actual.max(1.0));
    (estimated / actual).max(actual / estimated)
}

/// The q-errors of a plan's operators. A limit stops its inputs before they have returned all rows,
/// so that below it nothing is known.
pub fn errors(plan: &Plan) -> Vec<OperatorError> {
    let operators = plan.operators();
    let has_limit = operators.iter().any(|(_, operator)| operator.kind == Kind::Limit);
    if has_limit {
        return Vec::new();
    }
    let known = operators.iter().enumerate().filter_map(|(position, (_, operator))| {
        let (estimated, actual) = (operator.rows.estimated?, operator.rows.actual?);
        // Up to version 17 PostgreSQL rounds the mean of executions: 0 rows may be nearly half a
        // row for each of them.
        if actual == 0.0 && operator.executions.is_some_and(|execution| execution > 1.0) {
            return None;
        }
        let q_error = q_error(estimated, actual);
        let name = title(operator);
        let operator_name = if name.is_empty() { operator.name.clone() } else { name };
        Some(OperatorError { position, operator: operator_name, joins: joins(operator), q_error })
    });
    known.collect()
}

/// Joins in an operator and below it; one of several tables counts as one fewer.
fn joins(operator: &Operator) -> usize {
    let all = operator.tree().into_iter().map(|(_, below)| below);
    let joins = all
        .filter(|below| matches!(below.kind, Kind::NestedLoops | Kind::HashJoin | Kind::MergeJoin));
    joins.map(|join| join.inputs.len().saturating_sub(1).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::{errors, q_error};
    use inspection::plans::{Kind, Operator, Plan, Rows};

    #[test]
    fn an_error_is_a_factor_in_either_direction() {
        for (estimated, actual, expected) in
            [(10.0, 1000.0, 100.0), (1000.0, 10.0, 100.0), (7.0, 7.0, 1.0), (0.0, 0.2, 1.0)]
        {
            assert!((q_error(estimated, actual) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn joins_below_are_counted_and_limits_hide_rows() {
        let operator = |name: &str, kind, inputs, estimated, actual| Operator {
            name: name.into(),
            kind,
            inputs,
            rows: Rows { estimated: Some(estimated), actual: Some(actual) },
            ..Operator::default()
        };
        let scan = |name| operator(name, Kind::TableScan, Vec::new(), 10.0, 20.0);
        let inner = operator("inner", Kind::HashJoin, vec![scan("t"), scan("u")], 5.0, 50.0);
        let outer = operator("outer", Kind::MergeJoin, vec![inner, scan("v")], 1.0, 100.0);
        let plan = |root| Plan { root: Some(root), ..Plan::default() };
        let found: Vec<(String, usize, f64)> = errors(&plan(outer.clone()))
            .into_iter()
            .map(|error| (error.operator, error.joins, error.q_error))
            .collect();
        let expected =
            [("outer", 2, 100.0), ("inner", 1, 10.0), ("t", 0, 2.0), ("u", 0, 2.0), ("v", 0, 2.0)];
        assert_eq!(found, expected.map(|(name, joins, error)| (name.to_owned(), joins, error)));
        // The mean of several executions may have been rounded to 0 rows.
        let rounded =
            Operator { executions: Some(3.0), ..operator("r", Kind::TableScan, vec![], 9.0, 0.0) };
        assert!(errors(&plan(rounded)).is_empty());
        assert!(errors(&plan(operator("l", Kind::Limit, vec![outer], 1.0, 1.0))).is_empty());
    }
}
