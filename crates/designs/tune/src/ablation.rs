//! Which knobs the gain of the winner needs: knob after knob takes the winner's value, the most
//! important one by the model first, and every step is measured in blocks of its own.

use crate::confirmation::Outcomes;
use crate::goal::Goal;
use crate::optimiser::{Optimiser, Point, Rules as _, Trial};
use crate::rating::{Coverage, PairedGain, Rating, Rules, confirm};
use crate::space::Knobs;
use crate::stage::{Contender, PRESENT, Purpose};
use command_line::Failure;
use observations::{Direction, Recording};

/// Share of the gain that the smallest set keeps.
const GAIN_SHARE: f64 = 0.95;
/// Suffix of its experiment and results file.
pub(crate) const SUFFIX: &str = "-knobs";

/// The purpose of its experiment.
pub(crate) const PURPOSE: Purpose<'static> = Purpose {
    suffix: SUFFIX,
    question: "Which of the winner's settings does its gain need?",
    blocks: None,
};

/// A step of the path from the present settings to the winner.
#[derive(Debug, Clone)]
pub struct Step {
    /// The knob that takes the winner's value.
    pub knob: usize,
    /// The improvement with it, among all steps at once.
    pub gain: PairedGain,
    /// Gain of all steps up to this one over the present settings.
    pub rating: Rating,
}

/// The measured path.
#[derive(Debug, Clone)]
pub(crate) struct Ablation {
    /// The steps.
    pub steps: Vec<Step>,
    /// Number of steps that keep nearly all of the gain; `None` if there is none to keep.
    pub enough: Option<usize>,
}

/// The path from the present settings to the winner: the knobs in their order, and the points.
pub struct Path {
    /// Knobs, the most important one first.
    pub knobs: Vec<usize>,
    /// The present settings, then one point for each knob.
    pub contenders: Vec<Contender>,
}

impl Path {
    /// The path on which each step improves the predicted cost most.
    pub fn new(knobs: &Knobs<'_>, optimiser: &Optimiser<'_>, tried: &[Trial], to: &Point) -> Self {
        let from = knobs.present();
        let mut at = from.clone();
        let mut open: Vec<usize> = (0..to.len()).filter(|knob| from[*knob] != to[*knob]).collect();
        let mut path = Self { knobs: Vec::new(), contenders: vec![Contender::new(PRESENT, from)] };
        while !open.is_empty() {
            let steps: Vec<Point> = open
                .iter()
                .map(|knob| {
                    let mut point = at.clone();
                    point[*knob] = to[*knob];
                    point
                })
                .collect();
            let costs = optimiser.predict(tried, &steps);
            let allowed = |step: &usize| u8::from(!knobs.allows(&steps[*step]));
            let best = (0..steps.len()).min_by(|left, right| {
                allowed(left).cmp(&allowed(right)).then(costs[*left].total_cmp(&costs[*right]))
            });
            let Some(best) = best else { break };
            let knob = open.remove(best);
            at.clone_from(&steps[best]);
            path.knobs.push(knob);
            let name = format!("+ {}", knobs.search.knobs[knob].name());
            path.contenders.push(Contender::new(name, at.clone()));
        }
        path
    }

    /// Judges a recording of its contenders.
    pub fn measured(&self, recording: &Recording, goal: &Goal<'_>) -> Result<Ablation, Failure> {
        let outcomes = Outcomes::read(recording, self.contenders.len(), goal)?;
        let Some((response, baseline)) =
            outcomes.response.as_ref().zip(outcomes.complete_baseline())
        else {
            return Err(Failure::failed("the present settings failed in a block of the ablation"));
        };
        let is_lower_better = response.direction == Direction::LowerIsBetter;
        let coverage = Coverage::All;
        let rules = Rules { is_lower_better, range_max: f64::INFINITY, worth: 0.0, coverage };
        let ratings = confirm(&baseline, &outcomes.values[1..], rules);
        let sign = if is_lower_better { -1.0 } else { 1.0 };
        let steps: Vec<Step> = self
            .knobs
            .iter()
            .zip(&ratings)
            .zip(outcomes.values.windows(2))
            .map(|((knob, rating), pair)| {
                let both = pair[0].iter().zip(&pair[1]);
                let logs: Vec<f64> =
                    both.filter_map(|(was, is)| Some(sign * ((*is)? / (*was)?).ln())).collect();
                let logs = PairedGain::from_logs(&logs, self.knobs.len(), coverage);
                Step { knob: *knob, gain: logs, rating: *rating }
            })
            .collect();
        let gain = |step: &Step| step.rating.gain.map_or(0.0, |gain| gain - 1.0);
        let whole = steps.last().map_or(0.0, gain);
        let enough = steps.iter().position(|step| whole > 0.0 && gain(step) >= GAIN_SHARE * whole);
        Ok(Ablation { steps, enough: enough.map(|at| at + 1) })
    }
}
