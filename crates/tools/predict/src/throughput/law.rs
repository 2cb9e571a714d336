//! The parts of a model, and the queueing networks for predictions of other changes than the number
//! of connections.

use super::ModelSummary;
use crate::models::curve::{Bottlenecks, Curve, Level, Member, Model};
use analysis::wording;
use observations::order;

/// Members of an average with a smaller share are not named.
const SHARE_MIN: f64 = 0.05;
/// Steps of the search for the CPU time of a unit of work: each halves the interval.
const STEPS: u32 = 7;

impl ModelSummary {
    /// Describes the shown model: the members of the average, the heaviest first, and the source of
    /// its figures.
    pub fn law(&self) -> String {
        let Some(Curve::Average(members)) = self.best.as_ref().map(|best| &best.curve) else {
            return Model::Average.name().to_owned();
        };
        let mut members: Vec<&Member> = members.iter().collect();
        order::largest_first(&mut members, &|row| row.weight);
        let named: Vec<String> = members
            .iter()
            .filter(|member| member.weight >= SHARE_MIN)
            .map(|member| format!("{} {}", member.model.name(), wording::percent(member.weight)))
            .collect();
        let heaviest = members.first().map(|member| member.model);
        let batches = self.points.iter().filter_map(|point| point.batch);
        let detail = if heaviest == Some(Model::SharedSyncs) {
            let most = wording::figure(batches.fold(0.0, f64::max));
            format!(
                "; one sync of the log serves all sessions waiting when it begins (up to {most})"
            )
        } else {
            String::new()
        };
        format!(
            "{}, weighted by hold-out error: {}{detail}",
            Model::Average.name(),
            named.join(", ")
        )
    }

    /// The queueing network of all levels: of those that could be fitted the one that misses
    /// held-out levels least.
    pub fn network(&self) -> Option<Bottlenecks> {
        self.network_of(&self.points)
    }

    /// The queueing network, fitted to these levels.
    pub fn network_of(&self, levels: &[Level]) -> Option<Bottlenecks> {
        let mut models = self.candidates.iter().map(|candidate| candidate.model);
        let network = models
            .find(|model| !matches!(model, Model::Amdahl | Model::Universal | Model::Average));
        self.fitted_network(network.unwrap_or(Model::Network), levels)
    }

    /// The one with a part that is done one at a time.
    pub fn serial_network(&self) -> Option<Bottlenecks> {
        self.fitted_network(Model::Network, &self.points)
    }

    /// The network in which this share of a session's time with `n` sessions is on a CPU or waiting
    /// for one. It may be more than the recorded CPU time explains: interrupts, other processes and
    /// a hypervisor take CPU time that no session has.
    pub fn network_with_cpu_share(&self, n: f64, share: f64) -> Option<Bottlenecks> {
        let fit = |times: f64| {
            let mut levels = self.points.clone();
            for level in &mut levels {
                level.cpu_s = level.cpu_s.map(|cpu_s| cpu_s * times);
            }
            self.network_of(&levels)
        };
        let explains = |bottlenecks: &Bottlenecks| {
            let times = bottlenecks.residences_s(n as usize)?;
            Some(times[0] / times.iter().sum::<f64>() >= share)
        };
        let recorded = fit(1.0)?;
        if explains(&recorded)? {
            return Some(recorded);
        }
        let fastest = self.points.iter().map(Level::mean).fold(0.0, f64::max);
        // With more the CPUs could not do what they did.
        let most = f64::from(recorded.processors) / (recorded.cpu_s * fastest);
        let (mut low, mut high) = (1.0, most.max(1.0));
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if explains(&fit(middle)?)? { high = middle } else { low = middle }
        }
        fit(high)
    }

    fn fitted_network(&self, model: Model, levels: &[Level]) -> Option<Bottlenecks> {
        match Curve::fit(model, levels, self.processors)? {
            Curve::Network(network) => Some(network),
            Curve::Law(_) | Curve::Average(_) => None,
        }
    }
}
