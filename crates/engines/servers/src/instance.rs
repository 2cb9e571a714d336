//! The target of a trial on a server: a schema that is made for it, and dropped at its end.

use crate::administration::{Administration as _, BulkLoad, KEPT, SCHEMA};
use crate::attached::attachment;
use crate::data_sets::KeptTables;
use crate::hosted::{HostSettings, Target, Trial};
use crate::load::{Checkpoint, Ending, Load, LoadConnections, Sessions};
use crate::node::{Clients, ServerNode};
use crate::private::{Reached, Server, Stop};
use engine::{
    CacheReport, CacheState, ConnectionSet, Disturbance, EngineError, Explainer, Instance,
    Node as _, Parts, PrivateServer, Result, ServerProcess, Shared, Tables, WaitCollector, lock,
    open_files,
};
use experiment::common::OBSERVE_WAITS;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use work::{Cancel, Work};

/// A trial's schema: the parts that are an engine's own.
pub trait Schema: Tables + Explainer + ServerProcess + Send + Sync + Sized + 'static {
    /// The product of its servers.
    type Product: Clients;
    /// The connection of administration.
    type Admin: BulkLoad<Config = <Self::Product as Reached>::Config> + Send + Sync + 'static;
    /// How its load connects.
    type Load: Load;

    /// Returns the parts that all engines have.
    fn common(&self) -> &Common<Self>;
    /// Returns the connection of administration, which holds the schema.
    fn admin(&self) -> &Arc<Self::Admin>;
    /// Returns how the load connects.
    fn load(&self) -> Self::Load;
    /// Brings the caches of a private server into a state, and verifies it.
    fn settle(&self, server: &mut Server<Self::Product>, cache: CacheState) -> Result<CacheReport>;
    /// Returns the collector of waits that samples this often.
    fn wait_collector(&self, hz: f64) -> Box<dyn WaitCollector>;
    /// Returns bytes allocated outside of the directories of the server.
    fn bytes_elsewhere(&self) -> Option<u64> {
        Some(0)
    }
    /// Drops the schema and everything in it.
    fn drop_all(&self) -> Result<()>;
    /// Drops it on your server, which may still be there when the connection is lost.
    fn drop_by_url(&self) -> Result<()> {
        self.drop_all()
    }
}

/// A statement of a schema's load.
pub type Statement<S> = <<S as Schema>::Load as Load>::Statement;

/// The parts of a trial's schema that all engines have.
pub struct Common<S: Schema> {
    /// The server.
    pub target: Target<S::Product>,
    /// Folders of data files on volumes.
    pub folders: Vec<PathBuf>,
    /// Number of data files.
    pub data_files: u32,
    /// Stop request of the trial.
    pub cancel: Cancel,
    connections: u64,
    /// Samples of waits a second; `None`: waits are not observed.
    sample_hz: Option<f64>,
    /// True if a measurement ends with a checkpoint.
    pub final_checkpoint: bool,
    statements: OnceLock<Arc<[Statement<S>]>>,
    /// The sessions of the load.
    pub sessions: Sessions<<S::Load as Load>::Session>,
    /// The data set that the server holds on when the trial has ended.
    data_set: OnceLock<KeptTables>,
    /// A private server as studies use it.
    pub node: Option<ServerNode<S::Product>>,
}

impl<S: Schema> Common<S> {
    /// Returns the parts for a trial, as its settings want them.
    pub fn new(target: Target<S::Product>, trial: &Trial<'_>, settings: &HostSettings) -> Self {
        let configuration = trial.configuration;
        let observes = configuration.get(OBSERVE_WAITS);
        let node = target.private.as_ref().map(|server| ServerNode::new(server, trial.cancel));
        Self {
            target,
            node,
            folders: Vec::new(),
            data_files: configuration.get(settings.data_files),
            cancel: trial.cancel.clone(),
            connections: trial.connections.into(),
            sample_hz: observes.then(|| configuration.get(settings.sample_rate)),
            final_checkpoint: configuration.get(settings.final_checkpoint),
            statements: OnceLock::new(),
            sessions: Sessions::default(),
            data_set: OnceLock::new(),
        }
    }

    /// Makes a folder for each data file of a private server, on these volumes alternately.
    ///
    /// # Errors
    /// When there is no such volume, or the folder cannot be made.
    pub fn make_folders(&mut self, volumes: &[String], trial: &Trial<'_>) -> Result<()> {
        let Some(server) = &self.target.private else { return Ok(()) };
        for (file, volume) in (0..self.data_files).zip(volumes.iter().cycle()) {
            let directory = trial.folders.volume(volume)?;
            let directory = directory.canonicalize().map_err(EngineError::at(directory))?;
            let path = directory.join(format!("data-{file}"));
            lock(server).options.account.make_folder(&path)?;
            self.folders.push(path);
        }
        Ok(())
    }

    /// Has a private server hold the data set of this work, and moves its tables to where the
    /// trial works. Returns how many they are.
    ///
    /// # Errors
    /// When it cannot be loaded, or the server does not start on it.
    pub fn take_kept(
        &self,
        work: &mut Work,
        admin: &S::Admin,
        dialect: &<S::Admin as BulkLoad>::Dialect,
    ) -> Result<usize> {
        let Some(server) = &self.target.private else { return Ok(0) };
        let Some(kept) = KeptTables::find(work, dialect)? else { return Ok(0) };
        let (count, cancel, mut server) = (kept.count(), &self.cancel, lock(server));
        let held = server.hold(&kept, work, cancel, |template, work, fills| {
            let admin = S::Admin::take(&template.config(), cancel)?;
            admin.make(dialect, &work.tables[..count], 0, fills, cancel)?;
            admin.put_back(&kept.tables)
        })?;
        let Some(is_other) = held else { return Ok(0) };
        if is_other {
            admin.move_to(&server.config())?;
        }
        admin.move_tables(&kept.tables, KEPT, SCHEMA)?;
        // One that the trial changes is not put back.
        if !kept.changed {
            self.data_set.get_or_init(|| kept);
        }
        Ok(count)
    }

    /// Returns the statements of the load.
    ///
    /// # Errors
    /// When the tables have not been created yet.
    pub fn statements(&self) -> Result<&Arc<[Statement<S>]>> {
        self.statements.get().ok_or_else(|| {
            EngineError::failed("connecting", "the tables have not been created yet")
        })
    }

    /// Keeps the statements of the load. Work that is created twice in one trial would be a defect
    /// of the probe: the first one stays.
    pub fn keep_statements(&self, statements: Arc<[Statement<S>]>) {
        self.statements.get_or_init(|| statements);
    }
}

/// The target of a trial on a server.
pub struct ServerInstance<S: Schema> {
    /// The schema.
    pub schema: S,
    gone: bool,
}

impl<S: Schema> ServerInstance<S> {
    /// Returns the target that consists of this schema.
    pub fn new(schema: S) -> Self {
        Self { schema, gone: false }
    }

    /// The final checkpoint of a measurement, where that is wanted.
    fn checkpoint(&self) -> Option<Checkpoint> {
        self.schema.common().final_checkpoint.then(|| {
            let admin = Arc::clone(self.schema.admin());
            Box::new(move || admin.checkpoint()) as Checkpoint
        })
    }
}

impl<S: Schema> Instance for ServerInstance<S> {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>> {
        let common = self.schema.common();
        let all = common.connections;
        open_files::allow(all, || format!("opening {all} connections"))?;
        let ending = Ending { checkpoint: self.checkpoint(), cancel: common.cancel.clone() };
        let (load, sessions) = (&self.schema.load(), common.sessions.clone());
        let statements = common.statements()?;
        Ok(Box::new(LoadConnections::open(load, statements, connections, sessions, ending)?))
    }

    fn settle(&self, cache: CacheState) -> Result<CacheReport> {
        match &self.schema.common().target.private {
            Some(server) => self.schema.settle(&mut lock(server), cache),
            None => Ok(CacheReport { resident_bytes: None, ..CacheReport::NO_FILES }),
        }
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        self.schema.common().sample_hz.map(|hz| self.schema.wait_collector(hz))
    }

    fn space_bytes(&self) -> Option<u64> {
        let server = self.schema.common().target.private.as_ref()?;
        let copies = self.schema.common().node.as_ref().map_or(0, ServerNode::bytes_of_copies);
        Some(lock(server).space_bytes() + self.schema.bytes_elsewhere()? + copies)
    }

    fn remove(mut self: Box<Self>) -> Result<()> {
        self.gone = true;
        let Common { target, folders, cancel, data_set: kept, node, .. } = self.schema.common();
        let Some(server) = &target.private else { return self.schema.drop_by_url() };
        let is_spent = lock(server).is_spent;
        if is_spent {
            node.as_ref().map_or(Ok(()), |node| node.disturb(Disturbance::Kill))?;
        }
        if let Some(kept) = kept.get()
            && (is_spent
                || cancel.is_cancelled()
                || self.schema.admin().put_back(&kept.tables).is_err())
        {
            // If it cannot be kept, it is dropped with the rest, and cloned again when needed.
            lock(server).data_sets.forget();
        }
        // A stopped trial leaves work in flight. Such a server, and one that could not be
        // put in order, will not be used again: for the next trial there will be a new one.
        if is_spent || cancel.is_cancelled() || self.schema.drop_all().is_err() {
            lock(server).stop(Stop::Crash, cancel)?;
        }
        // Files that a server leaves in a data file's folder.
        folders
            .iter()
            .try_for_each(|path| std::fs::remove_dir_all(path).map_err(EngineError::at(path)))
    }

    fn parts(&self) -> Parts<'_> {
        let node = self.schema.common().node.as_ref();
        Parts {
            tables: Some(&self.schema),
            explainer: Some(&self.schema),
            private_server: node.map(|node| node as &dyn PrivateServer),
            server: Some(&self.schema),
            shared: Some(self),
            ..Parts::default()
        }
    }
}

impl<S: Schema> Shared for ServerInstance<S> {
    fn attachment(&self) -> Result<String> {
        attachment(&self.schema.load(), self.schema.common().statements()?)
    }

    fn sessions(&self) -> Vec<i64> {
        lock(&self.schema.common().sessions).iter().copied().map(Into::into).collect()
    }

    fn adopt(&self, sessions: &[i64]) {
        let sessions = sessions
            .iter()
            .filter_map(|session| <S::Load as Load>::Session::try_from(*session).ok());
        lock(&self.schema.common().sessions).extend(sessions);
    }

    fn flush(&self) -> Result<()> {
        self.checkpoint().map_or(Ok(()), |checkpoint| checkpoint())
    }
}

impl<S: Schema> Drop for ServerInstance<S> {
    fn drop(&mut self) {
        if !self.gone {
            // Best effort after a panic; `remove` is the way that reports errors.
            let _ = match &self.schema.common().target.private {
                Some(_) => self.schema.drop_all(),
                None => self.schema.drop_by_url(),
            };
        }
    }
}
