//! Folders of templates: data directories that are made once and cloned from then on.

use super::account::{Account, unfinished};
use super::process::{end_with_us, removed};
use engine::{EngineError, Result, cache, wait_for};
use observe::child::output_within;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use work::Cancel;

const PERMISSIONS: u32 = 0o777;
/// All to the owner, nothing to others.
const PRIVATE: u32 = 0o700;

const ROOT: u32 = 0;

/// The file that marks a template as ours and complete; it has the recipe.
const MARKER: &str = ".steelbench-template";

/// The time that a program may take to make a data directory, and another process for the same
/// template, unless it fills it.
const INITIALISATION: Duration = Duration::from_secs(300);

/// Recipe of a template.
pub struct Recipe<'a> {
    /// The folder of the account's templates.
    pub cache: &'a Path,
    /// The account that owns it.
    pub account: &'a Account,
    /// The beginning of its name.
    pub kind: String,
    /// The version of the server.
    pub version: String,
    /// The identity; a change recreates the template.
    pub identity: String,
    /// True if it holds user data, which takes time to load; only some of these are kept.
    pub is_filled: bool,
    /// Stops servers that were left in a folder.
    pub reclaim: fn(&Path) -> Result<()>,
}

/// A data directory in the cache.
#[derive(Debug)]
pub struct Template {
    /// The data directory.
    pub data: PathBuf,
    /// True if it was made now.
    pub is_new: bool,
    /// Keeps other processes from removing it while it is copied.
    _lock: File,
}

/// A template that is being made.
pub struct Unfinished<'a> {
    /// The place: it is to have the data directory, as `data`.
    pub folder: &'a Path,
    account: &'a Account,
    lock: &'a File,
    cancel: &'a Cancel,
}

impl Unfinished<'_> {
    /// Runs a program that makes a data directory to its end, as the account. When the trial is
    /// asked to stop, and after five minutes, it is killed with all that it has started. When we
    /// are killed, what it has started writes on for a while: these processes hold the template's
    /// lock too, so that the next run waits for their end before it removes what is there.
    pub fn run(&self, mut command: Command) -> Result<Output> {
        let program = PathBuf::from(command.get_program());
        self.account.can_run(&program)?;
        let failed = |error: io::Error| {
            EngineError::failed(format!("running {}", program.display()), error.to_string())
        };
        let lock = self.lock.try_clone().map_err(failed)?;
        // SAFETY: a system call between fork and exec; nothing is allocated or locked.
        unsafe { command.pre_exec(move || Ok(fcntl_setfd(&lock, FdFlags::empty())?)) };
        self.account.enter(&mut command);
        end_with_us(&mut command, Signal::KILL);
        let output = output_within(&mut command, INITIALISATION, &|| self.cancel.is_cancelled());
        output.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => EngineError::Cancelled,
            _ => failed(error),
        })
    }
}

impl Template {
    /// The template of a recipe, which `make` makes unless it is in the cache.
    pub fn find_or_make(
        recipe: &Recipe<'_>,
        cancel: &Cancel,
        make: impl FnOnce(&Unfinished<'_>) -> Result<()>,
    ) -> Result<Self> {
        let hash = observations::sha256([&recipe.identity]);
        let name = format!("{}{}-{hash}", recipe.kind, recipe.version);
        let at_most = if recipe.is_filled { Duration::MAX } else { INITIALISATION };
        let folder = recipe.cache.join(&name);
        // Released when dropped, or when we are killed.
        let lock = lock(&recipe.cache.join(format!("{name}.lock")), at_most, cancel)?;
        let is_new =
            std::fs::read_to_string(folder.join(MARKER)).ok().as_ref() != Some(&recipe.identity);
        if is_new {
            if recipe.is_filled {
                recipe.remove_surplus();
            }
            recipe.make(&folder, &lock, cancel, make)?;
            cache::added_to(recipe.cache);
        }
        cache::touch(&folder.join(MARKER));
        Ok(Self { data: folder.join("data"), is_new, _lock: lock })
    }
}

impl Recipe<'_> {
    /// Removes templates of the kind that were not used for long, and what was left unfinished.
    fn remove_surplus(&self) {
        let unfinished =
            cache::entries(self.cache, &self.kind, None).into_iter().map(|(_, path)| path);
        let unfinished = unfinished.filter(|path| path.extension().is_some_and(|end| end == "new"));
        let surplus = cache::surplus(cache::entries(self.cache, &self.kind, Some(MARKER)));
        for folder in unfinished.chain(surplus) {
            let held = format!("{}.lock", folder.display().to_string().trim_end_matches(".new"));
            // One that is being made or copied stays, as does one that cannot be removed.
            if lock(Path::new(&held), Duration::ZERO, &Cancel::new()).is_ok()
                && (self.reclaim)(&folder).is_ok()
            {
                let _ = std::fs::remove_dir_all(&folder).and_then(|()| std::fs::remove_file(held));
            }
        }
    }

    /// Makes it beside the place and renames, so that what is there is complete.
    fn make(
        &self,
        folder: &Path,
        lock: &File,
        cancel: &Cancel,
        fill: impl FnOnce(&Unfinished<'_>) -> Result<()>,
    ) -> Result<()> {
        let unfinished = unfinished(folder);
        (self.reclaim)(&unfinished)?;
        for left_over in [&unfinished, folder] {
            removed(left_over, std::fs::remove_dir_all(left_over))?;
        }
        private_folder(&unfinished, self.account)?;
        let made = fill(&Unfinished { folder: &unfinished, account: self.account, lock, cancel });
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&unfinished);
            return made;
        }
        self.account.write(&unfinished.join(MARKER), &self.identity)?;
        std::fs::rename(&unfinished, folder).map_err(EngineError::at(folder))
    }
}

/// The folder of an engine's templates of an account, which only that account can enter. It is in
/// our own cache. For another account, which must be able to enter it, it is in the folder that
/// `XDG_CACHE_HOME` names, in the system's cache, or else in the folder for temporary files. Fails
/// if another user has made it.
pub fn cache_folder(engine: &str, account: &Account) -> Result<PathBuf> {
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
fn lock(path: &Path, at_most: Duration, cancel: &Cancel) -> Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).custom_flags(libc::O_NOFOLLOW);
    let locked = wait_for(at_most, cancel, || {
        let file = options.open(path).map_err(EngineError::at(path))?;
        match file.try_lock() {
            // Locking a removed file does not exclude other processes.
            Ok(()) if file.metadata().is_ok_and(|found| found.nlink() > 0) => Ok(Some(file)),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(EngineError::at(path)(source)),
        }
    })?;
    let held = "another process has held this lock for minutes; end that process";
    locked.ok_or_else(|| EngineError::failed(path.display().to_string(), held))
}

/// Makes a folder that only the account can enter. An existing one must be like that already: in a
/// folder for temporary files another user may have made it.
fn private_folder(path: &Path, account: &Account) -> Result<()> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Ok(()) => return account.chown(path),
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
        // Made just now by another process of Steelbench, which is about to change its owner.
        if found.uid() == ROOT && account.is_other() {
            return account.chown(path);
        }
    }
    let message =
        format!("this must be a folder that only user {} can access; remove it", account.name);
    Err(EngineError::failed(path.display().to_string(), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::command;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    /// As of `mariadb-install-db`: the script is killed with us, and the server that it has started
    /// survives.
    #[test]
    fn what_a_program_has_started_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let account = Account::for_server(None, "nobody").unwrap();
        let cache = folder.path().join("cache");
        private_folder(&cache, &account).unwrap();
        let recipe = Recipe {
            cache: &cache,
            account: &account,
            kind: "t-".into(),
            version: "1".into(),
            identity: "one".into(),
            is_filled: false,
            reclaim: |_| Ok(()),
        };
        let ended = cache.join("ended");
        let killed = Template::find_or_make(&recipe, &Cancel::new(), |unfinished| {
            let mut script = command(Path::new("/bin/sh"));
            let writes = "for i in $(seq 60); do mkdir -p \"$0\"; touch \"$0/$i\"; sleep 0.02; \
                          done; touch \"$1\"";
            script.arg("-c").arg(format!("({writes}) > /dev/null 2>&1 & exit 3"));
            script.arg(unfinished.folder.join("data")).arg(&ended);
            let output = unfinished.run(script)?;
            Err(EngineError::failed("the script", output.status.to_string()))
        });
        assert!(killed.unwrap_err().to_string().contains("exit status: 3"));
        let made =
            Template::find_or_make(&recipe, &Cancel::new(), |unfinished: &Unfinished<'_>| {
                account.make_folder(&unfinished.folder.join("data"))
            })
            .unwrap();
        assert!(ended.exists() && made.is_new && made.data.read_dir().unwrap().next().is_none());
        // Copying it holds the lock.
        drop(made);
        assert!(
            !Template::find_or_make(&recipe, &Cancel::new(), |_| unreachable!()).unwrap().is_new
        );
    }
}
