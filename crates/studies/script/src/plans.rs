//! How the engine runs the statements of a mix: asked for after the measurement, with values such
//! as the load sends.

use crate::{Interpreter, Mix};
use engine::{NoPlan, PlanRequest};
use observations::statement::first_word;
use observations::{Observations, QueryPlan, Warning, WarningKind, redacted};
use probe::TrialContext;
use probe::data::recorded;
use probe::load::{Step, Workload as _};
use std::collections::HashMap;
use std::sync::Arc;
use work::{Parameter, Request, Statement, UserStatement};

/// Statements of a configuration that are explained, from the first on.
const STATEMENTS_MAX: usize = 100;

/// Transactions that are gone through for values of parameters.
const TRANSACTIONS_MAX: usize = 1_000;

/// Requests of these transactions together, however long a script is.
const REQUESTS_MAX: usize = 100_000;

/// Keywords of transaction control, which has no plan of interest.
const CONTROL: [&str; 9] =
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET"];

/// Adds the plans of the mix's statements, each text once.
pub fn add(context: &TrialContext<'_>, mix: &Arc<Mix>, seen: &mut Observations) {
    if context.cancel.is_cancelled() || seen.timed_out() {
        return;
    }
    let (sources, asked) = statements(mix);
    let sent: Vec<PlanRequest> =
        asked.iter().filter_map(|own| own.as_ref().ok().cloned()).collect();
    let plans = match context.instance.plans(&sent) {
        Ok(plans) => plans,
        Err(error) => {
            let detail = format!("the plans of statements: {error}");
            seen.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
            return;
        }
    };
    if plans.is_empty() {
        return;
    }
    let mut plans = plans.into_iter();
    for (source, asked) in sources.iter().zip(asked) {
        let statement = redacted(source);
        let plan = asked.and_then(|_| plans.next().unwrap_or(Err(NoPlan::NoAnswer)));
        seen.plans.push(match plan {
            Ok(plan) => recorded(&statement, plan),
            Err(reason) => QueryPlan::none(&statement, reason.to_string()),
        });
    }
}

/// The texts of statements as they stand in the scripts, and what is asked about each, or why
/// nothing can be.
fn statements(mix: &Arc<Mix>) -> (Vec<String>, Vec<Result<PlanRequest, NoPlan>>) {
    let mut values = walk(mix);
    let (mut sources, mut asked): (Vec<String>, Vec<Result<PlanRequest, NoPlan>>) =
        (Vec::new(), Vec::new());
    let bodies = mix.scripts.iter().flat_map(|script| script.body.statements.iter());
    for (position, own) in bodies.enumerate() {
        let verb = first_word(&own.source).to_ascii_uppercase();
        let is_known = sources.contains(&own.source);
        if is_known
            || verb.is_empty()
            || CONTROL.contains(&verb.as_str())
            || sources.len() >= STATEMENTS_MAX
        {
            continue;
        }
        // The first of them would be explained, and the second one run.
        let several = own.source.contains("\\;").then_some(Err(NoPlan::Several));
        let found = values.remove(&position);
        asked.push(several.unwrap_or_else(|| {
            found.map_or_else(
                || match own.prepared {
                    Some(number) => Ok(PlanRequest {
                        statement: mix.statements()[number].clone(),
                        values: None,
                    }),
                    None => Err(NoPlan::FromResults),
                },
                Ok,
            )
        }));
        sources.push(own.source.clone());
    }
    (sources, asked)
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
                    (!lacks_value).then(|| asked(mix, statement, parameters)).flatten()
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

fn asked(mix: &Mix, statement: Statement<'_>, parameters: &[Parameter]) -> Option<PlanRequest> {
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

    #[test]
    fn values_are_those_that_the_script_draws_and_results_are_unknown() {
        let (sources, asked) = statements(&mix(SCRIPT, Protocol::Prepared));
        let texts = [
            "SELECT x FROM t WHERE a = :a",
            "UPDATE t SET x = :x WHERE a = :a",
            "SELECT 1 WHERE :a = 5",
            "DELETE FROM t",
        ];
        assert_eq!(sources, texts);
        let values: Vec<_> = asked.iter().map(|own| own.as_ref().unwrap().values.clone()).collect();
        let five = Some(vec![Parameter::Integer(5)]);
        assert_eq!(values, [five.clone(), None, five, None]);
        // As text they are sent with the values in them.
        let (_, asked) = statements(&mix(SCRIPT, Protocol::Simple));
        assert_eq!(asked[0].as_ref().unwrap().statement.texts, ["SELECT x FROM t WHERE a = 5"]);
        assert_eq!(asked[1], Err(NoPlan::FromResults));
    }

    #[test]
    fn several_statements_in_one_request_are_not_explained() {
        let (sources, asked) = statements(&mix("SELECT 1 \\; DROP TABLE t;", Protocol::Simple));
        assert_eq!(sources.len(), 1);
        assert_eq!(asked[0], Err(NoPlan::Several));
    }
}
