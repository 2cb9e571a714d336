//! Throughput against connections, threads or queue depth: laws and a queueing network, fitted to the same levels.

use crate::network::{self, Service, Station};
use crate::usl::{Fit, Law, Point};
use serde::Serialize;

/// A level that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Connections, threads or I/Os in flight.
    pub n: f64,
    /// Work a second in each trial.
    pub trials: Vec<f64>,
    /// Processor seconds of a unit of work, of all that runs on the machine under test; `None`: not recorded.
    pub cpu_s: Option<f64>,
}

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Amdahl's law.
    Amdahl,
    /// Gunther's Universal Scalability Law.
    Universal,
    /// Processors, a part that is done one at a time, and a delay.
    Network,
}

/// The demands of a unit of work in the queueing network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bottlenecks {
    /// Processors of the machine.
    pub processors: u32,
    /// Processor seconds, as measured.
    pub cpu_s: f64,
    /// Seconds in what is done one at a time, fitted.
    pub serial_s: f64,
    /// Seconds in which neither is needed, fitted.
    pub delay_s: f64,
}

/// A model fitted to some levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Curve {
    /// A law.
    Law(Fit),
    /// A network.
    Network(Bottlenecks),
}

impl Level {
    /// Mean of its trials.
    pub fn mean(&self) -> f64 {
        self.trials.iter().sum::<f64>() / self.trials.len() as f64
    }
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Amdahl, Self::Universal, Self::Network];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amdahl => "Amdahl's law",
            Self::Universal => "Universal Scalability Law",
            Self::Network => "queueing network",
        }
    }

    /// Figures that are fitted.
    pub fn coefficients(self) -> usize {
        if self == Self::Universal { 3 } else { 2 }
    }
}

impl Curve {
    /// A model fitted to these levels by its relative errors; `None` where there are too few, and without what it needs.
    pub fn of(model: Model, levels: &[Level], processors: Option<u32>) -> Option<Self> {
        let law = match model {
            Model::Network => return Bottlenecks::of(levels, processors).map(Self::Network),
            Model::Amdahl => Law::Amdahl,
            Model::Universal => Law::Universal,
        };
        let points: Vec<Point> = levels
            .iter()
            .flat_map(|level| level.trials.iter().map(|trial| Point::relative(level.n, *trial)))
            .collect();
        Fit::of(&points, law).ok().map(Self::Law)
    }

    /// Work a second with 1, 2, .. customers; `None` of more than are computed.
    pub fn throughputs(&self, n: usize) -> Option<Vec<f64>> {
        match self {
            Self::Law(fit) => {
                (n <= network::CUSTOMERS_MAX).then(|| (1..=n).map(|n| fit.usl.throughput(n as f64)).collect())
            }
            Self::Network(own) => own.throughputs(n),
        }
    }

    /// Work a second at this level; `None` of more customers than are computed.
    pub fn throughput(&self, n: f64) -> Option<f64> {
        match self {
            Self::Law(fit) => Some(fit.usl.throughput(n)),
            Self::Network(own) => own.throughputs(n as usize)?.last().copied(),
        }
    }
}

/// Golden section: each step leaves this share of an interval.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Steps of a search: they leave less than half a hundredth.
const STEPS: u32 = 12;

impl Bottlenecks {
    /// Work a second with 1, 2, .. customers; `None` of more than are computed.
    pub fn throughputs(&self, n: usize) -> Option<Vec<f64>> {
        let queue = |demand_s, servers| Station { demand_s, service: Service::Servers(servers) };
        let delay = Station { demand_s: self.delay_s, service: Service::Delay };
        network::throughputs(&[queue(self.cpu_s, self.processors), queue(self.serial_s, 1), delay], n)
    }

    /// Shares of the time that the processors and the serial part are busy at so much work a second (Utilisation Law).
    pub fn busy(&self, throughput: f64) -> [f64; 2] {
        [throughput * self.cpu_s / f64::from(self.processors), throughput * self.serial_s]
    }

    /// The processor time is as measured: the median of the levels. The other two are those that come closest to the
    /// throughput, by the squares of relative errors. Without a number of processors, and where their time was not
    /// recorded, it is part of what is fitted.
    fn of(levels: &[Level], processors: Option<u32>) -> Option<Self> {
        let most = levels.iter().map(|level| level.n as usize).max()?;
        if levels.len() < 3 || most > network::CUSTOMERS_MAX || levels.iter().any(|level| level.n < 1.0) {
            return None;
        }
        let mut cpu: Vec<f64> = levels.iter().filter_map(|level| level.cpu_s).collect();
        cpu.sort_by(f64::total_cmp);
        let known = processors.filter(|_| cpu.len() == levels.len());
        let cpu_s = known.map_or(0.0, |_| cpu[cpu.len() / 2]);
        let means: Vec<(usize, f64)> = levels.iter().map(|level| (level.n as usize, level.mean())).collect();
        let fastest = means.iter().map(|(_, mean)| *mean).fold(0.0, f64::max);
        // Nothing takes longer than a unit of work with the fewest customers.
        let longest = means.iter().map(|(n, mean)| *n as f64 / mean).fold(f64::MAX, f64::min);
        let with =
            |serial_s: f64, delay_s: f64| Self { processors: known.unwrap_or(1), cpu_s, serial_s, delay_s };
        let squares = |own: &Self| {
            let found = own.throughputs(most);
            found.map_or(f64::MAX, |found| {
                means.iter().map(|(n, mean)| (found[n - 1] / mean).ln().powi(2)).sum()
            })
        };
        let best_delay = |serial_s: f64| {
            let delay_s = lowest(1.5 * longest, |delay_s| squares(&with(serial_s, delay_s)));
            with(serial_s, delay_s)
        };
        let serial_s = lowest(1.5 / fastest, |serial_s| squares(&best_delay(serial_s)));
        Some(best_delay(serial_s))
    }
}

/// Where between 0 and `most` this is lowest.
fn lowest(most: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    let (mut left, mut right) = (most * (1.0 - GOLDEN), most * GOLDEN);
    let (mut at_left, mut at_right) = (of(left), of(right));
    for _ in 0..STEPS {
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = of(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = of(right);
        }
    }
    f64::midpoint(low, high)
}
