//! The settings of an experiment file that no engine or probe owns: read with
//! [`Experiment::get`](crate::Experiment::get). The same declarations drive parsing, the JSON
//! Schema and the commented example.

use crate::common::{
    ENGINE, NETWORK_BANDWIDTH, NETWORK_JITTER, NETWORK_LATENCY, NETWORK_RATE, NETWORK_RELAY,
    NETWORK_RESET_PEER, NETWORK_SLOW_CLOSE, OBSERVE_COMMANDS, OBSERVE_INTERVAL, OBSERVE_LATENCIES,
    OBSERVE_PROFILE, OBSERVE_WAITS, PROBE,
};
use crate::{Declaration, Kind, Value, declarations, settings};

const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000 };

/// The kernel takes limits below 2^32.
const IOPS: Kind = Kind::Count { min: 1, max: 1_000_000_000 };

/// Largest seed: what a TOML integer holds.
const SEEDS: Kind = Kind::Count { min: 0, max: i64::MAX };

/// The sections of the file with their meaning, in the order in which they are explained.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("experiment", "Title and question."),
    ("target", "The target: an engine with its layout and settings."),
    ("workload", "The workload of a trial: a probe with its settings."),
    ("network", "The link between the load and its server, slowed or broken by our relay."),
    ("observe", "Recorded in addition to the responses."),
    (
        "factors",
        "Factors: settings of target, workload, network or observe by dotted path, each with a \
         list of levels.",
    ),
    (
        "level",
        "A linked level: several settings under one name. Levels with the same factor name form a \
         factor.",
    ),
    ("exclude", "Levels whose combination is omitted."),
    ("volume", "A named place for data, with prepare and cleanup commands and throttle limits."),
    (
        "predict",
        "An unmeasured table; the cost model of the measured scans predicts its scan time.",
    ),
    (
        "design",
        "The combinations of levels that are run: all of them (grid), all until they lose (race), \
         a screening design of two levels for each factor, or the points of a response surface.",
    ),
    (
        "extension",
        "Further runs of a screening, after those of the design: a fold-over, a confirmation or a \
         response surface. `steelbench run --fold`, `--confirm` and `--surface` add it to the \
         recorded file.",
    ),
    ("manual", "A manual step at each change of a factor's level."),
    ("hooks", "Shell commands that run around the trials and the run."),
    ("order", "The order of the trials."),
    ("repeats", "The number of runs of each configuration."),
    (
        "machines",
        "Trials over several machines: agents that run whole blocks of the plan. `steelbench run \
         --agents` starts or finds them.",
    ),
    ("limits", "Caps on time and space."),
    ("report", "The comparison of the results."),
];

settings! {
    /// Settings with one value each.
    pub(crate) const SETTINGS = [ENGINE, PROBE];
    /// Name of the experiment and of its results file: lower-case letters, digits, `-`, `_` and
    /// `.`.
    pub NAME: String = "experiment.name", Kind::Text, Value "\"my-experiment\"";
    /// The question that the experiment answers; printed above the results.
    pub QUESTION: Option<String> =
        "experiment.question", Kind::Text, Value "\"Which level is fastest on this machine?\"";
    /// A longer description.
    pub DESCRIPTION: Option<String> =
        "experiment.description", Kind::Text, Shown "\"Five repeats on an idle machine.\"";
    /// The response by which configurations are compared; default: the probe's first response.
    pub RESPONSE: Option<String> = "experiment.response", Kind::Text, Shown "\"throughput\"";

    /// Shell command that runs before the first trial of a session.
    pub BEFORE_RUN: Option<String> =
        "hooks.before_run", Kind::Text => @Command,
        Shown "\"sudo cpupower frequency-set --governor performance\"";
    /// Shell command that runs after the last trial of a session.
    pub AFTER_RUN: Option<String> = "hooks.after_run", Kind::Text => @Command, Shown "\"date\"";
    /// Shell command that runs before each trial.
    pub BEFORE_TRIAL: Option<String> =
        "hooks.before_trial", Kind::Text => @Command, Shown "\"sync\"";
    /// Shell command that runs after each trial.
    pub AFTER_TRIAL: Option<String> = "hooks.after_trial", Kind::Text => @Command, Shown "\"date\"";
    /// A hook that takes longer is killed and counts as failed.
    pub HOOKS_TIMEOUT_S: f64 = "hooks.timeout", Kind::PositiveDuration, "10 min";

    /// Factors to change as seldom as possible: trials are grouped by their levels.
    pub HARD_TO_CHANGE: Vec<String> = "order.hard_to_change", Kind::TextList, Shown "[\"drive\"]";

    /// Number of blocks: each configuration runs once in a block. Or { min, max, until }: the
    /// spread in the first `min` blocks decides how many blocks make every 95 % interval this
    /// narrow.
    pub(crate) BLOCKS: u32 = "repeats.blocks", COUNT, "5", Value "5";
    /// Minimum number of blocks. Intervals and tests use their spread: five blocks give much
    /// narrower intervals than two.
    pub(crate) BLOCKS_MIN: Option<u32> =
        "repeats.blocks.min", Kind::Count { min: 2, max: 1_000_000 };
    /// Maximum number of blocks.
    pub(crate) BLOCKS_MAX: Option<u32> =
        "repeats.blocks.max", Kind::Count { min: 2, max: 1_000_000 };
    /// Target half width of the 95 % interval, as a share of the mean.
    pub(crate) BLOCKS_UNTIL: Option<f64> = "repeats.blocks.until", Kind::Share;
    /// Number of set-ups of each level of the hard-to-change factors: the blocks are divided among
    /// them. With one set-up, effects of the level and of its set-up cannot be separated.
    pub(crate) SETUPS: u32 = "repeats.setups", COUNT, "1";
    /// Seed of the order of trials and of the data.
    pub SEED: u64 = "repeats.seed", SEEDS, "1", Value "1";
    /// Number of retries of a failed trial. A trial stopped by `limits.trial_time` during its
    /// measurement is not retried.
    pub RETRIES: u32 = "repeats.retries", Kind::Count { min: 0, max: 100 }, "0";

    /// Number of machines, with an agent each, that run the blocks of the plan. Each block runs
    /// whole on one of them, and blocks on several machines run in parallel.
    pub MACHINES: Option<u32> =
        "machines.count", Kind::Count { min: 2, max: 256 }, Shown "2";
    /// Runs of the baseline on each machine before the first block. They show whether the machines
    /// differ. 0: none.
    pub MACHINES_CHECK: u32 = "machines.check", Kind::Count { min: 0, max: 1_000 }, "5";

    /// A trial that takes longer, preparation included, is stopped and counts as failed.
    pub TRIAL_TIME_S: f64 = "limits.trial_time", Kind::PositiveDuration, "1 h";
    /// A session that takes longer stops and can be resumed.
    pub RUN_TIME_S: Option<f64> = "limits.run_time", Kind::PositiveDuration, Shown "\"8 h\"";
    /// A configuration that fails in this number of consecutive trials for the same cause is
    /// skipped for the rest of the session. When every configuration fails, the session stops and
    /// can be resumed. 0: never.
    pub IDENTICAL_FAILURES: u32 =
        "limits.identical_failures", Kind::Count { min: 0, max: 1_000_000 }, "3";
    /// Disk space that the data of a trial may use; checked before and during the run.
    pub DISK_SPACE_BYTES: Option<u64> =
        "limits.disk_space", Kind::Size { min: 1, max: i64::MAX }, Shown "\"4 GiB\"";

    /// Relative differences below this do not matter: configurations are equivalent if a larger
    /// difference is excluded at 95 % confidence.
    pub EQUIVALENCE_MARGIN: f64 = "report.equivalence_margin", Kind::Share, "5%";
}

settings! {
    /// Keys of one `[[volume]]`.
    pub(crate) const VOLUME = [];
    /// Name used in `target.volume`.
    pub(crate) VOLUME_NAME: String = "volume.name", Kind::Text;
    /// An existing directory, or one that the prepare command creates.
    pub(crate) VOLUME_PATH: String = "volume.path", Kind::Text;
    /// Shell command that runs before the first trial of a group that uses the volume, to format
    /// and mount it.
    pub(crate) VOLUME_PREPARE: Option<String> = "volume.prepare", Kind::Text => @Command;
    /// Shell command that runs after the last one.
    pub(crate) VOLUME_CLEANUP: Option<String> = "volume.cleanup", Kind::Text => @Command;
    /// A prepare or cleanup command that takes longer is killed and counts as failed.
    pub VOLUME_TIMEOUT_S: f64 = "volume.hook_timeout", Kind::PositiveDuration, "10 min";
    /// Maximum reads per second of the volume's device.
    pub(crate) READ_IOPS: Option<u64> = "volume.throttle.read_iops", IOPS;
    /// Maximum writes per second of the volume's device.
    pub(crate) WRITE_IOPS: Option<u64> = "volume.throttle.write_iops", IOPS;
    /// Maximum bytes per second that the volume's device reads, and the same for writes.
    pub(crate) BANDWIDTH: Option<u64> = "volume.throttle.bandwidth", Kind::Bandwidth;
    /// Maximum bytes per second that the volume's device reads, instead of `bandwidth`.
    pub(crate) READ_BANDWIDTH: Option<u64> = "volume.throttle.read_bandwidth", Kind::Bandwidth;
    /// Maximum bytes per second that the volume's device writes, instead of `bandwidth`.
    pub(crate) WRITE_BANDWIDTH: Option<u64> = "volume.throttle.write_bandwidth", Kind::Bandwidth;
}

/// Aggregates of `[[predict]]`.
const AGGREGATES: &[&str] = &["count", "sum", "min", "max", "avg"];

settings! {
    /// Keys of one `[[manual]]`.
    pub(crate) const MANUAL = [];
    /// Factor that is changed by hand; it becomes hard to change.
    pub(crate) MANUAL_FACTOR: String = "manual.factor", Kind::Text;
    /// Instructions; `{level}` is replaced by the new level.
    pub(crate) MANUAL_TEXT: String = "manual.text", Kind::Text;
}

settings! {
    /// Keys of one `[[level]]`, in addition to `set`.
    pub(crate) const LEVEL = [];
    /// Name of the level's factor.
    pub(crate) LEVEL_FACTOR: String = "level.factor", Kind::Text;
    /// Name of the level.
    pub(crate) LEVEL_NAME: Option<Value> = "level.name", Kind::Scalar;
    /// Omit the level if its engine is not installed; the run reports and records the omission.
    pub(crate) LEVEL_IF_INSTALLED: bool = "level.if_installed", Kind::Bool, "false";
}

settings! {
    /// Keys of one `[[predict]]`.
    pub(crate) const PREDICT = [];
    /// Name of the table.
    pub(crate) PREDICT_NAME: String = "predict.name", Kind::Text;
    /// Rows of the table.
    pub(crate) PREDICT_ROWS: u64 =
        "predict.rows", Kind::Count { min: 1, max: 1_000_000_000_000_000 }, "1M";
    /// Mean number of rows per page.
    pub(crate) PREDICT_ROWS_PER_PAGE: f64 =
        "predict.rows_per_page", Kind::Number { min: 0.001, max: 100_000.0 }, "50";
    /// Aggregate of each column: count (COUNT(*), no column), sum, min, max, avg.
    pub(crate) PREDICT_AGGREGATE: String = "predict.aggregate", Kind::Choice(AGGREGATES), "count";
    /// Number of aggregated columns.
    pub(crate) PREDICT_COLUMNS: u64 = "predict.columns", Kind::Count { min: 1, max: 10_000 }, "1";
    /// All pages come from storage.
    pub(crate) PREDICT_COLD: bool = "predict.cold", Kind::Bool, "false";
}

/// Settings of `[network]`, which can be factors.
pub(crate) const NETWORK: &[Declaration] = declarations![
    NETWORK_RELAY,
    NETWORK_LATENCY,
    NETWORK_JITTER,
    NETWORK_RATE,
    NETWORK_BANDWIDTH,
    NETWORK_RESET_PEER,
    NETWORK_SLOW_CLOSE
];

/// Settings of `[observe]`, which can be factors.
pub(crate) const OBSERVE: &[Declaration] = declarations![
    OBSERVE_WAITS,
    OBSERVE_INTERVAL,
    OBSERVE_LATENCIES,
    OBSERVE_PROFILE,
    OBSERVE_COMMANDS
];

#[cfg(test)]
mod tests {
    use super::{
        ENGINE, LEVEL, LEVEL_FACTOR, MANUAL, MANUAL_FACTOR, MANUAL_TEXT, NAME, NETWORK, OBSERVE,
        PREDICT, PREDICT_NAME, PROBE, SETTINGS, VOLUME, VOLUME_NAME, VOLUME_PATH,
    };
    use std::collections::HashSet;

    #[test]
    fn every_setting_is_declared_once_and_its_type_holds_its_default() {
        // The parser insists on these.
        let required = [
            NAME,
            ENGINE,
            PROBE,
            VOLUME_NAME,
            VOLUME_PATH,
            MANUAL_FACTOR,
            MANUAL_TEXT,
            LEVEL_FACTOR,
            PREDICT_NAME,
        ];
        let required = required.map(crate::Setting::path);
        let mut paths = HashSet::new();
        for setting in
            [SETTINGS, NETWORK, OBSERVE, VOLUME, MANUAL, LEVEL, PREDICT].into_iter().flatten()
        {
            let holds = setting.is_consistent() || required.contains(&setting.path);
            assert!(holds, "{}: {:?}", setting.path, setting.default);
            assert!(paths.insert(setting.path), "{} twice", setting.path);
        }
    }
}
