//! How the server would run statements: asked of a session that explains and runs nothing (`SET
//! SHOWPLAN_XML`).

use crate::dialect::quote_literal;
use crate::live::client::Client;
use engine::planned::{each, literal};
use engine::{NoPlan, PlanRequest, Planned};
use inspection::plans::{Plan, Role};
use inspection::sqlserver::PLANS;
use sql::Syntax;
use sql::statement::shown;
use work::Parameter;

/// A session that runs nothing.
pub struct ExplainSession(Client);

impl ExplainSession {
    /// Has a session explain from now on.
    ///
    /// # Errors
    /// When the server refuses, or takes the option without a word and runs statements all the
    /// same, as Babelfish does.
    pub fn begin(mut client: Client) -> Result<Self, NoPlan> {
        client.run("SET SHOWPLAN_XML ON").map_err(NoPlan::refused)?;
        let answer = client.cell("SELECT 1 AS ready").map_err(NoPlan::refused)?;
        if answer.is_some_and(|plan| plan.contains("<ShowPlanXML")) {
            return Ok(Self(client));
        }
        Err(NoPlan::WouldRun { command: "SET SHOWPLAN_XML" })
    }

    /// The plan of the first statement of a batch that has one; constants are hidden where they
    /// come from the load.
    ///
    /// # Errors
    /// When the server refuses, or answers with no plan.
    pub fn plan(&mut self, sql: &str, has_constants: bool) -> Result<Planned, NoPlan> {
        let xml = self.0.cell(sql).map_err(NoPlan::refused)?.unwrap_or_default();
        let plan = PLANS.read_one(&xml).map_err(NoPlan::refused)?;
        Ok(planned(&plan, has_constants))
    }
}

/// The plans of the user's statements, for the values that the load sends first: those that a
/// prepared statement is compiled for.
pub fn plans(client: Client, requests: &[PlanRequest]) -> Vec<Result<Planned, NoPlan>> {
    let mut session = ExplainSession::begin(client);
    each(requests, |request| {
        let session = session.as_mut().map_err(|why| why.clone())?;
        let values = request.values.as_ref().ok_or(NoPlan::ValuesUnknown)?;
        session.plan(&request.statement.sql(|number| constant(&values[number - 1])), true)
    })
}

fn constant(value: &Parameter) -> String {
    match value {
        Parameter::Bool(value) => u8::from(*value).to_string(),
        Parameter::Double(value) => format!("{value:e}"),
        value => literal(value, quote_literal),
    }
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
    use super::{constant, planned};
    use engine::Planned;
    use inspection::sqlserver::PLANS;
    use work::Parameter;

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
        planned(&PLANS.read_one(&xml).unwrap(), true)
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

    #[test]
    fn values_are_written_as_the_server_reads_them() {
        let values = [
            Parameter::Bool(true),
            Parameter::Double(0.5),
            Parameter::Text("a'b".into()),
            Parameter::Null,
        ];
        assert_eq!(values.each_ref().map(constant), ["1", "5e-1", "N'a''b'", "NULL"]);
    }
}
