//! Throughput and waits of queueing networks.
//!
//! - [`throughputs`]: of a number of customers, exactly (one class, product form)
//! - [`arriving`]: of open arrivals, at a system that admits a limited number at once
//!
//! Transactions of several scripts, of which each connection draws the next one by their weights,
//! are one class: their demands are the means over what is drawn, and the solution stays exact.
//!
//! Sources: J. P. Buzen, Communications of the ACM 16 (1973); E. D. Lazowska and others,
//! "Quantitative System Performance" (1984), chapters 6 to 8; K. M. Chandy, U. Herzog and L. Woo,
//! IBM Journal of Research and Development 19 (1975).

use std::f64::consts::LN_2;

/// Customers for which a network is solved at most.
pub(crate) const CUSTOMERS_MAX: usize = 4096;

/// How a station serves those who are at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// All at once: think time, the network between.
    Delay,
    /// Parallel servers of one queue: CPUs, channels of a device; 1 is a serial section.
    Servers(u32),
    /// A log whose sync takes all who wait when it begins (group commit). Of those who are there
    /// half are in the sync, and half came since and wait for the next: it does n / 2 of them
    /// in a sync, and one at least.
    Shared,
}

/// A place where transactions spend time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Seconds of a transaction there without queueing.
    pub demand_s: f64,
    /// How it serves.
    pub service: Service,
}

impl Service {
    /// The speed with `n` there as a multiple of that with one, 1 or more.
    pub fn rate(&self, n: f64) -> f64 {
        match self {
            Self::Delay => n,
            Self::Servers(servers) => n.min(f64::from(*servers)),
            Self::Shared => (n / 2.0).max(1.0),
        }
    }

    /// Number of customers from which on its speed is constant, and the speed then; `None` if it
    /// grows without limit.
    pub fn most(&self) -> Option<usize> {
        match self {
            Self::Delay | Self::Shared => None,
            Self::Servers(servers) => Some(*servers as usize),
        }
    }
}

impl Station {
    /// Logarithms of the weights of 0, 1, .. customers here: the product of demand / rate.
    fn weights(&self, customers: usize) -> Vec<f64> {
        let mut weights = vec![0.0; customers + 1];
        for n in 1..=customers {
            weights[n] = weights[n - 1] + (self.demand_s / self.service.rate(n as f64)).ln();
        }
        weights
    }

    /// Normalising constants of a network that this station joins. From as many customers on as it
    /// serves at once, each further one multiplies its weight by the same: these terms follow
    /// from those of one customer less.
    fn joined(&self, before: &[f64]) -> Vec<f64> {
        let most = self.service.most().unwrap_or(before.len());
        let weights = self.weights(most.min(before.len()));
        let one_more = (self.demand_s / self.service.rate(most as f64)).ln();
        let mut all_busy = f64::NEG_INFINITY;
        (0..before.len())
            .map(|n| {
                if n >= most {
                    all_busy = log_add(one_more + all_busy, weights[most] + before[n - most]);
                }
                let others = (0..most.min(n + 1)).map(|here| weights[here] + before[n - here]);
                others.fold(all_busy, log_add)
            })
            .collect()
    }
}

/// Throughput with 1, 2, .. customers. `None` of demands that make no sense (negative, no number,
/// none at all, no server), and of more customers than are computed.
///
/// By normalising constants: the same figures as load-dependent mean value analysis, which takes
/// differences of probabilities and loses all digits at busy stations with several servers. Delays
/// come first, where they are one and its weights are all there is: the time grows with customers x
/// servers, and not with the square of the customers.
pub fn throughputs(stations: &[Station], customers: usize) -> Option<Vec<f64>> {
    let makes_sense = |station: &Station| {
        station.demand_s >= 0.0
            && station.demand_s.is_finite()
            && station.service != Service::Servers(0)
    };
    let takes_time = stations.iter().any(|station| station.demand_s > 0.0);
    if !takes_time || !stations.iter().all(makes_sense) || !(1..=CUSTOMERS_MAX).contains(&customers)
    {
        return None;
    }
    let busy = stations.iter().filter(|station| station.demand_s > 0.0);
    let (delays, queues): (Vec<&Station>, _) =
        busy.partition(|busy| busy.service == Service::Delay);
    let constants = constants(delays.iter().map(|delay| delay.demand_s).sum(), &queues, customers);
    Some(constants.windows(2).map(|pair| (pair[0] - pair[1]).exp()).collect())
}

/// Logarithms of the normalising constants of 0, 1, .. customers.
fn constants(delay_s: f64, queues: &[&Station], customers: usize) -> Vec<f64> {
    let Some(at) = queues.iter().position(|queue| queue.service == Service::Shared) else {
        let delay = Station { demand_s: delay_s, service: Service::Delay };
        return queues.iter().fold(delay.weights(customers), |before, queue| queue.joined(&before));
    };
    // Its weights, demand^n 2^(n - 1) / n! for n customers and 1 for none, are the mean of those of
    // a delay of twice the demand and those of no delay.
    let others = [&queues[..at], &queues[at + 1..]].concat();
    let without = constants(delay_s, &others, customers);
    let delayed = constants(delay_s + 2.0 * queues[at].demand_s, &others, customers);
    without
        .iter()
        .zip(delayed)
        .map(|(immediate, other)| log_add(*immediate, other) - LN_2)
        .collect()
}

/// Logarithm of a sum of two, by their logarithms.
fn log_add(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if least == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}

/// Times of transactions that arrive at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// Seconds of a transaction in the line outside, until the system takes it.
    pub line_s: f64,
    /// Seconds of a transaction inside.
    pub inside_s: f64,
}

/// Models open arrivals at a system that admits at most `rates.len()` transactions; with n of them
/// inside it completes `rates[n - 1]` a second. Returns `None` if the arrival rate exceeds its
/// capacity.
///
/// The system is one server whose speed depends on the number inside (flow-equivalent: Chandy,
/// Herzog and Woo), with Poisson arrivals: exact for a product-form network without a limit of
/// admission. Waits outside shorten as the completions of a full system become more regular (its
/// [`dispersion`]): they are (1 + dispersion) / 2 of those with random completions, as in Kingman's
/// formula for one server and Allen and Cunneen's for several.
pub fn arriving(rates: &[f64], rate: f64, dispersion: f64) -> Option<Arrival> {
    let busy = rate / rates.last()?;
    if !(busy > 0.0 && busy < 1.0) || rates.iter().any(|rate| *rate <= 0.0) {
        return None;
    }
    let weights = weights(rates.iter().map(|station_rate| rate / station_rate));
    // With more than are taken at once each state has `busy` times the weight of the one before.
    let full = weights[rates.len()];
    let with_a_line = full * busy / (1.0 - busy);
    let all = weights.iter().sum::<f64>() + with_a_line;
    let within: f64 = (0_u32..).zip(&weights).map(|(n, weight)| f64::from(n) * weight).sum();
    let inside = (within + rates.len() as f64 * with_a_line) / all;
    let outside = with_a_line / (1.0 - busy) / all;
    Some(Arrival {
        line_s: outside / rate * f64::midpoint(1.0, dispersion),
        inside_s: inside / rate,
    })
}

/// Weights of 0, 1, .. in a birth-and-death process, each by its ratio to the one before. By
/// logarithms: with thousands the products exceed what a double holds.
fn weights(ratios: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut logs = vec![0.0];
    logs.extend(ratios.scan(0.0, |log, ratio| {
        *log += ratio.ln();
        Some(*log)
    }));
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    logs.iter().map(|log| (log - most).exp()).collect()
}

/// States that are rarer than this say nothing but rounding.
const RARE: f64 = 1e-12;

/// Returns the evenness with which a system with as many customers as there are rates lets them go:
/// variance over mean of their number in a long time; 1 is at random. Each is gone for `delay_s`
/// and comes again; with 1, 2, .. there `rates` are done a second.
///
/// Departures of a birth-and-death process: with h the solution of Poisson's equation, their number
/// less its mean is a martingale whose jumps are h(n + 1) - h(n) and 1 less that (as in Y.
/// Nazarathy and G. Weiss, Queueing Systems 59, 2008).
pub fn dispersion(rates: &[f64], delay_s: f64) -> f64 {
    let customers = rates.len();
    if delay_s <= 0.0 {
        return 1.0;
    }
    let comes = |n: usize| (customers - n) as f64 / delay_s;
    let weights = weights(rates.iter().enumerate().map(|(n, rate)| comes(n) / rate));
    let all: f64 = weights.iter().sum();
    let done = |n: usize| if n == 0 { 0.0 } else { weights[n] / all * rates[n - 1] };
    let mean: f64 = (0..=customers).map(done).sum();
    let (mut ahead, mut variance) = (0.0, 0.0);
    for (n, weight) in weights.iter().enumerate().take(customers) {
        ahead += mean * weight / all - done(n);
        let flow = weight / all * comes(n);
        if flow > RARE * mean {
            let jump = ahead / flow;
            variance += flow * (jump.powi(2) + (1.0 - jump).powi(2));
        }
    }
    variance / mean
}
