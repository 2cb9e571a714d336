use crate::response::value_s;
use observations::Observations;
use serde::Serialize;

/// Beyond this relative difference the figures of a trial do not fit each other: what starts and what is
/// still in flight at the ends of a measurement of some seconds is far less.
pub const LITTLE_TOLERANCE: f64 = 0.05;

/// Little's law held against the figures of a configuration (means over its trials).
///
/// The mean number in flight is the rate times the mean time that one of them takes, whatever the
/// distributions: L = lambda W (J. D. C. Little, "A Proof for the Queuing Formula: L = lambda W", Operations
/// Research 9 (3), 1961).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Little {
    /// I/Os in flight, as measured.
    pub depth: f64,
    /// I/Os a second times seconds that an I/O takes.
    pub product: f64,
    /// `product` against `depth`: 0.03 is 3 % more.
    pub difference: f64,
    /// Trials behind it.
    pub trials: usize,
}

/// By how much rate x time differs from the measured depth, relative to it; `None` without a depth.
pub fn little_difference(depth: f64, rate_per_s: f64, time_s: f64) -> Option<f64> {
    let difference = rate_per_s * time_s / depth - 1.0;
    (depth > 0.0 && difference.is_finite()).then_some(difference)
}

impl Little {
    pub(crate) fn of<'a>(trials: impl IntoIterator<Item = &'a Observations>) -> Option<Self> {
        let (mut depth, mut product, mut n) = (0.0, 0.0, 0);
        for observations in trials {
            let Some((own_depth, iops, time_s)) = figures(observations) else { continue };
            depth += own_depth;
            product += iops * time_s;
            n += 1;
        }
        let difference = little_difference(depth, product, 1.0)?;
        let mean = |sum: f64| sum / f64::from(n);
        Some(Self { depth: mean(depth), product: mean(product), difference, trials: n as usize })
    }

    /// Whether the figures fit each other.
    pub fn holds(&self) -> bool {
        self.difference.abs() <= LITTLE_TOLERANCE
    }
}

/// Depth, I/Os a second and seconds for each I/O of a trial.
///
/// In an open loop, latency counts from the intended start, before the I/O is in flight: the time is
/// then the service time. Where only some streams are open loops, it is not known.
fn figures(observations: &Observations) -> Option<(f64, f64, f64)> {
    let of = |name: &str| observations.responses.iter().find(|response| response.name == name);
    let histogram = |name: &str| observations.latencies.iter().find(|l| l.name == name).map(|l| &l.histogram);
    let time_s = match (histogram("service"), histogram("I/O")) {
        (Some(service), Some(all)) if service.len() < all.len() => return None,
        (Some(service), _) => service.min_mean_max_ns().1 / 1e9,
        (None, _) => value_s(of("latency_mean")?)?,
    };
    Some((of("depth")?.value, of("iops")?.value, time_s))
}
