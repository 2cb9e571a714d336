//! Throughput against connections, threads or queue depth: laws and a queueing network, fitted to
//! the same levels.

use super::network::{self, Service, Station};
use super::usl::{Fit, Law, Point};
use serde::Serialize;

/// A level that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Level {
    /// Connections, threads or I/Os in flight.
    pub n: f64,
    /// Work a second in each trial.
    pub trials: Vec<f64>,
    /// Processor seconds of a unit of work, of all that runs on the machine under test; `None`:
    /// not recorded.
    pub cpu_s: Option<f64>,
    /// Transactions that a sync of the log made durable; `None`: not recorded.
    pub batch: Option<f64>,
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
    /// As before, with a log whose syncs are shared in place of that part.
    SharedSyncs,
    /// All of these, by their errors at the highest levels of the fit.
    Average,
}

/// The demands of a unit of work in the queueing network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottlenecks {
    /// Processors of the machine.
    pub processors: u32,
    /// Processor seconds, as measured.
    pub cpu_s: f64,
    /// Service of the serial section: one transaction at a time, or as a log serves.
    pub service: Service,
    /// Seconds in the serial section without queueing, fitted.
    pub serial_s: f64,
    /// Seconds in which neither the serial section nor a CPU is needed, fitted.
    pub delay_s: f64,
}

/// A model fitted to some levels.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// A law.
    Law(Fit),
    /// A network.
    Network(Bottlenecks),
    /// The geometric mean of several, whose weights sum to 1.
    Average(Vec<Member>),
}

/// A model in an average.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The model.
    pub model: Model,
    /// The share.
    pub weight: f64,
    /// The fit.
    pub curve: Curve,
}

impl Level {
    /// Mean of its trials.
    pub fn mean(&self) -> f64 {
        self.trials.iter().sum::<f64>() / self.trials.len() as f64
    }
}

impl Model {
    /// Curves that are fitted by themselves.
    pub const ALL: [Self; 4] = [Self::Amdahl, Self::Universal, Self::Network, Self::SharedSyncs];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amdahl => "Amdahl's law",
            Self::Universal => "Universal Scalability Law",
            Self::Network => "queueing network",
            Self::SharedSyncs => "queueing network with shared syncs",
            Self::Average => "average of the models",
        }
    }

    /// Figures that are fitted.
    pub fn coefficients(self) -> usize {
        if self == Self::Universal { 3 } else { 2 }
    }
}

impl Curve {
    /// A model by itself, fitted to these levels by its relative errors; `None` where there are too
    /// few, without what it needs, and of an average.
    pub(crate) fn alone(model: Model, levels: &[Level], cpus: Option<u32>) -> Option<Self> {
        let network = |service| Bottlenecks::fit(service, levels, cpus).map(Self::Network);
        let law = match model {
            Model::Average => return None,
            Model::Network => return network(Service::Servers(1)),
            Model::SharedSyncs => return network(shared(levels)?),
            Model::Amdahl => Law::Amdahl,
            Model::Universal => Law::Universal,
        };
        let points: Vec<Point> = levels
            .iter()
            .flat_map(|level| level.trials.iter().map(|trial| Point::relative(level.n, *trial)))
            .collect();
        Fit::least_squares(&points, law).map(Self::Law)
    }

    /// Work a second with 1, 2, .. customers; `None` of more than are computed.
    pub fn throughputs(&self, n: usize) -> Option<Vec<f64>> {
        match self {
            Self::Average(members) => {
                let mut logs = vec![0.0; n];
                for member in members {
                    let found = member.curve.throughputs(n)?;
                    logs.iter_mut().zip(found).for_each(|(log, x)| *log += member.weight * x.ln());
                }
                Some(logs.into_iter().map(f64::exp).collect())
            }
            Self::Law(fit) => (n <= network::CUSTOMERS_MAX)
                .then(|| (1..=n).map(|n| fit.usl.throughput(n as f64)).collect()),
            Self::Network(network) => network.throughputs(n),
        }
    }

    /// Work a second at this level; `None` of more customers than are computed.
    pub fn throughput(&self, n: f64) -> Option<f64> {
        match self {
            Self::Average(members) => {
                let logs = members
                    .iter()
                    .map(|member| Some(member.weight * member.curve.throughput(n)?.ln()))
                    .sum::<Option<f64>>();
                logs.map(f64::exp)
            }
            Self::Law(fit) => Some(fit.usl.throughput(n)),
            Self::Network(network) => network.throughputs(n as usize)?.last().copied(),
        }
    }
}

/// Commits count as sharing a sync if, at the level with most, it made at least this many durable.
const SHARED_MIN: f64 = 1.1;

/// The log, where its syncs were counted and shared.
fn shared(levels: &[Level]) -> Option<Service> {
    let batches: Vec<f64> = levels.iter().map(|level| level.batch).collect::<Option<_>>()?;
    let most = batches.into_iter().fold(0.0, f64::max);
    (most >= SHARED_MIN).then_some(Service::Shared)
}

/// Golden section: each step leaves this share of an interval.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Steps of a search: they leave less than half a hundredth.
const STEPS: u32 = 12;

impl Bottlenecks {
    /// Work a second with 1, 2, .. customers; `None` of more than are computed.
    pub fn throughputs(&self, n: usize) -> Option<Vec<f64>> {
        network::throughputs(&self.stations(), n)
    }

    /// The processors, the part that is not done side by side, the delay.
    pub fn stations(&self) -> [Station; 3] {
        let station = |demand_s, service| Station { demand_s, service };
        [
            station(self.cpu_s, Service::Servers(self.processors)),
            station(self.serial_s, self.service),
            station(self.delay_s, Service::Delay),
        ]
    }

    /// Shares of the time that the processors and the part that is not done side by side are busy
    /// at so much work a second (Utilisation Law); of shared syncs, which have no limit, 0.
    pub fn busy(&self, throughput: f64) -> [f64; 2] {
        let rate_max = self.service.most().map_or(f64::INFINITY, |most| most as f64);
        [
            throughput * self.cpu_s / f64::from(self.processors),
            throughput * self.serial_s / rate_max,
        ]
    }

    /// Returns the evenness with which `n` customers leave when there are never fewer: variance
    /// over mean of their number.
    pub fn dispersion(&self, n: usize) -> f64 {
        let queues = Self { delay_s: 0.0, ..*self };
        // Without any queue each leaves at random.
        queues.throughputs(n).map_or(1.0, |rates| network::dispersion(&rates, self.delay_s))
    }

    /// Seconds of a unit of work at each station, waiting included, with `n` customers: by the
    /// arrival theorem their number there is the derivative of the normalising constant's
    /// logarithm, by that of the demand.
    pub fn residences_s(&self, n: usize) -> Option<[f64; 3]> {
        const STEP: f64 = 1e-6;
        let (stations, base) = (self.stations(), self.throughputs(n)?);
        let mut residences = [0.0; 3];
        for (at, residence) in
            residences.iter_mut().enumerate().filter(|(at, _)| stations[*at].demand_s > 0.0)
        {
            let mut longer = stations;
            longer[at].demand_s *= 1.0 + STEP;
            let longer = network::throughputs(&longer, n)?;
            let there: f64 = base.iter().zip(longer).map(|(x, slower)| (x / slower).ln()).sum();
            *residence = there / STEP.ln_1p() / base[n - 1];
        }
        Some(residences)
    }

    /// The processor time is as measured: the median of the levels. The other two are those that
    /// come closest to the throughput, by the squares of relative errors. Without a number of
    /// processors, and where their time was not recorded, it is part of what is fitted.
    fn fit(service: Service, levels: &[Level], processors: Option<u32>) -> Option<Self> {
        let most = levels.iter().map(|level| level.n as usize).max()?;
        if levels.len() < 3
            || most > network::CUSTOMERS_MAX
            || levels.iter().any(|level| level.n < 1.0)
        {
            return None;
        }
        let mut cpu: Vec<f64> = levels.iter().filter_map(|level| level.cpu_s).collect();
        cpu.sort_by(f64::total_cmp);
        let known = processors.filter(|_| cpu.len() == levels.len());
        let cpu_s = known.map_or(0.0, |_| cpu[cpu.len() / 2]);
        let means: Vec<(usize, f64)> =
            levels.iter().map(|level| (level.n as usize, level.mean())).collect();
        let fastest = means.iter().map(|(_, mean)| *mean).fold(0.0, f64::max);
        // Nothing takes longer than a unit of work with the fewest customers.
        let longest = means.iter().map(|(n, mean)| *n as f64 / mean).fold(f64::MAX, f64::min);
        let longest_serial =
            longest.min(service.most().map_or(f64::MAX, |most| most as f64 / fastest));
        let with = |serial_s: f64, delay_s: f64| Self {
            processors: known.unwrap_or(1),
            cpu_s,
            service,
            serial_s,
            delay_s,
        };
        let squares = |curve: &Self| {
            let found = curve.throughputs(most);
            found.map_or(f64::MAX, |found| {
                means.iter().map(|(n, mean)| (found[n - 1] / mean).ln().powi(2)).sum()
            })
        };
        let best_delay = |serial_s: f64| {
            let delay_s = lowest(1.5 * longest, |delay_s| squares(&with(serial_s, delay_s)));
            with(serial_s, delay_s)
        };
        let serial_s = lowest(1.5 * longest_serial, |serial_s| squares(&best_delay(serial_s)));
        Some(best_delay(serial_s))
    }
}

/// Returns the place between 0 and `most` where this is lowest.
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
