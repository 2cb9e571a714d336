//! How the server would run statements: asked of a session that explains and runs nothing (`SET
//! SHOWPLAN_XML`).

use crate::dialect::quote_literal;
use crate::live::client::Client;
use engine::planned::{each, literal};
use engine::{NoPlan, PlanRequest, Planned};
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

    /// The plan of a batch, as the server's XML, which a [`engine::planned::PlanReader`] reads.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn plan(&mut self, sql: &str) -> Result<Planned, NoPlan> {
        let text = self.0.cell(sql).map_err(NoPlan::refused)?.unwrap_or_default();
        Ok(Planned { text, ..Planned::default() })
    }
}

/// The plans of the user's statements, for the values that the load sends first: those that a
/// prepared statement is compiled for.
pub fn plans(client: Client, requests: &[PlanRequest]) -> Vec<Result<Planned, NoPlan>> {
    let mut session = ExplainSession::begin(client);
    each(requests, |request| {
        let session = session.as_mut().map_err(|why| why.clone())?;
        let values = request.values.as_ref().ok_or(NoPlan::ValuesUnknown)?;
        session.plan(&request.statement.sql(|number| constant(&values[number - 1])))
    })
}

fn constant(value: &Parameter) -> String {
    match value {
        Parameter::Bool(value) => u8::from(*value).to_string(),
        Parameter::Double(value) => format!("{value:e}"),
        value => literal(value, quote_literal),
    }
}

#[cfg(test)]
mod tests {
    use super::constant;
    use work::Parameter;

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
