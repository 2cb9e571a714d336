//! The latency of transactions that arrive at a rate, at a target that was measured in a closed
//! loop.

use crate::models::network;
use crate::throughput::{ModelLevel, ModelSummary, total};
use analysis::{Interval, wording};
use observations::Observations;

/// The law, as predictions name it.
pub(crate) const LAW: &str = "open loop with random arrivals: the connections form one \
                              flow-equivalent server with the modelled throughput at 1, 2, ... \
                              transactions in progress; arrivals that find no free connection \
                              queue, and waits shorten as service times become more regular";

/// An open loop.
pub(crate) struct AtRate {
    /// Starts a second.
    rate: f64,
    /// Starts for each unit of the throughput.
    each: f64,
    /// Transactions a second with 1, 2, .. in progress, as far as there are connections.
    rates: Vec<f64>,
    /// The evenness with which transactions end while all connections have one; 1 is at random.
    dispersion: f64,
    /// The share of its latency in a connection's time for a transaction; the rest is the client's.
    share: f64,
}

impl AtRate {
    /// Estimates an open loop; `None` if the model does not cover fewer connections. `latency_s`:
    /// the measured one at the nearest level.
    pub fn estimate(
        rate: f64,
        model: &ModelSummary,
        n: f64,
        near: &ModelLevel,
        trials: &[&Observations],
        latency_s: Option<f64>,
    ) -> Option<Self> {
        let transactions = total(trials, &|trial| trial.work.transactions as f64);
        // The load starts transactions, or where there are none the work itself (I/Os).
        let each = if transactions > 0.0 {
            transactions / total(trials, &|trial| trial.work.amount as f64)
        } else {
            1.0
        };
        let rates = model.best.as_ref()?.curve.throughputs(n as usize)?;
        let cycle_s = near.n / (near.measured.mean * each);
        Some(Self {
            rate,
            each,
            rates: rates.iter().map(|rate| rate * each).collect(),
            dispersion: model.network().map_or(1.0, |network| network.dispersion(n as usize)),
            share: latency_s.map_or(1.0, |latency_s| (latency_s / cycle_s).min(1.0)),
        })
    }

    /// Mean seconds from the intended start of a transaction to its end, if everything is `times`
    /// as fast; `None` if the rate exceeds the capacity.
    pub fn latency_s(&self, times: f64) -> Option<f64> {
        let rates: Vec<f64> = self.rates.iter().map(|rate| rate * times).collect();
        let found = network::arriving(&rates, self.rate, self.dispersion)?;
        Some(found.line_s + self.share * found.inside_s)
    }

    /// The rate in units of the throughput.
    pub fn work(&self) -> f64 {
        self.rate / self.each
    }

    /// The highest throughput at `times` the speed, with the interval of that, in words.
    pub fn most_done(&self, times: f64, interval: Interval) -> String {
        let rate = self.rates.last().copied().unwrap_or_default();
        let [most, low, high] =
            [times, interval.low, interval.high].map(|times| wording::figure(times * rate));
        format!(
            "{} connections complete at most {most} a second (estimate, {low} to {high}); with \
             more arrivals latency grows without bound",
            self.rates.len()
        )
    }
}
