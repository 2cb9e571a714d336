use super::{Knee, KneePoint};
use std::collections::BTreeSet;
use std::fmt;

/// Queue depths of the coarse run.
const COARSE_DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
/// Largest queue depth that a thread can have.
const DEPTH_MAX: u64 = 65_536;
/// The knee is looked for among no fewer levels.
const LEVELS_MIN: usize = 4;

/// What one of the two runs varies that search for the threads and queue depth that saturate storage: a coarse run
/// over everything, then a fine one around the knees that it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchLevels {
    /// Numbers of threads.
    pub threads: Vec<u32>,
    /// I/Os that each of them keeps in flight.
    pub queue_depths: Vec<u32>,
}

impl SearchLevels {
    /// 1, 2, 4, ... threads and as many as there are processors, with few and with many I/Os in flight.
    pub fn coarse(processors: u32) -> Self {
        let doubling = std::iter::successors(Some(1_u32), |threads| threads.checked_mul(2));
        let mut threads: Vec<u32> = doubling.take_while(|threads| *threads < processors).collect();
        threads.push(processors);
        Self { threads, queue_depths: COARSE_DEPTHS.to_vec() }
    }

    /// What lies around these knees.
    pub fn around(knees: &[Knee]) -> Self {
        let (mut threads, mut depths) = (BTreeSet::new(), BTreeSet::new());
        for point in knees.iter().map(Knee::best) {
            let (around_threads, around_depths) = around(point.threads, point.queue_depth);
            threads.extend(around_threads);
            depths.extend(around_depths);
        }
        Self { threads: threads.into_iter().collect(), queue_depths: depths.into_iter().collect() }
    }
}

impl Knee {
    /// The point at the knee; where there is none, the one with the highest IOPS.
    pub fn best(&self) -> &KneePoint {
        &self.points[self.knee.unwrap_or(self.maximum)]
    }
}

impl fmt::Display for Knee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (point, colon) = (self.best(), if self.group.is_empty() { "" } else { ": " });
        let most = if self.knee.is_some() { "" } else { ", the most that was tried" };
        write!(f, "{}{colon}knee at {} threads x {}{most}", self.group, point.threads, point.queue_depth)
    }
}

/// Numbers of threads and queue depths around those of a knee: from a quarter of the I/Os in flight to four
/// times as many.
fn around(threads: u64, depth: u64) -> (Vec<u32>, Vec<u32>) {
    let quarters = [1, 2, 3, 4, 6, 8, 16].map(|quarters| (depth * quarters / 4).clamp(1, DEPTH_MAX));
    let mut depths: BTreeSet<u64> = quarters.into();
    let (more, largest) = (LEVELS_MIN.saturating_sub(depths.len()), depths.last().copied().unwrap_or(1));
    depths.extend((1..=more as u64).map(|step| largest + step));
    // With a depth of 1 it takes fewer threads to have fewer I/Os in flight.
    let fewer = (threads > 1 && depth < 4).then_some(threads / 2);
    let threads = fewer.into_iter().chain([threads]).map(|threads| threads as u32).collect();
    (threads, depths.into_iter().map(|depth| depth as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::{SearchLevels, around};

    #[test]
    fn the_fine_levels_lie_around_the_knee() {
        assert_eq!(around(2, 16), (vec![2], vec![4, 8, 12, 16, 24, 32, 64]));
        assert_eq!(around(1, 1), (vec![1], vec![1, 2, 4, 5]));
        assert_eq!(around(4, 1), (vec![2, 4], vec![1, 2, 4, 5]));
        assert_eq!(around(1, 65_536).1.last(), Some(&65_536));
    }

    #[test]
    fn the_coarse_threads_end_with_the_processors() {
        assert_eq!(SearchLevels::coarse(6).threads, [1, 2, 4, 6]);
        assert_eq!(SearchLevels::coarse(8).threads, [1, 2, 4, 8]);
        assert_eq!(SearchLevels::coarse(1).threads, [1]);
    }
}
