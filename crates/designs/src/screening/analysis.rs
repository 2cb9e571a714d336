//! The effects of a screening design, each with its alias chain: the terms that the design cannot
//! tell apart.

mod confirmation;
mod layout;
mod sentences;
mod steps;

pub use crate::mathematics::Verdict;
pub use confirmation::{ConfirmedDifference, ScreeningConfirmation};
pub use steps::{NextStep, StepError};

use super::settings::KIND;
use crate::mathematics::{self, Chain, Contrasts, Curvature, Design, Lenth, Stratum, Term};
use ::analysis::Summary;
use layout::{Layout, Values, centred_blocks, means};
use observations::{Direction, FactorRecord, Interval, order};
use serde::Serialize;
use statistics::mean;
use statrs::distribution::{ContinuousCDF, Normal};

/// Sizes of models of Plackett-Burman designs.
const MODEL_TERMS_MAX: usize = 4;
/// Models of each size that are shown.
const MODELS_OF_SIZE: usize = 2;

/// A screening design with its effects.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Screening {
    /// Configurations that effects are estimated from: those of the design and its fold-over.
    pub runs: usize,
    /// Factors with their letters, in the order of the file.
    pub factors: Vec<ScreenedFactor>,
    /// Shortest words of the design: 3, 4, or 5 for all that is longer.
    pub resolution: usize,
    /// True if interactions are spread over the main effects, as in a Plackett-Burman design.
    pub partial_aliases: bool,
    /// Mean over all runs.
    pub mean: Option<f64>,
    /// The unit of the response.
    pub unit: String,
    /// The effects, the largest first.
    pub effects: Vec<ScreenedEffect>,
    /// The test of the effects; `None` where nothing can be tested.
    pub test: Option<EffectTest>,
    /// Configurations without a value in any block that the others have; nothing is estimated.
    pub missing: Vec<usize>,
    /// Models of a Plackett-Burman design with interactions, by their number of terms.
    pub models: Vec<ScreeningModel>,
    /// The fold-over, if one was run.
    pub fold: Option<FoldOver>,
    /// The test of curvature, of a design with centre points.
    pub curvature: Option<CentreTest>,
    /// Confirmations in their order.
    pub confirmations: Vec<ScreeningConfirmation>,
    /// The steps that make sense now.
    pub next: Vec<NextStep>,
    #[serde(skip)]
    layout: Layout,
    #[serde(skip)]
    higher_is_better: bool,
}

/// The runs of a fold-over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoldOver {
    /// The factor that it reverses, by its position; `None`: all.
    pub factor: Option<usize>,
    /// Runs.
    pub runs: usize,
    /// True if a block of it is complete, so that it counts.
    pub complete: bool,
}

/// The test of curvature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CentreTest {
    /// The centre points against the runs.
    #[serde(flatten)]
    pub curvature: Curvature,
    /// Centre points in each block.
    pub centre_points: usize,
}

/// A factor with its letter in alias chains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenedFactor {
    /// `A`; I is left out.
    pub letter: String,
    /// The name.
    pub name: String,
    /// The first level, -1.
    pub low: String,
    /// The second level, +1.
    pub high: String,
}

/// A contrast of the runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScreenedEffect {
    /// The alias chain by letters, such as `AB`, `CE` and `-DF`: the effect is their sum.
    /// Empty for a column without a factor.
    pub chain: Vec<String>,
    /// The factor of a main effect that is not aliased with interactions of two factors, by its
    /// position.
    pub factor: Option<usize>,
    /// The half-normal quantile of its rank by size.
    pub quantile: f64,
    /// Mean of the runs with the second level less that of the runs with the first.
    pub value: f64,
    /// 95 % interval; `None` without repeats.
    pub interval: Option<Interval>,
    /// The p-value, adjusted (Holm) for all effects; `None` without repeats.
    pub adjusted_p: Option<f64>,
    /// True if it compares set-ups of hard-to-change factors.
    pub between_setups: bool,
    /// True if it is significant at 95 % over all effects; `None` if it was not tested.
    pub significant: Option<bool>,
    /// The terms of its chain.
    #[serde(skip)]
    terms: Vec<Term>,
    /// The error; `None` if it was not tested.
    #[serde(skip)]
    error: Option<EffectError>,
}

/// The error of an effect.
#[derive(Debug, Clone, Copy, PartialEq)]
struct EffectError {
    standard_error: f64,
    df: f64,
}

/// How effects were tested.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectTest {
    /// By the spread over blocks, or over set-ups.
    Repeats {
        /// Complete blocks or set-ups.
        repeats: usize,
        /// True if they are set-ups.
        setups: bool,
        /// Degrees of freedom.
        df: f64,
        /// Effects that are tested together.
        family: usize,
    },
    /// By Lenth's pseudo standard error, as there is one block.
    Lenth {
        /// Pseudo standard error.
        pse: f64,
        /// Margin of error of one effect, simulated.
        margin: f64,
        /// Simultaneous margin of error, simulated.
        simultaneous: f64,
        /// Effects that it is estimated from.
        family: usize,
    },
}

/// A model of a Plackett-Burman design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreeningModel {
    /// The terms by letters, each with its effect.
    pub terms: Vec<ModelTerm>,
    /// Share of the variation between the runs that it explains.
    pub r_squared: f64,
}

/// A term of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelTerm {
    /// The letters: `F`, `FG`.
    pub term: String,
    /// The effect in the model.
    pub effect: f64,
}

/// The letter of a factor.
fn letter(factor: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";
    LETTERS.get(factor).map_or_else(|| format!("F{}", factor + 1), |c| char::from(*c).to_string())
}

/// `AB`; letters with digits are joined by a point.
pub fn term_name(factors: &[usize]) -> String {
    let letters: Vec<String> = factors.iter().map(|factor| letter(*factor)).collect();
    letters.join(if letters.iter().any(|letter| letter.len() > 1) { "." } else { "" })
}

/// The terms of a chain, with a sign where they enter with the opposite one.
pub fn chain_names(terms: &[Term]) -> Vec<String> {
    let named = terms.iter().map(|term| {
        let sign = if term.negative { "-" } else { "" };
        format!("{sign}{}", term_name(&term.factors))
    });
    named.collect()
}

fn screened(position: usize, factor: &FactorRecord) -> ScreenedFactor {
    let level = |at: usize| factor.levels.get(at).cloned().unwrap_or_default();
    ScreenedFactor {
        letter: letter(position),
        name: factor.name.clone(),
        low: level(0),
        high: level(1),
    }
}

/// The factor that distinguishes the runs of a fold-over from those of the design; `None`: all do.
fn folded_factor(layout: &Layout) -> Option<usize> {
    let (corner, fold) = (layout.design.corners.first()?, layout.fold.as_ref()?.corners.first()?);
    let (levels, folded) = (&layout.coded[*corner], &layout.coded[*fold]);
    let mut reversed = (0..levels.len()).filter(|at| levels[*at] != folded[*at]);
    reversed.next().filter(|_| reversed.next().is_none())
}

/// The values without the means of both halves of a folded design.
fn without_halves(design: &Design, means: &[f64]) -> Vec<f64> {
    let mean_of = |block: usize| {
        let block_means =
            means.iter().zip(design.blocks()).filter(|(_, mean_block)| **mean_block == block);
        mean(block_means.map(|(value, _)| value))
    };
    let halves = [mean_of(0), mean_of(1)];
    means.iter().zip(design.blocks()).map(|(value, block)| value - halves[*block]).collect()
}

/// The screening of a run with its effects; `None` of another design.
pub fn screening<'s>(summary: &'s Summary) -> Option<&'s Screening> {
    if summary.design_kind != KIND {
        return None;
    }
    summary.design_data(|| Screening::estimate(summary))?.as_ref()
}

fn curvature(layout: &Layout, summary: &Summary) -> Option<CentreTest> {
    let parts = layout.parts().map(|part| centred_blocks(part, summary));
    let curvature = Curvature::new(&parts.collect::<Vec<_>>())?;
    Some(CentreTest { curvature, centre_points: layout.design.centre.len() })
}

fn models(design: &Design, means: &[f64]) -> Vec<ScreeningModel> {
    mathematics::models(design, means, MODEL_TERMS_MAX, MODELS_OF_SIZE)
        .into_iter()
        .map(|model| {
            let terms = model.terms.iter().zip(&model.coefficients[1..]);
            let term = |(term, half): (&Vec<usize>, &f64)| ModelTerm {
                term: term_name(term),
                effect: 2.0 * half,
            };
            ScreeningModel { terms: terms.map(term).collect(), r_squared: model.r_squared }
        })
        .collect()
}

impl Screening {
    /// The effects of a run with a screening design; `None` without a response, and where a factor
    /// has other levels than those of a screening.
    pub fn estimate(summary: &Summary) -> Option<Self> {
        let layout = Layout::new(summary.recording)?;
        let mut screening = Self::of_layout(layout, summary)?;
        screening.add_confirmations(summary);
        screening.next = screening.next_steps(summary.recording);
        Some(screening)
    }

    fn of_layout(mut layout: Layout, summary: &Summary) -> Option<Self> {
        let response = summary.response.as_ref()?;
        let recorded = &summary.recording.factors;
        let hard: Vec<usize> =
            (0..recorded.len()).filter(|i| recorded[*i].hard_to_change).collect();
        let mut values = Values::complete(&layout, summary, !hard.is_empty());
        let complete = !values.repeats.is_empty();
        let fold = layout.fold.as_ref().map(|part| FoldOver {
            factor: folded_factor(&layout),
            runs: part.corners.len(),
            complete,
        });
        if fold.is_some() && !complete {
            layout.fold = None;
            values = Values::complete(&layout, summary, !hard.is_empty());
        }
        let design = layout.corners();
        let contrasts = Contrasts::with_unassigned(&design);
        let resolution = design.separation();
        let factors = recorded.iter().enumerate();
        let mut screening = Self {
            runs: design.runs().len(),
            factors: factors.map(|(position, factor)| screened(position, factor)).collect(),
            resolution,
            partial_aliases: !contrasts.partial.is_empty() && resolution == 3,
            unit: response.unit.clone(),
            fold,
            curvature: curvature(&layout, summary),
            layout,
            higher_is_better: response.direction == Direction::HigherIsBetter,
            ..Self::default()
        };
        if values.repeats.is_empty() {
            let runs = screening.layout.design.corners.iter().enumerate();
            let missing = runs.filter(|(_, run)| summary.values(**run).is_empty());
            screening.missing = missing.map(|(position, _)| position).collect();
            return Some(screening);
        }
        screening.add_effects(&hard, &values, &design, &contrasts);
        Some(screening)
    }

    fn add_effects(
        &mut self,
        hard: &[usize],
        values: &Values,
        design: &Design,
        contrasts: &Contrasts,
    ) {
        let means = means(&values.repeats.iter().collect::<Vec<_>>());
        self.mean = Some(mean(&means));
        let plots = design.whole_plots(hard);
        self.effects = contrasts
            .chains
            .iter()
            .map(|chain| ScreenedEffect {
                chain: chain_names(&chain.terms),
                factor: match &chain.terms[..] {
                    [Term { factors, .. }] if factors.len() == 1 && !self.partial_aliases => {
                        Some(factors[0])
                    }
                    _ => None,
                },
                value: chain.effect(&means),
                between_setups: !hard.is_empty() && chain.is_between(&plots),
                terms: chain.terms.clone(),
                ..ScreenedEffect::default()
            })
            .collect();
        if values.repeats.len() > 1 {
            self.test_repeats(contrasts, values);
        } else {
            self.test_once(&means);
        }
        if !contrasts.partial.is_empty() {
            self.models = models(design, &without_halves(design, &means));
        }
        order::largest_first(&mut self.effects, &|row| row.value.abs());
        let all = self.effects.len() as f64;
        for (rank, effect) in self.effects.iter_mut().rev().enumerate() {
            effect.quantile = Normal::standard().inverse_cdf(0.5 + 0.5 * (rank as f64 + 0.5) / all);
        }
    }

    /// Tests effects by their spread over blocks or set-ups: those within set-ups with one error,
    /// each between set-ups with its own, and only where set-ups were repeated. A factor that
    /// changes within a set-up of another varies less than that one.
    fn test_repeats(&mut self, contrasts: &Contrasts, values: &Values) {
        let mut p_values: Vec<Option<f64>> = vec![None; self.effects.len()];
        let (between, within): (Vec<usize>, Vec<usize>) =
            (0..self.effects.len()).partition(|at| self.effects[*at].between_setups);
        let alone = between.into_iter().filter(|_| values.setups).map(|at| vec![at]);
        let mut df = None;
        for members in std::iter::once(within).chain(alone) {
            let chains: Vec<&Chain> = members.iter().map(|i| &contrasts.chains[*i]).collect();
            let Some(stratum) = Stratum::new(&chains, &values.repeats, values.first) else {
                continue;
            };
            df = df.or(Some(stratum.df));
            for (position, effect) in members.into_iter().zip(&stratum.effects) {
                self.effects[position].interval = Some(effect.interval);
                let (standard_error, df) = (stratum.standard_error, stratum.df);
                self.effects[position].error = Some(EffectError { standard_error, df });
                p_values[position] = Some(effect.p_value);
            }
        }
        let adjusted = statistics::adjusted(&p_values);
        for (effect, p) in self.effects.iter_mut().zip(adjusted) {
            effect.adjusted_p = p;
            effect.significant = p.map(|p| p < 0.05);
        }
        self.test = df.map(|df| EffectTest::Repeats {
            repeats: values.repeats.len(),
            setups: values.setups,
            df,
            family: p_values.iter().flatten().count(),
        });
    }

    /// Tests effects of one block against each other.
    fn test_once(&mut self, means: &[f64]) {
        let within = self.effects.iter().filter(|effect| !effect.between_setups);
        let sizes: Vec<f64> = within.map(|effect| effect.value).collect();
        let Some(lenth) = Lenth::new(&sizes) else { return };
        let limits = lenth.simulated();
        // Rounding is not an effect, where a scripted engine has no noise at all.
        let rounding = 1e-12 * means.iter().map(|value| value.abs()).fold(0.0, f64::max);
        for effect in self.effects.iter_mut().filter(|effect| !effect.between_setups) {
            effect.significant = Some(effect.value.abs() > limits.simultaneous.max(rounding));
            // The degrees of freedom that Lenth gives the pseudo standard error.
            let df = sizes.len() as f64 / 3.0;
            effect.error = Some(EffectError { standard_error: lenth.pse, df });
        }
        self.test = Some(EffectTest::Lenth {
            pse: lenth.pse,
            margin: limits.margin,
            simultaneous: limits.simultaneous,
            family: sizes.len(),
        });
    }

    /// The significant effects, the largest first.
    pub fn significant(&self) -> impl Iterator<Item = &ScreenedEffect> {
        self.effects.iter().filter(|effect| effect.significant == Some(true))
    }

    /// The effect as a share of the mean.
    pub fn share(&self, value: f64) -> Option<f64> {
        self.mean.filter(|mean| *mean != 0.0).map(|mean| value / mean.abs())
    }
}
