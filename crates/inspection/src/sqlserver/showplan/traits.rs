//! Properties of statements that remarks are about.

use super::xml::{child, children, is, number, object, parts, unquoted};
use crate::plans::{Operator, Parameter, Statistics, Trait};
use roxmltree::Node;
use work::sql::{Kind, Syntax, Token, tokens};

/// The traits of a statement, by its text and its plan.
pub fn of_statement(
    statement: Node,
    plan: Node,
    parameters: &[Parameter],
    root: Option<&Operator>,
) -> Vec<Trait> {
    let text = statement.attribute("StatementText").unwrap_or_default();
    let words: Vec<Token> = tokens(text, Syntax::SqlServer)
        .filter(|token| matches!(token.kind, Kind::Word | Kind::Number | Kind::Sign))
        .collect();
    let has = |sequence: &[&str]| {
        words.windows(sequence.len()).any(|window| {
            window.iter().zip(sequence).all(|(token, word)| token.text.eq_ignore_ascii_case(word))
        })
    };
    let mut all = Vec::new();
    // The values are those of the run when it is compiled for each.
    if !has(&["RECOMPILE"]) {
        all.extend(unknown_values(parameters, root, has(&["FOR", "UNKNOWN"])));
    }
    if has(&["MAXDOP", "1"]) {
        all.push(Trait::SerialByHint);
    }
    let cursor = plan.ancestors().find(|node| is(*node, "CursorPlan"));
    if let Some(cursor) =
        cursor.filter(|cursor| cursor.attribute("CursorActualType") == Some("Dynamic"))
    {
        all.push(Trait::DynamicCursor(cursor.attribute("CursorName").unwrap_or_default().into()));
    }
    all.extend(
        children(statement, "Dispatcher", "ParameterSensitivePredicate").filter_map(variant),
    );
    all
}

/// The variables in conditions whose values the optimizer did not know.
fn unknown_values(
    parameters: &[Parameter],
    root: Option<&Operator>,
    is_wanted: bool,
) -> Option<Trait> {
    let operators = root.map(Operator::tree).unwrap_or_default();
    let unknown = parameters.iter().filter(|parameter| {
        let name = format!("[{}]", parameter.name);
        let mut predicates = operators.iter().flat_map(|(_, operator)| &operator.predicates);
        parameter.compiled.is_none() && predicates.any(|predicate| predicate.text.contains(&name))
    });
    let names: Vec<String> = unknown.map(|entry| entry.name.clone()).collect();
    (!names.is_empty()).then_some(Trait::UnknownValues { names, is_wanted })
}

fn variant(predicate: Node) -> Option<Trait> {
    let condition = child(predicate, "Predicate")?
        .descendants()
        .find_map(|part| part.attribute("ScalarString"))?;
    Some(Trait::Variant {
        condition: condition.to_owned(),
        low: number(predicate, "LowBoundary")?,
        high: number(predicate, "HighBoundary")?,
    })
}

/// The statistics that the optimizer used.
pub fn statistics(plan: Node) -> Vec<Statistics> {
    children(plan, "OptimizerStatsUsage", "StatisticsInfo")
        .map(|node| {
            let object = object(node);
            Statistics {
                name: node.attribute("Statistics").map(unquoted).unwrap_or_default(),
                rows: cardinality(plan, &object.table),
                changes: number(node, "ModificationCount").unwrap_or(0.0),
                sampled: number(node, "SamplingPercent").unwrap_or(100.0) / 100.0,
                updated: node.attribute("LastUpdate").unwrap_or_default().to_owned(),
                object,
            }
        })
        .collect()
}

/// The rows that the optimizer expected in a table.
fn cardinality(plan: Node, table: &str) -> Option<f64> {
    plan.descendants()
        .filter(|node| is(*node, "RelOp") && node.has_attribute("TableCardinality"))
        .find(|node| {
            // The object of this operator, not of one below it.
            let objects = parts(*node, &["RelOp"]);
            objects.iter().any(|part| is(*part, "Object") && object(*part).table == table)
        })
        .and_then(|node| number(node, "TableCardinality"))
}
