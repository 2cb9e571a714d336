//! Clusters to clone from: `initdb` runs once for each program, user and options.

use super::account::{Account, command, unfinished};
use super::cluster::ClusterOptions;
use super::process::{end_with_us, removed};
use super::wait_for;
use crate::{Cancel, EngineError};
use rustix::process::Signal;
use std::fs::{DirBuilder, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The superuser of servers of ours.
pub(super) const SUPERUSER: &str = "postgres";

/// The file that marks a template as ours and complete; it says what it was made from.
const MARKER: &str = ".steelbench-template";

const PERMISSIONS: u32 = 0o777;
/// All to the owner, nothing to others.
const PRIVATE: u32 = 0o700;

const ROOT: u32 = 0;

/// How long another process may take for the same template.
const INITDB: Duration = Duration::from_secs(300);

/// What is decided when a cluster is initialised. The encoding is UTF-8, the order of strings that
/// of their bytes (`--locale=C`): the same on every machine and version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// Whether pages have checksums; `None`: as the version does it (since 18 they have).
    pub checksums: Option<bool>,
    /// Size of a file of the log in MB, a power of two from 1 to 1024; `None`: the version's (16).
    pub wal_segment_mb: Option<u32>,
}

impl DataOptions {
    fn arguments(&self, major: u32) -> Vec<String> {
        let checksums = match self.checksums {
            Some(true) => Some("--data-checksums".to_owned()),
            // Before 18 they are off unless asked for, and there is no option to say so.
            Some(false) if major >= 18 => Some("--no-data-checksums".to_owned()),
            _ => None,
        };
        let segment = self.wal_segment_mb.map(|mb| format!("--wal-segsize={mb}"));
        checksums.into_iter().chain(segment).collect()
    }
}

/// An initialised cluster in the cache.
#[derive(Debug)]
pub struct Template {
    /// Its data directory.
    pub data: PathBuf,
    /// Whether `initdb` ran, that is, none was in the cache.
    pub is_new: bool,
}

impl Template {
    /// The template for a cluster's program, account and data options, made now unless it is in the cache, a
    /// folder that the account owns.
    pub fn find_or_make(
        cache: &Path,
        options: &ClusterOptions,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let identity = identity(options)?;
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        let name = format!("{}-{:016x}", options.installation.version, hasher.finish());
        let folder = cache.join(&name);
        // Released when dropped, or when we are killed.
        let _lock = lock(&cache.join(format!("{name}.lock")), cancel)?;
        let is_new = std::fs::read_to_string(folder.join(MARKER)).ok().as_ref() != Some(&identity);
        if is_new {
            make(&folder, options, &identity)?;
        }
        Ok(Self { data: folder.join("data"), is_new })
    }

    /// The folder of the templates of an account: in our own cache, but for another account in the
    /// system's, or else in the folder for temporary files. Only that account can enter it; fails when
    /// somebody else has made it.
    pub fn cache_folder(account: &Account) -> Result<PathBuf, EngineError> {
        if !account.is_other() {
            let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
            let cache =
                std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
            let cache = cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("steelbench");
            std::fs::create_dir_all(&cache).map_err(EngineError::at(&cache))?;
            let folder = cache.join("postgres");
            private_folder(&folder, account)?;
            return Ok(folder);
        }
        let system = Path::new("/var/cache/steelbench").join(format!("postgres-{}", account.name));
        let temporary = std::env::temp_dir().join(format!("steelbench-cache-{}", account.name));
        let made = system.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok());
        if made && private_folder(&system, account).is_ok() && account.can_enter(&system).is_ok() {
            return Ok(system);
        }
        private_folder(&temporary, account)?;
        account.can_enter(&temporary)?;
        Ok(temporary)
    }
}

/// What a template depends on: it is made anew when one of these changes.
fn identity(options: &ClusterOptions) -> Result<String, EngineError> {
    let ClusterOptions { installation, account, data, .. } = options;
    let program = installation.program("postgres");
    let file = program.metadata().map_err(EngineError::at(&program))?;
    let (path, bytes) = (program.display(), file.len());
    let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
    let (version, name, uid) = (installation.version, &account.name, account.uid());
    Ok(format!(
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} ({uid})\n{data:?}\n"
    ))
}

/// Runs `initdb` beside the place and renames, so that what is there is complete.
fn make(folder: &Path, options: &ClusterOptions, identity: &str) -> Result<(), EngineError> {
    let ClusterOptions { installation, account, data, .. } = options;
    let unfinished = unfinished(folder);
    for left_over in [&unfinished, folder] {
        removed(left_over, std::fs::remove_dir_all(left_over))?;
    }
    private_folder(&unfinished, account)?;
    let initdb = installation.program("initdb");
    account.can_run(&initdb)?;
    let mut command = command(&initdb);
    command.arg("-D").arg(unfinished.join("data")).args(["-U", SUPERUSER, "-E", "UTF8", "--locale=C"]);
    // Over TCP a password is asked for; the folder of the sockets keeps others out.
    command.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync", "--no-instructions"]);
    command.args(data.arguments(installation.version.major));
    account.enter(&mut command);
    end_with_us(&mut command, Signal::KILL);
    let doing = || format!("running {}", initdb.display());
    let output = command.output().map_err(|error| EngineError::failed(doing(), error.to_string()))?;
    if !output.status.success() {
        let _ = std::fs::remove_dir_all(&unfinished);
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(EngineError::failed(doing(), format!("{}: {said}", output.status)));
    }
    account.write(&unfinished.join(MARKER), identity)?;
    std::fs::rename(&unfinished, folder).map_err(EngineError::at(folder))
}

fn lock(path: &Path, cancel: &Cancel) -> Result<File, EngineError> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path).map_err(EngineError::at(path))?;
    let locked = wait_for(INITDB, cancel, || match file.try_lock() {
        Ok(()) => Ok(Some(())),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(EngineError::at(path)(source)),
    })?;
    let held = "another process has held this lock for minutes; end it";
    locked.map(|()| file).ok_or_else(|| EngineError::failed(path.display().to_string(), held))
}

/// Makes a folder that only the account can enter. One that is there must be like that already:
/// in a folder for temporary files somebody else may have made it.
fn private_folder(path: &Path, account: &Account) -> Result<(), EngineError> {
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
