use crate::{Cancel, Table, Transaction};
use experiment::{Configuration, Invalid, Setting};
use observations::{EngineVersion, Operation, TimeUse, Wait};
use observe::Clock;
use std::path::PathBuf;

/// An engine that experiments can be run on. Stateless: all state is in its [`Instance`]s.
pub trait Engine: Send + Sync {
    /// The name that `target.engine` gives.
    fn name(&self) -> &'static str;
    /// Its settings in `[target]`.
    fn settings(&self) -> &'static [Setting];
    /// What it can do.
    fn capabilities(&self) -> Capabilities;
    /// Version and compile options, for the environment record.
    fn version(&self) -> EngineVersion;
    /// Objections to a configuration, found without creating anything.
    fn validate(&self, configuration: &Configuration) -> Vec<Invalid>;
    /// Creates, starts and lays out a fresh target.
    ///
    /// # Errors
    /// When a setting does not take, a volume is missing or full, or the engine fails.
    fn prepare(&self, configuration: &Configuration, place: &Place)
    -> Result<Box<dyn Instance>, EngineError>;
}

/// What an engine can do; used instead of looking at its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The engine runs in the load threads: their CPU time is the engine's too.
    pub embedded: bool,
    /// Figures come from a script, not from a measurement.
    pub synthetic: bool,
}

/// Where an instance may put its files, and how it learns that the trial is to stop.
#[derive(Debug, Clone)]
pub struct Place {
    /// A directory of this trial's own, marked as ours, on the default volume.
    pub directory: PathBuf,
    /// A directory of this trial's own on each declared volume, by the volume's name.
    pub volumes: Vec<(String, PathBuf)>,
    /// Asks the trial to stop.
    pub cancel: Cancel,
}

/// A prepared target. Dropping it removes what it created.
pub trait Instance: Send + Sync {
    /// Creates the table of a load, empty, spread over the data files.
    ///
    /// # Errors
    /// When the engine refuses.
    fn create_table(&self, table: &Table) -> Result<(), EngineError>;
    /// Opens one connection; called on the thread that will use it.
    ///
    /// # Errors
    /// When the engine refuses.
    fn connect(&self) -> Result<Box<dyn Session>, EngineError>;
    /// Brings caches into the declared state and verifies it, between loading and measuring.
    ///
    /// # Errors
    /// When files cannot be read or synced.
    fn settle(&self, cache: CacheState) -> Result<CacheReport, EngineError>;
    /// The collector of this instance's waits, for one measured part.
    fn wait_collector(&self) -> Box<dyn WaitCollector>;
    /// Bytes that the instance's files have allocated.
    fn space_bytes(&self) -> u64;
    /// Stops it and removes what it created.
    ///
    /// # Errors
    /// When something of it remains.
    fn remove(self: Box<Self>) -> Result<(), EngineError>;
}

/// One connection, used by one thread.
pub trait Session: Send {
    /// The measured part begins now: what this connection did before does not count.
    fn begin(&mut self);
    /// Runs one transaction and commits it.
    ///
    /// # Errors
    /// When the engine fails it; [`EngineError::Cancelled`] when it was asked to stop.
    fn transaction(&mut self, transaction: &Transaction<'_>) -> Result<Done, EngineError>;
    /// Does a share of the work that the load left for later (a checkpoint), once no connection
    /// is in a transaction; this connection is number `index` of `of`. Part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&mut self, index: u32, of: u32) -> Result<(), EngineError>;
    /// The measured part is over for this connection.
    fn end(&mut self);
    /// The clock that times this connection.
    fn clock(&self) -> Clock {
        Clock::monotonic()
    }
}

/// Collects the waits of one measured part.
///
/// Embedded engines hear them from their sessions; servers are asked or sampled.
pub trait WaitCollector: Send {
    /// Starts collecting.
    ///
    /// # Errors
    /// When the engine's counters cannot be read.
    fn start(&mut self) -> Result<(), EngineError>;
    /// Stops and returns what sessions waited for, after every session's [`Session::end`].
    ///
    /// # Errors
    /// When the engine's counters cannot be read or were reset.
    fn stop(&mut self) -> Result<Collected, EngineError>;
}

/// What a [`WaitCollector`] saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Waits, summed over sessions. Without instruments: empty.
    pub waits: Vec<Wait>,
    /// Operations, summed over sessions.
    pub operations: Vec<Operation>,
    /// CPU of the sessions in a server; `None` for an embedded engine, whose sessions are the
    /// load threads, timed by the load driver.
    pub time: Option<TimeUse>,
}

/// What a transaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Units of work done (rows inserted).
    pub units: u64,
    /// How often the engine asked for the transaction to be repeated.
    pub retries: u32,
}

/// State of the operating system's page cache for the target's files when measuring begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    /// Nothing of the files is in memory.
    Cold,
    /// As preparation left it.
    Warm,
    /// All of the files is in memory.
    Hot,
}

impl CacheState {
    /// Names in the experiment file.
    pub const NAMES: &'static [&'static str] = &["cold", "warm", "hot"];

    /// The state with this name; `warm` for any other.
    pub fn from_name(name: &str) -> Self {
        match name {
            "cold" => Self::Cold,
            "hot" => Self::Hot,
            _ => Self::Warm,
        }
    }

    /// Whether files with so many resident bytes are in this state. Reading a file's first page
    /// or two (a header, a root page) leaves a cold file cold.
    pub fn reached(self, file_bytes: u64, resident_bytes: Option<u64>) -> bool {
        match (self, resident_bytes) {
            (Self::Warm, _) => true,
            (_, None) => false,
            (Self::Cold, Some(resident)) => resident * 100 <= file_bytes || resident <= 64 << 10,
            (Self::Hot, Some(resident)) => resident >= file_bytes,
        }
    }
}

/// What [`Instance::settle`] found after it did its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheReport {
    /// Bytes in the target's files.
    pub file_bytes: u64,
    /// Of these, bytes in the page cache; `None` when it cannot be seen.
    pub resident_bytes: Option<u64>,
    /// Whether the declared state was reached.
    pub verified: bool,
}

/// What can go wrong in an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine's own words, and what was being done.
    #[error("{doing}: {message}")]
    Engine {
        /// What was being done: `commit in data file 3`.
        doing: String,
        /// The engine's message.
        message: String,
    },
    /// A setting did not take.
    #[error("setting {setting} = {wanted} did not take: the engine has {got}")]
    SettingIgnored {
        /// Dotted path.
        setting: String,
        /// What the file asks for.
        wanted: String,
        /// What the engine answers.
        got: String,
    },
    /// A file operation of ours failed.
    #[error("{path}: {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A disk is full.
    #[error("{doing}: the disk is full")]
    DiskFull {
        /// What was being done.
        doing: String,
    },
    /// The trial was asked to stop.
    #[error("stopped on request")]
    Cancelled,
}
