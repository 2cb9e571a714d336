//! The settings of an experiment file that no engine or probe owns. The same tables drive
//! parsing, the JSON Schema and the commented example.

use crate::common::{ENGINE, OBSERVE_INTERVAL, OBSERVE_LATENCIES, OBSERVE_PROFILE, OBSERVE_WAITS, PROBE};
use crate::{Declaration, Kind, declarations};

const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000 };

/// The kernel takes limits below 2^32.
const IOPS: Kind = Kind::Count { min: 1, max: 1_000_000_000 };

/// Largest seed: what a TOML integer holds.
const SEED: Kind = Kind::Count { min: 0, max: i64::MAX };

/// The sections of the file with their meaning, in the order in which they are explained.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("experiment", "What is asked."),
    ("target", "What it is done to: an engine with its layout and settings."),
    ("workload", "What a trial does and measures: a probe with its settings."),
    ("observe", "What is recorded beside the responses."),
    (
        "factors",
        "What is varied: any setting of target, workload or observe by its dotted path, with a list of levels.",
    ),
    (
        "level",
        "A linked level: several settings under one name. Levels with the same factor name form a factor.",
    ),
    ("exclude", "Configurations that have all of these levels are left out."),
    (
        "volume",
        "A named place to put data, with commands that prepare and clean it, and limits that make it slower.",
    ),
    ("manual", "A step that a person has to do when the level of a factor changes."),
    ("hooks", "Shell commands that run around trials and the run."),
    ("order", "The order of the trials."),
    ("repeats", "How often each configuration is run."),
    ("limits", "Caps on time and space."),
    ("report", "How the results are compared."),
];

/// Settings with one value each.
pub(crate) const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "experiment.name",
        Kind::Text,
        None,
        "Name of the experiment and of its results file: lower-case letters, digits, `-`, `_` and `.`.",
    ),
    Declaration::new(
        "experiment.question",
        Kind::Text,
        None,
        "The question that the experiment answers; printed above the answer.",
    ),
    Declaration::new("experiment.description", Kind::Text, None, "Anything worth knowing about it."),
    Declaration::new(
        "experiment.response",
        Kind::Text,
        None,
        "The response that configurations are compared on; default: the probe's first one.",
    ),
    ENGINE.declaration,
    PROBE.declaration,
    Declaration::new(
        "hooks.before_run",
        Kind::Text,
        None,
        "Shell command that runs before the first trial of a session.",
    ),
    Declaration::new(
        "hooks.after_run",
        Kind::Text,
        None,
        "Shell command that runs after the last trial of a session.",
    ),
    Declaration::new("hooks.before_trial", Kind::Text, None, "Shell command that runs before each trial."),
    Declaration::new("hooks.after_trial", Kind::Text, None, "Shell command that runs after each trial."),
    Declaration::new(
        "hooks.timeout",
        Kind::PositiveDuration,
        Some("10 min"),
        "A hook that takes longer is killed and has failed.",
    ),
    Declaration::new(
        "order.hard_to_change",
        Kind::TextList,
        None,
        "Factors that are changed as seldom as possible: trials are grouped by their levels.",
    ),
    Declaration::new(
        "repeats.blocks",
        COUNT,
        Some("5"),
        "Number of blocks: each configuration runs once in a block. Or { min, max, until }: repeat until every 95 % interval is narrow enough.",
    ),
    Declaration::new(
        "repeats.blocks.min",
        Kind::Count { min: 2, max: 1_000_000 },
        None,
        "Blocks that are run in any case.",
    ),
    Declaration::new(
        "repeats.blocks.max",
        Kind::Count { min: 2, max: 1_000_000 },
        None,
        "Blocks after which to stop in any case.",
    ),
    Declaration::new(
        "repeats.blocks.until",
        Kind::Share,
        None,
        "Half width of the 95 % interval, as a share of the mean, at which to stop.",
    ),
    Declaration::new("repeats.seed", SEED, Some("1"), "Seed of the order of trials and of the data."),
    Declaration::new(
        "repeats.retries",
        Kind::Count { min: 0, max: 100 },
        Some("0"),
        "How often a failed trial is tried again.",
    ),
    Declaration::new(
        "limits.trial_time",
        Kind::PositiveDuration,
        Some("1 h"),
        "A trial that takes longer, preparation included, is stopped and has failed.",
    ),
    Declaration::new(
        "limits.run_time",
        Kind::PositiveDuration,
        None,
        "A session that takes longer stops and can be resumed.",
    ),
    Declaration::new(
        "limits.disk_space",
        Kind::Size { min: 1, max: i64::MAX },
        None,
        "Space that the data of a trial may take; checked before the run and during it.",
    ),
];

/// Settings of `[observe]`, which can be factors.
pub(crate) const OBSERVE: &[Declaration] =
    declarations![OBSERVE_WAITS, OBSERVE_INTERVAL, OBSERVE_LATENCIES, OBSERVE_PROFILE];

/// Keys of one `[[volume]]`.
pub(crate) const VOLUME: &[Declaration] = &[
    Declaration::new("volume.name", Kind::Text, None, "Name that `target.volume` gives."),
    Declaration::new(
        "volume.path",
        Kind::Text,
        None,
        "An existing directory; a prepare command may make it.",
    ),
    Declaration::new(
        "volume.prepare",
        Kind::Text,
        None,
        "Shell command that runs before the first trial of a group that uses the volume: format and mount it.",
    ),
    Declaration::new("volume.cleanup", Kind::Text, None, "Shell command that runs after the last one."),
    Declaration::new(
        "volume.hook_timeout",
        Kind::PositiveDuration,
        Some("10 min"),
        "A prepare or cleanup command that takes longer is killed and has failed.",
    ),
    Declaration::new(
        "volume.throttle.read_iops",
        IOPS,
        None,
        "Reads a second that the volume's device does at most.",
    ),
    Declaration::new(
        "volume.throttle.write_iops",
        IOPS,
        None,
        "Writes a second that the volume's device does at most.",
    ),
    Declaration::new(
        "volume.throttle.bandwidth",
        Kind::Bandwidth,
        None,
        "Bytes a second that the volume's device reads at most, and as many that it writes.",
    ),
    Declaration::new(
        "volume.throttle.read_bandwidth",
        Kind::Bandwidth,
        None,
        "Bytes a second that the volume's device reads at most, instead of `bandwidth`.",
    ),
    Declaration::new(
        "volume.throttle.write_bandwidth",
        Kind::Bandwidth,
        None,
        "Bytes a second that the volume's device writes at most, instead of `bandwidth`.",
    ),
];

/// Keys of one `[[manual]]`.
pub(crate) const MANUAL: &[Declaration] = &[
    Declaration::new(
        "manual.factor",
        Kind::Text,
        None,
        "Factor whose change needs a person; it becomes hard to change.",
    ),
    Declaration::new("manual.text", Kind::Text, None, "What to do; `{level}` stands for the new level."),
];

/// Keys of one `[[level]]`, besides `set`.
pub(crate) const LEVEL: &[Declaration] = &[
    Declaration::new("level.factor", Kind::Text, None, "Name of the factor that this is a level of."),
    Declaration::new("level.name", Kind::Scalar, None, "Name of the level."),
];
