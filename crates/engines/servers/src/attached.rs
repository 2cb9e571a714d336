//! A target on a server by URL that another process has prepared.

use crate::hosted::{Hosted, ServerEngine};
use crate::load::{Ending, Load, LoadConnections, Sessions};
use engine::{
    ConnectionSet, EngineError, Instance, Parts, Result, Shared, Sharing, Tables, lock, open_files,
};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use work::{Cancel, Work};

/// The knowledge of a target that other processes need in addition to its URL.
#[derive(Serialize, Deserialize)]
struct Attachment<O, S> {
    /// The database, which may be a copy that this trial has to itself.
    database: String,
    /// Settings of the load's sessions.
    options: O,
    /// The statements of the load, as the conducting process has compiled them.
    statements: Vec<S>,
}

/// An attachment to the target of a load.
type AttachmentOf<L> = Attachment<<L as Load>::Options, <L as Load>::Statement>;

/// Returns the text by which other processes attach to the target of a load.
///
/// # Errors
/// Never for a record of texts and numbers.
pub(crate) fn attachment<L: Load>(load: &L, statements: &[L::Statement]) -> Result<String> {
    let (database, options) = load.target();
    serde_json::to_string(&Attachment { database, options, statements: statements.to_vec() })
        .map_err(|error| EngineError::failed("attaching", error))
}

impl<E: Hosted> Sharing for ServerEngine<E> {
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str> {
        let is_private = configuration.get(E::SETTINGS.url).is_none();
        is_private.then_some("a private server admits only its own process; give target.url")
    }

    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        let config = E::config(&configuration.get(E::SETTINGS.url).unwrap_or_default())?;
        let received: AttachmentOf<E::Load> = serde_json::from_str(attachment)
            .map_err(|error| EngineError::failed("attaching", error))?;
        Ok(Box::new(Connector {
            load: E::Load::of_target(config, &received.database, received.options, cancel),
            statements: received.statements.into(),
            attachment: attachment.into(),
            data_files: configuration.get(E::SETTINGS.data_files),
            sessions: Sessions::default(),
            cancel: cancel.clone(),
        }))
    }
}

/// A prepared target.
struct Connector<L: Load> {
    load: L,
    statements: Arc<[L::Statement]>,
    /// The text by which it is attached.
    attachment: String,
    /// The data files of its tables.
    data_files: u32,
    /// The sessions of this process's load.
    sessions: Sessions<L::Session>,
    /// Stop request of the trial.
    cancel: Cancel,
}

impl<L: Load> Instance for Connector<L> {
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>> {
        let all = u64::from(connections);
        open_files::allow(all, || format!("opening {all} connections"))?;
        // The checkpoint is the conducting process's.
        let ending = Ending { checkpoint: None, cancel: self.cancel.clone() };
        let (load, statements, sessions) = (&self.load, &self.statements, self.sessions.clone());
        Ok(Box::new(LoadConnections::open(load, statements, connections, sessions, ending)?))
    }

    fn space_bytes(&self) -> Option<u64> {
        None
    }

    fn parts(&self) -> Parts<'_> {
        Parts { tables: Some(self), shared: Some(self), ..Parts::default() }
    }
}

impl<L: Load> Tables for Connector<L> {
    /// The tables are there and the statements known.
    fn create(&self, _: Work) -> Result<()> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }
}

impl<L: Load> Shared for Connector<L> {
    fn attachment(&self) -> Result<String> {
        Ok(self.attachment.clone())
    }

    fn sessions(&self) -> Vec<i64> {
        lock(&self.sessions).iter().copied().map(Into::into).collect()
    }

    fn adopt(&self, _: &[i64]) {}

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}
