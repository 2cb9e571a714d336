use crate::data::{ANALYZE, declared_data_set};
use crate::generation::Generation;
use crate::{LoadClock, LoadSeen, ProbeError};
use engine::planned::PlanReader;
use engine::{
    Ability, CacheState, Engine, EngineError, Explained, Footprint, Instance, NoPlan, PlanRequest,
    Planned,
};
use experiment::common::PROBE;
use experiment::{
    CommonSection, Configuration, Declaration, ExampleLevels, Invalid, OtherName, Setting,
};
use observations::{Event, Observations};
use std::path::PathBuf;
use work::{Cancel, Table};

/// The declarations of a probe: plain data.
#[derive(Clone, Copy)]
pub struct Declarations {
    /// The name that `workload.probe` gives.
    pub name: &'static str,
    /// The settings in `[workload]`.
    pub settings: &'static [Declaration],
    /// Names of its settings in other programs.
    pub other_names: &'static [OtherName],
    /// Levels that the commented example file varies; `None`: those of the first setting that can
    /// be doubled twice.
    pub example_levels: Option<ExampleLevels>,
    /// Objects to a load whose transactions have no intended start: a disturbance is measured by
    /// them. `None`: they have one if the setting of an arrival rate has a value.
    pub schedule: Option<fn(&Configuration) -> Option<Invalid>>,
}

impl Declarations {
    /// A probe with these settings and nothing else.
    pub const fn new(name: &'static str, settings: &'static [Declaration]) -> Self {
        Self { name, settings, other_names: &[], example_levels: None, schedule: None }
    }

    /// The example file varies this setting.
    #[must_use]
    pub const fn with_example_levels(self, path: &'static str, levels: [i64; 3]) -> Self {
        Self { example_levels: Some(ExampleLevels { path, levels }), ..self }
    }
}

/// Path of the setting of a load's connections, which several studies declare.
const CONNECTIONS: &str = "workload.connections";

/// The action of a trial on its target, and its measurements.
pub trait Probe: Send + Sync {
    /// The name and the settings.
    fn declarations(&self) -> &'static Declarations;
    /// Connections that its load opens: as many as its setting says, where it declares one.
    fn connections(&self, configuration: &Configuration) -> u32 {
        let mut settings = self.declarations().settings.iter();
        let declared = settings.find(|setting| setting.path == CONNECTIONS);
        declared.map_or(1, |setting| {
            let Declaration { path, kind, default, doc, .. } = *setting;
            configuration.get(Setting::new(path, kind, default, doc))
        })
    }
    /// The files that a configuration names, each with the path of the setting that does; relative
    /// ones count from the folder of the experiment. They are read before anything else is done
    /// ([`Configuration::file`]), so that all trials run what they held then.
    fn files(&self, _configuration: &Configuration) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Returns the space that trials use on the target, as far as settings determine it: of a data
    /// set, where there is one.
    fn footprint(&self, configuration: &Configuration) -> Footprint {
        let set = declared_data_set(self.declarations().settings, configuration);
        let row_bytes = set.map_or(0, |set| set.row_bytes());
        Footprint { row_bytes, ..Footprint::default() }
    }
    /// The tables of the data set that its trials create; empty for other probes.
    fn tables(&self, configuration: &Configuration) -> Vec<Table> {
        let set = declared_data_set(self.declarations().settings, configuration);
        set.map_or_else(Vec::new, |set| set.tables())
    }
    /// The user's statements that its trials run; empty for other probes.
    fn statements(&self, _configuration: &Configuration) -> Vec<WrittenStatement> {
        Vec::new()
    }
    /// Objections to a configuration on this target, found before anything runs.
    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid>;
    /// Returns the set-up shared by consecutive trials with equal settings; `None` without one.
    fn set_up(&self, _configuration: &Configuration, _target: &Target) -> Option<Box<dyn SetUp>> {
        None
    }
    /// Runs one trial on a prepared target: load, warm up, settle, measure.
    ///
    /// # Errors
    /// When the target fails or the trial is asked to stop.
    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError>;
}

/// A statement of the user's and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenStatement {
    /// The script.
    pub script: String,
    /// Line of its beginning, from 1.
    pub line: usize,
    /// Column of its beginning in characters, from 1.
    pub column: usize,
    /// The text as it stands there.
    pub text: String,
    /// The request to an engine to plan it, or why there is none.
    pub request: Result<PlanRequest, NoPlan>,
    /// An engine that refuses it before the run would refuse it in the run. Not so where the script
    /// also changes tables or the session, or may skip the statement.
    pub is_certain: bool,
}

/// A set-up that consecutive trials share.
pub trait SetUp: Send {
    /// Everything that it depends on: trials whose set-ups have equal identities share one.
    fn identity(&self) -> String;
    /// Makes it.
    ///
    /// # Errors
    /// When that fails or is asked to stop.
    fn begin(&self, cancel: &Cancel) -> Result<(), ProbeError>;
    /// Removes it, and returns the names of processes that had to be killed.
    ///
    /// # Errors
    /// When that fails.
    fn end(&self) -> Result<Vec<String>, ProbeError>;
}

/// The target that a probe plans for.
#[derive(Clone, Copy)]
pub struct Target {
    /// Abilities of the engine.
    pub abilities: &'static [Ability],
    /// The state that caches are brought into when measuring begins.
    pub cache: CacheState,
    /// [`Engine::plan_reader`].
    pub plan_reader: Option<PlanReader>,
}

impl Target {
    /// The objection to a target that lacks an ability of which the probe makes use.
    pub fn without(&self, ability: Ability, message: &str) -> Option<Invalid> {
        (!self.abilities.contains(&ability)).then(|| Invalid::new(PROBE.path(), message))
    }

    /// Describes an engine with these settings.
    pub fn for_engine(engine: &Engine, configuration: &Configuration) -> Self {
        let cache = CacheState::from_configuration(configuration);
        Self { abilities: engine.abilities, cache, plan_reader: engine.plan_reader }
    }
}

/// Resources of a probe during a trial.
pub struct TrialContext<'a> {
    /// The settings of this trial.
    pub configuration: &'a Configuration,
    /// The prepared target.
    pub instance: &'a dyn Instance,
    /// Facts about it that are known in advance.
    pub target: Target,
    /// Folders that the target may have put its files in, by the name of their volume.
    pub storage: &'a [(String, PathBuf)],
    /// Disturbances of loads that settings can ask for.
    pub disturbances: &'a [&'static dyn Disturbance],
    /// Seed of this trial's data: the same for all configurations of a block.
    pub seed: u64,
    /// Asks the trial to stop.
    pub cancel: &'a Cancel,
    /// The place where its load runs.
    pub generation: Generation<'a>,
    /// Hears how the trial advances, about ten times a second ([`Event::Progress`]).
    pub progress: &'a (dyn Fn(Event) + Sync),
}

impl TrialContext<'_> {
    /// How the target will run an operation on a table; nothing is run, unless `workload.analyze`
    /// asks for it.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn explain(&self, operation: usize, table: &Table) -> Result<Explained, EngineError> {
        let analyze = self.configuration.get(ANALYZE);
        let explained = self.instance.explain(operation, table, analyze)?;
        let plan = explained.plan.and_then(|plan| plan.read(self.target.plan_reader, false).ok());
        Ok(Explained { plan, ..explained })
    }

    /// How the target would run statements of the user's now ([`engine::Explainer::plans`]).
    ///
    /// # Errors
    /// When the engine cannot be asked at all.
    pub fn plans(
        &self,
        requests: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, NoPlan>>, EngineError> {
        let plans = self.instance.plans(requests)?;
        Ok(plans.into_iter().map(|plan| plan?.read(self.target.plan_reader, true)).collect())
    }

    /// Returns whether this process generates a part of a load on a target that another process has
    /// prepared.
    pub fn is_part(&self) -> bool {
        matches!(self.generation, Generation::Part(_))
    }
}

/// A kind of disturbance, with a section of its own in the file.
pub trait Disturbance: Send + Sync {
    /// The section, whose settings have no defaults.
    fn section(&self) -> CommonSection;
    /// Objections to a configuration, found before anything runs.
    fn plan(&self, configuration: &Configuration, owners: Disturbed) -> Vec<Invalid>;
    /// Returns a difference between what a configuration asks for and what this machine has.
    fn note(&self, _: &Configuration, _: &'static Engine) -> Option<String> {
        None
    }
    /// Makes the action of a trial ready, once its target has its tables; `None` where the
    /// configuration does not ask for it.
    ///
    /// # Errors
    /// When the target fails or the trial is asked to stop.
    fn prepare<'a>(
        &self,
        context: &'a TrialContext<'_>,
    ) -> Result<Option<Box<dyn Action + 'a>>, ProbeError>;
}

/// The engine and the probe of a configuration that is disturbed.
#[derive(Clone, Copy)]
pub struct Disturbed {
    /// The engine.
    pub engine: &'static Engine,
    /// The probe.
    pub probe: &'static dyn Probe,
}

/// The action of a trial.
pub trait Action: Send {
    /// Acts; called on a thread of its own when the measurement begins. It may last longer than the
    /// load.
    ///
    /// # Errors
    /// When it fails, or the trial is asked to stop. The load stops too.
    fn run(&mut self, load: &LoadClock<'_>) -> Result<(), ProbeError>;
    /// Adds its effect on the load to the observations.
    ///
    /// # Errors
    /// When the target fails.
    fn finish(
        self: Box<Self>,
        load: &LoadSeen,
        observations: &mut Observations,
    ) -> Result<(), ProbeError>;
}
