use crate::{FromValue, Observations, Response, Role, Roles, Throttle, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A run of an experiment as the store holds it: all that analysis and reports may use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The run itself.
    pub run: RunRecord,
    /// The environment at the start, then one entry each time a resumed run found another one.
    pub environments: Vec<Environment>,
    /// Factors in the order of the file.
    pub factors: Vec<FactorRecord>,
    /// Roles of the settings that its engines and probes declare. Not part of exports: a program
    /// that reads them knows the settings by their paths.
    #[serde(skip)]
    pub roles: Roles,
    /// Configurations; a trial refers to one by its position here.
    pub configurations: Vec<ConfigurationRecord>,
    /// Files that the experiment names, as they were when the run was begun: scripts, what hooks
    /// run.
    #[serde(default)]
    pub files: Vec<FileRecord>,
    /// Trials in the order in which they ended. Failed ones are data too.
    pub trials: Vec<TrialRecord>,
    /// Trials of the check between machines: one configuration, repeated on each of them. Their
    /// `block` is 0 and their `sequence` the repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<TrialRecord>,
}

/// Identity of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Number within the results file, from 1.
    pub id: i64,
    /// Name of the experiment.
    pub name: String,
    /// Question of the experiment, if it states one.
    pub question: Option<String>,
    /// The whole experiment file as it was.
    pub source: String,
    /// Seed of the order and of the data.
    pub seed: u64,
    /// Name of the response on which configurations are compared; `None`: the first one.
    pub response: Option<String>,
    /// Index into `configurations` of the baseline.
    pub baseline: Option<usize>,
    /// Relative differences below this do not matter: 0.05 is 5 %. 0: any may matter.
    pub equivalence_margin: f64,
    /// The rule by which the number of blocks was decided; `None`: it was given.
    #[serde(default)]
    pub adaptive: Option<AdaptiveRepeats>,
    /// Start in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// Version of Steelbench that made the run.
    pub steelbench: String,
    /// The user's label: "after patch".
    #[serde(default)]
    pub label: Option<String>,
    /// The repository that the experiment file's folder belongs to, when the run was begun;
    /// `None`: none, or not known.
    #[serde(default)]
    pub git: Option<GitState>,
}

/// A table that is not measured; the cost model of scans estimates its scan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnmeasuredTable {
    /// The user's name for it.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Mean number of rows per page.
    pub rows_per_page: f64,
    /// Aggregate of the columns: `count` (of rows, no column), `sum`, `min`, `max`, `avg`.
    pub aggregate: String,
    /// Number of aggregated columns.
    pub columns: u64,
    /// True if all pages come from storage.
    pub cold: bool,
}

/// State of a Git repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitState {
    /// The commit, as 40 or 64 hexadecimal digits.
    pub commit: String,
    /// True if tracked files differ from the commit; `None` if unknown.
    pub changed: Option<bool>,
}

/// Adaptive repeats by two stages (C. Stein, Annals of Mathematical Statistics 16, 1945): the
/// spread within the first blocks decides how many there are, and it is the spread that intervals
/// and tests use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveRepeats {
    /// Blocks of the first stage.
    pub min: u32,
    /// Blocks at most.
    pub max: u32,
    /// Half width of every 95 % interval as a share of its mean that was asked for.
    pub until: f64,
}

/// A factor and its levels, as labelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorRecord {
    /// Dotted path of the setting, or the name of a group of linked levels.
    pub name: String,
    /// Labels in the order of the file.
    pub levels: Vec<String>,
    /// The levels as numbers when every one is a number (an ordered factor).
    pub numeric: Option<Vec<f64>>,
    /// True if it is changed as seldom as possible.
    pub hard_to_change: bool,
}

/// A level for each factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationRecord {
    /// Stable identity: a hash of the settings, the same in every run with the same settings.
    pub key: String,
    /// Short label made of the levels: `data_files=4 synchronous=full`.
    pub label: String,
    /// The level of each factor.
    pub levels: Vec<LevelRecord>,
    /// All settings, defaults included, by dotted path.
    pub settings: BTreeMap<String, Value>,
}

impl ConfigurationRecord {
    /// Returns whether it sets a setting with this role.
    pub fn sets(&self, role: Role, roles: &Roles) -> bool {
        self.settings.keys().any(|path| roles.role(path) == Some(role))
    }

    /// The value of a setting; `None` where it is absent or of another type.
    pub fn get<T: FromValue>(&self, path: &str) -> Option<T> {
        T::from_value(Some(self.settings.get(path)?))
    }

    /// The level of a factor.
    pub fn level(&self, factor: &str) -> Option<&str> {
        self.levels.iter().find(|level| level.factor == factor).map(|level| level.level.as_str())
    }
}

/// A file that an experiment names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Source of the name: the path of a setting, a hook of a volume, or an option of a quick
    /// command.
    pub named_by: String,
    /// The path as named.
    pub path: String,
    /// SHA-256 of its content in hexadecimal, as `sha256sum` prints it.
    pub sha256: String,
    /// The content, with stars for the passwords in it.
    pub content: String,
}

/// A factor's level in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LevelRecord {
    /// Factor name.
    pub factor: String,
    /// Level label.
    pub level: String,
}

/// A run of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Index into [`Recording::configurations`].
    pub configuration: usize,
    /// Block (round), from 1.
    pub block: u32,
    /// The set-up of the levels of its hard-to-change factors that it belongs to, from 1; 1 where
    /// none is hard to change.
    #[serde(default = "first_setup")]
    pub setup: u32,
    /// Position in the planned order, from 1.
    pub sequence: u32,
    /// 1 for the first try, more for retries.
    pub attempt: u32,
    /// Start of the whole trial, preparation included, in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// Seconds of the whole trial, preparation and removal included.
    pub wall_s: f64,
    /// Done or failed.
    pub status: TrialStatus,
    /// The observations; `None` if it failed before there were any.
    pub observations: Option<Observations>,
    /// Output of the hooks that ran for this trial.
    pub hooks: Vec<HookOutput>,
    /// The machine that ran it, where several machines share a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl TrialRecord {
    /// Returns whether `limits.trial_time` stopped it during the measurement: an observation of at
    /// least that time, which no retry replaces.
    pub fn timed_out(&self) -> bool {
        self.observations.as_ref().is_some_and(Observations::timed_out)
    }

    /// Returns whether a search ended it early, as it could not be better than the best one.
    pub fn is_futile(&self) -> bool {
        matches!(self.status, TrialStatus::Failed { kind: FailureKind::Futile, .. })
    }

    /// Returns whether it failed for lack of something that the machine may have later.
    pub fn failed_by_machine(&self) -> bool {
        matches!(self.status, TrialStatus::Failed { kind: FailureKind::Machine, .. })
    }

    /// Returns it without what takes memory and decides no comparison of responses: series, plans,
    /// profile, statements and the output of hooks.
    #[must_use]
    pub fn without_details(&self) -> Self {
        let observations = self.observations.as_ref().map(|observation| Observations {
            series: Vec::new(),
            plans: Vec::new(),
            profile: None,
            statements: Vec::new(),
            ..observation.clone()
        });
        Self { observations, hooks: Vec::new(), ..self.clone() }
    }
}

/// Default of older recordings: every level was set up once.
fn first_setup() -> u32 {
    1
}

/// The fact of a trial that a search ended early for its rate: the rate of the whole measurement
/// would have been this or less, in the unit of the rate.
pub const RATE_AT_MOST: &str = "rate_at_most";

/// The end of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum TrialStatus {
    /// Measured to the end.
    Done,
    /// Not measured to the end; the cause is data.
    Failed {
        /// A line, with the engine's own words.
        cause: String,
        /// The kind of the cause. Exports do not have it.
        #[serde(skip)]
        kind: FailureKind,
    },
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailureKind {
    /// An error, or a limit of the experiment.
    #[default]
    Error,
    /// A search ended the trial early: it could not beat the leader.
    Futile,
    /// The machine lacked something: open files, threads, memory, space on a disk.
    Machine,
}

/// Output of a hook command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookOutput {
    /// `volume ssd: prepare`, `before_trial`, ...
    pub hook: String,
    /// The command as written in the file.
    pub command: String,
    /// Exit code; `None` when it was killed.
    pub exit_code: Option<i32>,
    /// Seconds it took.
    pub elapsed_s: f64,
    /// Standard output and error, the last 64 KiB.
    pub output: String,
}

impl Recording {
    /// Every response that any trial has, one of each name and unit, in the order of first
    /// appearance.
    pub fn responses(&self) -> Vec<&Response> {
        let mut known = HashSet::new();
        let all = self.trials.iter().filter_map(|trial| trial.observations.as_ref());
        all.flat_map(|observations| &observations.responses)
            .filter(|response| known.insert((&response.name, &response.unit)))
            .collect()
    }

    /// Trials that count: of a block that another machine repeated, those of the last one.
    pub fn valid(&self) -> impl Iterator<Item = &TrialRecord> {
        let trials = self.trials.iter().filter(|trial| trial.machine.is_some());
        let machines: BTreeMap<u32, &String> =
            trials.filter_map(|trial| Some((trial.block, trial.machine.as_ref()?))).collect();
        self.trials.iter().filter(move |trial| {
            machines.get(&trial.block).is_none_or(|last| trial.machine.as_ref() == Some(*last))
        })
    }

    /// Trials that were measured to the end, with their observations. Excludes retries of trials
    /// that timed out, as older versions made them: they would replace a long time by a short one.
    pub fn done(&self) -> impl Iterator<Item = (&TrialRecord, &Observations)> {
        let place = |trial: &TrialRecord| (trial.configuration, trial.block);
        let timed_out: BTreeSet<_> =
            self.trials.iter().filter(|trial| trial.timed_out()).map(place).collect();
        self.valid().filter_map(move |trial| match (&trial.status, &trial.observations) {
            (TrialStatus::Done, Some(observations)) if !timed_out.contains(&place(trial)) => {
                Some((trial, observations))
            }
            _ => None,
        })
    }
}

/// The machine and software under a run; captured once a run. `None` means "could not be read".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Model name of the processor.
    pub cpu_model: Option<String>,
    /// Logical processors online.
    pub cpus: u32,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Hypervisor or container, where one can be seen.
    pub virtualization: Option<String>,
    /// Frequency governor of processor 0.
    pub governor: Option<String>,
    /// Transparent huge pages setting.
    pub transparent_huge_pages: Option<String>,
    /// `vm.swappiness`.
    pub swappiness: Option<u32>,
    /// Volumes that the experiment uses.
    pub volumes: Vec<VolumeEnvironment>,
    /// Engine name to version and compile options.
    pub engines: BTreeMap<String, EngineVersion>,
    /// Version of Steelbench.
    pub steelbench: String,
}

/// An engine's version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineVersion {
    /// `3.50.4`, `PostgreSQL 15.18`.
    pub version: String,
    /// Compile options or equivalent, one an entry.
    pub options: Vec<String>,
}

/// A volume: a named place for data or log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeEnvironment {
    /// Name in the experiment file; `default` for the work directory.
    pub name: String,
    /// The path.
    pub path: String,
    /// File system type.
    pub file_system: Option<String>,
    /// Mount options.
    pub mount_options: Option<String>,
    /// Device that is mounted.
    pub device: Option<String>,
    /// I/O scheduler of the device.
    pub scheduler: Option<String>,
    /// True if the device reports that it rotates.
    pub rotational: Option<bool>,
    /// Size of the file system in bytes.
    pub size_bytes: Option<u64>,
    /// Free bytes when the run started.
    pub free_bytes: Option<u64>,
    /// Limits that made it slower than it is; `None`: as fast as it is.
    pub throttle: Option<Throttle>,
}
