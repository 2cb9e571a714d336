//! Resource demands of a transaction, by the operational laws. P. J. Denning and J. P. Buzen, ACM
//! Computing Surveys 10 (1978).

use serde::Serialize;

/// Counters of a resource during a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceUse {
    /// The name.
    pub name: String,
    /// Kind of its time.
    pub kind: Kind,
    /// Seconds that it was busy, or that transactions spent there, summed.
    pub seconds: f64,
    /// Operations there: I/Os, syncs, waits; where they are counted.
    pub operations: Option<f64>,
    /// The number that work at a time; `None` where that is not known, or not limited.
    pub servers: Option<f64>,
}

/// Kind of a resource's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Processors were busy.
    Processor,
    /// A device had I/Os in flight: how long it was busy, not how much of it.
    Device,
    /// Transactions waited there.
    Wait,
    /// Transactions waited for their client, which is not part of the target.
    Client,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The length.
    pub elapsed_s: f64,
    /// Connections that worked.
    pub customers: f64,
    /// Transactions done.
    pub transactions: f64,
    /// Mean seconds of one, where it was timed; without think time.
    pub response_s: Option<f64>,
    /// Seconds in which connections had nothing to do: think time, or they had ended.
    pub idle_s: f64,
    /// The resources.
    pub resources: Vec<ResourceUse>,
}

/// A transaction's demand on a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demand {
    /// The name.
    pub name: String,
    /// Kind of its time.
    pub kind: Kind,
    /// Seconds of a transaction.
    pub demand_s: f64,
    /// Operations of a transaction, where they are counted.
    pub operations: Option<f64>,
    /// For a resource: share of the time that it was busy (Utilisation Law). For waits: mean number
    /// of connections that waited (Little's Law).
    pub busy: f64,
}

/// Demands, and the laws checked against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demands {
    /// In the order given.
    pub demands: Vec<Demand>,
    /// Transactions a second.
    pub throughput: f64,
    /// Connections by Little's Law: throughput x response time, and idle ones; `None` where
    /// response times were not recorded. It equals `customers`, or the two were not measured
    /// alike.
    pub little: Option<f64>,
    /// Connections that worked.
    pub customers: f64,
}

/// Why a measurement has no demands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DemandError {
    /// Nothing was done, or in no time.
    #[error("no transactions recorded, so demand per transaction is unknown")]
    NoWork,
    /// Less than nothing.
    #[error(
        "{name}: negative time ({seconds} s): the counter was reset, or mismatched counters were \
         subtracted"
    )]
    Negative {
        /// The resource.
        name: String,
        /// The counted seconds.
        seconds: f64,
    },
    /// Busier than it can be.
    #[error(
        "{name} was busy {busy:.2} times the possible maximum: its time or its number is in \
         another unit"
    )]
    Impossible {
        /// The resource.
        name: String,
        /// Above 1.
        busy: f64,
    },
}

/// A utilisation above 1 by this much is the resolution of counters (a tick of 10 ms in a short
/// trial).
const TOLERANCE: f64 = 0.05;

/// The laws agree within this share.
pub const AGREES: f64 = 0.05;

impl Demands {
    /// Computes the demands of a transaction.
    ///
    /// # Errors
    /// Without work, and what no counter can say.
    pub fn from_measured(measured: &Measurement) -> Result<Self, DemandError> {
        let Measurement { elapsed_s, customers, transactions, response_s, idle_s, .. } = *measured;
        if !(elapsed_s > 0.0 && transactions > 0.0) {
            return Err(DemandError::NoWork);
        }
        let throughput = transactions / elapsed_s;
        Ok(Self {
            demands: measured
                .resources
                .iter()
                .map(|resource| {
                    let name = || resource.name.clone();
                    if resource.seconds < 0.0 || !resource.seconds.is_finite() {
                        return Err(DemandError::Negative {
                            name: name(),
                            seconds: resource.seconds,
                        });
                    }
                    let busy = resource.seconds / elapsed_s / resource.servers.unwrap_or(1.0);
                    if resource.servers.is_some() && busy > 1.0 + TOLERANCE {
                        return Err(DemandError::Impossible { name: name(), busy });
                    }
                    Ok(Demand {
                        name: name(),
                        kind: resource.kind,
                        demand_s: resource.seconds / transactions,
                        operations: resource.operations.map(|count| count / transactions),
                        busy,
                    })
                })
                .collect::<Result<_, _>>()?,
            throughput,
            little: response_s.map(|response| throughput * response + idle_s / elapsed_s),
            customers,
        })
    }

    /// Returns whether Little's law agrees with the number of connections; `None` where it cannot
    /// be checked.
    pub fn agrees(&self) -> Option<bool> {
        self.little.map(|little| (little / self.customers - 1.0).abs() <= AGREES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(resources: Vec<ResourceUse>) -> Measurement {
        Measurement {
            elapsed_s: 10.0,
            customers: 8.0,
            transactions: 2000.0,
            response_s: Some(0.035),
            idle_s: 10.0,
            resources,
        }
    }

    fn counted(seconds: f64, servers: Option<f64>) -> ResourceUse {
        ResourceUse {
            name: "cpu".into(),
            kind: Kind::Processor,
            seconds,
            operations: Some(4000.0),
            servers,
        }
    }

    /// X = 200/s, U = X D: 15 s of two processors are 7.5 ms and 75 %; 200 x 35 ms + 1 idle are 8
    /// connections.
    #[test]
    fn the_laws() {
        let found = Demands::from_measured(&measured(vec![counted(15.0, Some(2.0))])).unwrap();
        let cpu = &found.demands[0];
        assert!((cpu.demand_s - 0.0075).abs() < 1e-12 && (cpu.busy - 0.75).abs() < 1e-12);
        assert_eq!(cpu.operations, Some(2.0));
        assert!((found.little.unwrap() - 8.0).abs() < 1e-9);
        assert_eq!(found.agrees(), Some(true));
        let late = Measurement { response_s: Some(0.05), ..measured(Vec::new()) };
        assert_eq!(Demands::from_measured(&late).unwrap().agrees(), Some(false));
    }

    #[test]
    fn what_no_counter_can_say_is_refused() {
        let error = |seconds, servers| {
            Demands::from_measured(&measured(vec![counted(seconds, servers)]))
                .unwrap_err()
                .to_string()
        };
        assert!(error(-0.1, Some(2.0)).contains("negative time"));
        assert!(error(15_000.0, Some(2.0)).contains("another unit"));
        let none = Measurement { transactions: 0.0, ..measured(Vec::new()) };
        assert_eq!(Demands::from_measured(&none), Err(DemandError::NoWork));
    }
}
