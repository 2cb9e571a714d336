//! Loads that ask for single rows of a data set: objections to them, and their costs.

use datasets::DataSet;
use engine::{Ability, EngineUse};
use experiment::{Configuration, Invalid};
use observations::{Observations, Response};
use probe::Target;
use probe::data::{Loaded, data_set};

/// Microseconds of session time for each unit of work.
pub fn session_us(observations: &Observations) -> Option<f64> {
    let amount = Some(observations.work.amount as f64).filter(|amount| *amount > 0.0)?;
    Some(1e6 * observations.elapsed_s * f64::from(observations.connections) / amount)
}

/// Adds the facts of a load of single rows, and behind its responses what a unit of work costs of
/// processors.
pub fn cpu_each(
    observations: &mut Observations,
    loaded: &Loaded,
    used: EngineUse,
    name: &str,
    unit: &str,
) {
    let units = observations.work.amount as f64;
    if units > 0.0 {
        let facts = loaded.facts(observations.time.cpu_s, used, units);
        observations
            .responses
            .extend(facts.cpu_s.map(|cpu_s| Response::lower(name, unit, cpu_s * 1e6)));
        observations.facts.extend(facts.all);
    }
}

/// Objections to a load that asks for single rows of a data set.
pub fn keys_of_a_table(
    configuration: &Configuration,
    target: &Target,
    objection: impl Fn(&Configuration, &DataSet) -> Option<Invalid>,
) -> Option<Invalid> {
    let lacks_tables = target.without(Ability::Tables, "this engine has no tables");
    lacks_tables.or_else(|| objection(configuration, &data_set(configuration)))
}
