//! Queueing networks: how many transactions a second are done.
//!
//! - [`throughputs`]: with so many customers, exactly (one class, product form)
//! - [`arriving`]: transactions that arrive at a rate, at a system that takes so many at once
//!
//! Transactions of several scripts, of which each connection draws the next one by their weights, are one class: their
//! demands are the means over what is drawn, and the solution stays exact.
//!
//! Sources: J. P. Buzen, Communications of the ACM 16 (1973); E. D. Lazowska and others, "Quantitative System
//! Performance" (1984), chapters 6 to 8; K. M. Chandy, U. Herzog and L. Woo, IBM Journal of Research and Development 19
//! (1975).

/// Customers for which a network is solved at most.
pub const CUSTOMERS_MAX: usize = 4096;

/// How a station serves those who are at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// All at once: think time, the network between.
    Delay,
    /// So many at a time, from one queue: processors, channels of a device; 1 is a serial section.
    Servers(u32),
}

/// A place where transactions spend time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Seconds of a transaction there when nobody else is.
    pub demand_s: f64,
    /// How it serves.
    pub service: Service,
}

impl Station {
    /// How many times as fast as with one it works with `n` there.
    pub fn rate(&self, n: usize) -> f64 {
        match self.service {
            Service::Delay => n as f64,
            Service::Servers(servers) => n.min(servers as usize) as f64,
        }
    }

    /// Logarithms of the weights of 0, 1, .. customers here: the product of demand / rate.
    fn weights(&self, customers: usize) -> Vec<f64> {
        let mut weights = vec![0.0; customers + 1];
        for n in 1..=customers {
            weights[n] = weights[n - 1] + (self.demand_s / self.rate(n)).ln();
        }
        weights
    }

    /// Normalising constants of a network that this station with so many servers joins. With all of them busy each further
    /// customer multiplies its weight by the same: these terms follow from those of one customer less.
    fn joined(&self, servers: usize, before: &[f64]) -> Vec<f64> {
        let weights = self.weights(servers.min(before.len()));
        let one_more = (self.demand_s / servers as f64).ln();
        let mut all_busy = f64::NEG_INFINITY;
        let constant = |n: usize| {
            if n >= servers {
                all_busy = log_add(one_more + all_busy, weights[servers] + before[n - servers]);
            }
            let others = (0..servers.min(n + 1)).map(|here| weights[here] + before[n - here]);
            others.fold(all_busy, log_add)
        };
        (0..before.len()).map(constant).collect()
    }
}

/// Throughput with 1, 2, .. customers. `None` of demands that make no sense (negative, no number, none at all, no server), and
/// of more customers than are computed.
///
/// By normalising constants: the same figures as load-dependent mean value analysis, which takes differences of
/// probabilities and loses all digits at busy stations with several servers. Delays come first, where they are one and its
/// weights are all there is: the time grows with customers x servers, and not with the square of the customers.
pub fn throughputs(stations: &[Station], customers: usize) -> Option<Vec<f64>> {
    let makes_sense =
        |own: &Station| own.demand_s >= 0.0 && own.demand_s.is_finite() && own.service != Service::Servers(0);
    let takes_time = stations.iter().any(|own| own.demand_s > 0.0);
    if !takes_time || !stations.iter().all(makes_sense) || !(1..=CUSTOMERS_MAX).contains(&customers) {
        return None;
    }
    let (mut delay, mut queues) = (Station { demand_s: 0.0, service: Service::Delay }, Vec::new());
    for station in stations.iter().filter(|own| own.demand_s > 0.0) {
        match station.service {
            Service::Delay => delay.demand_s += station.demand_s,
            Service::Servers(servers) => queues.push((station, servers as usize)),
        }
    }
    let constants =
        queues.iter().fold(delay.weights(customers), |before, (own, servers)| own.joined(*servers, &before));
    Some(constants.windows(2).map(|pair| (pair[0] - pair[1]).exp()).collect())
}

/// Logarithm of a sum of two, by their logarithms.
fn log_add(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if least == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}

/// Transactions that arrive at random, so many a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arriving {
    /// Seconds of a transaction in the line outside, until the system takes it.
    pub line_s: f64,
    /// Seconds of a transaction inside.
    pub inside_s: f64,
}

/// A system that takes as many transactions at once as there are rates: with 1, 2, .. inside it does that many a second.
/// `None` of a rate that it cannot keep up.
///
/// It stands for one server whose speed depends on how many are there (flow-equivalent: Chandy, Herzog and Woo), with
/// Poisson arrivals: exact for a product-form network that takes everybody, an approximation where others wait outside.
pub fn arriving(rates: &[f64], rate: f64) -> Option<Arriving> {
    let busy = rate / rates.last()?;
    if !(busy > 0.0 && busy < 1.0) || rates.iter().any(|own| *own <= 0.0) {
        return None;
    }
    // By logarithms: with thousands inside the products exceed what a double holds.
    let mut logs = vec![0.0];
    logs.extend(rates.iter().scan(0.0, |log, own| {
        *log += (rate / own).ln();
        Some(*log)
    }));
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    // With more than are taken at once each state has `busy` times the weight of the one before.
    let full = weights[rates.len()];
    let with_a_line = full * busy / (1.0 - busy);
    let all = weights.iter().sum::<f64>() + with_a_line;
    let within: f64 = (0_u32..).zip(&weights).map(|(n, weight)| f64::from(n) * weight).sum();
    let inside = (within + rates.len() as f64 * with_a_line) / all;
    let outside = with_a_line / (1.0 - busy) / all;
    Some(Arriving { line_s: outside / rate, inside_s: inside / rate })
}
