//! Data directories to clone from: `mariadb-install-db` runs once for each program, user and page size, and so do the
//! user's dump and SQL.

use super::installation::Installation;
use super::private_server::{ServerOptions, reclaim};
use super::setup::{self, ServerSetup};
use crate::private::account::command;
use crate::private::template::{Recipe, Template, Unfinished, cache_folder};
use crate::{Cancel, EngineError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Size of a template's redo log, the smallest that there is: a server that starts makes it as large as it is set.
const LOG_FILE_BYTES: u32 = 4 << 20;

/// How the names of templates begin, and of those with tables of users.
const PLAIN: &str = "mariadb-";
const WITH_SETUP: &str = "mariadb-setup-";

/// The template for a server of these options, made now unless it is in the cache.
pub fn find_or_make(options: &ServerOptions, cancel: &Cancel) -> Result<Template, EngineError> {
    let cache = cache_folder("mariadb", &options.account)?;
    let content = options.setup.as_ref().map(ServerSetup::identity);
    let recipe = Recipe {
        cache: &cache,
        account: &options.account,
        kind: if content.is_some() { WITH_SETUP } else { PLAIN },
        version: &options.installation.version,
        identity: &identity(options, content.as_deref().unwrap_or_default())?,
        is_filled: content.is_some(),
        reclaim,
    };
    Template::find_or_make(&recipe, cancel, |unfinished| match &options.setup {
        Some(own) => setup::make(unfinished.folder, own, options, cancel),
        None => install(unfinished, options),
    })
}

/// What a template depends on: it is made anew when one of these changes.
fn identity(options: &ServerOptions, content: &str) -> Result<String, EngineError> {
    let ServerOptions { installation, account, page_bytes, .. } = options;
    let Installation { server, version, .. } = installation;
    let file = server.metadata().map_err(EngineError::at(server))?;
    let (path, bytes) = (server.display(), file.len());
    let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
    let (name, uid) = (&account.name, account.uid());
    Ok(format!(
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} ({uid})\n\
         pages of {}\n{content}",
        page_bytes.as_deref().unwrap_or("the default size")
    ))
}

/// Runs the installer. Its accounts have no password: the server listens on a socket that only our account can reach.
fn install(unfinished: &Unfinished<'_>, options: &ServerOptions) -> Result<(), EngineError> {
    let ServerOptions { installation, account, page_bytes, .. } = options;
    let Installation { server, installer, .. } = installation;
    account.can_run(server)?;
    let mut command = command(installer);
    command.env("TMPDIR", unfinished.folder);
    command.arg("--no-defaults").arg(format!("--datadir={}", unfinished.folder.join("data").display()));
    if let Some(base) = server.parent().and_then(Path::parent) {
        command.arg(format!("--basedir={}", base.display()));
    }
    command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]);
    command.arg(format!("--innodb-log-file-size={LOG_FILE_BYTES}"));
    command.args(page_bytes.as_ref().map(|bytes| format!("--innodb-page-size={bytes}")));
    let output = unfinished.run(command)?;
    if output.status.success() {
        return Ok(());
    }
    // It says everything on either.
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).trim().to_owned());
    let errors: Vec<&str> =
        said.iter().flat_map(|said| said.lines()).filter(|line| line.contains("ERROR")).collect();
    let said = if errors.is_empty() { said.join(" ") } else { errors.join("; ") };
    let doing = format!("running {}", installer.display());
    Err(EngineError::failed(doing, format!("{}: {said}", output.status)))
}
