//! The next steps of a screening: a fold-over, a confirmation, a response surface.

use super::confirmation::sign;
use super::{ScreenedEffect, Screening, term_name};
use crate::extension::{Extension, Step};
use crate::factor::NumericFactor;
use crate::mathematics::{self, Surface};
use crate::settings::RESPONSE_SURFACE;
use ::analysis::Continued;
use observations::{Recording, order};
use serde::Serialize;

/// With more factors only runs of the design are looked at for the best levels.
const COMBINED_MAX: usize = 12;
/// Fewest blocks of a confirmation.
const CONFIRMING_BLOCKS: u32 = 5;

/// A step that makes sense, with the option of `steelbench run` for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// `--fold`, `--fold target.settings.work_mem`, `--confirm` or `--surface`.
    pub option: String,
    /// The reason.
    pub why: String,
}

/// A step that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// Runs of the first part have no value.
    #[error("no block of the screening is complete, so it has no effects")]
    NoEffects,
    /// Nothing to confirm or to follow.
    #[error("no effect of the screening is significant; more blocks find smaller effects")]
    NothingActive,
    /// The best levels follow from which member of a chain is the cause.
    #[error("the active effects predict no difference between two runs")]
    NoDifference,
    /// A surface of fewer factors.
    #[error(
        "a response surface takes two or more active numeric factors, and this screening has {}; \
         compare more levels of the active factors in a grid",
        list(.0)
    )]
    FewNumeric(Vec<String>),
    /// Corners that are too few.
    #[error(
        "the runs of the screening do not determine a surface over {}, as their interactions are \
         aliased; fold the screening first, or start a response surface with these factors",
        list(.0)
    )]
    Undetermined(Vec<String>),
    /// Levels that stay while others change.
    #[error("a response surface changes each factor from run to run, but {0} is hard to change")]
    Hard(String),
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

impl Screening {
    /// The confirmation of the significant effects: the best run that they predict, the baseline
    /// and the worst run.
    ///
    /// # Errors
    /// When nothing is significant.
    pub fn confirmation(&self, baseline: usize, blocks: u32) -> Result<Extension, StepError> {
        let active = self.active()?;
        let [best, worst] = self.extremes(&active, baseline);
        if best == worst {
            return Err(StepError::NoDifference);
        }
        let baseline = self.layout.coded[baseline].clone();
        let mut runs = vec![best];
        for other in [baseline, worst] {
            let differs = active
                .iter()
                .any(|effect| sign(&effect.terms, &runs[0]) != sign(&effect.terms, &other));
            if !runs.contains(&other) && differs {
                runs.push(other);
            }
        }
        let effects = active.iter().map(|effect| effect.chain[0].clone()).collect();
        let blocks = Some(blocks.max(CONFIRMING_BLOCKS));
        Ok(Extension { step: Step::Confirm { runs, effects }, blocks })
    }

    /// The axial and centre points of a surface over the active numeric factors. Other active
    /// factors stay at the levels of the best run, the rest at those of the baseline.
    ///
    /// # Errors
    /// When there are too few such factors, or the corners do not determine the surface.
    pub fn surface_around(
        &self,
        recording: &Recording,
        blocks: u32,
    ) -> Result<Extension, StepError> {
        let active = self.active()?;
        if let Some(factor) = recording.factors.iter().find(|factor| factor.hard_to_change) {
            return Err(StepError::Hard(factor.name.clone()));
        }
        let [mut centre, _] = self.extremes(&active, recording.run.baseline.unwrap_or(0));
        let numeric = NumericFactor::numeric_from_source(&recording.run.source);
        let mut active_factors = self.active_factors();
        active_factors.retain(|factor| {
            let name = &self.factors[*factor].name;
            numeric.iter().any(|(factor, range)| factor == name && range.is_ok())
        });
        let names = || active_factors.iter().map(|at| self.factors[*at].name.clone()).collect();
        if active_factors.len() < 2 {
            return Err(StepError::FewNumeric(names()));
        }
        for factor in &active_factors {
            centre[*factor] = 0;
        }
        let around = self.around(&centre).into_iter();
        let corners: Vec<&[i8]> = around.map(|run| self.layout.coded[run].as_slice()).collect();
        if !Surface::is_determined_by(&corners, &mathematics::around(&centre, 1), &active_factors) {
            return Err(StepError::Undetermined(names()));
        }
        Ok(Extension { step: Step::Surface { centre }, blocks: Some(blocks) })
    }

    /// The runs of the screening that lie on a surface around this centre: those with its levels of
    /// the other active factors.
    fn around(&self, centre: &[i8]) -> Vec<usize> {
        let active = self.active_factors();
        let fixed: Vec<usize> =
            active.iter().filter(|factor| centre[**factor] != 0).copied().collect();
        let all = self.layout.parts().flat_map(|part| part.corners.iter().chain(&part.centre));
        let around = all.filter(|run| {
            fixed.iter().all(|factor| self.layout.coded[**run][*factor] == centre[*factor])
        });
        around.copied().collect()
    }

    /// The response surface that it continues as: over the factors at 0 in the centre, by the runs
    /// around it and those of the extension.
    pub fn continued(&self, recording: &Recording) -> Option<Continued> {
        let extensions = Extension::from_source(&recording.run.source).into_iter();
        let mut centres = extensions.filter_map(|extension| match extension.step {
            Step::Surface { centre } => Some(centre),
            Step::Fold(_) | Step::Confirm { .. } => None,
        });
        let centre = centres.next()?;
        let (_, added) = self.layout.stages.iter().find(|(name, _)| name == "surface")?;
        let levels = centre.iter().take(self.factors.len()).enumerate();
        Some(Continued {
            kind: RESPONSE_SURFACE,
            factors: levels.filter(|(_, level)| **level == 0).map(|(at, _)| at).collect(),
            runs: [&self.around(&centre)[..], added].concat(),
        })
    }

    /// The significant effects of known terms.
    fn active(&self) -> Result<Vec<&ScreenedEffect>, StepError> {
        if self.effects.is_empty() {
            return Err(StepError::NoEffects);
        }
        let active: Vec<&ScreenedEffect> =
            self.significant().filter(|effect| !effect.terms.is_empty()).collect();
        if active.is_empty() { Err(StepError::NothingActive) } else { Ok(active) }
    }

    /// Factors with a significant main effect, or in a significant interaction that is aliased with
    /// no other of two factors.
    fn active_factors(&self) -> Vec<usize> {
        let known = self.significant().filter_map(|effect| match &effect.terms[..] {
            [first, ..] if first.factors.len() == 1 => Some(&first.factors),
            [only] if only.factors.len() == 2 => Some(&only.factors),
            _ => None,
        });
        let mut factors: Vec<usize> = known.flatten().copied().collect();
        factors.sort_unstable();
        factors.dedup();
        factors
    }

    /// The runs that active effects predict to be best and worst, with few changes from the
    /// baseline.
    fn extremes(&self, active: &[&ScreenedEffect], baseline: usize) -> [Vec<i8>; 2] {
        let baseline = &self.layout.coded[baseline];
        let value = |run: &Vec<i8>| -> Option<f64> {
            active.iter().map(|effect| Some(sign(&effect.terms, run)? * effect.value)).sum()
        };
        let direction = if self.higher_is_better { 1.0 } else { -1.0 };
        let candidates = self.candidates(active, baseline).into_iter();
        let valued: Vec<(f64, Vec<i8>)> =
            candidates.filter_map(|run| Some((direction * value(&run)?, run))).collect();
        let changes =
            |run: &Vec<i8>| run.iter().zip(baseline).filter(|(level, was)| level != was).count();
        [1.0, -1.0].map(|sign| {
            let best = valued.iter().max_by(|(first, a), (other, b)| {
                let by_value = (sign * first).total_cmp(&(sign * other));
                by_value.then_with(|| changes(b).cmp(&changes(a)))
            });
            best.map_or_else(|| baseline.clone(), |(_, run)| run.clone())
        })
    }

    /// The baseline with all levels of the factors of active effects, and the runs of the design.
    fn candidates(&self, active: &[&ScreenedEffect], baseline: &[i8]) -> Vec<Vec<i8>> {
        let terms = active.iter().flat_map(|effect| &effect.terms);
        let mut factors: Vec<usize> = terms.flat_map(|term| &term.factors).copied().collect();
        factors.sort_unstable();
        factors.dedup();
        let combined = if factors.len() > COMBINED_MAX { 0 } else { 1_usize << factors.len() };
        let combinations = (0..combined).map(|number| {
            let mut run = baseline.to_vec();
            for (bit, factor) in factors.iter().enumerate() {
                run[*factor] = if number >> bit & 1 == 1 { 1 } else { -1 };
            }
            run
        });
        let corners = self.layout.parts().flat_map(|part| &part.corners);
        let corners = corners.map(|run| self.layout.coded[*run].clone());
        combinations.chain(corners).collect()
    }

    /// The steps that make sense now.
    pub(super) fn next_steps(&self, recording: &Recording) -> Vec<NextStep> {
        let Ok(active) = self.active() else { return Vec::new() };
        let has = |kind: &str| self.layout.stages.iter().any(|(name, _)| name.starts_with(kind));
        let mut steps = Vec::new();
        if self.fold.is_none() {
            steps.extend(self.fold_step(&active));
        }
        let baseline = recording.run.baseline.unwrap_or(0);
        if !has("confirm") && self.confirmation(baseline, CONFIRMING_BLOCKS).is_ok() {
            steps.push(NextStep {
                option: "--confirm".into(),
                why: "repeats the run that the significant effects predict to be best, the \
                      baseline and the worst"
                    .into(),
            });
        }
        if !has("surface") && self.surface_around(recording, 1).is_ok() {
            let bends = self.curvature.is_some_and(|test| test.curvature.p_value < 0.05);
            let why = if bends {
                "adds axial and centre points over the active numeric factors: the centre shows \
                 curvature"
            } else {
                "adds axial and centre points over the active numeric factors, to find the best \
                 levels between and around the tested ones"
            };
            steps.push(NextStep { option: "--surface".into(), why: why.into() });
        }
        steps
    }

    /// The fold-over that separates the largest effect with an alias.
    fn fold_step(&self, active: &[&ScreenedEffect]) -> Option<NextStep> {
        let design = self.layout.corners();
        let adds = |factor: Option<usize>| design.added_by_fold(factor).is_some();
        if self.resolution == 3 {
            let main = active.iter().find(|effect| effect.terms[0].factors.len() == 1)?;
            let why = format!(
                "separates main effects, as that of {}, from interactions of two factors",
                main.chain[0]
            );
            return adds(None).then_some(NextStep { option: "--fold".into(), why });
        }
        let aliased = active.iter().find(|effect| effect.terms.len() > 1)?;
        let mut factors: Vec<usize> =
            aliased.terms.iter().flat_map(|term| &term.factors).copied().collect();
        order::by_key(&mut factors, &|factor| {
            active.iter().position(|effect| effect.factor == Some(*factor))
        });
        // Those with a significant main effect are the likely cause.
        order::by_key(&mut factors, &|factor| {
            !active.iter().any(|effect| effect.factor == Some(*factor))
        });
        let factor = factors.into_iter().find(|factor| adds(Some(*factor)))?;
        let letter = term_name(&[factor]);
        Some(NextStep {
            option: format!("--fold {}", self.factors[factor].name),
            why: format!(
                "separates the interactions of {letter} in {} from the others",
                aliased.chain.join(" + ")
            ),
        })
    }
}
