use crate::{
    Altering, Background, BackgroundWork, ColumnMethods, ColumnStore, DatabaseFiles, EngineError,
    Explainer, FileQueries, FileTarget, Nodes, Optimizer, Planned, Plans, Prerequisites, Recovery,
    Replication, Results, ServerProcess, Servers, Shared, Sharing, StatementLogs, Tables, WaitType,
};
use experiment::{Configuration, Declaration, DurabilityRule, ExampleLevels, Invalid, choice};
use observations::{EngineVersion, Fact, Operation, TimeUse, Wait, WaitedResource};
use observe::Clock;
use statements::Rules;
use std::borrow::Borrow;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::PathBuf;
use work::{Cancel, Request, Stop};

/// An engine that experiments can be run on. Stateless: all state is in its [`Instance`]s.
pub trait Engine: Send + Sync {
    /// The name that `target.engine` gives.
    fn name(&self) -> &'static str;
    /// Its settings in `[target]`.
    fn settings(&self) -> &'static [Declaration] {
        &[]
    }
    /// Its settings by which commits may be lost after a crash.
    fn durability(&self) -> &'static [DurabilityRule] {
        &[]
    }
    /// The forms in which people give its settings to it, the usual one first.
    fn settings_forms(&self) -> &'static [SettingsForm] {
        &[]
    }
    /// Levels that the commented example file varies; `None`: those of the first setting that can
    /// be doubled twice.
    fn example_levels(&self) -> Option<ExampleLevels> {
        None
    }
    /// Returns its abilities.
    fn abilities(&self) -> &'static [Ability];
    /// Version and compile options, for the environment record, of what these configurations use.
    /// If a server does not answer, or the user asks to stop, the answer says so.
    fn version(&self, configurations: &[&Configuration], stop: &Stop) -> EngineVersion;
    /// Objections to a configuration on which a load opens this many connections, found without
    /// creating anything.
    fn validate(&self, _configuration: &Configuration, _connections: u32) -> Vec<Invalid> {
        Vec::new()
    }
    /// Returns the source of the targets of consecutive trials. Nothing is started yet.
    fn host(&self, folders: Folders) -> Box<dyn Host>;
    /// Its wait types; of several that fit a name, the first counts.
    fn wait_types(&self) -> &'static [WaitType] {
        &[]
    }
    /// Servers that run already, where the engine has any.
    fn servers(&self) -> Option<&dyn Servers> {
        None
    }
    /// The check of what trials need before the first of them.
    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        None
    }
    /// The methods by which it compresses columns.
    fn column_methods(&self) -> Option<&dyn ColumnMethods> {
        None
    }
    /// Database files of the user, where the engine has files.
    fn database_files(&self) -> Option<&dyn DatabaseFiles> {
        None
    }
    /// The recovery from runs that were killed.
    fn recovery(&self) -> Option<&dyn Recovery> {
        None
    }
    /// Changes of settings that stay, of engines whose servers take them while they run.
    fn altering(&self) -> Option<&dyn Altering> {
        None
    }
    /// The formats of its execution plans, where it writes any that are read from files.
    fn plans(&self) -> Option<&dyn Plans> {
        None
    }
    /// Its query optimizer, where its plans can be explained with estimates in a session.
    fn optimizer(&self) -> Option<&'static Optimizer> {
        None
    }
    /// Backup tools and other actions beside a load, where it has any.
    fn background(&self) -> Option<&'static Background> {
        None
    }
    /// How its log and its replication are read, where a study can disturb its private servers
    /// ([`Instance::nodes`]).
    fn replication(&self) -> Option<&'static Replication> {
        None
    }
    /// The rules by which texts of its statements are compared and indexes advised; of engines
    /// whose statements are examined.
    fn statement_rules(&self) -> Option<&'static Rules> {
        None
    }
    /// The logs of statements that its servers write.
    fn statement_logs(&self) -> Option<&dyn StatementLogs> {
        None
    }
    /// Its targets for load generators in other processes; `None`: it runs in our process.
    fn sharing(&self) -> Option<&dyn Sharing> {
        None
    }
    /// The examination of statements on its database files, where it needs no server.
    fn file_queries(&self) -> Option<&dyn FileQueries> {
        None
    }
}

/// A form in which an engine reads settings.
#[derive(Debug, Clone, Copy)]
pub struct SettingsForm {
    /// Its name: a file, or a statement.
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
    ) -> Result<Box<dyn Instance>, EngineError>;

    /// Stops what would work and take memory beside the trials of another engine; what was made
    /// stays for the next trial of this one.
    ///
    /// # Errors
    /// When it cannot be stopped.
    fn rest(&mut self, _cancel: &Cancel) -> Result<(), EngineError> {
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
    /// ([`ServerProcess::client_environment`]).
    Clients,
    /// Several processors for one statement, as many as [`work::Work::degree`] says.
    Parallel,
    /// Tables that are stored column by column: [`Instance::column_store`].
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

/// Where a host may put its files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// A directory of the host's own, marked as ours, on the default volume.
    pub directory: PathBuf,
    /// A directory of the host's own on each volume in use, by the volume's name.
    pub volumes: Vec<(String, PathBuf)>,
    /// Existing objects that the user allows to be overwritten.
    pub permits: Permits,
    /// Files to which a server's process writes `0` before it becomes another user and program: it
    /// then has the limits of throttled volumes. Empty when none is throttled.
    pub cgroup_joins: Vec<PathBuf>,
}

impl Folders {
    /// The host's directory on a volume.
    ///
    /// # Errors
    /// When there is no such volume.
    pub fn volume(&self, name: &str) -> Result<&PathBuf, EngineError> {
        let found = self.volumes.iter().find(|(known, _)| known == name);
        found.map(|(_, directory)| directory).ok_or_else(|| {
            EngineError::failed(
                format!("placing files on volume {name}"),
                "no [[volume]] has this name",
            )
        })
    }
}

/// Existing objects that the user allows to be overwritten by naming them on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permits {
    /// Files that were there before us.
    pub overwrite: Vec<PathBuf>,
    /// Block devices.
    pub destroy: Vec<PathBuf>,
}

impl Permits {
    /// Returns the permits with links resolved now: a link that changes later permits nothing.
    #[must_use]
    pub fn resolved(self) -> Self {
        let real = |paths: Vec<PathBuf>| {
            paths.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
        };
        Self { overwrite: real(self.overwrite), destroy: real(self.destroy) }
    }
}

/// A prepared target. Dropping it removes what it created.
pub trait Instance: Send + Sync {
    /// Opens this many connections for the calling thread, which alone will use them; one at a time
    /// where the engine is embedded.
    ///
    /// # Errors
    /// When the engine refuses.
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError>;
    /// Brings caches into the declared state and verifies it, between loading and measuring.
    ///
    /// # Errors
    /// When files cannot be read or synced.
    fn settle(&self, _cache: CacheState) -> Result<CacheReport, EngineError> {
        Ok(CacheReport::NO_FILES)
    }
    /// The collector of this instance's waits, for one measurement; `None` when only the load's own
    /// are known.
    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        None
    }
    /// Bytes that the instance's files have allocated; `None` when they cannot be seen.
    fn space_bytes(&self) -> Option<u64> {
        Some(0)
    }
    /// Stops it and removes what it created.
    ///
    /// # Errors
    /// When something of it remains.
    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
    /// Its tables, with [`Ability::Tables`].
    fn tables(&self) -> Option<&dyn Tables> {
        None
    }
    /// Its plans of statements.
    fn explainer(&self) -> Option<&dyn Explainer> {
        None
    }
    /// Returns facts about column storage; with [`Ability::Columns`].
    fn column_store(&self) -> Option<&dyn ColumnStore> {
        None
    }
    /// Its files, with [`Ability::Files`].
    fn file_target(&self) -> Option<&dyn FileTarget> {
        None
    }
    /// The work of its engine beside a load.
    fn background_work(&self) -> Option<&dyn BackgroundWork> {
        None
    }
    /// The seam for load generators in other processes, where it has one.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
    /// Its server, where it has one.
    fn server(&self) -> Option<&dyn ServerProcess> {
        None
    }
    /// Its private server to disturb and to replicate, where it has one.
    fn nodes(&self) -> Option<&dyn Nodes> {
        None
    }
}

/// The connections of one load thread.
///
/// After a request is sent, the other connections work until its answer arrives.
pub trait ConnectionSet: Send {
    /// The measurement begins now: what these connections did before does not count.
    fn begin(&mut self) {}
    /// Sends a request on a connection (from 0) that has none outstanding.
    ///
    /// # Errors
    /// When the connection is lost. The engine's objections come as answers.
    fn send(&mut self, connection: usize, request: &Request<'_>) -> Result<(), EngineError>;
    /// Adds the answers that have arrived. Waits for one, but no longer than this many nanoseconds,
    /// and never so long that a request to stop goes unnoticed.
    ///
    /// # Errors
    /// When waiting itself fails.
    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError>;
    /// Has the engine count what these connections have done until now, where it would do so later.
    /// Not part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn publish(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
    /// Does a share of the work that the load left for later (a checkpoint), once no connection
    /// is in a transaction; this is set number `index` of `of`. Part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&mut self, _index: u32, _of: u32) -> Result<(), EngineError> {
        Ok(())
    }
    /// The measurement is over for these connections.
    fn end(&mut self) {}
    /// The clock that times them.
    fn clock(&self) -> Clock {
        Clock::monotonic()
    }
}

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The connection, from 0.
    pub connection: usize,
    /// Result of the request; [`EngineError::Cancelled`] after a stop.
    pub result: Result<Done, EngineError>,
}

/// Collects the waits of one measurement.
///
/// Sessions of embedded engines report them; servers are queried or sampled.
pub trait WaitCollector: Send {
    /// Starts collecting.
    ///
    /// # Errors
    /// When the engine's counters cannot be read.
    fn start(&mut self) -> Result<(), EngineError>;
    /// Ends a part of the measurement here and begins the next. Engines that cannot divide their
    /// waits have no [`Collected::parts`].
    ///
    /// # Errors
    /// When the engine's counters cannot be read.
    fn divide(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
    /// Stops and returns what sessions waited for, after every [`ConnectionSet::end`].
    ///
    /// # Errors
    /// When the engine's counters cannot be read or were reset.
    fn stop(&mut self) -> Result<Collected, EngineError>;
}

/// An engine's description of an operation before it runs; unknown parts are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explained {
    /// Its plan.
    pub plan: Option<Planned>,
    /// The engine's analysis of one run as printed, if requested.
    pub analysis: Option<String>,
    /// Pages of the table, without those of its indexes.
    pub pages: Option<u64>,
    /// Bytes of a page.
    pub page_bytes: Option<u64>,
    /// The engine's counters of that run: `vm_steps`.
    pub counters: Vec<Fact>,
}

/// Use of the engine and the machine by a load, where known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EngineUse {
    /// Processor seconds of what worked beside the sessions on their statements: processes or
    /// threads of parallel queries. `None` of a server: the kernel's figures of its processes
    /// are not known.
    pub worker_cpu_s: Option<f64>,
    /// Pages that sessions and workers used, as the engine counts them.
    pub pages: Option<PageUse>,
    /// Bytes that were read from storage for sessions and workers, as the kernel counts them: what
    /// its page cache had is not in it, what it read ahead is.
    pub disk_read_bytes: Option<u64>,
    /// Processor seconds of the kernel's own threads during the measurement, for any process: a
    /// file system compresses and decompresses in them. Counted by the conductor of the
    /// measurement.
    pub kernel_cpu_s: Option<f64>,
    /// Checkpoints of the server that began in the measurement.
    pub checkpoints: Option<u64>,
}

/// Pages that were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageUse {
    /// Found in the engine's own cache.
    pub hits: u64,
    /// Asked of the operating system, which may have them in memory.
    pub reads: u64,
}

/// Observations of a [`WaitCollector`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Waits, summed over sessions. Without instruments: empty.
    pub waits: Vec<Wait>,
    /// The parts of a measurement that was divided, in their order: as the engine sees each of them
    /// alone, so that their waits need not sum to those of the whole.
    pub parts: Vec<SessionPart>,
    /// Resources that sampled sessions waited for, where the server names them; most samples first.
    pub resources: Vec<WaitedResource>,
    /// Operations, summed over sessions.
    pub operations: Vec<Operation>,
    /// CPU of the sessions in a server; `None` for an embedded engine, whose sessions are the
    /// load threads, timed by the load driver.
    pub time: Option<TimeUse>,
    /// Processor seconds of all processes of a server on this machine, known or 0.
    pub server_cpu_s: f64,
    /// Other use by the work.
    pub used: EngineUse,
    /// Limits of observation on this target with their reasons, one sentence each.
    pub lost: Vec<String>,
}

/// The time of the sessions in a part of a measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionPart {
    /// Sessions x length of the part, in seconds.
    pub session_s: f64,
    /// Of it, seconds on a processor.
    pub cpu_s: f64,
    /// Waits, summed over sessions.
    pub waits: Vec<Wait>,
}

/// Effect of a request.
#[derive(Debug, Default)]
pub struct Done {
    /// The number of times that the engine asked for the request to be repeated.
    pub retries: u32,
    /// The results of a request that asked for them, one for each of its statements that had any.
    pub results: Vec<Results>,
}

choice! {
    /// State of the operating system's page cache for the target's files when measuring begins.
    pub enum CacheState {
        /// Nothing of the files is in memory.
        Cold = "cold",
        /// As preparation left it.
        Warm = "warm",
        /// All of the files is in memory.
        Hot = "hot",
    }
}

/// Findings of [`Instance::settle`] after its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheReport {
    /// Bytes in the target's files.
    pub file_bytes: u64,
    /// Of these, bytes in the page cache; `None` when it cannot be seen.
    pub resident_bytes: Option<u64>,
    /// True if the declared state was reached.
    pub verified: bool,
}

impl CacheState {
    /// The state that a configuration asks for, of any engine: `target.cache`.
    pub fn from_configuration(configuration: &Configuration) -> Self {
        configuration.get(crate::file_set::CACHE)
    }
}

impl CacheReport {
    /// The identity without files whose state could be another.
    pub const NO_FILES: Self = Self { file_bytes: 0, resident_bytes: Some(0), verified: true };

    /// Of open files that have been brought into a state. Reading a file's first page or two (a
    /// header, a root page) leaves a cold file cold.
    ///
    /// # Errors
    /// When a file is an error, or has no size.
    pub fn of_files(
        files: impl IntoIterator<Item = Result<impl Borrow<File>, EngineError>>,
        cache: CacheState,
    ) -> Result<Self, EngineError> {
        let Self { mut file_bytes, mut resident_bytes, .. } = Self::NO_FILES;
        for file in files {
            let file = file?;
            let mut file: &File = file.borrow();
            // The size of a device is the position of its end.
            let size = file.seek(SeekFrom::End(0));
            file_bytes += size
                .map_err(|error| EngineError::failed("reading a file's size", error.to_string()))?;
            // The kernel does not report it for every file.
            let resident = observe::page_cache::resident_bytes(file).ok();
            resident_bytes = resident_bytes.zip(resident).map(|(sum, bytes)| sum + bytes);
        }
        let verified = match (cache, resident_bytes) {
            (CacheState::Warm, _) => true,
            (_, None) => false,
            (CacheState::Cold, Some(resident)) => {
                resident * 100 <= file_bytes || resident <= 64 << 10
            }
            (CacheState::Hot, Some(resident)) => resident >= file_bytes,
        };
        Ok(Self { file_bytes, resident_bytes, verified })
    }
}
