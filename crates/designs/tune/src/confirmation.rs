//! The confirmation: the best points, the defaults and the present settings in fresh blocks. Only
//! its figures are reported.

use crate::goal::Goal;
use crate::optimiser::{Lead, Point};
use crate::rating::{Coverage, Rating, Rules, Spread, confirm, winner};
use crate::stage::{Contender, DEFAULTS, PRESENT, Purpose};
use command_line::Failure;
use experiment::Blocks;
use observations::{Direction, Recording, Response};

/// Points of the search that are confirmed, unless all contenders take too much of the budget.
pub const CANDIDATES: usize = 2;
/// The share of a budget of trials that the confirmation of more than one point may take: more
/// blocks for one point prove smaller gains.
pub const SHARE_MAX: f64 = 1.0 / 3.0;
/// Range over blocks, relative to the mean, above which a candidate is unstable.
pub const RANGE_MAX: f64 = 0.3;

/// The plan of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Blocks of the file: the most that it has.
    pub blocks: Blocks,
    /// True if the defaults are measured beside the present settings.
    pub has_defaults: bool,
    /// Points of the search.
    pub candidates: usize,
}

impl Plan {
    /// Configurations of a block.
    pub fn contenders(self) -> usize {
        1 + usize::from(self.has_defaults) + self.candidates
    }

    /// The most trials that it takes.
    pub fn most(self) -> usize {
        self.blocks.max() as usize * self.contenders()
    }

    /// Returns whether a large gain makes it shorter.
    pub fn is_shortened(self) -> bool {
        let certain = Lead { cost: 1.0, noise: 0.0 };
        self.blocks_for(Some(certain)) < self.blocks.max() as usize
    }

    /// The blocks that it takes to prove what the search has found.
    pub fn blocks_for(self, lead: Option<Lead>) -> usize {
        let most = self.blocks.max() as usize;
        match (self.blocks, lead) {
            (Blocks::Fixed(_), Some(lead)) => lead.blocks(self.candidates, most),
            // Adaptive blocks end by their own rule.
            _ => most,
        }
    }

    /// The purpose of its experiment, with this number of blocks.
    pub fn purpose(self, blocks: usize) -> Purpose<'static> {
        let is_fixed = matches!(self.blocks, Blocks::Fixed(_));
        Purpose { blocks: is_fixed.then_some(blocks as u32), ..PURPOSE }
    }
}

/// The purpose of a confirmation with the blocks of the file.
pub(crate) const PURPOSE: Purpose<'static> = Purpose {
    suffix: "",
    question: "By how much are the best settings of the search better than the present ones?",
    blocks: None,
};

/// The contenders: the present settings, the defaults where they differ, and the best points.
pub(crate) fn contenders(
    present: Point,
    defaults: Option<Point>,
    best: Vec<Point>,
) -> Vec<Contender> {
    let mut contenders = vec![Contender::new(PRESENT, present)];
    contenders.extend(defaults.map(|point| Contender::new(DEFAULTS, point)));
    let names = ["A", "B", "C", "D"];
    contenders.extend(names.into_iter().zip(best).map(|(name, point)| Contender::new(name, point)));
    contenders
}

/// The result of a confirmation.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Contenders, the present settings first.
    pub contenders: Vec<Contender>,
    /// The response.
    pub response: Response,
    /// Mean and range of the present settings over blocks.
    pub present: Spread,
    /// Ratings of the others, in their order.
    pub ratings: Vec<Rating>,
    /// Blocks.
    pub blocks: usize,
    /// Position of the winner in `contenders`.
    pub winner: Option<usize>,
}

impl Confirmation {
    /// Judges a recording of these contenders.
    pub fn from_recording(
        recording: &Recording,
        contenders: Vec<Contender>,
        goal: &Goal<'_>,
        worth: f64,
    ) -> Result<Self, Failure> {
        let outcomes = Outcomes::read(recording, contenders.len(), goal)?;
        let response = outcomes.response.clone();
        let Some((response, baseline)) = response.zip(outcomes.complete_baseline()) else {
            return Err(Failure::failed(
                "the present settings failed or broke a limit in a block of the confirmation: \
                 nothing can be compared with them",
            ));
        };
        let rules = Rules {
            is_lower_better: response.direction == Direction::LowerIsBetter,
            range_max: RANGE_MAX,
            worth,
            coverage: Coverage::Chosen,
        };
        let ratings = confirm(&baseline, &outcomes.values[1..], rules);
        Ok(Self {
            winner: winner(&ratings).map(|at| at + 1),
            contenders,
            response,
            present: Spread::from_values(&baseline),
            ratings,
            blocks: baseline.len(),
        })
    }
}

/// The values of contenders, block by block.
pub(crate) struct Outcomes {
    /// By contender and block; `None`: failed or beyond a limit.
    pub values: Vec<Vec<Option<f64>>>,
    /// The response of a trial that succeeded.
    pub response: Option<Response>,
}

impl Outcomes {
    /// Reads them from a recording of this number of contenders.
    pub fn read(recording: &Recording, number: usize, goal: &Goal<'_>) -> Result<Self, Failure> {
        let blocks = recording.trials.iter().map(|trial| trial.block).max().unwrap_or(0) as usize;
        let mut outcomes = Self { values: vec![vec![None; blocks]; number], response: None };
        for trial in &recording.trials {
            let Some(response) = goal.measure(trial).map_err(Failure::failed)? else { continue };
            outcomes.response.get_or_insert_with(|| response.clone());
            if let Some(values) = outcomes.values.get_mut(trial.configuration) {
                values[trial.block as usize - 1] = Some(response.value);
            }
        }
        Ok(outcomes)
    }

    /// The values of the first contender, if each block has one.
    pub fn complete_baseline(&self) -> Option<Vec<f64>> {
        let values: Option<Vec<f64>> = self.values.first()?.iter().copied().collect();
        values.filter(|value| value.len() >= 2)
    }
}
