//! Names of the responses that trials recorded, each once.

use observations::Observations;

/// Names of the responses that any of these trials recorded, in the order in which they first
/// occur: a trial in which something failed has fewer.
pub fn names<'a>(trials: &[&'a Observations]) -> Vec<&'a str> {
    distinct(
        trials.iter().flat_map(|trial| &trial.responses).map(|response| response.name.as_str()),
    )
}

/// Returns the recorded names, then those that every trial has without recording them.
pub fn all_names<'a>(trials: &[&'a Observations]) -> Vec<&'a str> {
    distinct(names(trials).into_iter().chain(["elapsed", "throughput"]))
}

/// Each once, in the order in which they first occur.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for name in all {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}
