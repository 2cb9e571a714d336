//! Data directories to clone from: `mariadb-install-db`, or MySQL's server itself, runs once for
//! each program, user and page size, and so do the user's dump and SQL and the load of a data set.

use super::installation::Installation;
use super::private_server::{PrivateServer, ServerOptions, reclaim};
use super::setup;
use engine::EngineError;
use servers::account::{Account, command};
use servers::template::{self, Recipe, Template, Unfinished};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use work::Cancel;

/// Size of a template's redo log, the smallest that there is: a server that starts makes it as
/// large as it is set.
const LOG_FILE_BYTES: u32 = 4 << 20;
/// The same of MySQL, which waits for checkpoints all the time with a smaller one.
const REDO_LOG_BYTES: u32 = 32 << 20;

/// How the names of templates begin, of those with tables of users, and of those with a data set.
const PLAIN: &str = "mariadb-";
const WITH_SETUP: &str = "mariadb-setup-";
const WITH_DATA: &str = "mariadb-data-";

/// The template for a server of these options, made now unless it is in the cache.
pub fn find_or_make(options: &ServerOptions, cancel: &Cancel) -> Result<Template, EngineError> {
    let Some(own) = &options.setup else {
        return of(options, (PLAIN, ""), cancel, |unfinished| install(unfinished, options));
    };
    let make = |unfinished: &Unfinished<'_>| setup::make(unfinished.folder, own, options, cancel);
    of(options, (WITH_SETUP, &own.identity()), cancel, make)
}

/// The template with a data set that `fill` loads into a running server with these settings, as far
/// as they matter to it; made now unless it is in the cache.
pub fn with_data(
    options: &ServerOptions,
    settings: &BTreeMap<String, String>,
    identity: &str,
    cancel: &Cancel,
    fill: impl FnOnce(&PrivateServer) -> Result<(), EngineError>,
) -> Result<Template, EngineError> {
    let settings = setup::shaping(settings.clone());
    let identity = format!("{settings:?}\n{identity}");
    let make = |unfinished: &Unfinished<'_>| {
        setup::filled(unfinished.folder, options, settings, cancel, fill)
    };
    of(options, (WITH_DATA, &identity), cancel, make)
}

/// The folder of the templates of an account, which only that account can enter; fails when
/// somebody else has made it.
pub fn cache_folder(account: &Account) -> Result<PathBuf, EngineError> {
    template::cache_folder("mariadb", account)
}

/// The template of a kind, by the beginning of its name, that depends on this besides the server's
/// options.
fn of(
    options: &ServerOptions,
    (kind, content): (&str, &str),
    cancel: &Cancel,
    make: impl FnOnce(&Unfinished<'_>) -> Result<(), EngineError>,
) -> Result<Template, EngineError> {
    let recipe = Recipe {
        cache: &cache_folder(&options.account)?,
        account: &options.account,
        kind,
        version: &options.installation.version,
        identity: &identity(options, content)?,
        is_filled: kind != PLAIN,
        reclaim,
    };
    Template::find_or_make(&recipe, cancel, make)
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
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} \
         ({uid})\npages of {}\n{content}",
        page_bytes.as_deref().unwrap_or("the default size")
    ))
}

/// Runs the installer. Its accounts have no password: the server listens on a socket that only our
/// account can reach.
fn install(unfinished: &Unfinished<'_>, options: &ServerOptions) -> Result<(), EngineError> {
    let ServerOptions { installation, account, page_bytes, .. } = options;
    let Installation { server, installer, .. } = installation;
    account.can_run(server)?;
    let program = installer.as_ref().unwrap_or(server);
    let mut command = command(program);
    command.env("TMPDIR", unfinished.folder);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", unfinished.folder.join("data").display()));
    if installation.is_mysql() {
        command
            .arg("--initialize-insecure")
            .arg(format!("--innodb-redo-log-capacity={REDO_LOG_BYTES}"));
    } else {
        command.args([
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]);
        command.arg(format!("--innodb-log-file-size={LOG_FILE_BYTES}"));
        let base = server.parent().and_then(Path::parent);
        command.args(base.map(|base| format!("--basedir={}", base.display())));
    }
    command.args(page_bytes.as_ref().map(|bytes| format!("--innodb-page-size={bytes}")));
    let output = unfinished.run(command)?;
    if output.status.success() {
        return Ok(());
    }
    // It says everything on either.
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).trim().to_owned());
    let errors: Vec<&str> =
        said.iter().flat_map(|said| said.lines()).filter(|line| line.contains("ERROR")).collect();
    let said = if errors.is_empty() { said.join(" ") } else { errors.join("; ") };
    let doing = format!("running {}", program.display());
    Err(EngineError::failed(doing, format!("{}: {said}", output.status)))
}
