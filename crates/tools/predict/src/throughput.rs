//! How throughput goes with connections, threads or I/Os in flight: models, and how well they
//! predict what they have not seen.

mod demands;
mod law;

use crate::models::curve::Level;
use crate::models::hold_out::{
    self, Candidate, FittedModel, HoldOut, Judgement, LEVELS_MIN, Prediction,
};
use crate::models::usl::{Fit, Law, Point, Usl};
use crate::settings::HeldOutLevels;
use analysis::settings::CONCURRENCY;
use analysis::{Estimate, Interval, Summary, response};
use observations::{FactorRecord, Observations, Role, WarningKind, order};
use serde::Serialize;
use statistics::mean;

pub(crate) use demands::total;
pub use demands::{Demand, Demands, LevelDemands};

/// Most combinations of the other factors' levels with a model: more would not be read.
const MODELS_MAX: usize = 8;

/// Points of a curve that is drawn.
const DRAWN: u32 = 32;

/// The models of configurations that differ in one factor of concurrency only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelSummary {
    /// The factor.
    pub factor: String,
    /// Position of the first configuration in the recording; the others have the same levels of
    /// all other factors.
    pub configuration: usize,
    /// Unit of the throughput.
    pub unit: String,
    /// Why there is no model that predicts; the rest is what can be said without one.
    pub refused: Option<String>,
    /// By level, the lowest first.
    pub levels: Vec<ModelLevel>,
    /// The law of scalability, fitted to all levels; `None` with too few.
    pub scalability: Option<Scalability>,
    /// The average of the models, which is shown, then each of them, the one that misses the
    /// held-out levels least first.
    pub candidates: Vec<Candidate>,
    /// Predictions of the average between the lowest and the highest level, fitted to the levels
    /// not held out.
    pub curve: Vec<Prediction>,
    /// Demands of a unit of work at the lowest and the highest level.
    pub demands: Vec<LevelDemands>,
    /// The fit that predicts other levels, to all that were measured.
    #[serde(skip)]
    pub best: Option<FittedModel>,
    /// Role of the factor.
    #[serde(skip)]
    pub role: Option<Role>,
    /// Processors of the machine, as far as they are known.
    pub processors: Option<u32>,
    /// The levels as models are fitted to them.
    #[serde(skip)]
    pub points: Vec<Level>,
}

/// A level that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelLevel {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Connections, threads or I/Os in flight.
    pub n: f64,
    /// Work a second.
    pub measured: Estimate,
    /// The prediction for a held-out level; `None` for levels of the fit.
    pub tested: Option<HoldOut>,
}

/// Gunther's law, or Amdahl's where the data show no coherency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scalability {
    /// The coefficients.
    pub law: Usl,
    /// 95 % t intervals of throughput of one, contention and coherency; `None` of one that came
    /// out as 0.
    pub intervals: [Option<Interval>; 3],
    /// Standard deviation of the residuals, as a share.
    pub residual: f64,
    /// The level with the highest throughput; `None` where it never falls.
    pub peak: Option<f64>,
    /// The 95 % interval; `None` where coherency does not differ significantly from 0.
    pub peak_interval: Option<Interval>,
    /// True if the data show coherency (a falling throughput): its interval lies above 0.
    pub falls: bool,
    /// True if the data show contention.
    pub contends: bool,
    /// The curve over the levels, with its 95 % band: how well the law is known.
    pub curve: Vec<(f64, f64, Option<Interval>)>,
}

/// Configurations that differ in a factor of concurrency only.
pub struct ModelGroup<'a> {
    /// The factor.
    pub factor: &'a FactorRecord,
    /// Position of each configuration in the recording, and its level as a number, the lowest
    /// first.
    pub levels: Vec<(usize, f64)>,
}

/// The models of a run: one for each factor of concurrency and each combination of the other
/// factors' levels. The factor needs four or more numeric levels, measured in a closed loop. Of
/// more than [`MODELS_MAX`] combinations, those of configurations that the verdict names come
/// first.
pub fn models(summary: &Summary<'_>) -> Vec<ModelSummary> {
    let mut groups = groups(summary);
    let named = summary.named_configurations();
    order::by_key(&mut groups, &|group| {
        !group.levels.iter().any(|(configuration, _)| named.contains(configuration))
    });
    groups.truncate(MODELS_MAX);
    let rules = HeldOutLevels::in_source(&summary.recording.run.source);
    groups.into_iter().filter_map(|group| ModelSummary::fit(summary, group, &rules)).collect()
}

/// Combinations of the other factors' levels that would have a model but for their number.
pub fn left_out(summary: &Summary<'_>) -> usize {
    groups(summary).len().saturating_sub(MODELS_MAX)
}

/// Configurations that models can be fitted to. Not open loops, whose throughput is given.
pub fn groups<'s>(summary: &'s Summary<'_>) -> Vec<ModelGroup<'s>> {
    let factors = summary.recording.factors.iter().zip(&summary.layouts);
    let roles = &summary.recording.roles;
    let is_closed = |configuration: usize| {
        !summary.recording.configurations[configuration].sets(Role::ArrivalRate, roles)
    };
    let mut groups = Vec::new();
    for (factor, layout) in factors.filter(|(factor, _)| roles.has(&factor.name, &CONCURRENCY)) {
        let numbers = factor.numeric.as_deref().unwrap_or_default();
        for group in layout.groups() {
            let known = group.iter().zip(numbers).filter_map(|(group, n)| Some(((*group)?, *n)));
            let done =
                known.filter(|(configuration, _)| !summary.grid.trials(*configuration).is_empty());
            let mut levels: Vec<(usize, f64)> = done.collect();
            order::smallest_first(&mut levels, &|row| row.1);
            if levels.len() >= LEVELS_MIN && levels.iter().all(|level| is_closed(level.0)) {
                groups.push(ModelGroup { factor, levels });
            }
        }
    }
    groups
}

impl ModelGroup<'_> {
    /// The first configuration.
    pub fn configuration(&self) -> usize {
        self.levels[0].0
    }
}

impl ModelSummary {
    /// The model of a group, tested on the levels that the rules hold out; `None` where its trials
    /// have no throughput.
    pub fn fit(
        summary: &Summary<'_>,
        group: ModelGroup<'_>,
        rules: &[HeldOutLevels],
    ) -> Option<Self> {
        let ModelGroup { factor, levels } = group;
        let trials = |configuration: usize| summary.grid.trials(configuration);
        let measured = levels
            .iter()
            .filter_map(|(configuration, n)| measured(*configuration, *n, &trials(*configuration)));
        let (mut levels, points): (Vec<ModelLevel>, Vec<Level>) = measured.unzip();
        let (first, last) = (levels.first()?, levels.last()?);
        let (configuration, unit) = (first.configuration, first.measured.unit.clone());
        let environment = summary.recording.environments.first();
        let processors = environment.map(|environment| environment.cpus).filter(|cpus| *cpus > 0);
        let demands = [first, last]
            .map(|level| LevelDemands::at_level(level.n, &trials(level.configuration), processors));
        let saturated =
            levels.iter().find_map(|level| saturated(level.n, &trials(level.configuration)));
        let scalability = scalability(&points).filter(|_| saturated.is_none());
        let judged = saturated.map_or_else(
            || {
                let held_out = held_out(rules, &factor.name, &points);
                hold_out::judge(&points, processors, &held_out).map_err(|error| error.to_string())
            },
            Err,
        );
        let (refused, judgement) = match judged {
            Ok(judgement) => (None, Some(judgement)),
            Err(why) => (Some(why), None),
        };
        let curve = judgement.as_ref().map(|judgement| curve(judgement, &points));
        let (candidates, best) = judgement
            .map(|judgement| (judgement.candidates, Some(judgement.best)))
            .unwrap_or_default();
        for level in &mut levels {
            let mut tested = candidates.first().into_iter().flat_map(|average| &average.tested);
            level.tested =
                tested.find(|test| test.prediction.n.total_cmp(&level.n).is_eq()).cloned();
        }
        Some(Self {
            factor: factor.name.clone(),
            role: summary.recording.roles.role(&factor.name),
            configuration,
            unit,
            scalability,
            curve: curve.unwrap_or_default(),
            refused,
            demands: demands.into(),
            levels,
            candidates,
            best,
            processors,
            points,
        })
    }
}

/// Returns the levels that models are tested on: those that the experiment names, else the highest
/// third.
fn held_out(rules: &[HeldOutLevels], factor: &str, levels: &[Level]) -> Vec<bool> {
    let rules: Vec<&HeldOutLevels> = rules.iter().filter(|rule| rule.factor == factor).collect();
    if rules.is_empty() {
        let fitted = levels.len() - hold_out::automatic(levels.len());
        return (0..levels.len()).map(|at| at >= fitted).collect();
    }
    levels.iter().map(|level| rules.iter().any(|rule| rule.holds(level.n))).collect()
}

/// The number of trials with such a warning.
pub(crate) fn warned(trials: &[&Observations], kind: WarningKind) -> usize {
    let has_kind =
        trials.iter().filter(|trial| trial.warnings.iter().any(|warning| warning.kind == kind));
    has_kind.count()
}

/// A level as reports show it, and as models are fitted to it.
fn measured(configuration: usize, n: f64, trials: &[&Observations]) -> Option<(ModelLevel, Level)> {
    let choice = response::find("throughput", trials)?;
    let values: Vec<f64> = trials.iter().filter_map(|trial| choice.value(trial)).collect();
    let measured = Estimate::from_values(&values, &choice.unit, choice.direction)?;
    let cpu = trials.iter().map(|trial| {
        let work = choice.value(trial)? * trial.elapsed_s;
        (work > 0.0 && trial.machine.own_s > 0.0).then(|| trial.machine.own_s / work)
    });
    let level = Level {
        n,
        trials: values,
        cpu_s: cpu.collect::<Option<Vec<f64>>>().map(mean),
        batch: demands::group_commit(trials, n),
    };
    Some((ModelLevel { configuration, n, measured, tested: None }, level))
}

/// Why the trials of a level say nothing of the target.
fn saturated(n: f64, trials: &[&Observations]) -> Option<String> {
    let limited = warned(trials, WarningKind::LoadLimited);
    (2 * limited >= trials.len()).then(|| {
        format!(
            "the load generator was the limit in {limited} of {} trials at {n}, so the model would \
             describe the load generator, not the target; run it on another machine or with more \
             threads",
            trials.len()
        )
    })
}

fn scalability(levels: &[Level]) -> Option<Scalability> {
    let points: Vec<Point> = levels
        .iter()
        .flat_map(|level| level.trials.iter().map(|trial| Point::relative(level.n, *trial)))
        .collect();
    let fit = Fit::least_squares(&points, Law::Universal)?;
    let intervals = [0, 1, 2].map(|coefficient| fit.interval(coefficient));
    let shown =
        |coefficient: usize| intervals[coefficient].is_some_and(|interval| interval.low > 0.0);
    let drawn = steps(levels).map(|n| (n, fit.usl.throughput(n), fit.band(n)));
    Some(Scalability {
        law: fit.usl,
        intervals,
        residual: fit.residual,
        peak: fit.usl.peak(),
        peak_interval: fit.peak_interval(),
        falls: shown(2),
        contends: shown(1),
        curve: drawn.collect(),
    })
}

/// Numbers from the lowest level to the highest, as far from each other on a logarithmic scale.
fn steps(levels: &[Level]) -> impl Iterator<Item = f64> {
    let (low, high) = (levels[0].n, levels[levels.len() - 1].n);
    (0..=DRAWN).map(move |step| low * (high / low).powf(f64::from(step) / f64::from(DRAWN)))
}

/// Predictions of the tested average for whole numbers between the lowest and the highest level.
fn curve(judged: &Judgement, levels: &[Level]) -> Vec<Prediction> {
    let mut numbers: Vec<f64> = steps(levels).map(f64::round).collect();
    numbers.dedup();
    numbers.into_iter().filter_map(|n| judged.tested.predict(n)).collect()
}
