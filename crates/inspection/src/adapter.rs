//! The inspection of an engine's servers.

use crate::plans::PlanFormats;
use crate::query_reader::{QueryLimits, QueryReader};
use crate::statements::{Rules, ScriptStatement, StatementLogs};
use engine::{Server, ServerError};
use std::path::Path;
use std::rc::Rc;
use thiserror::Error;
use work::Stop;

/// A reader of statements, or why there is none.
pub type OpenedReader = Result<Box<dyn QueryReader>, ServerError>;

/// Opens a reader of a server's statements.
pub type OpenServer = fn(&Rc<dyn Server>, QueryLimits, &Stop) -> OpenedReader;

/// Opens a reader of these statements on a database file.
pub type OpenFile = fn(&Path, Vec<ScriptStatement>, QueryLimits, &Stop) -> OpenedReader;

/// Reads what an engine's servers write, and knows its statements.
#[derive(Debug, Clone, Copy)]
pub struct Inspection {
    /// The rules by which texts of statements are compared and indexes advised.
    pub rules: Rules,
    /// The formats of execution plans; `None`: it writes none that are read from files.
    pub plans: Option<PlanFormats>,
    /// The logs of statements; `None`: its servers write none that are read.
    pub logs: Option<StatementLogs>,
    /// Connects to a server, to read the statistics of its statements, tables and indexes; `None`:
    /// that is not done for the engine.
    pub queries: Option<OpenServer>,
    /// Opens a database file to examine what these statements do on it. Those that only read are
    /// run once; the file is not changed. `None`: the engine has no such files.
    pub file_queries: Option<OpenFile>,
}

/// No adapter inspects an engine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("statements of engine {0} are not known")]
pub struct UnknownEngine(pub String);

/// The rules of the engine with this name, by its inspection.
///
/// # Errors
/// When there is none.
pub fn rules(
    inspection: Option<&'static Inspection>,
    engine: &str,
) -> Result<&'static Rules, UnknownEngine> {
    inspection.map(|inspection| &inspection.rules).ok_or_else(|| UnknownEngine(engine.to_owned()))
}
