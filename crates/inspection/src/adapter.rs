//! The inspection of an engine's servers.

use crate::plans::PlanFormats;
use crate::statements::{Rules, StatementLogs};
use thiserror::Error;

/// Reads what an engine's servers write, and knows its statements.
#[derive(Debug, Clone, Copy)]
pub struct Inspection {
    /// The rules by which texts of statements are compared and indexes advised.
    pub rules: Rules,
    /// The formats of execution plans; `None`: it writes none that are read from files.
    pub plans: Option<PlanFormats>,
    /// The logs of statements; `None`: its servers write none that are read.
    pub logs: Option<StatementLogs>,
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
