//! Clusters to clone from: `initdb` runs once for each program, user and options, and so do the
//! user's dump and SQL and the load of a data set.

use super::cluster::{Cluster, ClusterOptions};
use super::left::{PROGRAM, reclaim};
use super::setup;
use engine::EngineError;
use servers::account::{Account, command};
use servers::template::{self, Recipe, Template, Unfinished};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use work::Cancel;

/// The superuser of servers of ours.
pub(super) const SUPERUSER: &str = "postgres";

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

/// The template for a cluster's program, account and data options, made now unless it is in the
/// cache, a folder that the account owns.
pub fn find_or_make(
    cache: &Path,
    options: &ClusterOptions,
    cancel: &Cancel,
) -> Result<Template, EngineError> {
    let Some(own) = &options.setup else {
        let make = |unfinished: &Unfinished<'_>| initialise(unfinished, options);
        return of(cache, options, ("", ""), cancel, make);
    };
    let make = |unfinished: &Unfinished<'_>| setup::make(unfinished.folder, own, options, cancel);
    of(cache, options, (WITH_SETUP, &own.identity()), cancel, make)
}

/// The template with a data set that `fill` loads into a running server with these settings, as far
/// as they matter to it; made now unless it is in the cache.
pub fn with_data(
    options: &ClusterOptions,
    settings: &BTreeMap<String, String>,
    identity: &str,
    cancel: &Cancel,
    fill: impl FnOnce(&Cluster) -> Result<(), EngineError>,
) -> Result<Template, EngineError> {
    let cache = cache_folder(&options.account)?;
    let mut settings = setup::shaping(settings.clone());
    let identity = format!("{settings:?}\n{identity}");
    // Rows that are copied into a table of the same transaction need no log.
    let minimal = [("wal_level", "minimal"), ("max_wal_senders", "0")];
    settings.extend(minimal.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let make = |unfinished: &Unfinished<'_>| {
        setup::filled(unfinished.folder, options, settings, cancel, fill)
    };
    of(&cache, options, (WITH_DATA, &identity), cancel, make)
}

/// The folder of the templates of an account, which only that account can enter; fails when
/// somebody else has made it.
pub fn cache_folder(account: &Account) -> Result<PathBuf, EngineError> {
    template::cache_folder("postgres", account)
}

/// The template of a kind, by the beginning of its name, that depends on this besides the cluster's
/// options.
fn of(
    cache: &Path,
    options: &ClusterOptions,
    (kind, content): (&str, &str),
    cancel: &Cancel,
    make: impl FnOnce(&Unfinished<'_>) -> Result<(), EngineError>,
) -> Result<Template, EngineError> {
    let recipe = Recipe {
        cache,
        account: &options.account,
        kind,
        version: &options.installation.version,
        identity: &identity(options, content)?,
        is_filled: !kind.is_empty(),
        reclaim,
    };
    Template::find_or_make(&recipe, cancel, make)
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
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} \
         ({uid})\n{data:?}\n{content}"
    ))
}

/// Runs `initdb`.
fn initialise(unfinished: &Unfinished<'_>, options: &ClusterOptions) -> Result<(), EngineError> {
    let ClusterOptions { installation, data, .. } = options;
    let initdb = installation.program("initdb");
    let mut command = command(&initdb);
    command.arg("-D").arg(unfinished.folder.join("data")).args([
        "-U",
        SUPERUSER,
        "-E",
        "UTF8",
        "--locale=C",
    ]);
    // Over TCP a password is asked for; the folder of the sockets keeps others out.
    command.args([
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        "--no-sync",
        "--no-instructions",
    ]);
    command.args(data.arguments(installation.version.major));
    let output = unfinished.run(command)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(EngineError::failed(
        format!("running {}", initdb.display()),
        format!("{}: {said}", output.status),
    ))
}
