//! The limit on open files of our process.

use crate::EngineError;

/// Files that are open besides those that are asked for: results, sensors, standard streams.
const BESIDE: u64 = 64;

/// Raises the limit as far as so many more files need and the system allows.
///
/// # Errors
/// When it does not allow so many.
pub fn allow(files: u64, doing: impl FnOnce() -> String) -> Result<(), EngineError> {
    let needed = files + BESIDE;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if limit.rlim_cur < needed {
        limit.rlim_cur = needed.min(limit.rlim_max);
        // SAFETY: `limit` is initialised; raising the soft limit up to the hard one is allowed.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    Err(EngineError::Engine {
        doing: doing(),
        message: format!(
            "this needs {needed} open files, the limit is {}; raise it (ulimit -n) or use fewer",
            limit.rlim_max
        ),
    })
}
