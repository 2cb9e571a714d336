//! The share of intervals that hold what is true.

use analysis::Interval;

/// Intervals of one kind, and how many hold what they should.
#[derive(Default)]
pub struct Coverage {
    pub intervals: usize,
    pub hold: usize,
}

impl Coverage {
    pub fn interval(&mut self, interval: Option<Interval>, truth: f64) {
        self.intervals += 1;
        self.hold += usize::from(interval.unwrap().contains(truth));
    }

    pub fn share(&self) -> f64 {
        self.hold as f64 / self.intervals as f64
    }

    pub fn check(&self, of: &str, intervals_min: usize) {
        let share = self.share();
        assert!(self.intervals >= intervals_min, "{of}: {}", self.intervals);
        assert!((0.93..=0.97).contains(&share), "{of}: {share}");
    }

    /// Checks intervals that hold for several comparisons at once, and so for each more often.
    pub fn check_at_least(&self, of: &str, intervals_min: usize) {
        let share = self.share();
        println!("{of}: {share:.3}");
        assert!(self.intervals >= intervals_min, "{of}: {}", self.intervals);
        assert!(share >= 0.94, "{of}: {share}");
    }
}
