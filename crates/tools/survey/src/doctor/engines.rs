use super::check::{Check, State};
use engine::{Ability, Engine};
use experiment::Configuration;
use work::Stop;

/// Checks each engine as an experiment without settings would find it: its version, or the reason
/// for its absence with the command that installs it.
pub fn engines(engines: &[&'static Engine], stop: &Stop) -> Vec<Check> {
    let measured = engines.iter().filter(|engine| is_measured(engine));
    measured.map(|engine| check(engine, stop)).collect()
}

/// Returns false for an engine without work of its own, which tests and commands use.
fn is_measured(engine: &Engine) -> bool {
    let abilities = engine.abilities;
    !abilities.contains(&Ability::Synthetic)
        && [Ability::Tables, Ability::Statements, Ability::Files]
            .iter()
            .any(|ability| abilities.contains(ability))
}

fn check(engine: &Engine, stop: &Stop) -> Check {
    let configuration = Configuration::default();
    if let Some(found) = engine.missing(&configuration) {
        return Check { name: engine.name.into(), state: State::Missing, found, remedy: None };
    }
    Check::ready(engine.name, (engine.version)(&[&configuration], stop).version)
}
