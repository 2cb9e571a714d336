//! How throughput goes with connections, threads or I/Os in flight: models, and how well they
//! predict what they have not seen.

mod demands;
mod device;
mod law;

use crate::{Estimate, Interval, Summary, response};
use models::curve::{Level, Machine};
use models::holdout::{self, Candidate, HoldOut, Judgement, LEVELS_MIN, Prediction};
use models::usl::{Fit, Law, Point, Usl};
use observations::{FactorRecord, Observations, Role, WarningKind, order};
use serde::Serialize;

pub use demands::{LevelDemands, recorded};
pub use device::DeviceDepths;

/// Roles of the factors that say how many work at the same time.
pub const CONCURRENCY: [Role; 2] = [Role::Concurrency, Role::QueueDepth];

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
    /// The busiest device, where its speed at several depths of its queue is known.
    pub device: Option<DeviceDepths>,
    /// The fits.
    #[serde(skip)]
    pub(crate) fitted: Option<Judgement>,
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

impl Summary<'_> {
    /// The models of a run: one for each factor of concurrency and each combination of the other
    /// factors' levels. The factor needs four or more numeric levels, measured in a closed loop. Of
    /// more than [`MODELS_MAX`] combinations, those of configurations that the verdict names come
    /// first.
    pub fn throughput_models(&self) -> Vec<ModelSummary> {
        let mut groups = self.model_groups();
        let named = self.named_configurations();
        order::by_key(&mut groups, &|group| {
            !group.levels.iter().any(|(configuration, _)| named.contains(configuration))
        });
        groups.truncate(MODELS_MAX);
        groups.into_iter().filter_map(|group| self.throughput_model(group)).collect()
    }

    /// Combinations of the other factors' levels that would have a model but for their number.
    pub fn models_left_out(&self) -> usize {
        self.model_groups().len().saturating_sub(MODELS_MAX)
    }

    /// Configurations that models can be fitted to. Not open loops, whose throughput is given.
    pub fn model_groups(&self) -> Vec<ModelGroup<'_>> {
        let factors = self.recording.factors.iter().zip(&self.layouts);
        let roles = &self.recording.roles;
        let mut groups = Vec::new();
        for (factor, layout) in factors.filter(|(factor, _)| roles.has(&factor.name, &CONCURRENCY))
        {
            let numbers = factor.numeric.as_deref().unwrap_or_default();
            for group in layout.groups() {
                let known =
                    group.iter().zip(numbers).filter_map(|(group, n)| Some(((*group)?, *n)));
                let done =
                    known.filter(|(configuration, _)| !self.grid.trials(*configuration).is_empty());
                let mut levels: Vec<(usize, f64)> = done.collect();
                order::smallest_first(&mut levels, &|row| row.1);
                if levels.len() >= LEVELS_MIN
                    && levels.iter().all(|(configuration, _)| {
                        !self.recording.configurations[*configuration]
                            .sets(Role::ArrivalRate, roles)
                    })
                {
                    groups.push(ModelGroup { factor, levels });
                }
            }
        }
        groups
    }

    /// The model of a group; `None` where its trials have no throughput.
    pub fn throughput_model(&self, group: ModelGroup<'_>) -> Option<ModelSummary> {
        let ModelGroup { factor, levels } = group;
        let device = self.busiest_device(&levels);
        let measured: Vec<ModelInput> = levels
            .iter()
            .filter_map(|level| {
                ModelInput::at_level(
                    level.0,
                    level.1,
                    &self.grid.trials(level.0),
                    device.as_ref().map(|device| device.device.as_str()),
                )
            })
            .collect();
        let points: Vec<Level> =
            measured.iter().map(|measurement| measurement.level.clone()).collect();
        let processors = self
            .recording
            .environments
            .first()
            .map(|environment| environment.cpus)
            .filter(|cpus| *cpus > 0);
        let machine = machine(processors, device.as_ref());
        let held_out = self.held_out(&factor.name, &points);
        let refusal = measured.iter().find_map(|measurement| measurement.saturated.clone());
        let judged = match &refusal {
            Some(why) => Err(why.clone()),
            None => holdout::judge(&points, &machine, &held_out).map_err(|error| error.to_string()),
        };
        let tested = judged.as_ref().ok().and_then(|judged| judged.candidates.first());
        let test = |n: f64| {
            tested?.tested.iter().find(|level| level.prediction.n.total_cmp(&n).is_eq()).cloned()
        };
        let first = measured.first()?;
        let demands = [first, measured.last()?].map(|level| {
            LevelDemands::at_level(
                level.level.n,
                &self.grid.trials(level.configuration),
                processors,
            )
        });
        Some(ModelSummary {
            factor: factor.name.clone(),
            role: self.recording.roles.role(&factor.name),
            configuration: first.configuration,
            unit: first.estimate.unit.clone(),
            scalability: scalability(&points).filter(|_| refusal.is_none()),
            candidates: judged
                .as_ref()
                .map_or_else(|_| Vec::new(), |judged| judged.candidates.clone()),
            curve: judged.as_ref().map_or_else(|_| Vec::new(), |judged| curve(judged, &points)),
            refused: judged.as_ref().err().cloned(),
            demands: demands.into(),
            levels: measured
                .iter()
                .map(|measurement| ModelLevel {
                    configuration: measurement.configuration,
                    n: measurement.level.n,
                    measured: measurement.estimate.clone(),
                    tested: test(measurement.level.n),
                })
                .collect(),
            device,
            fitted: judged.ok(),
            processors,
            points,
        })
    }

    /// Returns the levels that models are tested on: those that the experiment names, else the
    /// highest third.
    fn held_out(&self, factor: &str, levels: &[Level]) -> Vec<bool> {
        let rules: Vec<_> = self.hold_out.iter().filter(|rule| rule.factor == factor).collect();
        if rules.is_empty() {
            let fitted = levels.len() - holdout::automatic(levels.len());
            return (0..levels.len()).map(|at| at >= fitted).collect();
        }
        levels.iter().map(|level| rules.iter().any(|rule| rule.holds(level.n))).collect()
    }
}

/// A level as models need it.
struct ModelInput {
    configuration: usize,
    level: Level,
    estimate: Estimate,
    /// Why it says nothing of the target.
    saturated: Option<String>,
}

impl ModelInput {
    fn at_level(
        configuration: usize,
        n: f64,
        trials: &[&Observations],
        device: Option<&str>,
    ) -> Option<Self> {
        let choice = response::find("throughput", trials)?;
        let values: Vec<f64> = trials.iter().filter_map(|trial| choice.value(trial)).collect();
        let estimate = Estimate::from_values(&values, &choice.unit, choice.direction)?;
        let cpu: Vec<f64> = trials
            .iter()
            .filter_map(|trial| {
                let work = choice.value(trial)? * trial.elapsed_s;
                (work > 0.0 && trial.machine.own_s > 0.0).then(|| trial.machine.own_s / work)
            })
            .collect();
        let cpu_s = (cpu.len() == trials.len()).then(|| cpu.iter().sum::<f64>() / cpu.len() as f64);
        let limited = trials
            .iter()
            .filter(|trial| {
                trial.warnings.iter().any(|warning| warning.kind == WarningKind::LoadLimited)
            })
            .count();
        let saturated = (2 * limited >= trials.len()).then(|| {
            format!(
                "the load generator was the limit in {limited} of {} trials at {n}, so the model \
                 would describe the load generator, not the target; run it on another machine or \
                 with more threads",
                trials.len()
            )
        });
        let batch = demands::group_commit(trials, n);
        let device = device.and_then(|name| device::depth(trials, name));
        let level = Level { n, trials: values, cpu_s, batch, device };
        Some(Self { configuration, level, estimate, saturated })
    }
}

fn scalability(levels: &[Level]) -> Option<Scalability> {
    let points: Vec<Point> = levels
        .iter()
        .flat_map(|level| level.trials.iter().map(|trial| Point::relative(level.n, *trial)))
        .collect();
    let fit = Fit::least_squares(&points, Law::Universal).ok()?;
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

impl ModelGroup<'_> {
    /// The first configuration.
    pub fn configuration(&self) -> usize {
        self.levels[0].0
    }
}

impl ModelSummary {
    /// The fit that predicts other levels, to all that were measured.
    pub fn best(&self) -> Option<&holdout::FittedModel> {
        self.fitted.as_ref().map(|judged| &judged.best)
    }
}

/// Counters of the trials are with the levels, of which some are held out; what was probed is known
/// beforehand.
fn machine(processors: Option<u32>, device: Option<&DeviceDepths>) -> Machine {
    let probed = device.filter(|device| device.probed.is_some());
    Machine { processors, probed: probed.map_or_else(Vec::new, |probe| probe.depths.clone()) }
}
