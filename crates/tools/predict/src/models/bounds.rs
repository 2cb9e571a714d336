//! Limits of throughput that hold for every model.

use super::average::noise;
use super::curve::Level;
use observations::Interval;

/// Standard errors of a measured level that a bound allows for.
const ERRORS: f64 = 2.0;
/// Least standard error of a level: machines differ by this from run to run.
const ERROR_MIN: f64 = 0.03;
/// Work may need this much less of a resource at levels that were not measured.
const LESS: f64 = 1.1;

/// Bounds of the throughput, from the levels and the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Each level and the logarithm of its mean.
    levels: Vec<(f64, f64)>,
    /// The distance of the levels above the proportion to a lower level, as a logarithm.
    above_proportion: f64,
    /// The distance of the levels below the inverse proportion to a lower level.
    below_inverse: f64,
    /// The most that the CPUs do.
    rate_max: Option<f64>,
}

impl Bounds {
    /// Bounds from these levels.
    pub fn new(levels: &[Level], cpus: Option<u32>) -> Self {
        let slack = ERRORS * (noise(levels) + ERROR_MIN.powi(2)).sqrt();
        let levels: Vec<(&Level, f64)> =
            levels.iter().map(|level| (level, level.mean().ln())).collect();
        let (mut above, mut below) = (0.0_f64, 0.0_f64);
        for pair in levels.windows(2) {
            let [(low, low_log), (high, high_log)] = [pair[0], pair[1]];
            let octave = (high.n / low.n).ln();
            above = above.max(high_log - low_log - octave);
            below = below.max(low_log - high_log - octave);
        }
        let fastest = levels.iter().map(|level| level.1.exp()).fold(0.0, f64::max);
        // CPUs that did more than they can were not measured right.
        let rate_max = cpu_rate(&levels, cpus).filter(|rate| *rate > fastest);
        Self {
            above_proportion: above + slack,
            below_inverse: below + slack,
            levels: levels.into_iter().map(|(level, log)| (level.n, log)).collect(),
            rate_max,
        }
    }

    /// The least and the most at a level.
    ///
    /// With more at work throughput grows at most in proportion, and what is lost by each one that
    /// is added is at most its share: it does not fall faster than 1 / N.
    pub fn at(&self, n: f64) -> Interval {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for (level, log) in &self.levels {
            let octaves = (n / level).ln();
            if octaves >= 0.0 {
                high = high.min(log + octaves + self.above_proportion);
                low = low.max(log - octaves - self.below_inverse);
            } else {
                high = high.min(log - octaves + self.below_inverse);
                low = low.max(log + octaves - self.above_proportion);
            }
        }
        let high = self.rate_max.map_or(high.exp(), |most| most.min(high.exp()));
        Interval { low: low.exp().min(high), high }
    }
}

/// Work a second that the CPUs do at most, by the least CPU time of a unit of work.
fn cpu_rate(levels: &[(&Level, f64)], cpus: Option<u32>) -> Option<f64> {
    let cpus = f64::from(cpus?);
    let each = levels.iter().map(|(level, _)| level.cpu_s).collect::<Option<Vec<f64>>>()?;
    let least_s = each.into_iter().reduce(f64::min).filter(|least_s| *least_s > 0.0)?;
    Some(LESS * cpus / least_s)
}
