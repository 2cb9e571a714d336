//! Gain of each statement between two configurations: of an index, its benefit to reads and its
//! cost to writes.

use crate::compare::{Values, corrected};
use crate::{Comparison, ConfigurationScripts, Estimate, StatementFigures, Summary};
use observations::{Direction, Observations, range};
use serde::Serialize;

/// A statement in a configuration, against the same in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementGain {
    /// Name of its script.
    pub script: String,
    /// The text.
    pub text: String,
    /// Position of the configuration in the recording.
    pub index: usize,
    /// The short label.
    pub configuration: String,
    /// The label of the baseline, or of the first configuration.
    pub reference: String,
    /// Milliseconds of the statement there.
    pub reference_latency: Option<Estimate>,
    /// Milliseconds of the statement here.
    pub latency: Option<Estimate>,
    /// The share of the time in statements in the baseline.
    pub share: f64,
    /// The speed here as a multiple, by paired blocks; p-value and interval are adjusted (Holm) for
    /// all of them.
    pub gain: Comparison,
}

impl Summary<'_> {
    /// Every statement of the configurations that the verdict names, against the baseline, else the
    /// first configuration.
    pub fn statement_gains(&self) -> Vec<StatementGain> {
        let base = self.recording.run.baseline.unwrap_or(0);
        let named = self.named_configurations();
        let scripts = self.scripts();
        let Some(reference) = scripts.iter().find(|script| script.index == base) else {
            return Vec::new();
        };
        let others =
            scripts.iter().filter(|script| script.index != base && named.contains(&script.index));
        let mut gains: Vec<StatementGain> =
            others.flat_map(|statement| self.gains_of(reference, statement)).collect();
        let family = corrected(gains.iter().map(|gain| Some(gain.gain.clone())).collect());
        for (statement, gain) in gains.iter_mut().zip(family) {
            statement.gain = gain.unwrap_or_else(|| statement.gain.clone());
        }
        gains
    }

    fn gains_of(
        &self,
        reference: &ConfigurationScripts,
        other: &ConfigurationScripts,
    ) -> Vec<StatementGain> {
        let mut gains: Vec<StatementGain> = Vec::new();
        for from in &reference.statements {
            let is_known =
                gains.iter().any(|gain| gain.script == from.script && gain.text == from.text);
            let Some(to) = other
                .statements
                .iter()
                .find(|statement| statement.script == from.script && statement.text == from.text)
                .filter(|_| !is_known)
            else {
                continue;
            };
            let usable = self.grid.filter(|grid| !grid.timed_out());
            let matched = usable
                .map(|observations| mean_ms(observations, from))
                .matched(reference.index, other.index);
            let side = |blocks: &[Vec<f64>], first| Values {
                blocks: blocks.to_vec(),
                first,
                resolution: 0.0,
            };
            let sides =
                [side(&matched.from, matched.first[0]), side(&matched.to, matched.first[1])];
            let gain = Comparison::of_values(
                matched.paired,
                &sides[0],
                &sides[1],
                Direction::LowerIsBetter,
            );
            gains.extend(gain.map(|gain| StatementGain {
                script: from.script.clone(),
                text: from.text.clone(),
                index: other.index,
                configuration: other.configuration.clone(),
                reference: reference.configuration.clone(),
                reference_latency: from.latency.clone(),
                latency: to.latency.clone(),
                share: from.share,
                gain,
            }));
        }
        gains
    }
}

/// Milliseconds of a statement in a trial; of one that stands several times in its script of all
/// together.
fn mean_ms(observations: &Observations, of: &StatementFigures) -> Option<f64> {
    let runs = || {
        observations
            .statements
            .iter()
            .filter(|statement| statement.script == of.script && statement.text == of.text)
    };
    let count: u64 = range::total(runs().map(|run| run.count));
    let wall_s: f64 = runs().map(|run| run.wall_s).sum();
    (count > 0 && wall_s > 0.0).then(|| wall_s * 1e3 / count as f64)
}
