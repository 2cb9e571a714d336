//! A target on a server by URL that another process has prepared.

use crate::hosted::Hosted;
use crate::load::{Ending, LoadConnections, Opening, Sessions};
use engine::{ConnectionSet, Done, EngineError, Instance, Shared, Tables, lock, open_files};
use experiment::Configuration;
use serde::Serialize;
use serde::de::DeserializeOwned;
use transport::Wire;
use work::{Cancel, Request, Work};

/// Returns why other processes cannot work on targets of a configuration.
pub fn refusal<S: Hosted>(configuration: &Configuration) -> Option<&'static str> {
    let is_private = configuration.get(S::SETTINGS.url).is_none();
    is_private.then_some("a private server admits only its own process; give target.url")
}

/// Returns what an engine's other processes need to know of a target as text.
///
/// # Errors
/// Never for a record of texts and numbers.
pub fn attachment(serialize: &impl Serialize) -> Result<String, EngineError> {
    serde_json::to_string(serialize).map_err(|error| EngineError::failed("attaching", error))
}

/// Reads such a text.
///
/// # Errors
/// When it is not one of this engine's.
pub fn read<T: DeserializeOwned>(attachment: &str) -> Result<T, EngineError> {
    serde_json::from_str(attachment).map_err(|error| EngineError::failed("attaching", error))
}

/// A prepared target, by a function that opens a connection by its number.
pub struct Connector<N, O> {
    /// Opens a connection.
    pub open: O,
    /// Predicate of sessions that do not report: `have not answered`.
    pub late: &'static str,
    /// The text by which it is attached.
    pub attachment: String,
    /// The data files of its tables.
    pub data_files: u32,
    /// The sessions of this process's load.
    pub sessions: Sessions<N>,
    /// Stop request of the trial.
    pub cancel: Cancel,
}

impl<W, N, O> Instance for Connector<N, O>
where
    W: for<'a> Wire<Request<'a> = &'a Request<'a>, Answer = Result<Done, EngineError>>
        + Send
        + 'static,
    N: Into<i64> + PartialEq + Copy + Send + 'static,
    O: Fn(u32) -> Result<Opening<W, N>, EngineError> + Send + Sync,
{
    fn connect(&self, connections: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        let all = u64::from(connections);
        open_files::allow(all, || format!("opening {all} connections"))?;
        // The checkpoint is the conducting process's.
        let ending = Ending { late: self.late, checkpoint: None, cancel: self.cancel.clone() };
        let sessions = self.sessions.clone();
        Ok(Box::new(LoadConnections::open(connections, sessions, ending, &self.open)?))
    }

    fn space_bytes(&self) -> Option<u64> {
        None
    }

    fn tables(&self) -> Option<&dyn Tables> {
        Some(self)
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

impl<N: Send, O: Send + Sync> Tables for Connector<N, O> {
    /// The tables are there and the statements known.
    fn create(&self, _: Work) -> Result<(), EngineError> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.data_files
    }
}

impl<N: Into<i64> + Copy + Send, O: Send + Sync> Shared for Connector<N, O> {
    fn attachment(&self) -> Result<String, EngineError> {
        Ok(self.attachment.clone())
    }

    fn sessions(&self) -> Vec<i64> {
        lock(&self.sessions).iter().copied().map(Into::into).collect()
    }

    fn adopt(&self, _: &[i64]) {}

    fn flush(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
