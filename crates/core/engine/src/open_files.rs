//! The limit on open files of our process.

use crate::{EngineError, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files in addition to those requested: results, sensors, standard streams.
const RESERVED: u64 = 64;

/// Raises the limit for `files` more files, as far as needed and allowed by the system.
///
/// # Errors
/// When the system does not allow this many.
pub fn allow(files: u64, doing: impl FnOnce() -> String) -> Result<()> {
    let needed = files + RESERVED;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let allowed = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    // Raising the soft limit up to the hard one is always allowed.
    if allowed(current)
        || (allowed(maximum)
            && setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).is_ok())
    {
        return Ok(());
    }
    let limit = maximum.unwrap_or_default();
    let message = format!(
        "needs {needed} open files, but the limit is {limit}; raise it (ulimit -n), or use fewer \
         files or connections"
    );
    Err(EngineError::Scarce { doing: doing(), message })
}
