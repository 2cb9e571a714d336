//! EXPLAIN QUERY PLAN of SQLite: steps in words, without estimates
//! (<https://www.sqlite.org/eqp.html>).

use crate::plans::{
    Kind, MissingIndex, Object, Operator, Plan, PlanError, Predicate, Property, Role,
};
use engine::planned::PlanStep;
use work::sql::Syntax;

/// The plan of these steps; a step belongs to one before it. `table` is the table that a name in
/// the statement stands for.
///
/// # Errors
/// When steps are nested too deep.
pub fn plan_of_steps(
    steps: &[PlanStep],
    table: impl Fn(&str) -> String,
) -> Result<Plan, PlanError> {
    let mut plan = Plan { degree: Some(1), ..Plan::default() };
    let mut all = below(steps, 0, 0, &table)?;
    plan.root = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Operator { name: "QUERY PLAN".into(), inputs: all, ..Operator::default() }),
    };
    plan.missing_indexes =
        plan.operators().into_iter().filter_map(|(_, operator)| automatic(operator)).collect();
    Ok(plan)
}

fn below(
    steps: &[PlanStep],
    parent: i64,
    depth: usize,
    table: &impl Fn(&str) -> String,
) -> Result<Vec<Operator>, PlanError> {
    PlanError::check_depth(depth)?;
    let mut operators = Vec::new();
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.parent == parent) {
        let inputs = below(&steps[at + 1..], step.id, depth + 1, table)?;
        operators.push(Operator { inputs, ..operator(&step.detail, table) });
    }
    Ok(operators)
}

fn operator(detail: &str, table: &impl Fn(&str) -> String) -> Operator {
    let Some((verb @ ("SCAN" | "SEARCH"), rest)) = detail.split_once(' ') else {
        return Operator { name: detail.into(), kind: kind(detail), ..Operator::default() };
    };
    let (named, way) = rest.split_once(" USING ").unwrap_or((rest, ""));
    if named == "CONSTANT ROW" || named.contains(" VIRTUAL TABLE") {
        let kind =
            if way.is_empty() && named.ends_with("ROW") { Kind::Constant } else { Kind::Function };
        return Operator { name: detail.into(), kind, ..Operator::default() };
    }
    let (way, condition) = way.split_once(" (").map_or((way, None), |(way, condition)| {
        (way, Some(condition.strip_suffix(')').unwrap_or(condition)))
    });
    let index = way.split_once("INDEX ").map(|(_, name)| name.to_owned());
    let kind = match (verb, &index) {
        ("SEARCH", _) => Kind::IndexSeek,
        (_, Some(_)) => Kind::IndexScan,
        _ => Kind::TableScan,
    };
    Operator {
        kind,
        name: verb.into(),
        detail: way.into(),
        // A name that is not a table is a view, a part of the statement, or its automatic index.
        objects: vec![Object { table: table(named), index, ..Object::default() }],
        access: kind.access(),
        properties: way
            .starts_with("AUTOMATIC")
            .then_some(Property::IndexBuilt)
            .into_iter()
            .collect(),
        predicates: condition
            .map(|text| Predicate::new(Role::Seek, text, Syntax::Sqlite))
            .into_iter()
            .collect(),
        ..Operator::default()
    }
}

fn kind(step: &str) -> Kind {
    let begins = |word: &str| step.starts_with(word);
    match step {
        _ if begins("USE TEMP B-TREE FOR") && step.ends_with("ORDER BY") => Kind::Sort,
        _ if begins("USE TEMP B-TREE FOR GROUP BY") => Kind::Aggregate,
        _ if begins("USE TEMP B-TREE") || begins("CO-ROUTINE") || begins("MATERIALIZE") => {
            Kind::Spool
        }
        _ if begins("COMPOUND") || begins("MERGE") || begins("UNION") || begins("MULTI-INDEX") => {
            Kind::Append
        }
        _ if begins("BLOOM FILTER") => Kind::Filter,
        _ => Kind::Other,
    }
}

/// An index that is built again for each run, by the columns that it is searched for.
fn automatic(operator: &Operator) -> Option<MissingIndex> {
    if !operator.detail.starts_with("AUTOMATIC") {
        return None;
    }
    let conditions = operator.predicates.first()?.text.split(" AND ");
    let (equal, other): (Vec<&str>, Vec<&str>) =
        conditions.partition(|condition| condition.ends_with("=?"));
    let column = |text: &&str| text.trim_end_matches(['=', '?', '<', '>']).to_owned();
    Some(MissingIndex {
        object: operator.objects.first()?.clone(),
        impact: None,
        equality: equal.iter().map(column).collect(),
        inequality: other.iter().map(column).collect(),
        included: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{PlanStep, plan_of_steps};
    use crate::plans::{self, Access, Kind};

    #[test]
    fn steps_are_operators_and_an_automatic_index_is_a_missing_one() {
        let step = |id, parent, detail: &str| PlanStep { id, parent, detail: detail.into() };
        let steps = [
            step(4, 0, "SCAN o"),
            step(7, 0, "SEARCH c USING AUTOMATIC PARTIAL COVERING INDEX (zip=? AND city=?)"),
            step(9, 0, "SEARCH items USING INTEGER PRIMARY KEY (rowid=?)"),
            step(12, 0, "SCALAR SUBQUERY 1"),
            step(15, 12, "SEARCH i USING COVERING INDEX \"i 1\" (a=? AND b>?)"),
            step(20, 0, "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"),
        ];
        let full = |name: &str| if name == "o" { "orders".into() } else { name.to_owned() };
        let plan = plan_of_steps(&steps, full).unwrap();
        let operators = plan.operators();
        let steps: Vec<(usize, Kind, String)> = operators
            .iter()
            .map(|(depth, operator)| {
                (
                    *depth,
                    operator.kind,
                    operator.objects.first().map(plans::Object::label).unwrap_or_default(),
                )
            })
            .collect();
        let expected = [
            (0, Kind::Other, ""),
            (1, Kind::TableScan, "orders"),
            (1, Kind::IndexSeek, "c"),
            (1, Kind::IndexSeek, "items"),
            (1, Kind::Other, ""),
            (2, Kind::IndexSeek, "i (\"i 1\")"),
            (1, Kind::Sort, ""),
        ];
        assert_eq!(steps, expected.map(|(depth, kind, name)| (depth, kind, name.to_owned())));
        assert_eq!(operators[5].1.access, Some(Access::Seek));
        assert_eq!(plan.missing_indexes.len(), 1);
        assert_eq!(plan.missing_indexes[0].equality, ["zip", "city"]);
        assert!(plan_of_steps(&[], full).unwrap().root.is_none());
        let deep: Vec<PlanStep> = (1..=300).map(|id| step(id, id - 1, "SCAN t")).collect();
        assert!(plan_of_steps(&deep, full).is_err());
    }
}
