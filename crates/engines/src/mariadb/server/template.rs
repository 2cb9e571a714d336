//! Data directories to clone from: `mariadb-install-db` runs once for each program, user and page size.

use super::installation::Installation;
use crate::private::account::{Account, command, unfinished};
use crate::private::process::{end_with_us, removed};
use crate::private::template::{cache_folder, lock, private_folder};
use crate::{Cancel, EngineError};
use rustix::process::Signal;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that marks a template as ours and complete; it says what it was made from.
const MARKER: &str = ".steelbench-template";

/// How long another process may take for the same template.
const INSTALLATION: Duration = Duration::from_secs(300);

/// Size of a template's redo log, the smallest that there is: a server that starts makes it as large as it is set.
const LOG_FILE_BYTES: u32 = 4 << 20;

/// An initialised data directory in the cache.
#[derive(Debug)]
pub struct Template {
    /// The data directory.
    pub data: PathBuf,
    /// Nobody removes it while it is copied.
    _lock: File,
}

impl Template {
    /// The template for a program, an account and a page size (`None`: the version's own), made now unless it is in the
    /// cache.
    pub fn find_or_make(
        installation: &Installation,
        account: &Account,
        page_bytes: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let cache = cache_folder("mariadb", account)?;
        let identity = identity(installation, account, page_bytes)?;
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        let name = format!("mariadb-{}-{:016x}", installation.version, hasher.finish());
        let folder = cache.join(&name);
        let lock = lock(&cache.join(format!("{name}.lock")), INSTALLATION, cancel)?;
        if std::fs::read_to_string(folder.join(MARKER)).ok().as_ref() != Some(&identity) {
            let unfinished = unfinished(&folder);
            for left_over in [&unfinished, &folder] {
                removed(left_over, std::fs::remove_dir_all(left_over))?;
            }
            private_folder(&unfinished, account)?;
            let made = install(&unfinished, installation, account, page_bytes);
            if made.is_err() {
                let _ = std::fs::remove_dir_all(&unfinished);
                made?;
            }
            account.write(&unfinished.join(MARKER), &identity)?;
            std::fs::rename(&unfinished, &folder).map_err(EngineError::at(&folder))?;
        }
        Ok(Self { data: folder.join("data"), _lock: lock })
    }
}

/// What a template depends on: it is made anew when one of these changes.
fn identity(
    installation: &Installation,
    account: &Account,
    page_bytes: Option<&str>,
) -> Result<String, EngineError> {
    let Installation { server, version, .. } = installation;
    let file = server.metadata().map_err(EngineError::at(server))?;
    let (path, bytes) = (server.display(), file.len());
    let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
    let (name, uid) = (&account.name, account.uid());
    Ok(format!(
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} ({uid})\n\
         pages of {}\n",
        page_bytes.unwrap_or("the default size")
    ))
}

/// Runs the installer. Its accounts have no password: the server listens on a socket that only our account can reach.
fn install(
    unfinished: &Path,
    installation: &Installation,
    account: &Account,
    page_bytes: Option<&str>,
) -> Result<(), EngineError> {
    let Installation { server, installer, .. } = installation;
    account.can_run(server)?;
    account.can_run(installer)?;
    let mut command = command(installer);
    command.arg("--no-defaults").arg(format!("--datadir={}", unfinished.join("data").display()));
    if let Some(base) = server.parent().and_then(Path::parent) {
        command.arg(format!("--basedir={}", base.display()));
    }
    command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]);
    command.arg(format!("--innodb-log-file-size={LOG_FILE_BYTES}"));
    command.args(page_bytes.map(|bytes| format!("--innodb-page-size={bytes}")));
    account.enter(&mut command);
    end_with_us(&mut command, Signal::KILL);
    let doing = || format!("running {}", installer.display());
    let output = command.output().map_err(|error| EngineError::failed(doing(), error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    // It says everything on either.
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).trim().to_owned());
    let errors: Vec<&str> =
        said.iter().flat_map(|said| said.lines()).filter(|line| line.contains("ERROR")).collect();
    let said = if errors.is_empty() { said.join(" ") } else { errors.join("; ") };
    Err(EngineError::failed(doing(), format!("{}: {said}", output.status)))
}
