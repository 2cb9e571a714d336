// Scans one after the other, so that the time of one is that of its session.
//! Speed-up of a scan by several CPUs: its elapsed time and CPU time by the degree of parallelism
//! (S3b: measure whether the rate is linear in cores).

use crate::probe::Scan;
use analysis::grid::Figures;
use analysis::settings::groups;
use analysis::{
    Comparison, ConfigurationGroup, Estimate, Interval, Scale, ScalingClass, Summary, response,
};
use observations::Direction;
use probe::Probe;
use probe::data::{CPU_S, DEGREE};
use serde::Serialize;

/// Scans that differ in the degree of parallelism only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedUp {
    /// Levels of the other factors: `engine=postgres query=Q1`; empty when there is none.
    pub group: String,
    /// By degree, the lowest first: with that the others are compared.
    pub rows: Vec<SpeedUpRow>,
}

/// A degree of parallelism.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedUpRow {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Processors that a scan may use at most.
    pub degree: u64,
    /// Time of a scan in ms.
    pub scan: Estimate,
    /// Processors that were busy with a scan, on average: processor time of all workers by the
    /// time of the scan. `None` where the processor time is not known.
    pub busy: Option<Estimate>,
    /// The speed of a scan as a multiple of that with the lowest degree. `None` of that one.
    pub speed_up: Option<Comparison>,
    /// Speed-up relative to the ratio of the degrees: 1 is linear.
    pub efficiency: Option<f64>,
    /// The 95 % interval; `None` with a single block.
    pub efficiency_interval: Option<Interval>,
    /// By both ends of the interval of the speed-up; `None` with a single block.
    pub between: Option<(ScalingClass, ScalingClass)>,
    /// The processor time of a scan as a multiple of that with the lowest degree.
    pub processor_time: Option<Comparison>,
}

/// The figures that rows are made of.
struct SpeedUps<'a> {
    summary: &'a Summary<'a>,
    scan: Figures,
    /// `None` where the processor time of no trial is known.
    processor_time: Option<Figures>,
}

/// A degree of parallelism and the configuration that has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Level {
    degree: u64,
    configuration: usize,
}

/// The speed-up of scans where the degree of parallelism was varied.
pub fn speed_ups(summary: &Summary) -> Vec<SpeedUp> {
    let trials = summary.grid.observations();
    let figures = |name: &str| Some(summary.grid.figures(&response::find(name, &trials)?));
    let Some(scan) = figures("scan") else { return Vec::new() };
    let speed_ups = SpeedUps { summary, scan, processor_time: figures("cpu_per_row") };
    let groups = groups(summary.recording, Scan.declarations().name, |path| path == DEGREE.path())
        .into_iter();
    groups.filter_map(|group| speed_ups.speed_up(group)).collect()
}

impl SpeedUps<'_> {
    fn speed_up(&self, group: ConfigurationGroup) -> Option<SpeedUp> {
        let mut all: Vec<Level> = group
            .configurations
            .iter()
            .filter_map(|index| {
                let configuration = &self.summary.recording.configurations[*index];
                Some(Level { degree: configuration.get(DEGREE.path())?, configuration: *index })
            })
            .collect();
        all.sort_unstable();
        let lowest = *all.first()?;
        let rows = all.into_iter().filter_map(|level| self.speed_up_row(level, lowest));
        let rows: Vec<SpeedUpRow> = rows.collect();
        // Without the lowest degree there is nothing that the others could be compared with.
        (rows.len() > 1 && rows[0].configuration == lowest.configuration)
            .then_some(SpeedUp { group: group.label, rows })
    }

    /// A degree against the lowest.
    fn speed_up_row(&self, level: Level, lowest: Level) -> Option<SpeedUpRow> {
        let Level { degree, configuration } = level;
        let times = degree as f64 / lowest.degree.max(1) as f64;
        let ratio = |figures: &Figures, from, to| {
            figures.compare(from, to).filter(|compare| from != to && compare.scale == Scale::Ratio)
        };
        let speed_up = ratio(&self.scan, lowest.configuration, configuration);
        let interval = speed_up.as_ref().and_then(|speed_up| speed_up.interval);
        let class = |speed_up| ScalingClass::classify(speed_up, times);
        let trials = self.summary.grid.trials(configuration);
        Some(SpeedUpRow {
            configuration,
            degree,
            scan: self.scan.estimate(configuration)?,
            busy: Estimate::over_trials(&trials, "", Direction::HigherIsBetter, |trial| {
                Some(1e3 * CPU_S.read(trial)? / trial.response("scan")?)
            }),
            efficiency: speed_up.as_ref().map(|speed_up| speed_up.value / times),
            efficiency_interval: interval.map(|interval| interval.map(|speed_up| speed_up / times)),
            between: interval.map(|interval| (class(interval.low), class(interval.high))),
            speed_up,
            // Less is better, so that the ratio is the other way round.
            processor_time: self.processor_time.as_ref().and_then(|processor_time| {
                ratio(processor_time, configuration, lowest.configuration)
            }),
        })
    }
}
