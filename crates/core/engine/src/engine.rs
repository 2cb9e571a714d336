//! An engine, and its host: the source of the targets of trials.

use crate::planned::PlanReader;
use crate::{
    Altering, DatabaseFiles, Folders, Instance, Need, Preflight, Prerequisites, Recovery, Result,
    Servers, Sharing, WaitType,
};
use experiment::{Configuration, Declaration, DurabilityRule, ExampleLevels, Invalid};
use observations::EngineVersion;
use work::{Cancel, Stop, Table};

/// An engine that experiments can be run on: a constant. All state is in its [`Instance`]s.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The name that `target.engine` gives.
    pub name: &'static str,
    /// The settings in `[target]`.
    pub settings: &'static [Declaration],
    /// The settings that weaken durability.
    pub durability: &'static [DurabilityRule],
    /// The forms in which people give its settings to it, the usual one first.
    pub settings_forms: &'static [SettingsForm],
    /// Levels that the commented example file varies; `None`: those of the first setting that can
    /// be doubled twice.
    pub example_levels: Option<ExampleLevels>,
    /// The abilities.
    pub abilities: &'static [Ability],
    /// Version and compile options, for the environment record, of what these configurations use.
    /// If a server does not answer, or the user asks to stop, the answer says so.
    pub version: fn(&[&Configuration], &Stop) -> EngineVersion,
    /// Objections to a configuration on which a load opens this many connections and makes these
    /// tables, found without creating anything.
    pub validate: fn(&Configuration, u32, &[Table]) -> Vec<Invalid>,
    /// Returns the source of the targets of consecutive trials. Nothing is started yet.
    pub host: fn(Folders) -> Box<dyn Host>,
    /// The wait types; of several that fit a name, the first counts.
    pub wait_types: &'static [WaitType],
    /// Servers that run already, where the engine has any.
    pub servers: Option<&'static dyn Servers>,
    /// The check of what trials need before the first of them.
    pub prerequisites: Option<&'static dyn Prerequisites>,
    /// Database files of the user, where the engine has files.
    pub database_files: Option<&'static dyn DatabaseFiles>,
    /// The recovery from runs that were killed.
    pub recovery: Option<&'static dyn Recovery>,
    /// The reader of its plans, where it returns documents: the binary adds it.
    pub plan_reader: Option<PlanReader>,
    /// Changes of settings that stay, of engines whose servers take them while they run.
    pub altering: Option<&'static dyn Altering>,
    /// The targets for load generators in other processes; `None`: it runs in our process.
    pub sharing: Option<&'static dyn Sharing>,
}

impl Engine {
    /// An engine without settings, abilities and optional parts: the base of a constant.
    pub const fn new(
        name: &'static str,
        version: fn(&[&Configuration], &Stop) -> EngineVersion,
        host: fn(Folders) -> Box<dyn Host>,
    ) -> Self {
        Self {
            name,
            settings: &[],
            durability: &[],
            settings_forms: &[],
            example_levels: None,
            abilities: &[],
            version,
            validate: |_, _, _| Vec::new(),
            host,
            wait_types: &[],
            servers: None,
            prerequisites: None,
            database_files: None,
            recovery: None,
            plan_reader: None,
            altering: None,
            sharing: None,
        }
    }

    /// The engine with a reader of the documents that it returns as plans.
    #[must_use]
    pub const fn with_plan_reader(self, reader: PlanReader) -> Self {
        Self { plan_reader: Some(reader), ..self }
    }

    /// [`Prerequisites::missing`]; an engine without prerequisites lacks nothing.
    pub fn missing(&self, configuration: &Configuration) -> Option<String> {
        self.prerequisites?.missing(configuration)
    }

    /// [`Prerequisites::preflight`]; an engine without prerequisites finds no problem.
    pub fn preflight(&self, needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
        self.prerequisites
            .map(|prerequisites| prerequisites.preflight(needs, folders, stop))
            .unwrap_or_default()
    }
}

/// A form in which an engine reads settings.
#[derive(Debug, Clone, Copy)]
pub struct SettingsForm {
    /// The name: a file, or a statement.
    pub name: &'static str,
    /// Writes settings with their values.
    pub write: fn(&[(String, String)]) -> String,
}

/// Prepares the targets of consecutive trials that share their folders, and keeps what they can
/// share: a server that runs. Dropping it stops and removes what it started.
pub trait Host: Send {
    /// Creates, starts and lays out the target of a trial whose load opens this many connections: a
    /// fresh one, or what was kept, brought into the same state. The instance before has been
    /// removed.
    ///
    /// # Errors
    /// When a setting does not take, a volume is missing or full, or the engine fails.
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>>;

    /// Stops what would work and take memory beside the trials of another engine; what was made
    /// stays for the next trial of this one.
    ///
    /// # Errors
    /// When it cannot be stopped.
    fn rest(&mut self, _cancel: &Cancel) -> Result<()> {
        Ok(())
    }
}

/// An ability of an engine, tested in place of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// The engine runs in the load threads: each of them is one connection, and their CPU time is
    /// the engine's too. Of another engine one thread drives many connections.
    Embedded,
    /// The state that its host keeps between trials is worth keeping: a running server, filled
    /// files.
    Keeps,
    /// Figures come from a script, not from a measurement.
    Synthetic,
    /// Tables and operations on them.
    Tables,
    /// The user's own statements.
    Statements,
    /// Plain files and devices.
    Files,
    /// A bulk load that is another way than a statement for each row.
    BulkLoad,
    /// Loops in stored procedures.
    Procedures,
    /// Client programs that find the server by their environment
    /// ([`crate::ServerProcess::client_environment`]).
    Clients,
    /// Several processors for one statement, as many as [`work::Work::degree`] says.
    Parallel,
    /// Tables that are stored column by column: [`crate::Parts::column_store`].
    Columns,
    /// Foreign keys of tables: [`work::Storage::references`].
    ForeignKeys,
    /// Joins by nested loops, with an index lookup for each row: [`work::Operation::LookupEach`].
    NestedLoops,
    /// Statements are cancelled after [`work::Work::statement_limit`], with
    /// [`EngineError::TimeLimit`].
    TimeLimits,
    /// The load reaches its server over a socket, where a relay can be: `[network]`.
    Relayed,
}
