//! Gain of each statement between two configurations: of an index, its benefit to reads and its
//! cost to writes.

use crate::compare::{Values, corrected};
use crate::{Comparison, ConfigurationScripts, Estimate, StatementFigures, Summary};
use observations::{Direction, Observations};
use serde::Serialize;

/// A statement in a configuration, against the same in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementGain {
    /// Name of its script.
    pub script: String,
    /// Its text.
    pub text: String,
    /// Position of the configuration in the recording.
    pub index: usize,
    /// Its short label.
    pub configuration: String,
    /// The label of the baseline, or of the first configuration.
    pub reference: String,
    /// Milliseconds of the statement there.
    pub reference_latency: Option<Estimate>,
    /// Milliseconds of the statement here.
    pub latency: Option<Estimate>,
    /// Its share of the time in statements in the baseline.
    pub share: f64,
    /// Its speed here as a multiple, by paired blocks; p-value and interval are adjusted (Holm) for
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
        let Some(reference) = scripts.iter().find(|own| own.index == base) else {
            return Vec::new();
        };
        let others = scripts.iter().filter(|own| own.index != base && named.contains(&own.index));
        let mut gains: Vec<StatementGain> =
            others.flat_map(|own| self.gains_of(reference, own)).collect();
        let family = corrected(gains.iter().map(|own| Some(own.gain.clone())).collect());
        for (own, gain) in gains.iter_mut().zip(family) {
            own.gain = gain.unwrap_or_else(|| own.gain.clone());
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
                gains.iter().any(|own| own.script == from.script && own.text == from.text);
            let Some(to) = other
                .statements
                .iter()
                .find(|own| own.script == from.script && own.text == from.text)
                .filter(|_| !is_known)
            else {
                continue;
            };
            let usable = self.grid.filter(|seen| !seen.timed_out());
            let matched =
                usable.map(|seen| mean_ms(seen, from)).matched(reference.index, other.index);
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
fn mean_ms(seen: &Observations, of: &StatementFigures) -> Option<f64> {
    let own =
        || seen.statements.iter().filter(|own| own.script == of.script && own.text == of.text);
    let count: u64 = own().map(|own| own.count).fold(0, u64::saturating_add);
    let wall_s: f64 = own().map(|own| own.wall_s).sum();
    (count > 0 && wall_s > 0.0).then(|| wall_s * 1e3 / count as f64)
}
