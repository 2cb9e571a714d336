//! What is made once and copied from then on: entries of folders of ours among the caches of a user.

use crate::EngineError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// So many data sets of users are kept at most,
const KEPT_MAX: usize = 16;
/// and none for longer than this after its last use.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Our folder among the caches of this user, made if need be: in `XDG_CACHE_HOME`, or `~/.cache`.
///
/// # Errors
/// When it cannot be made.
pub fn folder() -> Result<PathBuf, EngineError> {
    let folder = ours("XDG_CACHE_HOME", ".cache");
    std::fs::create_dir_all(&folder).map_err(EngineError::at(&folder))?;
    Ok(folder)
}

/// Our folder for what is kept from one start to the next, which may not be there: in `XDG_STATE_HOME`, or
/// `~/.local/state` (XDG Base Directory Specification).
pub fn state() -> PathBuf {
    ours("XDG_STATE_HOME", ".local/state")
}

fn ours(variable: &str, below_home: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(below_home));
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(home).unwrap_or_else(std::env::temp_dir).join("steelbench")
}

/// Notes that an entry is used now, in the time of change of one of its files.
pub fn touch(file: &Path) {
    // Of an entry that somebody else removes, nothing needs to be noted.
    let _ = std::fs::File::open(file).and_then(|file| file.set_modified(SystemTime::now()));
}

/// The entries that have to go before another is added, of these with their last use: those that nobody used for a
/// week, and the ones used longest ago of more than 15.
pub fn surplus(mut entries: Vec<(SystemTime, PathBuf)>) -> Vec<PathBuf> {
    entries.sort();
    entries.reverse();
    let is_old = |used: &SystemTime| used.elapsed().is_ok_and(|age| age > KEPT);
    let surplus =
        entries.into_iter().enumerate().filter(|(at, (used, _))| *at + 1 >= KEPT_MAX || is_old(used));
    surplus.map(|(_, (_, path))| path).collect()
}

/// The entries of a folder whose names begin so, with their last use: the time of change of `file` in each, or of the
/// entry itself.
pub fn entries(folder: &Path, prefix: &str, file: Option<&str>) -> Vec<(SystemTime, PathBuf)> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = found
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(prefix)));
    let used = |path: &PathBuf| {
        let noted = file.map_or_else(|| path.clone(), |file| path.join(file));
        noted.symlink_metadata().and_then(|found| found.modified()).ok()
    };
    named.filter_map(|path| Some((used(&path)?, path))).collect()
}

#[cfg(test)]
mod tests {
    use super::surplus;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_was_used_longest_ago_goes_and_what_nobody_used_for_a_week() {
        let hours_ago = |hours: u64| {
            let used = SystemTime::now() - Duration::from_secs(3600 * hours);
            (used, PathBuf::from(hours.to_string()))
        };
        assert_eq!(surplus((1..=15).map(hours_ago).collect()), Vec::<PathBuf>::new());
        assert_eq!(surplus((1..=17).map(hours_ago).collect()), ["16", "17"].map(PathBuf::from));
        assert_eq!(surplus([1, 200, 167].map(hours_ago).to_vec()), [PathBuf::from("200")]);
    }
}
