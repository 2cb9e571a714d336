//! Durations of processes in earlier runs, by which the next run begins with the longest.

use super::executable::{Executable, RunResult};
use crate::process::target;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Seconds by process, recorded in the target folder.
#[derive(Debug)]
pub struct Durations {
    path: PathBuf,
    seconds: BTreeMap<String, f64>,
}

impl Durations {
    /// Reads what runs of a lane have recorded; nothing if no run has.
    pub fn read(lane: &str) -> Self {
        let path = target().join(format!("test-durations-{lane}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        Self { path, seconds: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Puts the longest first, since a long process that begins last runs alone in the end; before
    /// them the unknown, those of many tests first.
    pub fn order(&self, processes: &mut [Executable]) {
        processes.sort_by_key(|process| {
            let known = self.seconds.get(&process.name).copied();
            let known = known.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            (known.is_some(), Reverse(known), Reverse(process.tests()))
        });
    }

    /// Adds a run. Processes that it did not have keep their durations.
    pub fn record(mut self, ended: &[RunResult]) -> Result<(), String> {
        let durations =
            ended.iter().map(|process| (process.name.clone(), process.took.as_secs_f64()));
        self.seconds.extend(durations);
        let text = serde_json::to_string_pretty(&self.seconds).map_err(|error| error.to_string());
        std::fs::write(&self.path, text?)
            .map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::Durations;
    use crate::test::executable::Executable;
    use std::path::PathBuf;

    #[test]
    fn the_unknown_and_the_longest_begin() {
        let seconds = [("a", 1.0), ("b", 20.0), ("c", 3.0)];
        let seconds = seconds.map(|(name, seconds)| (name.to_owned(), seconds)).into();
        let durations = Durations { path: PathBuf::new(), seconds };
        let mut processes = ["a", "b", "c", "few", "many"].map(|name| {
            let tests = if name == "many" { 9 } else { 1 };
            Executable::with_tests(name, tests)
        });
        durations.order(&mut processes);
        assert_eq!(processes.map(|process| process.name), ["many", "few", "b", "c", "a"]);
    }
}
