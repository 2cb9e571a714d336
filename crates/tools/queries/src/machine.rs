//! Settings that do not fit the server or its machine, by the rules of surveys.

use command_line::Context;
use engine::{Server, ServerError};
use inspection::statements::{Advice, AdviceKind, Certainty};
use inspection::survey::{advice, of_server};
use observations::{Survey, SurveyedServer};
use report::text::joined;
use work::Stop;

/// Reads what a server and its machine are.
///
/// # Errors
/// When the server cannot be reached, or is not surveyed.
pub fn survey(context: &Context, server: &dyn Server) -> Result<Survey, ServerError> {
    of_server(context, server, &Stop::when(|| false)).map(|(surveyed, _)| on_this_machine(surveyed))
}

/// A server with the facts of this machine.
pub fn on_this_machine(server: SurveyedServer) -> Survey {
    let facts = observe::survey::machine();
    Survey {
        machine: facts.machine,
        settings: facts.settings,
        servers: vec![server],
        ..Survey::default()
    }
}

/// A finding with all facts; nothing where the survey finds nothing.
pub fn settings(context: &Context, survey: &Survey) -> Option<Advice> {
    let address = survey.servers.first()?.address.clone();
    let found = advice(context, survey);
    let evidence =
        found.iter().map(|found| format!("The server {}.", found.fact.trim_end_matches('.')));
    let change = found.iter().map(|finding| sentence(&finding.action));
    (!found.is_empty()).then(|| Advice {
        subject: address,
        evidence: joined(evidence, " "),
        change: joined(change, " "),
        price: "`steelbench survey --server` has the reason of each. Some settings need a restart."
            .into(),
        ..Advice::new(AdviceKind::Setting, Certainty::Possible)
    })
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str().trim_end_matches('.'))
}
