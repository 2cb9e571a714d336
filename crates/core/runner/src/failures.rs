//! Failures that repeat themselves: what fails again and again for the same cause is not tried for
//! ever.

use std::collections::HashMap;

/// The number of consecutive trials of this session that failed for the same cause, retries
/// included in their trial.
#[derive(Debug)]
pub(crate) struct Failures {
    /// Failures in a row that end the run; 0: no limit.
    enough: u32,
    /// By configuration, of those whose last trial failed: its cause, and how many in a row did
    /// for it.
    of: HashMap<usize, (String, u32)>,
    /// Last failure of all trials.
    last: Option<(String, u32)>,
}

impl Failures {
    /// None yet. `enough`: `limits.identical_failures`.
    pub fn new(enough: u32) -> Self {
        Self { enough, of: HashMap::new(), last: None }
    }

    /// Takes note of a trial that will not be tried again: why it failed, or that it did not.
    pub fn note(&mut self, configuration: usize, cause: Option<&str>) {
        let Some(cause) = cause.map(kind_of) else {
            self.of.remove(&configuration);
            self.last = None;
            return;
        };
        let before = self.of.remove(&configuration);
        self.of.insert(configuration, (cause.clone(), times(before.as_ref(), &cause)));
        let times = times(self.last.as_ref(), &cause);
        self.last = Some((cause, times));
    }

    /// Returns whether a configuration failed often enough for the same cause.
    pub fn gives_up(&self, configuration: usize) -> bool {
        self.is_enough(self.of.get(&configuration))
    }

    /// Returns whether enough consecutive trials failed for the same cause, whatever their
    /// configurations.
    pub fn repeat(&self) -> bool {
        self.is_enough(self.last.as_ref())
    }

    /// Returns whether the last trial of a configuration failed for the same cause as the last of
    /// all.
    pub fn failed_like_the_last(&self, configuration: usize) -> bool {
        let cause = |failed: &(String, u32)| failed.0.clone();
        self.last.is_some()
            && self.of.get(&configuration).map(cause) == self.last.as_ref().map(cause)
    }

    fn is_enough(&self, failed: Option<&(String, u32)>) -> bool {
        self.enough > 0 && failed.is_some_and(|(_, times)| *times >= self.enough)
    }
}

fn times(before: Option<&(String, u32)>, cause: &str) -> u32 {
    before.filter(|(same, _)| same == cause).map_or(1, |(_, times)| times + 1)
}

/// Returns a cause's first line without numbers, which count processes, rows and bytes, to compare
/// causes.
fn kind_of(cause: &str) -> String {
    cause.lines().next().unwrap_or_default().chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn counts_in_a_row_by_configuration_and_in_all() {
        let mut failures = Failures::new(2);
        failures.note(0, Some("process 17 ended\nits log: a"));
        assert!(!failures.gives_up(0) && !failures.repeat());
        failures.note(1, Some("process 9 ended\nits log: b"));
        assert!(!failures.gives_up(0) && failures.repeat() && failures.failed_like_the_last(0));
        failures.note(0, Some("another cause"));
        assert!(!failures.gives_up(0) && !failures.repeat() && !failures.failed_like_the_last(1));
        failures.note(0, Some("another cause"));
        assert!(failures.gives_up(0) && failures.repeat());
        failures.note(0, None);
        assert!(!failures.gives_up(0) && !failures.repeat() && !failures.failed_like_the_last(0));
    }

    #[test]
    fn without_a_number_nothing_is_enough() {
        let mut failures = Failures::new(0);
        (0..100).for_each(|_| failures.note(0, Some("always the same")));
        assert!(!failures.gives_up(0) && !failures.repeat());
    }
}
