//! How the engine runs the statements of a mix: asked for after the measurement, with values such
//! as the load sends, in a session that can change nothing. Plans are kept without estimates and
//! constants, so that equal plans have equal hashes.

use crate::compile::{Action, Command};
use crate::{Interpreter, Mix};
use engine::{NoPlan, PlanRequest};
use observations::{Observations, QueryPlan, Warning, WarningKind, redacted};
use probe::data::recorded;
use probe::load::{Step, Workload as _};
use probe::{TrialContext, WrittenStatement};
use std::collections::HashMap;
use std::sync::Arc;
use work::sql::statement::{VERBS, first_word};
use work::{Parameter, Request, Statement, UserStatement};

/// Statements of a configuration that are explained, from the first on.
const STATEMENTS_MAX: usize = 100;

/// Transactions that are gone through for values of parameters.
const TRANSACTIONS_MAX: usize = 1_000;

/// Requests of these transactions together, however long a script is.
const REQUESTS_MAX: usize = 100_000;

/// Keywords of transaction control, which has no plan of interest.
const CONTROL: [&str; 8] =
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"];
/// The verb of settings of a session, which have no plan and may decide what others mean.
const SET: &str = "SET";

/// Adds the plans of the mix's statements, each text once.
pub fn add(context: &TrialContext<'_>, mix: &Arc<Mix>, observations: &mut Observations) {
    if context.cancel.is_cancelled() || observations.timed_out() {
        return;
    }
    let statements = statements(mix);
    let sent: Vec<PlanRequest> = statements
        .iter()
        .filter_map(|statement| statement.request.as_ref().ok().cloned())
        .collect();
    let plans = match context.plans(&sent) {
        Ok(plans) => plans,
        Err(error) => {
            let detail = format!("the plans of statements: {error}");
            observations.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
            return;
        }
    };
    if plans.is_empty() {
        return;
    }
    let mut plans = plans.into_iter();
    for AskedStatement { source, request, .. } in statements {
        // Plans of one statement are compared, also with those that the store returns.
        let statement = redacted(source);
        let plan = request.and_then(|_| plans.next().unwrap_or(Err(NoPlan::NoAnswer)));
        observations.plans.push(match plan {
            Ok(plan) => recorded(&statement, plan),
            Err(reason) => QueryPlan::none(&statement, reason.to_string()),
        });
    }
}

/// A statement of a script.
struct AskedStatement<'a> {
    /// Position of its script.
    script: usize,
    /// Position among the statements of its script.
    position: usize,
    /// As it stands there.
    source: &'a str,
    /// The request to the engine to plan it, or why there is none.
    request: Result<PlanRequest, NoPlan>,
}

/// The user's statements in scripts from this one on, each text once, with their places.
pub fn written(mix: &Arc<Mix>, first_script: usize) -> Vec<WrittenStatement> {
    let statements =
        statements(mix).into_iter().filter(|statement| statement.script >= first_script);
    statements
        .map(|statement| {
            let script = &mix.scripts[statement.script];
            let commands = &script.body.commands;
            let at = commands.iter().position(|command| match command.action {
                Action::Ask(number) => number == statement.position,
                _ => false,
            });
            let at = at.unwrap_or(0);
            WrittenStatement {
                script: script.name.clone(),
                line: commands[at].line,
                column: commands[at].column,
                text: statement.source.to_owned(),
                request: statement.request,
                is_certain: !is_skippable(commands, at)
                    && !script.body.statements.iter().any(changes),
            }
        })
        .collect()
}

/// Returns whether a condition before this command may jump over it.
fn is_skippable(commands: &[Command], at: usize) -> bool {
    commands[..at].iter().any(|command| match command.action {
        Action::Unless { target, .. } | Action::Jump { target } => target > at,
        _ => false,
    })
}

/// Returns whether a statement may change what others mean: tables, or the session.
fn changes(statement: &crate::sql::Statement) -> bool {
    let verb = first_word(&statement.source).to_ascii_uppercase();
    !CONTROL.contains(&verb.as_str()) && !VERBS.contains(&verb.as_str())
}

/// The statements of all scripts, each text once.
fn statements(mix: &Arc<Mix>) -> Vec<AskedStatement<'_>> {
    let mut values = walk(mix);
    let mut all = Vec::<AskedStatement<'_>>::new();
    for (number, script) in mix.scripts.iter().enumerate() {
        for (position, statement) in script.body.statements.iter().enumerate() {
            let verb = first_word(&statement.source).to_ascii_uppercase();
            let is_known = all.iter().any(|known| known.source == statement.source);
            if is_known
                || verb.is_empty()
                || verb == SET
                || CONTROL.contains(&verb.as_str())
                || all.len() >= STATEMENTS_MAX
            {
                continue;
            }
            let found = values.remove(&(script.first + position)).map(Ok);
            let prepared = statement.prepared.map(|number| PlanRequest {
                statement: mix.statements()[number].clone(),
                values: None,
            });
            // The first of them would be explained, and the second one run.
            let several = statement.source.contains("\\;").then_some(Err(NoPlan::Several));
            let request = several.or(found).unwrap_or_else(|| prepared.ok_or(NoPlan::FromResults));
            all.push(AskedStatement {
                script: number,
                position,
                source: &statement.source,
                request,
            });
        }
    }
    all
}

/// Goes through transactions as the first connection does, without a server: for each statement, by
/// its position, what is sent for it the first time. What follows from results is not known.
fn walk(mix: &Arc<Mix>) -> HashMap<usize, PlanRequest> {
    let statements = mix.sources().count();
    let mut interpreter = Interpreter::new(mix.clone(), 0).without_restarts();
    let (mut found, mut requests) = (HashMap::new(), 0);
    for _ in 0..TRANSACTIONS_MAX {
        if found.len() == statements || requests >= REQUESTS_MAX {
            break;
        }
        interpreter.begin();
        let mut lacks_results = false;
        loop {
            let sent = match interpreter.advance() {
                Ok(Step::Sleep(_)) => continue,
                Ok(Step::Request(Request::Execute { statement, parameters, results })) => {
                    // A variable without a value is NULL among parameters, and its name in a text.
                    let lacks_value = lacks_results
                        && (parameters.contains(&Parameter::Null)
                            || matches!(statement, Statement::Text(_)));
                    lacks_results |= results;
                    (!lacks_value).then(|| request(mix, statement, parameters)).flatten()
                }
                // A condition or an expression may need results.
                Ok(Step::Request(_) | Step::End) | Err(_) => break,
            };
            requests += 1;
            if let Some(sent) = sent {
                found.entry(interpreter.statement()).or_insert(sent);
            }
        }
    }
    found
}

fn request(mix: &Mix, statement: Statement<'_>, parameters: &[Parameter]) -> Option<PlanRequest> {
    let statement = match statement {
        Statement::Operation(number) => mix.statements()[number].clone(),
        Statement::Text(text) => UserStatement { texts: vec![text.to_owned()] },
        _ => return None,
    };
    Some(PlanRequest { statement, values: Some(parameters.to_vec()) })
}

#[cfg(test)]
mod tests {
    use super::super::{Presets, Protocol, Source};
    use super::{Mix, statements};
    use engine::NoPlan;
    use std::sync::Arc;
    use work::Parameter;

    fn mix(text: &str, protocol: Protocol) -> Arc<Mix> {
        let source = Source { name: "s".into(), text: text.into(), weight: 1 };
        let presets = Presets { scale: 1, seed: 3, variables: Vec::new() };
        Arc::new(Mix::parse(&[source], protocol, &presets).unwrap())
    }

    const SCRIPT: &str = "\\set a random(5, 5)\nBEGIN;\nSELECT x FROM t WHERE a = :a \
                          \\gset\nUPDATE t SET x = :x WHERE a = :a;\nSELECT 1 WHERE :a = \
                          5;\nSELECT 1 WHERE :a = 5;\n\\if :a = 6\nDELETE FROM t;\n\\endif\nEND;\n";

    type Requests = Vec<Result<super::PlanRequest, NoPlan>>;

    fn requests(mix: &Arc<Mix>) -> (Vec<&str>, Requests) {
        statements(mix).into_iter().map(|statement| (statement.source, statement.request)).unzip()
    }

    #[test]
    fn values_are_those_that_the_script_draws_and_results_are_unknown() {
        let prepared = mix(SCRIPT, Protocol::Prepared);
        let (sources, planned) = requests(&prepared);
        let texts = [
            "SELECT x FROM t WHERE a = :a",
            "UPDATE t SET x = :x WHERE a = :a",
            "SELECT 1 WHERE :a = 5",
            "DELETE FROM t",
        ];
        assert_eq!(sources, texts);
        let values: Vec<_> =
            planned.iter().map(|request| request.as_ref().unwrap().values.clone()).collect();
        let five = Some(vec![Parameter::Integer(5)]);
        assert_eq!(values, [five.clone(), None, five, None]);
        // As text they are sent with the values in them.
        let simple = mix(SCRIPT, Protocol::Simple);
        let (_, planned) = requests(&simple);
        assert_eq!(planned[0].as_ref().unwrap().statement.texts, ["SELECT x FROM t WHERE a = 5"]);
        assert_eq!(planned[1], Err(NoPlan::FromResults));
    }

    #[test]
    fn several_statements_in_one_request_are_not_explained() {
        let several = mix("SELECT 1 \\; DROP TABLE t;", Protocol::Simple);
        let (sources, planned) = requests(&several);
        assert_eq!(sources.len(), 1);
        assert_eq!(planned[0], Err(NoPlan::Several));
    }

    #[test]
    fn statements_have_their_places_and_schema_changes_are_known() {
        let of = |text: &str| super::written(&mix(text, Protocol::Prepared), 0);
        let written = of(SCRIPT);
        let places: Vec<_> =
            written.iter().map(|statement| (statement.line, statement.column)).collect();
        assert_eq!(places, [(3, 1), (4, 1), (5, 1), (8, 1)]);
        assert!(written.iter().all(|statement| statement.script == "s"));
        let certain: Vec<_> = written.iter().map(|statement| statement.is_certain).collect();
        assert_eq!(certain, [true, true, true, false]);
        let temporary = of("CREATE TEMP TABLE x (a int);\n  SELECT a FROM x;");
        assert!(temporary.iter().all(|statement| !statement.is_certain), "{temporary:?}");
        assert_eq!(temporary[1].column, 3);
    }
}
