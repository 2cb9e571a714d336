//! Settings that do not fit the server or its machine, by the rules of surveys.

use command_line::Context;
use engine::ServerError;
use inspection::statements::{Advice, AdviceKind, Certainty};
use inspection::survey::{advice, of_server};
use observations::Survey;
use work::Stop;

/// Reads what a server and its machine are.
///
/// # Errors
/// When the server cannot be reached, or is not surveyed.
pub fn survey(context: &Context, url: &str) -> Result<Survey, ServerError> {
    let server = engine::server::by_url(context.registry.engines, url)?;
    let (surveyed, _) = of_server(context, &*server, &Stop::when(|| false))?;
    let facts = observe::survey::machine();
    Ok(Survey {
        machine: facts.machine,
        settings: facts.settings,
        servers: vec![surveyed],
        ..Survey::default()
    })
}

/// A finding with all facts; nothing where the survey finds nothing.
pub fn settings(context: &Context, survey: &Survey) -> Option<Advice> {
    let address = survey.servers.first()?.address.clone();
    let found = advice(|engine| context.registry.adapter(engine), survey);
    if found.is_empty() {
        return None;
    }
    let evidence: Vec<String> = found
        .iter()
        .map(|finding| format!("The server {}.", finding.fact.trim_end_matches('.')))
        .collect();
    let change: Vec<String> = found.iter().map(|finding| sentence(&finding.action)).collect();
    Some(Advice {
        subject: address,
        evidence: evidence.join(" "),
        change: change.join(" "),
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
