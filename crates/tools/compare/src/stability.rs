//! The steadiness of repeats: their spread, whether the machine drifted, and whether they fall into
//! regimes, such as a fast and a slow one; and what separates the regimes.

mod causes;
pub(crate) mod document;

pub use causes::Separator;
pub use statistics::REGIMES_VALUES_MIN as BLOCKS_MIN;

use analysis::estimate::mean;
use analysis::response::{distinct, resolution};
use analysis::{Drift, Estimate, Explanation, Finding, Summary, change_points};
use causes::{explanation_of_blocks, separators};
use observations::Direction;
use serde::Serialize;
use statistics::{Regimes, discoveries, regimes};

/// Expected share of configurations without regimes, at most, among those called so; without any
/// regimes, the probability that a report claims some.
const ERROR_RATE: f64 = 0.05;
/// Regimes are this many steps of rounding apart at least: coarse values gather on their steps.
const STEPS_MIN: f64 = 3.0;

/// The stability of a run with five blocks or more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stability {
    /// Name of the response.
    pub response: String,
    /// Unit of its values.
    pub unit: String,
    /// The largest number of repeats of a configuration.
    pub blocks: usize,
    /// Test of the block effect; `None` where it cannot be tested.
    pub drift: Option<Drift>,
    /// Blocks from which on the mean of a block, over all configurations, has another level.
    pub changes: Vec<u32>,
    /// Expected share of false ones, at most, among configurations that are said to have regimes.
    pub error_rate: f64,
    /// Configurations with five repeats or more, in the order of the file.
    pub configurations: Vec<ConfigurationStability>,
}

/// The stability of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationStability {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The label.
    pub label: String,
    /// The response.
    pub estimate: Estimate,
    /// Standard deviation relative to the mean.
    pub cv: f64,
    /// The largest less the smallest value, relative to the mean.
    pub range: f64,
    /// P-value of one regime, adjusted for the family (false discovery rate); `None` where values
    /// are equal.
    pub p_value: Option<f64>,
    /// The regimes from the worst to the best; empty where one regime explains the repeats.
    pub regimes: Vec<Regime>,
    /// The highest regime's mean as a multiple of the lowest one's; `None` without regimes, and of
    /// means that are not positive.
    pub ratio: Option<f64>,
    /// Session time of the two sides that the largest step between regimes makes, and what changes
    /// with it; `None` without regimes, or without session time.
    pub explanation: Option<Explanation>,
    /// The explanation in words, where it is significant.
    pub why: Vec<Finding>,
    /// Counters of devices, machine and study that differ between these sides, the most
    /// significant first.
    pub separators: Vec<Separator>,
}

/// Repeats that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regime {
    /// Their mean.
    pub mean: f64,
    /// Their blocks.
    pub blocks: Vec<u32>,
}

impl ConfigurationStability {
    /// Returns whether its repeats fall into regimes.
    pub fn has_regimes(&self) -> bool {
        !self.regimes.is_empty()
    }
}

impl Stability {
    /// Configurations with regimes.
    pub fn with_regimes(&self) -> impl Iterator<Item = &ConfigurationStability> {
        self.configurations.iter().filter(|configuration| configuration.has_regimes())
    }

    /// The smallest and the largest coefficient of variation.
    pub fn cv(&self) -> Option<(f64, f64)> {
        let all = || self.configurations.iter().map(|configuration| configuration.cv);
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    }
}

/// A configuration with its test.
struct Test {
    row: ConfigurationStability,
    values: Vec<(u32, f64)>,
    found: Option<Regimes>,
    resolution: f64,
}

/// The stability of configurations with five repeats or more; `None` where no configuration has
/// that many.
pub fn stability(summary: &Summary) -> Option<Stability> {
    let figures = summary.figures.as_ref()?;
    let tested = (0..figures.grid.cells.len()).filter_map(|index| Test::run(summary, index));
    let mut tested: Vec<Test> = tested.collect();
    let blocks = tested.iter().map(|row| row.values.len()).max()?;
    adjust(&mut tested);
    let drift = summary.drift();
    let changes = changes(drift.as_ref(), &tested);
    let configurations = tested.into_iter().map(|row| row.divided(summary)).collect();
    Some(Stability {
        response: figures.response.name.clone(),
        unit: figures.response.unit.clone(),
        blocks,
        drift,
        changes,
        error_rate: ERROR_RATE,
        configurations,
    })
}

impl Test {
    fn run(summary: &Summary, configuration: usize) -> Option<Self> {
        let figures = summary.figures.as_ref()?;
        let values: Vec<(u32, f64)> = figures.values(configuration).collect();
        let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let response = &figures.response;
        let estimate = Estimate::from_values(&plain, &response.unit, response.direction)?;
        let cv = estimate.cv().filter(|_| values.len() >= BLOCKS_MIN)?;
        let cells = figures.grid.cells[configuration].iter();
        let resolution = resolution(cells.map(|(_, cell)| cell));
        let row = ConfigurationStability {
            configuration,
            label: summary.recording.configurations[configuration].label.clone(),
            cv,
            range: (estimate.max - estimate.min) / estimate.mean.abs(),
            estimate,
            p_value: None,
            regimes: Vec::new(),
            ratio: None,
            explanation: None,
            why: Vec::new(),
            separators: Vec::new(),
        };
        Some(Self { row, found: regimes(&plain), values, resolution })
    }

    /// Adds the regimes where they are significant, and what separates them.
    fn divided(self, summary: &Summary) -> ConfigurationStability {
        let Self { mut row, values, found, resolution } = self;
        let significant = row.p_value.is_some_and(|p| p < ERROR_RATE);
        let Some(found) = found.filter(|_| significant) else { return row };
        let regimes = (0..=found.cuts.len()).map(|group| {
            let group_values = || values.iter().filter(|(_, value)| found.group(*value) == group);
            Regime {
                mean: mean(group_values().map(|(_, value)| value)),
                blocks: group_values().map(|(block, _)| *block).collect(),
            }
        });
        let mut regimes: Vec<Regime> = regimes.collect();
        let apart = |regimes: &[Regime]| regimes[1].mean - regimes[0].mean;
        if regimes.windows(2).any(|pair| apart(pair) < STEPS_MIN * resolution) {
            return row;
        }
        let (low, high) = (regimes[0].mean, regimes[regimes.len() - 1].mean);
        row.ratio = (low > 0.0).then(|| high / low);
        let steps = regimes
            .windows(2)
            .map(|pair| if low > 0.0 { pair[1].mean / pair[0].mean } else { apart(pair) });
        let steps: Vec<f64> = steps.collect();
        let largest = (0..steps.len()).max_by(|a, b| steps[*a].total_cmp(&steps[*b]));
        let second = largest.unwrap_or(0) + 1;
        let mut sides = [0..second, second..regimes.len()]
            .map(|side| regimes[side].iter().flat_map(|regime| regime.blocks.clone()).collect());
        if row.estimate.direction == Direction::LowerIsBetter {
            regimes.reverse();
            sides.reverse();
        }
        row.regimes = regimes;
        let [worse, better]: [Vec<u32>; 2] = sides;
        row.explanation = explanation_of_blocks(summary, row.configuration, &better, &worse);
        row.why = row.explanation.as_ref().map(Explanation::findings).unwrap_or_default();
        row.separators = separators(summary, row.configuration, &better, &worse);
        row
    }
}

/// Adjusts p-values for the family. A larger spread weighs more: it is where regimes are worth
/// finding, and without regimes it says nothing about their p-values, which depend neither on the
/// unit nor on the spread of values.
fn adjust(tested: &mut [Test]) {
    let with_p = || tested.iter().filter_map(|row| Some((row, row.found.as_ref()?.p_value)));
    let p_values: Vec<f64> = with_p().map(|(_, p)| p).collect();
    let weights: Vec<f64> = with_p().map(|(row, _)| row.row.cv).collect();
    let adjusted = discoveries(&p_values, &weights);
    let found = tested.iter_mut().filter(|row| row.found.is_some());
    found.zip(adjusted).for_each(|(row, p)| row.row.p_value = Some(p));
}

/// Blocks with a new level: of the block means where there are several configurations, else of the
/// only one.
fn changes(drift: Option<&Drift>, tested: &[Test]) -> Vec<u32> {
    let series: Vec<(u32, f64)> = match (drift, tested) {
        (Some(drift), _) => drift.relative.clone(),
        (None, [row]) => row.values.clone(),
        _ => Vec::new(),
    };
    let values: Vec<f64> = series.iter().map(|(_, value)| *value).collect();
    distinct(
        change_points::change_points(&values).iter().map(|change_point| series[change_point.at].0),
    )
}
