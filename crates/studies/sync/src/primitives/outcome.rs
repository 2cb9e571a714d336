use observations::Histogram;
use observe::ThreadUse;

/// Result of a load.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Seconds from the first thread's begin to the last one's end.
    pub elapsed_s: f64,
    /// Each thread.
    pub threads: Vec<ThreadOutcome>,
    /// Operations by interval of the warm-up.
    pub warmup_by_interval: Vec<u64>,
    /// Operations by interval of the measurement.
    pub by_interval: Vec<u64>,
    /// Additions made, warm-up included.
    pub added: u64,
    /// Sum in the table afterwards; lower if updates were lost.
    pub sum: u64,
    /// Number of cache lines that threads share and write to; `None` where it is not known.
    pub shared_lines: Option<u32>,
}

/// Result of one thread in the measurement.
#[derive(Debug, Clone)]
pub struct ThreadOutcome {
    /// Operations done.
    pub operations: u64,
    /// Seconds from its begin to its end.
    pub elapsed_s: f64,
    /// The CPU use.
    pub used: ThreadUse,
    /// Sampled times of whole operations.
    pub operation: Histogram,
    /// Sampled times until a lock was got; empty where there is none.
    pub acquire: Histogram,
}

impl ThreadOutcome {
    /// Seconds in which it slept: neither on a processor nor ready for one.
    pub fn slept_s(&self) -> f64 {
        let awake_s = (self.used.times.cpu_ns + self.used.times.run_delay_ns) as f64 / 1e9;
        (self.elapsed_s - awake_s).max(0.0)
    }
}

impl Outcome {
    /// Operations of all threads in the measurement.
    pub fn operations(&self) -> u64 {
        self.threads.iter().map(|thread| thread.operations).sum()
    }

    /// The share of the additions that got lost.
    pub fn lost_share(&self) -> f64 {
        if self.added == 0 {
            0.0
        } else {
            self.added.saturating_sub(self.sum) as f64 / self.added as f64
        }
    }

    /// Operations of the slowest thread relative to those of the fastest.
    pub fn fairness_min_max(&self) -> f64 {
        let counts = || self.threads.iter().map(|thread| thread.operations);
        match (counts().min(), counts().max()) {
            (Some(min), Some(max)) if max > 0 => min as f64 / max as f64,
            _ => 1.0,
        }
    }

    /// Jain's index of the threads' operations: 1 when all did the same, 1/n when one did all. (R.
    /// Jain, D. Chiu and W. Hawe, "A Quantitative Measure of Fairness and Discrimination for
    /// Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984)
    pub fn fairness_jain(&self) -> f64 {
        let counts = || self.threads.iter().map(|thread| thread.operations as f64);
        let squares: f64 = counts().map(|count| count * count).sum();
        let sum: f64 = counts().sum();
        if squares > 0.0 { sum * sum / (self.threads.len() as f64 * squares) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, ThreadOutcome};
    use observations::Histogram;
    use observe::{ThreadTimes, ThreadUse};

    fn outcome(operations: &[u64]) -> Outcome {
        Outcome {
            elapsed_s: 1.0,
            threads: operations
                .iter()
                .map(|operations| ThreadOutcome {
                    operations: *operations,
                    elapsed_s: 1.0,
                    used: ThreadUse {
                        times: ThreadTimes { cpu_ns: 250_000_000, run_delay_ns: 500_000_000 },
                        ..ThreadUse::default()
                    },
                    operation: Histogram::default(),
                    acquire: Histogram::default(),
                })
                .collect(),
            warmup_by_interval: Vec::new(),
            by_interval: Vec::new(),
            added: 200,
            sum: 150,
            shared_lines: None,
        }
    }

    /// The examples of the report that defines the index: k of n users that share everything alike
    /// have k/n.
    #[test]
    fn fairness_is_that_of_jain() {
        let jain = |operations: &[u64]| outcome(operations).fairness_jain();
        assert!((jain(&[5, 5, 5, 5]) - 1.0).abs() < 1e-12);
        assert!((jain(&[8, 0, 0, 0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[3, 3, 0, 0, 0]) - 0.4).abs() < 1e-12);
        // 20 of 100 dollars' worth each to 10, 10 and 60: (80^2) / (3 * 3800).
        assert!((jain(&[10, 10, 60]) - 6400.0 / 11_400.0).abs() < 1e-12);
        assert!((outcome(&[10, 10, 60]).fairness_min_max() - 1.0 / 6.0).abs() < 1e-12);
        assert!((outcome(&[0, 0]).fairness_min_max() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_left_of_the_time_was_sleep() {
        let outcome = outcome(&[1]);
        assert!((outcome.threads[0].slept_s() - 0.25).abs() < 1e-12);
        assert!((outcome.lost_share() - 0.25).abs() < 1e-12);
    }
}
