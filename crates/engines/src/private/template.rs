//! Folders of templates: data directories that are made once and cloned from then on.

use super::account::Account;
use super::wait_for;
use crate::{Cancel, EngineError, cache};
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PERMISSIONS: u32 = 0o777;
/// All to the owner, nothing to others.
const PRIVATE: u32 = 0o700;

const ROOT: u32 = 0;

/// The folder of an engine's templates of an account: in our own cache, but for another account, which must be able to
/// enter it, in the one that `XDG_CACHE_HOME` names, the system's, or else the folder for temporary files. Only that account
/// can enter it; fails when somebody else has made it.
pub(crate) fn cache_folder(engine: &str, account: &Account) -> Result<PathBuf, EngineError> {
    if !account.is_other() {
        let folder = cache::folder()?.join(engine);
        private_folder(&folder, account)?;
        return Ok(folder);
    }
    let named = std::env::var_os("XDG_CACHE_HOME").and_then(|_| cache::folder().ok());
    let system = PathBuf::from("/var/cache/steelbench");
    let system = std::fs::create_dir_all(&system).is_ok().then_some(system);
    for cache in named.into_iter().chain(system) {
        let folder = cache.join(format!("{engine}-{}", account.name));
        if private_folder(&folder, account).is_ok() && account.can_enter(&folder).is_ok() {
            return Ok(folder);
        }
    }
    let temporary = std::env::temp_dir().join(format!("steelbench-cache-{}", account.name));
    private_folder(&temporary, account)?;
    account.can_enter(&temporary)?;
    Ok(temporary)
}

/// Holds a file's lock, released when dropped or when we are killed.
pub(crate) fn lock(path: &Path, at_most: Duration, cancel: &Cancel) -> Result<File, EngineError> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).custom_flags(libc::O_NOFOLLOW);
    let locked = wait_for(at_most, cancel, || {
        let file = options.open(path).map_err(EngineError::at(path))?;
        match file.try_lock() {
            // One that was removed keeps nobody else out.
            Ok(()) if file.metadata().is_ok_and(|found| found.nlink() > 0) => Ok(Some(file)),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(EngineError::at(path)(source)),
        }
    })?;
    let held = "another process has held this lock for minutes; end it";
    locked.ok_or_else(|| EngineError::failed(path.display().to_string(), held))
}

/// Makes a folder that only the account can enter. One that is there must be like that already:
/// in a folder for temporary files somebody else may have made it.
pub(crate) fn private_folder(path: &Path, account: &Account) -> Result<(), EngineError> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Ok(()) => return account.own(path),
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            return Err(EngineError::at(path)(source));
        }
        Err(_) => {}
    }
    let found = path.symlink_metadata().map_err(EngineError::at(path))?;
    if found.is_dir() && found.mode() & PERMISSIONS == PRIVATE {
        if found.uid() == account.uid() {
            return Ok(());
        }
        // Made just now by another process of ours, which is about to give it away.
        if found.uid() == ROOT && account.is_other() {
            return account.own(path);
        }
    }
    let message = format!("it is not a private folder of user {}; remove it", account.name);
    Err(EngineError::failed(path.display().to_string(), message))
}
