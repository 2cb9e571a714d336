//! Tables of one's own: a dump and SQL that fill a database once, by psql and `pg_restore`, so that
//! all is as it is there; and dumps of databases by `pg_dump`.

use super::filler::Filler;
use super::installation::{ClientProgram, Installation, Version, psql, substitution};
use super::restore::Restore;
use crate::client::{Config, Error};
use crate::connecting::{at_url, is_working, stoppable};
use crate::errors::failed_at;
use engine::setup::{SETUP_DUMP, SETUP_SQL, Setup};
use engine::{CopySource, CopyVersion, EngineError, Result};
use servers::programs::Relay;
use servers::programs::dump::{Format, of_pg_dump, origin_of_pg_dump};
use servers::programs::libpq::{Libpq, Session, Startup};
use std::path::Path;
use std::process::Stdio;
use work::{Cancel, Stop, silence_max};

/// Settings of a server that change what a dump or SQL makes, or whether it can: libraries that
/// tables and extensions need, how rows are stored, how many tables a transaction may touch.
pub(super) const SHAPING: [&str; 6] = [
    "default_table_access_method",
    "default_toast_compression",
    "local_preload_libraries",
    "max_locks_per_transaction",
    "session_preload_libraries",
    "shared_preload_libraries",
];

/// Why a setup cannot be run: a program that it needs is missing in this folder and on the `PATH`,
/// or its dump is of no known format. With the setting that it is about.
pub(crate) fn validate(setup: &Setup, bindir: Option<&Path>) -> Result<(), (&'static str, String)> {
    for file in &setup.sql {
        let about = |error| (SETUP_SQL.path(), format!("{}: {error}", file.path));
        psql(bindir).map_err(about)?;
    }
    let Some(dump) = &setup.dump else { return Ok(()) };
    let about = |message: String| (SETUP_DUMP.path(), format!("{}: {message}", dump.path));
    let format = of_pg_dump(&dump.place()).map_err(|message| about(message.into()))?;
    let restores = match format {
        Format::Plain => Ok(()),
        Format::Archive { .. } => ClientProgram::find("pg_restore", bindir, None).map(drop),
    };
    restores.and_then(|()| psql(bindir).map(drop)).map_err(|error| about(error.to_string()))
}

/// Fills a database of a private server by psql and `pg_restore`: those in this folder, else on the
/// `PATH`.
///
/// # Errors
/// When one of them fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(config: &Config, bindir: &Path, setup: &Setup, cancel: &Cancel) -> Result<()> {
    let stop = &cancel.stop();
    fill_by(&Filler { config, bindir: Some(bindir), relay: None, stop }, setup)
}

/// Fills a database of a server by URL, on which these programs have our client log in.
///
/// # Errors
/// As of [`fill`].
pub(crate) fn fill_by_url(config: &Config, setup: &Setup, cancel: &Cancel) -> Result<()> {
    let stop = &cancel.stop();
    let relay = Some(relayed(config, stop)?);
    fill_by(&Filler { config, bindir: None, relay, stop }, setup)
}

fn fill_by(filler: &Filler<'_>, setup: &Setup) -> Result<()> {
    let Filler { config, stop, .. } = *filler;
    if let Some(dump) = &setup.dump {
        let target = server_version(config, stop)?;
        Restore::new(filler, dump, target)?.conduct()?;
    }
    for file in &setup.sql {
        filler.run(file, &setup.variables)?;
    }
    setup.verify_unchanged()?;
    // As the server itself would soon do it, in the midst of a measurement.
    let mut client = stoppable(config, stop).map_err(failed_at("connecting"))?;
    client.set_answer_timeout(Some(silence_max()));
    let session = format!("pid = {}", client.backend_pid());
    let finished = client.long_query("VACUUM (ANALYZE)", &mut || is_working(config, &session));
    finished.map(drop).map_err(failed_at("finishing the tables of target.setup"))
}

/// Writes the database that a URL names to a new file in `pg_dump`'s custom format, without owners
/// and privileges. The `pg_dump` of the server's major version reads in one transaction, changes
/// nothing, and waits for a lock as long as for a silent server.
///
/// # Errors
/// When the URL is invalid, or `pg_dump` is missing, older than the server, or fails, with its
/// message: the file is removed then.
pub fn dump(url: &str, to: &Path, stop: &Stop) -> Result<()> {
    let config = config_of(url)?;
    let version = server_version(&config, stop)?;
    let program = ClientProgram::find("pg_dump", None, Some(version))?;
    if program.version.major < version.major {
        let message = format!(
            "the newest pg_dump here is {}, which cannot dump PostgreSQL {version}; install the \
             client programs (Debian: postgresql-client-{})",
            program.version, version.major
        );
        return Err(EngineError::failed("looking for pg_dump", message));
    }
    let relay = Some(relayed(&config, stop)?);
    let filler = Filler { config: &config, bindir: None, relay, stop };
    let mut command = filler.client(&program.path, Path::new(""));
    command.args(["--format=custom", "--no-owner", "--no-privileges"]);
    command.arg(format!("--lock-wait-timeout={}", silence_max().as_millis()));
    command.arg("--file").arg(to);
    let doing = format!("dumping the database {}", config.database);
    // Half a dump cannot be used; report the failure of the dump, not that of the removal.
    filler.conduct(command, Stdio::null(), &doing).inspect_err(|_| drop(std::fs::remove_file(to)))
}

/// Reads the URL of a database that is dumped.
fn config_of(url: &str) -> Result<Config> {
    let doing = "parsing the URL of the database to dump";
    at_url(url).map_err(|error| EngineError::failed(doing, error))
}

/// Chooses the version on which a copy is measured, as [`engine::Servers::copy_version`] describes.
pub fn copy_version(
    source: &CopySource<'_>,
    test_server: Option<&str>,
    stop: &Stop,
) -> Result<CopyVersion> {
    let version_of = |url| server_version(&config_of(url)?, stop);
    let version = match source {
        CopySource::Url(url) => version_of(url)?,
        CopySource::Dump(path) => match dumped_version(path) {
            Some(version) => version,
            None => return Ok(CopyVersion::default()),
        },
    };
    if let Some(url) = test_server {
        let measured = version_of(url)?;
        let reason = "that is the version of the test server";
        let substitution = substitution(measured, version, reason);
        return Ok(CopyVersion { setting: None, substitution });
    }
    // Without an installation, the run reports the error.
    let Ok(installation) = Installation::for_source(&[], version) else {
        return Ok(CopyVersion::default());
    };
    let setting = Some(installation.version.major.to_string());
    let is_dumped = matches!(source, CopySource::Url(_));
    let substitution =
        installation.substitution(version).or_else(|| other_program(version).filter(|_| is_dumped));
    Ok(CopyVersion { setting, substitution })
}

/// States that the `pg_dump` of another major version copies a database.
fn other_program(source: Version) -> Option<String> {
    let program = ClientProgram::find("pg_dump", None, Some(source)).ok()?;
    let Version { major, .. } = source;
    (program.version.major != major).then(|| {
        format!(
            "Copying PostgreSQL {source} with pg_dump {}: that of version {major} is not \
             installed (Debian: postgresql-client-{major}).",
            program.version
        )
    })
}

/// Reads the version of the server that a dump was made of.
pub fn dumped_version(dump: &Path) -> Option<Version> {
    Version::parse(&origin_of_pg_dump(dump).server?)
}

/// Reads the version of a server, after which programs for it are chosen.
fn server_version(config: &Config, stop: &Stop) -> Result<Version> {
    let doing = "reading the server's version, to choose pg_dump and pg_restore";
    let client = stoppable(config, stop).map_err(failed_at(doing))?;
    let text = client.parameter("server_version").unwrap_or_default();
    Version::parse(text).ok_or_else(|| EngineError::failed(doing, format!("it is {text:?}")))
}

/// Returns the relays that connect programs to a server by URL: libpq sends a password to any
/// server that asks.
fn relayed(config: &Config, stop: &Stop) -> Result<Relay> {
    let (config, stop) = (config.clone(), stop.clone());
    Relay::start(Libpq::new(move |startup, over| {
        if startup.user != config.user {
            return Err(Refusal::Role(config.user.clone()));
        }
        Ok(log_in(&config, startup, &stop.or(over))?)
    }))
}

/// Why a program cannot work on the server.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("Steelbench logs in as role {0} only")]
    Role(String),
    #[error(transparent)]
    Server(#[from] Error),
}

/// Logs in for a program; a request to stop ends each wait for the server.
fn log_in(config: &Config, startup: &Startup, stop: &Stop) -> Result<Session, Error> {
    let config = config.clone().with_database(&startup.database);
    let config = startup.options.iter().fold(config, |total, options| total.with_options(options));
    let mut client = stoppable(&config, stop)?;
    client.set_answer_timeout(Some(silence_max()));
    // libpq leaves it to the database, unless it is asked for.
    client.batch("SELECT set_config('client_encoding', getdatabaseencoding(), false)")?;
    for (name, value) in &startup.settings {
        client.query("SELECT set_config($1, $2, false)", &[Some(name), Some(value)])?;
    }
    let parameters = client.parameters().clone();
    Ok(Session { parameters, stream: client.into_stream()? })
}
