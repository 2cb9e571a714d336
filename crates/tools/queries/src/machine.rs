//! Settings that do not fit the server or its machine, by the rules of surveys.

use command_line::Context;
use observations::Survey;
use statements::{Advice, AdviceKind, Certainty};
use work::Stop;

/// One finding with all facts; nothing where the server cannot be surveyed, which `survey` tells.
pub fn settings(context: &Context, url: &str) -> Option<Advice> {
    let server = engine::server::by_url(context.registry.engines, url).ok()?;
    let (surveyed, _) = server.survey(&Stop::when(|| false)).ok()?;
    let address = surveyed.address.clone();
    let facts = observe::survey::machine();
    let survey = Survey {
        machine: facts.machine,
        settings: facts.settings,
        servers: vec![surveyed],
        ..Survey::default()
    };
    let found = context.advice(&survey);
    if found.is_empty() {
        return None;
    }
    let sentence = |text: &str| {
        let mut characters = text.chars();
        let first = characters.next().map(|first| first.to_uppercase().to_string());
        format!("{}{}.", first.unwrap_or_default(), characters.as_str().trim_end_matches('.'))
    };
    let evidence: Vec<String> =
        found.iter().map(|one| format!("The server {}.", one.fact.trim_end_matches('.'))).collect();
    let change: Vec<String> = found.iter().map(|one| sentence(&one.action)).collect();
    Some(Advice {
        subject: address,
        evidence: evidence.join(" "),
        change: change.join(" "),
        price: "`steelbench survey --server` has the reason of each. Some settings need a restart."
            .into(),
        ..Advice::new(AdviceKind::Setting, Certainty::Possible)
    })
}
