//! Clusters to clone from: `initdb` runs once for each program, user and options, and so do the user's dump and SQL and
//! the load of a data set.

use super::cluster::{Cluster, ClusterOptions};
use super::left::{PROGRAM, reclaim};
use super::setup;
use crate::private::account::{Account, command, unfinished};
use crate::private::process::{end_with_us, removed};
use crate::private::template::{self, lock, private_folder};
use crate::{Cancel, EngineError, cache};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The superuser of servers of ours.
pub(super) const SUPERUSER: &str = "postgres";

/// The file that marks a template as ours and complete; it says what it was made from.
const MARKER: &str = ".steelbench-template";

/// How long another process may take for the same template, unless it fills it.
const INITDB: Duration = Duration::from_secs(300);

/// How the names of templates with tables of users begin, and of those with a data set.
const WITH_SETUP: &str = "setup-";
const WITH_DATA: &str = "data-";

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
    /// Nobody removes it while it is copied.
    _lock: File,
}

impl Template {
    /// The template for a cluster's program, account and data options, made now unless it is in the cache, a
    /// folder that the account owns.
    pub fn find_or_make(
        cache: &Path,
        options: &ClusterOptions,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let Some(own) = &options.setup else {
            let make = |unfinished: &Path| initialise(unfinished, options);
            return Self::of(cache, options, ("", ""), cancel, make);
        };
        let make = |unfinished: &Path| setup::make(unfinished, own, options, cancel);
        Self::of(cache, options, (WITH_SETUP, &own.identity()), cancel, make)
    }

    /// The template with a data set that `fill` loads into a running server with these settings, as far as they matter
    /// to it; made now unless it is in the cache.
    pub fn with_data(
        options: &ClusterOptions,
        settings: &BTreeMap<String, String>,
        identity: &str,
        cancel: &Cancel,
        fill: impl FnOnce(&Cluster) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let cache = Self::cache_folder(&options.account)?;
        let mut settings = setup::shaping(settings.clone());
        let identity = format!("{settings:?}\n{identity}");
        // Rows that are copied into a table of the same transaction need no log.
        let minimal = [("wal_level", "minimal"), ("max_wal_senders", "0")];
        settings.extend(minimal.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let make = |unfinished: &Path| setup::filled(unfinished, options, settings, cancel, fill);
        Self::of(&cache, options, (WITH_DATA, &identity), cancel, make)
    }

    /// The template of a kind, by the beginning of its name, that depends on this besides the cluster's options.
    fn of(
        cache: &Path,
        options: &ClusterOptions,
        (kind, content): (&str, &str),
        cancel: &Cancel,
        fill: impl FnOnce(&Path) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let identity = identity(options, content)?;
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        let name = format!("{kind}{}-{:016x}", options.installation.version, hasher.finish());
        let at_most = if kind.is_empty() { INITDB } else { Duration::MAX };
        let folder = cache.join(&name);
        // Released when dropped, or when we are killed.
        let lock = lock(&cache.join(format!("{name}.lock")), at_most, cancel)?;
        let is_new = std::fs::read_to_string(folder.join(MARKER)).ok().as_ref() != Some(&identity);
        if is_new {
            if !kind.is_empty() {
                remove_surplus(cache, kind);
            }
            make(&folder, &options.account, &identity, fill)?;
        }
        cache::touch(&folder.join(MARKER));
        Ok(Self { data: folder.join("data"), is_new, _lock: lock })
    }

    /// The folder of the templates of an account, which only that account can enter; fails when somebody else has made
    /// it.
    pub fn cache_folder(account: &Account) -> Result<PathBuf, EngineError> {
        template::cache_folder("postgres", account)
    }
}

/// What a template depends on: it is made anew when one of these changes.
fn identity(options: &ClusterOptions, content: &str) -> Result<String, EngineError> {
    let ClusterOptions { installation, account, data, .. } = options;
    let program = installation.program(PROGRAM);
    let file = program.metadata().map_err(EngineError::at(&program))?;
    let (path, bytes) = (program.display(), file.len());
    let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
    let (version, name, uid) = (installation.version, &account.name, account.uid());
    Ok(format!(
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} ({uid})\n{data:?}\n{content}"
    ))
}

/// Removes templates of a kind that were not used for long, and what was left unfinished.
fn remove_surplus(cache: &Path, kind: &str) {
    let unfinished = cache::entries(cache, kind, None).into_iter().map(|(_, path)| path);
    let unfinished = unfinished.filter(|path| path.extension().is_some_and(|end| end == "new"));
    let surplus = cache::surplus(cache::entries(cache, kind, Some(MARKER)));
    for folder in unfinished.chain(surplus) {
        let held = format!("{}.lock", folder.display().to_string().trim_end_matches(".new"));
        // One that somebody makes or copies now stays, as does what cannot be removed.
        if lock(Path::new(&held), Duration::ZERO, &Cancel::new()).is_ok() && reclaim(&folder).is_ok() {
            let _ = std::fs::remove_dir_all(&folder).and_then(|()| std::fs::remove_file(held));
        }
    }
}

/// Makes it beside the place and renames, so that what is there is complete.
fn make(
    folder: &Path,
    account: &Account,
    identity: &str,
    fill: impl FnOnce(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let unfinished = unfinished(folder);
    reclaim(&unfinished)?;
    for left_over in [&unfinished, folder] {
        removed(left_over, std::fs::remove_dir_all(left_over))?;
    }
    private_folder(&unfinished, account)?;
    let made = fill(&unfinished);
    if made.is_err() {
        let _ = std::fs::remove_dir_all(&unfinished);
        return made;
    }
    account.write(&unfinished.join(MARKER), identity)?;
    std::fs::rename(&unfinished, folder).map_err(EngineError::at(folder))
}

/// Runs `initdb`.
fn initialise(unfinished: &Path, options: &ClusterOptions) -> Result<(), EngineError> {
    let ClusterOptions { installation, account, data, .. } = options;
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
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(EngineError::failed(doing(), format!("{}: {said}", output.status)))
}
