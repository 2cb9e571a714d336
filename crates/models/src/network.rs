//! Queueing networks: where transactions spend their time, and how many a second are done.
//!
//! - [`closed`]: so many customers, exactly (one class, product form, rates that depend on the queue)
//! - [`open`]: arrivals at a rate
//! - [`several_classes`]: several kinds of customers, approximately
//!
//! Sources: J. P. Buzen, Communications of the ACM 16 (1973); E. D. Lazowska and others, "Quantitative System
//! Performance" (1984), chapters 6 to 8; Y. Bard and P. Schweitzer (1979); A. Seidmann and others (1987).

use crate::queue;
use serde::Serialize;

/// Customers for which a network is solved at most: the time for it grows with their square.
pub const CUSTOMERS_MAX: usize = 4096;
/// Rounds of the approximate solution at most.
const ROUNDS_MAX: usize = 10_000;

/// How a station serves those who are at it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// All at once: think time, the network between.
    Delay,
    /// So many at a time, from one queue: processors, channels of a device; 1 is a serial section.
    Servers(u32),
    /// Together: with n there it works `1 + (n - 1) x share` times as fast as with one, as a log whose sync commits those
    /// who wait with it. 0 is one server, 1 is a delay.
    Batch {
        /// From 0 to 1.
        share: f64,
    },
    /// How many times as fast as with one it works with 1, 2, .. there; with more, as with the last: a device whose rate
    /// at each depth was measured.
    Rates(Vec<f64>),
}

/// A place where transactions spend time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Station {
    /// What it is called.
    pub name: String,
    /// Seconds of a transaction there when nobody else is.
    pub demand_s: f64,
    /// How it serves.
    pub service: Service,
}

/// A station under the load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationLoad {
    /// What it is called.
    pub name: String,
    /// Share of what it can do at most; 0 of a delay.
    pub utilisation: f64,
    /// Seconds of a transaction there, waiting included.
    pub residence_s: f64,
    /// Transactions there on average.
    pub customers: f64,
}

/// A network under its load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solved {
    /// Transactions a second.
    pub throughput: f64,
    /// Seconds of a transaction, delays included.
    pub response_s: f64,
    /// In the order given.
    pub stations: Vec<StationLoad>,
}

/// Why a network has no solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A demand that is negative or no number.
    #[error(
        "{station}: a demand of {demand_s} s; demands are 0 or more: the trials that it comes from disagree"
    )]
    Demand {
        /// The station.
        station: String,
        /// What it has.
        demand_s: f64,
    },
    /// A station that serves nobody.
    #[error("{station} has no server, or rates that are not above 0")]
    Service {
        /// The station.
        station: String,
    },
    /// Nothing takes any time.
    #[error("nothing takes any time: no station has a demand above 0")]
    NoDemand,
    /// More than are computed.
    #[error("{customers} customers; at most {CUSTOMERS_MAX} are computed")]
    TooMany {
        /// Customers asked for.
        customers: usize,
    },
    /// Arrivals that are more than a station can serve.
    #[error("{station} would be busy {percent:.0} % of the time: the rate cannot be kept up", percent = 100.0 * utilisation)]
    Saturated {
        /// The station.
        station: String,
        /// Above 1.
        utilisation: f64,
    },
}

impl Station {
    /// A station of this name.
    pub fn new(name: impl Into<String>, demand_s: f64, service: Service) -> Self {
        Self { name: name.into(), demand_s, service }
    }

    /// How many times as fast as with one it works with `n` there.
    pub fn rate(&self, n: usize) -> f64 {
        match &self.service {
            Service::Delay => n as f64,
            Service::Servers(servers) => n.min(*servers as usize) as f64,
            Service::Batch { share } => 1.0 + (n as f64 - 1.0) * share,
            Service::Rates(rates) => rates[n.min(rates.len()) - 1],
        }
    }

    /// The most that it gets, relative to one alone; `None` of what has no limit.
    pub fn rate_max(&self) -> Option<f64> {
        match &self.service {
            Service::Servers(servers) => Some(f64::from(*servers)),
            Service::Rates(rates) => rates.last().copied(),
            Service::Batch { share } if *share <= 0.0 => Some(1.0),
            Service::Delay | Service::Batch { .. } => None,
        }
    }

    fn check(&self) -> Result<(), NetworkError> {
        let station = || self.name.clone();
        if !(self.demand_s >= 0.0 && self.demand_s.is_finite()) {
            return Err(NetworkError::Demand { station: station(), demand_s: self.demand_s });
        }
        let serves = match &self.service {
            Service::Delay => true,
            Service::Servers(servers) => *servers > 0,
            Service::Batch { share } => (0.0..=1.0).contains(share),
            Service::Rates(rates) => !rates.is_empty() && rates.iter().all(|rate| *rate > 0.0),
        };
        if serves { Ok(()) } else { Err(NetworkError::Service { station: station() }) }
    }

    /// Logarithms of the weights of 0, 1, .. customers here: the product of demand / rate.
    fn weights(&self, customers: usize) -> Vec<f64> {
        let mut weights = vec![0.0; customers + 1];
        for n in 1..=customers {
            weights[n] = weights[n - 1] + (self.demand_s / self.rate(n)).ln();
        }
        weights
    }
}

/// Throughput with 1, 2, .. customers.
///
/// By normalising constants: the same figures as load-dependent mean value analysis, which takes differences of
/// probabilities and loses all digits at busy stations with several servers.
///
/// # Errors
/// Demands that make no sense, and too many customers.
pub fn throughputs(stations: &[Station], customers: usize) -> Result<Vec<f64>, NetworkError> {
    let busy = checked(stations, customers)?;
    let constants = normalising(busy.iter().copied(), customers);
    Ok((1..=customers).map(|n| (constants[n - 1] - constants[n]).exp()).collect())
}

/// A network with so many customers, exactly.
///
/// # Errors
/// As of [`throughputs`].
pub fn closed(stations: &[Station], customers: usize) -> Result<Solved, NetworkError> {
    let busy = checked(stations, customers)?;
    let all = normalising(busy.iter().copied(), customers);
    let throughput = (all[customers - 1] - all[customers]).exp();
    let load = |station: &Station| {
        let (mut mean, mut utilisation) = (0.0, 0.0);
        if let Some(own) = busy.iter().position(|other| std::ptr::eq(*other, station)) {
            let others = busy.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, other)| *other);
            let others = normalising(others, customers);
            let weights = station.weights(customers);
            let probability = |n: usize| (weights[n] + others[customers - n] - all[customers]).exp();
            mean = (1..=customers).map(|n| n as f64 * probability(n)).sum();
            utilisation = station.rate_max().map_or(0.0, |most| throughput * station.demand_s / most);
        }
        StationLoad {
            name: station.name.clone(),
            utilisation,
            residence_s: mean / throughput,
            customers: mean,
        }
    };
    Ok(Solved {
        throughput,
        response_s: customers as f64 / throughput,
        stations: stations.iter().map(load).collect(),
    })
}

/// The stations that take time.
fn checked(stations: &[Station], customers: usize) -> Result<Vec<&Station>, NetworkError> {
    stations.iter().try_for_each(Station::check)?;
    if customers == 0 || customers > CUSTOMERS_MAX {
        return Err(NetworkError::TooMany { customers });
    }
    let busy: Vec<&Station> = stations.iter().filter(|station| station.demand_s > 0.0).collect();
    if busy.is_empty() { Err(NetworkError::NoDemand) } else { Ok(busy) }
}

/// Logarithms of the normalising constants of 0, 1, .. customers.
fn normalising<'a>(stations: impl Iterator<Item = &'a Station>, customers: usize) -> Vec<f64> {
    let mut sums = vec![f64::NEG_INFINITY; customers + 1];
    sums[0] = 0.0;
    for station in stations {
        if station.rate_max() == Some(1.0) {
            // One server: each constant follows from the one before.
            let demand = station.demand_s.ln();
            for n in 1..=customers {
                sums[n] = log_sum(&[sums[n], demand + sums[n - 1]]);
            }
        } else {
            let weights = station.weights(customers);
            let mut terms = Vec::with_capacity(customers + 1);
            for n in (0..=customers).rev() {
                terms.clear();
                terms.extend((0..=n).map(|here| weights[here] + sums[n - here]));
                sums[n] = log_sum(&terms);
            }
        }
    }
    sums
}

/// Terms that are e^40 times smaller than the largest add nothing that a double holds.
const NEGLIGIBLE: f64 = 40.0;

fn log_sum(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    let counted = terms.iter().filter(|term| **term > most - NEGLIGIBLE);
    most + counted.map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// A network at which transactions arrive at random, so many a second.
///
/// # Errors
/// A station that cannot keep up, and demands that make no sense.
pub fn open(stations: &[Station], rate: f64) -> Result<Solved, NetworkError> {
    stations.iter().try_for_each(Station::check)?;
    let load = |station: &Station| {
        let utilisation = station.rate_max().map_or(0.0, |most| rate * station.demand_s / most);
        let saturated = || NetworkError::Saturated { station: station.name.clone(), utilisation };
        let residence_s = match &station.service {
            Service::Delay | Service::Batch { share: 1.0 } => station.demand_s,
            Service::Servers(servers) => {
                queue::shared_queue(u64::from(*servers), station.demand_s, utilisation)
                    .ok_or_else(saturated)?
            }
            Service::Batch { .. } | Service::Rates(_) if utilisation >= 1.0 => return Err(saturated()),
            Service::Batch { .. } | Service::Rates(_) => birth_and_death(station, rate),
        };
        Ok(StationLoad {
            name: station.name.clone(),
            utilisation,
            residence_s,
            customers: rate * residence_s,
        })
    };
    let stations = stations.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let response_s = stations.iter().map(|station| station.residence_s).sum();
    Ok(Solved { throughput: rate, response_s, stations })
}

/// Time at a station whose rate depends on its queue: the mean of its states over the rate (Little's Law).
fn birth_and_death(station: &Station, rate: f64) -> f64 {
    let (mut probability, mut sum, mut mean) = (1.0, 1.0, 0.0);
    for n in 1..1_000_000 {
        probability *= rate * station.demand_s / station.rate(n);
        sum += probability;
        mean += n as f64 * probability;
        if probability * n as f64 <= 1e-14 * mean {
            break;
        }
    }
    mean / sum / rate
}

/// A kind of customers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// How many.
    pub customers: f64,
    /// Seconds of a transaction at each station.
    pub demands_s: Vec<f64>,
}

/// Throughput and response time of each class, approximately: Bard and Schweitzer's mean value analysis; of several servers
/// a faster one and a delay (Seidmann). Within a few percent of the exact solution, worst where queues are of about one.
///
/// # Errors
/// Demands that make no sense, and stations other than delays and servers.
pub fn several_classes(stations: &[Station], classes: &[Class]) -> Result<Vec<(f64, f64)>, NetworkError> {
    for (at, station) in stations.iter().enumerate() {
        let servers = matches!(station.service, Service::Delay | Service::Servers(1..));
        if !servers || classes.iter().any(|class| class.demands_s.len() != stations.len()) {
            return Err(NetworkError::Service { station: station.name.clone() });
        }
        for class in classes {
            Station::new(&*station.name, class.demands_s[at], station.service.clone()).check()?;
        }
    }
    if classes.iter().any(|class| class.demands_s.iter().sum::<f64>() <= 0.0) {
        return Err(NetworkError::NoDemand);
    }
    let mut queues: Vec<Vec<f64>> =
        classes.iter().map(|class| vec![class.customers / stations.len() as f64; stations.len()]).collect();
    let mut solved = vec![(0.0, 0.0); classes.len()];
    for _ in 0..ROUNDS_MAX {
        let mut change = 0.0_f64;
        let before = queues.clone();
        for (own, class) in classes.iter().enumerate().filter(|(_, class)| class.customers > 0.0) {
            let seen = |at: usize| {
                let all: f64 = before.iter().map(|queue| queue[at]).sum();
                all - before[own][at] / class.customers
            };
            let residence = |at: usize| match stations[at].service {
                Service::Servers(servers) => {
                    let (servers, demand) = (f64::from(servers), class.demands_s[at]);
                    demand / servers * (1.0 + seen(at)) + demand * (servers - 1.0) / servers
                }
                _ => class.demands_s[at],
            };
            let residences: Vec<f64> = (0..stations.len()).map(residence).collect();
            let response: f64 = residences.iter().sum();
            let throughput = class.customers / response;
            for (at, residence) in residences.iter().enumerate() {
                // Who is in the delay that stands for the other servers is in no queue.
                let queueing = match stations[at].service {
                    Service::Servers(servers) => {
                        residence - class.demands_s[at] * (1.0 - 1.0 / f64::from(servers))
                    }
                    _ => 0.0,
                };
                let queue = throughput * queueing;
                change = change.max((queue - queues[own][at]).abs() / class.customers);
                queues[own][at] = queue;
            }
            solved[own] = (throughput, response);
        }
        if change < 1e-10 {
            break;
        }
    }
    Ok(solved)
}
