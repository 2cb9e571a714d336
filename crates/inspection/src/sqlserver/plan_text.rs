//! The plans of trials in the form in which they are recorded.

use super::PLANS;
use crate::plans::{Plan, Role};
use engine::{NoPlan, Planned};
use work::sql::Syntax;
use work::sql::statement::shown;

/// Reads the plan of the first statement of a batch that has one; constants are hidden where they
/// come from the load.
///
/// # Errors
/// When the document has no plan.
pub fn read(document: &str, has_constants: bool) -> Result<Planned, NoPlan> {
    let plan = PLANS.read_one(document).map_err(NoPlan::refused)?;
    Ok(planned(&plan, has_constants))
}

/// A line for each operator, with its conditions below it, without what the optimizer estimated.
fn planned(plan: &Plan, has_constants: bool) -> Planned {
    let lines = plan.operators().into_iter().map(|(depth, operator)| {
        let indent = "  ".repeat(depth);
        let object = operator.objects.first();
        let object = object.map_or_else(String::new, |object| format!(" on {}", object.label()));
        let conditions = operator.predicates.iter().map(|condition| {
            let role = match condition.role {
                Role::Seek => "Seek",
                Role::Filter => "Filter",
                Role::Join => "Join",
            };
            let text = shown(&condition.text, Syntax::SqlServer, !has_constants);
            format!("\n{indent}    {role}: {text}")
        });
        format!("{indent}{}{object}{}", operator.title(), conditions.collect::<String>())
    });
    let rows = plan.root.as_ref().and_then(|root| root.rows.estimated);
    Planned { text: lines.collect::<Vec<_>>().join("\n"), rows, cost: plan.cost }
}

#[cfg(test)]
mod tests {
    use super::read;
    use engine::Planned;

    /// A plan in the form that Microsoft documents (ShowPlan XML 1.564), of a lookup.
    fn explain(value: &str, rows: &str) -> Planned {
        let xml = format!(
            r#"<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan"
                Version="1.564"><BatchSequence>
            <Batch><Statements><StmtSimple StatementText="DECLARE @a int" StatementType="ASSIGN" />
            <StmtSimple StatementText="SELECT b FROM t" StatementType="SELECT"
            StatementSubTreeCost="0.0033" StatementEstRows="{rows}">
            <QueryPlan><RelOp NodeId="0" PhysicalOp="Clustered Index Seek"
            LogicalOp="Clustered Index Seek" EstimateRows="{rows}"
            EstimatedTotalSubtreeCost="0.0033" Parallel="0" EstimateRebinds="0" EstimateRewinds="0">
            <IndexScan Ordered="1">
            <Object Database="[steelbench]" Schema="[dbo]" Table="[t]" Index="[pk_t]" />
            <Predicate><ScalarOperator ScalarString="[steelbench].[dbo].[t].[b]&gt;({value})" />
            </Predicate>
            </IndexScan></RelOp></QueryPlan></StmtSimple></Statements></Batch></BatchSequence>
            </ShowPlanXML>"#
        );
        read(&xml, true).unwrap()
    }

    #[test]
    fn a_plan_is_the_same_whatever_was_estimated_and_asked_for() {
        let first = explain("42", "12");
        assert_eq!((first.rows, first.cost), (Some(12.0), Some(0.0033)));
        assert_eq!(
            first.text,
            "Clustered Index Seek on t (pk_t)\n    Filter: [steelbench].[dbo].[t].[b]>(?)"
        );
        assert_eq!(first.text, explain("7", "1000").text);
    }
}
