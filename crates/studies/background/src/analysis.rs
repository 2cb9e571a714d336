//! Figures of background actions over blocks, and their price: how much sooner one action is done
//! than another, and the load's latency and lost throughput while it works, by paired blocks.

use crate::facts::{
    ACTION_S, AFTER, BACKUP_MB, BEFORE, CAUGHT_UP_S, COMPARED, CONSISTENT_S, COUNTED, COUNTED_KIND,
    CPU_S, DATA_MB, DIFFERENCES, DURING, FIRST_QUERY_S, OUTLASTED, PLACED_S, RESTARTS, ROWS,
};
use crate::settings::{ACTION, ActionKind};
use crate::wait_shares::{WaitShares, wait_shares};
use analysis::response::distinct;
use analysis::settings::{groups, probe};
use analysis::{Estimate, Ratio, Summary};
use observations::{Direction, FactFamily, FactName, Observations};
use serde::Serialize;

/// The configurations that differ in the background action only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackgroundGroup {
    /// Label of what they share.
    pub group: String,
    /// The configurations, in the order of the file.
    pub actions: Vec<ActionFigures>,
    /// Their prices.
    pub prices: Vec<Price>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionFigures {
    /// The label.
    pub configuration: String,
    /// The load in each phase.
    pub phases: Vec<PhaseFigures>,
    /// The time of its sessions in each phase; `None`: their waits were not divided.
    pub waits: Option<WaitShares>,
    /// The kind of transactions that the load counts: `new orders`.
    pub counted: Option<String>,
    /// Seconds that the action took; `None`: there was none.
    pub action: Option<ActionWork>,
    /// The restore.
    pub restore: Option<Restore>,
    /// True if the action was still working when the load ended.
    pub outlasted: bool,
}

/// The load in a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseFigures {
    /// `before`, `during` or `after`.
    pub phase: &'static str,
    /// The length, s.
    pub duration: Option<Estimate>,
    /// Throughput, transactions/s.
    pub throughput: Option<Estimate>,
    /// Transactions of the counted kind that ended in it, a minute.
    pub counted: Option<Estimate>,
    /// Transactions that were due in it and did not end in it, %.
    pub lost: Option<Estimate>,
    /// 99th percentile of the latency, ms; `None`: in no trial were 99 % done.
    pub p99: Option<Estimate>,
    /// It relative to the phase before, by trials.
    pub p99_ratio: Option<Ratio>,
    /// Seconds over the limit.
    pub over_limit: Option<Estimate>,
    /// Longest gap, s.
    pub gap: Option<Estimate>,
}

/// The work of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionWork {
    /// Time, s.
    pub time: Estimate,
    /// Data a second, MB/s.
    pub rate: Option<Estimate>,
    /// CPU seconds of the tool for each GB of data.
    pub cpu_per_gb: Option<Estimate>,
    /// Bytes of the data for each byte of the backup.
    pub compression: Option<Estimate>,
    /// The number of times that a backup began again; the mean of the trials.
    pub restarts: Option<f64>,
}

/// The restore of a backup.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Restore {
    /// Seconds until the files were in place.
    pub placed: Option<Estimate>,
    /// Seconds until the first query.
    pub first_query: Option<Estimate>,
    /// Seconds until the data was consistent.
    pub consistent: Option<Estimate>,
    /// Seconds until it had the changes since the backup.
    pub caught_up: Option<Estimate>,
    /// Trials whose backup was restored.
    pub trials: usize,
    /// Tables and rows that were compared, in the last trial.
    pub compared: [f64; 2],
    /// Differences, a sentence each.
    pub differences: Vec<String>,
}

/// The price of an action against another one, or against none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// The configuration.
    pub configuration: String,
    /// That it is compared with.
    pub reference: String,
    /// How many times sooner it is done; `None` against none.
    pub sooner: Option<Ratio>,
    /// The load's 99th percentile while it works, relative to the reference.
    pub p99: Option<Ratio>,
    /// Difference of the lost throughput while it works, in percentage points.
    pub lost: Option<Estimate>,
    /// The counted transactions a minute while it works, relative to the reference.
    pub counted: Option<CountedPrice>,
}

/// A price in transactions of the kind that the load counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedPrice {
    /// The kind: `new orders`.
    pub name: String,
    /// A minute, relative to the reference.
    pub ratio: Ratio,
}

/// Background actions of a recording.
pub fn background(summary: &Summary) -> Vec<BackgroundGroup> {
    let all = &summary.recording.configurations;
    let probes = distinct(all.iter().filter_map(probe));
    let groups = probes
        .into_iter()
        .flat_map(|probe| groups(summary.recording, probe, |path| path.starts_with("background.")));
    let found = groups.filter_map(|group| {
        let with_action: Vec<usize> = group
            .configurations
            .iter()
            .copied()
            .filter(|configuration| kind(summary, *configuration).is_some())
            .collect();
        let actions: Vec<ActionFigures> =
            with_action.iter().filter_map(|action| figures(summary, *action)).collect();
        let prices = prices(summary, &with_action);
        (!actions.is_empty()).then_some(BackgroundGroup { group: group.label, actions, prices })
    });
    found.collect()
}

/// The action of a configuration.
fn kind(summary: &Summary, index: usize) -> Option<ActionKind> {
    let name: String = summary.recording.configurations[index].get(ACTION.path())?;
    ActionKind::from_name(&name)
}

fn of_fact(trials: &[&Observations], fact: FactName, unit: &str) -> Option<Estimate> {
    Estimate::over_trials(trials, unit, Direction::LowerIsBetter, |trial| fact.read(trial))
}

fn figures(summary: &Summary, index: usize) -> Option<ActionFigures> {
    let trials = summary.grid.trials(index);
    if trials.is_empty() {
        return None;
    }
    let phases = [("before", BEFORE), ("during", DURING), ("after", AFTER)];
    let phases = phases.into_iter().filter_map(|(name, family)| phase(&trials, name, family));
    Some(ActionFigures {
        configuration: summary.recording.configurations[index].label.clone(),
        phases: phases.collect(),
        waits: wait_shares(&trials),
        counted: counted(&trials),
        action: work(&trials),
        restore: restore(&trials),
        outlasted: trials.iter().any(|trial| OUTLASTED.read(trial).is_some()),
    })
}

/// Name of the kind of transactions that the load counts.
fn counted(trials: &[&Observations]) -> Option<String> {
    let mut all = trials.iter().flat_map(|trial| COUNTED_KIND.members(trial));
    all.next().map(|(name, _)| name.to_owned())
}

fn phase(
    trials: &[&Observations],
    phase: &'static str,
    family: FactFamily,
) -> Option<PhaseFigures> {
    let of_figure = |name: &str, unit: &str, scale: f64, direction| {
        let amount = |trial: &Observations| Some(family.read(name, trial)? * scale);
        Estimate::over_trials(trials, unit, direction, amount)
    };
    let lower = Direction::LowerIsBetter;
    let duration = Some(of_figure("duration_s", "s", 1.0, lower)?);
    let logs: Vec<f64> = trials
        .iter()
        .filter(|_| phase != "before")
        .filter_map(|trial| log_ratio(family.read("p99_ms", trial)?, BEFORE.read("p99_ms", trial)?))
        .collect();
    Some(PhaseFigures {
        phase,
        duration,
        throughput: of_figure("throughput", "transactions/s", 1.0, Direction::HigherIsBetter),
        counted: of_figure(COUNTED, "/min", 1.0, Direction::HigherIsBetter),
        lost: of_figure("lost", "%", 100.0, lower),
        p99: of_figure("p99_ms", "ms", 1.0, lower),
        p99_ratio: Ratio::from_logs(&logs),
        over_limit: of_figure("over_limit_s", "s", 1.0, lower),
        gap: of_figure("gap_s", "s", 1.0, lower),
    })
}

fn log_ratio(above: f64, below: f64) -> Option<f64> {
    (above > 0.0 && below > 0.0).then(|| (above / below).ln())
}

fn work(trials: &[&Observations]) -> Option<ActionWork> {
    let restarts: Vec<f64> = trials.iter().filter_map(|trial| RESTARTS.read(trial)).collect();
    let ratio = |unit: &str, direction, parts: fn(&Observations) -> [Option<f64>; 2]| {
        Estimate::over_trials(trials, unit, direction, |trial| {
            let [above, below] = parts(trial);
            Some(above? / below.filter(|below| *below > 0.0)?)
        })
    };
    let (higher, lower) = (Direction::HigherIsBetter, Direction::LowerIsBetter);
    Some(ActionWork {
        time: of_fact(trials, ACTION_S, "s")?,
        rate: ratio("MB/s", higher, |trial| [DATA_MB.read(trial), ACTION_S.read(trial)]),
        cpu_per_gb: ratio("s/GB", lower, |trial| {
            [CPU_S.read(trial).map(|seconds| 1e3 * seconds), DATA_MB.read(trial)]
        }),
        compression: ratio("", higher, |trial| [DATA_MB.read(trial), BACKUP_MB.read(trial)]),
        restarts: (!restarts.is_empty()).then(|| statistics::mean(&restarts)),
    })
}

fn restore(trials: &[&Observations]) -> Option<Restore> {
    let restored: Vec<&Observations> =
        trials.iter().copied().filter(|trial| COMPARED.read(trial).is_some()).collect();
    let last = restored.last()?;
    let differences =
        distinct(restored.iter().flat_map(|observations| DIFFERENCES.members(observations)));
    Some(Restore {
        placed: of_fact(&restored, PLACED_S, "s"),
        first_query: of_fact(&restored, FIRST_QUERY_S, "s"),
        consistent: of_fact(&restored, CONSISTENT_S, "s"),
        caught_up: of_fact(&restored, CAUGHT_UP_S, "s"),
        trials: restored.len(),
        compared: [COMPARED.read(last)?, ROWS.read(last).unwrap_or(0.0)],
        differences: distinct(differences.into_iter().map(|(text, _)| text.to_owned())),
    })
}

/// Each action against none, and against the first action of the file.
fn prices(summary: &Summary, all: &[usize]) -> Vec<Price> {
    let none = all.iter().copied().find(|index| kind(summary, *index) == Some(ActionKind::None));
    let actions: Vec<usize> = all
        .iter()
        .copied()
        .filter(|index| kind(summary, *index) != Some(ActionKind::None))
        .collect();
    let mut prices = Vec::new();
    for action in &actions {
        prices.extend(none.and_then(|none| price(summary, none, *action)));
    }
    if let Some((first, others)) = actions.split_first() {
        prices.extend(others.iter().filter_map(|index| price(summary, *first, *index)));
    }
    prices
}

/// The price by the blocks in which both have a trial whose action ended before the load.
fn price(summary: &Summary, from: usize, to: usize) -> Option<Price> {
    let recording = summary.recording;
    let blocks = distinct(recording.trials.iter().map(|trial| trial.block));
    let cell = |index: usize, block: u32| {
        summary.grid.cell(index, block).filter(|cell| OUTLASTED.read(cell).is_none())
    };
    let pairs: Vec<[&Observations; 2]> = blocks
        .into_iter()
        .filter_map(|block| Some([cell(from, block)?, cell(to, block)?]))
        .collect();
    let p99 = |observations: &Observations| DURING.read("p99_ms", observations);
    let logs = |of: &dyn Fn(&Observations) -> Option<f64>| -> Vec<f64> {
        pairs.iter().filter_map(|[from, to]| log_ratio(of(to)?, of(from)?)).collect()
    };
    let sooner: Vec<f64> =
        logs(&|observations| ACTION_S.read(observations)).into_iter().map(|log| -log).collect();
    let rates = Ratio::from_logs(&logs(&|observations| DURING.read(COUNTED, observations)));
    let of_pairs: Vec<&Observations> = pairs.iter().flatten().copied().collect();
    let counted = counted(&of_pairs).zip(rates);
    let lost = pairs.iter().filter_map(|[from, to]| {
        Some(100.0 * (DURING.read("lost", to)? - DURING.read("lost", from)?))
    });
    let label = |index: usize| recording.configurations[index].label.clone();
    let price = Price {
        configuration: label(to),
        reference: label(from),
        sooner: Ratio::from_logs(&sooner),
        p99: Ratio::from_logs(&logs(&p99)),
        lost: Estimate::from_values(&lost.collect::<Vec<_>>(), "%", Direction::LowerIsBetter),
        counted: counted.map(|(name, ratio)| CountedPrice { name, ratio }),
    };
    (price.p99.is_some() || price.lost.is_some()).then_some(price)
}
