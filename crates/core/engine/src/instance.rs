//! A prepared target, and the parts that only some targets have: each is a trait. The meaning of
//! absence is defined here.

use crate::{
    BackgroundWork, CacheReport, CacheState, ColumnStore, ConnectionSet, EngineError, Explained,
    FileSet, NoPlan, PlanRequest, Planned, PrivateServer, Result, Role, WaitCollector,
};
use work::{Table, Work};

/// A prepared target. Dropping it removes what it created.
pub trait Instance: Send + Sync {
    /// Opens this many connections for the calling thread, which alone will use them; one at a time
    /// where the engine is embedded.
    ///
    /// # Errors
    /// When the engine refuses.
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>>;
    /// Brings caches into the declared state and verifies it, between loading and measuring.
    ///
    /// # Errors
    /// When files cannot be read or synced.
    fn settle(&self, _cache: CacheState) -> Result<CacheReport> {
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
    fn remove(self: Box<Self>) -> Result<()> {
        Ok(())
    }
    /// The parts that only some targets have.
    fn parts(&self) -> Parts<'_> {
        Parts::default()
    }
}

/// The parts of a target that only some have.
#[derive(Clone, Copy, Default)]
pub struct Parts<'a> {
    /// The tables, with [`crate::Ability::Tables`].
    pub tables: Option<&'a dyn Tables>,
    /// The plans of statements.
    pub explainer: Option<&'a dyn Explainer>,
    /// Facts about column storage; with [`crate::Ability::Columns`].
    pub column_store: Option<&'a dyn ColumnStore>,
    /// The files, with [`crate::Ability::Files`].
    pub file_target: Option<&'a dyn FileTarget>,
    /// The work of its engine beside a load, where the engine does it without client programs.
    pub background_work: Option<&'a dyn BackgroundWork>,
    /// The seam for load generators in other processes.
    pub shared: Option<&'a dyn Shared>,
    /// The server.
    pub server: Option<&'a dyn ServerProcess>,
    /// The private server: its client programs, copies of it, and its failures.
    pub private_server: Option<&'a dyn PrivateServer>,
}

/// Tables of a target.
pub trait Tables {
    /// Creates and fills tables and compiles operations, once for each trial.
    ///
    /// # Errors
    /// When the engine refuses.
    fn create(&self, work: Work) -> Result<()>;
    /// Data files that tables are spread over.
    fn data_files(&self) -> u32 {
        1
    }
    /// Bytes that the tables of the trial and their indexes take in the engine's files; `None` when
    /// it does not tell.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    fn stored_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// Plans of statements.
pub trait Explainer {
    /// How it will run an operation on a table, and how large that is. Called in preparation,
    /// before caches are settled; `analyze`: it is run once for that, and watched.
    ///
    /// # Errors
    /// When the engine refuses.
    fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained>;
    /// Explains how it would run statements of the user's now: each has a plan, or the reason why
    /// it has none. Executes none. Called after the measurement.
    ///
    /// # Errors
    /// When the engine cannot be asked at all.
    fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, NoPlan>>>;
}

/// A target that several processes work on.
pub trait Shared: Send + Sync {
    /// Returns the text by which other processes attach, once the tables are there. It holds no
    /// password: each process has its own.
    ///
    /// # Errors
    /// When the target is not ready.
    fn attachment(&self) -> Result<String>;
    /// Returns the server's numbers of the sessions of this process's load.
    fn sessions(&self) -> Vec<i64>;
    /// Counts these sessions of other processes among those of the load.
    fn adopt(&self, sessions: &[i64]);
    /// Does the work that the load left for later (a checkpoint). Part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&self) -> Result<()>;
}

/// Plain files and devices.
pub trait FileTarget {
    /// Creates and fills the files of these roles, unless they exist, and returns them.
    ///
    /// # Errors
    /// When that fails.
    fn create_files(&self, roles: &[Role]) -> Result<&FileSet>;
}

/// The server of a target.
pub trait ServerProcess {
    /// The first process of a server that was there before us; `None` when all that works for this
    /// target is our own process and what it has started.
    ///
    /// # Errors
    /// When such a server's processes cannot be seen.
    fn server_process(&self) -> Result<Option<i32>>;
    /// Variables by which other programs find it, password included: `PGHOST`, `PGPORT`. `None`:
    /// one that must not be there.
    fn client_environment(&self) -> Vec<(String, Option<String>)>;
    /// The end of the server's log, where it can be read: its messages about a failure.
    fn log_tail(&self) -> Option<String> {
        None
    }
}

impl dyn Instance + '_ {
    /// [`Tables::create`].
    ///
    /// # Errors
    /// When the engine refuses, or the target has no tables.
    pub fn create(&self, work: Work) -> Result<()> {
        let unsupported = EngineError::Unsupported { engine: "this target", what: "tables" };
        self.parts().tables.ok_or(unsupported)?.create(work)
    }

    /// [`Explainer::explain`]; nothing of a target that has no plans.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn explain(&self, operation: usize, table: &Table, analyze: bool) -> Result<Explained> {
        self.parts().explainer.map_or_else(
            || Ok(Explained::default()),
            |explainer| explainer.explain(operation, table, analyze),
        )
    }

    /// [`Explainer::plans`]; empty of a target that has no plans.
    ///
    /// # Errors
    /// When the engine cannot be asked at all.
    pub fn plans(&self, plan_requests: &[PlanRequest]) -> Result<Vec<Result<Planned, NoPlan>>> {
        self.parts().explainer.map_or(Ok(Vec::new()), |explainer| explainer.plans(plan_requests))
    }

    /// [`FileTarget::create_files`].
    ///
    /// # Errors
    /// When that fails, or the target is not one of files.
    pub fn create_files(&self, roles: &[Role]) -> Result<&FileSet> {
        let unsupported = EngineError::Unsupported { engine: "this target", what: "plain files" };
        self.parts().file_target.ok_or(unsupported)?.create_files(roles)
    }

    /// [`ServerProcess::client_environment`]; empty without a server.
    pub fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.parts().server.map(ServerProcess::client_environment).unwrap_or_default()
    }
}
