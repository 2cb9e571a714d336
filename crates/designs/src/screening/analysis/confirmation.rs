//! Fresh repeats of chosen runs, against the differences that the effects predict.

use super::layout::complete_blocks;
use super::{ScreenedEffect, Screening};
use crate::extension::{Extension, Step};
use crate::mathematics::{Confirmation, PredictedDifference, Term};
use ::analysis::Summary;
use observations::Recording;
use serde::Serialize;

/// A confirmation of the effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreeningConfirmation {
    /// The name among the extensions: `confirm`.
    pub stage: String,
    /// The effects that predict, by the first terms of their chains.
    pub effects: Vec<String>,
    /// Complete blocks.
    pub blocks: usize,
    /// The best run against each other one; empty until two blocks are complete.
    pub differences: Vec<ConfirmedDifference>,
}

/// The predicted best run against another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfirmedDifference {
    /// The configuration that was predicted to be best.
    pub best: usize,
    /// The configuration that it is compared with.
    pub other: usize,
    /// True if that is the baseline.
    pub baseline: bool,
    /// The predicted difference.
    pub predicted: f64,
    /// The answer of the blocks, as one of all differences.
    #[serde(flatten)]
    pub answer: Confirmation,
}

/// The sign of a chain at coded levels; `None` where its members have different ones.
pub(super) fn sign(terms: &[Term], levels: &[i8]) -> Option<f64> {
    let signs = terms.iter().map(|term| {
        let product: i8 = term.factors.iter().map(|factor| levels[*factor]).product();
        if term.negative { -product } else { product }
    });
    let mut signs = signs;
    let first = signs.next()?;
    signs.all(|sign| sign == first).then_some(f64::from(first))
}

impl Screening {
    pub(super) fn add_confirmations(&mut self, summary: &Summary) {
        let extensions = Extension::from_source(&summary.recording.run.source);
        for (extension, (stage, runs)) in extensions.iter().zip(&self.layout.stages) {
            let Step::Confirm { effects, .. } = &extension.step else { continue };
            let before = self.layout.before(stage);
            // A fold-over after it has not predicted anything.
            let Some(screening) = Self::of_layout(before, summary) else { continue };
            let blocks = complete_blocks(runs, summary);
            let blocks: Vec<Vec<f64>> = blocks.into_iter().map(|(_, values)| values).collect();
            let confirmation = ScreeningConfirmation {
                stage: stage.clone(),
                effects: effects.clone(),
                blocks: blocks.len(),
                differences: screening.differences(summary.recording, effects, runs, &blocks),
            };
            self.confirmations.push(confirmation);
        }
    }

    fn differences(
        &self,
        recording: &Recording,
        effects: &[String],
        runs: &[usize],
        blocks: &[Vec<f64>],
    ) -> Vec<ConfirmedDifference> {
        let mut chosen: Vec<&ScreenedEffect> = self.effects.iter().collect();
        chosen.retain(|effect| effect.chain.first().is_some_and(|chain| effects.contains(chain)));
        let Some((best, others)) = runs.split_first() else { return Vec::new() };
        let baseline = recording.run.baseline.map(|baseline| &self.layout.coded[baseline]);
        let differences = others.iter().enumerate().filter_map(|(at, other)| {
            let levels = [*best, *other].map(|run| self.layout.coded[run].as_slice());
            let predicted = self.predicted(&chosen, levels)?;
            let differences: Vec<f64> =
                blocks.iter().map(|block| block[0] - block[at + 1]).collect();
            let answer = Confirmation::new(&predicted, &differences, others.len())?;
            Some(ConfirmedDifference {
                best: *best,
                other: *other,
                baseline: baseline == Some(&self.layout.coded[*other]),
                predicted: predicted.value,
                answer,
            })
        });
        differences.collect()
    }

    /// The difference that effects predict between two runs: the first less the second.
    fn predicted(
        &self,
        effects: &[&ScreenedEffect],
        [first, other]: [&[i8]; 2],
    ) -> Option<PredictedDifference> {
        let (mut value, mut variance, mut df) = (0.0, 0.0, f64::INFINITY);
        for effect in effects {
            let changes = (sign(&effect.terms, first)? - sign(&effect.terms, other)?) / 2.0;
            let error = effect.error?;
            value += changes * effect.value;
            variance += (changes * error.standard_error).powi(2);
            df = df.min(error.df);
        }
        let tested = self.effects.iter().filter(|effect| effect.significant.is_some()).count();
        let selected = effects.len() as f64 / tested.max(1) as f64;
        let standard_error = f64::sqrt(variance);
        df.is_finite().then_some(PredictedDifference { value, standard_error, df, selected })
    }
}
