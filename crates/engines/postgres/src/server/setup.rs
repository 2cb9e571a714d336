//! Tables of one's own: a dump and SQL that fill a database once, by psql and `pg_restore`, so that
//! all is as it is there.

use super::installation::{client_program, installed_programs};
use crate::client::{Config, Error, quote_literal};
use crate::connecting::{CONNECTING, SILENCE, is_working, stoppable};
use crate::errors::failed_at;
use engine::EngineError;
use engine::setup::Setup;
use experiment::NamedFile;
use helpers::Relay;
use helpers::dump::{Format, of_pg_dump};
use helpers::libpq::{Libpq, Session, Startup, environment};
use helpers::program::command;
use servers::command::run_long;
use std::path::Path;
use std::process::{Command, Stdio};
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

/// Processes that restore a dump, where its format allows several.
const RESTORERS_MAX: usize = 4;

/// Why a setup cannot be run: a program that it needs is missing in this folder and on the `PATH`,
/// or its dump is of no known format. With the setting that it is about.
pub(crate) fn validate(setup: &Setup, bindir: Option<&Path>) -> Result<(), (&'static str, String)> {
    let needs = |setting, program| {
        client_program(bindir, program).map_err(|error| (setting, error.to_string()))
    };
    for file in &setup.sql {
        needs(engine::setup::SETUP_SQL.path(), "psql")
            .map(drop)
            .map_err(|(setting, error)| (setting, format!("{}: {error}", file.path)))?;
    }
    let Some(dump) = &setup.dump else { return Ok(()) };
    let path = engine::setup::SETUP_DUMP.path();
    let about = |message: String| (path, format!("{}: {message}", dump.path));
    let program = match of_pg_dump(&dump.place()).map_err(|message| about(message.into()))? {
        Format::Plain => "psql",
        Format::Archive { .. } => "pg_restore",
    };
    needs(path, program).map(drop).map_err(|(_, error)| about(error))
}

/// Fills a database of a private server by psql and `pg_restore`: those in this folder, else on the
/// `PATH`.
///
/// # Errors
/// When one of them fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(
    config: &Config,
    bindir: &Path,
    setup: &Setup,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let stop = &cancel.stop();
    fill_by(&Filler { config, bindir: Some(bindir), relay: None, stop }, setup)
}

/// Fills a database of a server by URL, on which these programs have our client log in.
///
/// # Errors
/// As of [`fill`].
pub(crate) fn fill_by_url(
    config: &Config,
    setup: &Setup,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let stop = &cancel.stop();
    let (bindir, relay) = (installed_programs(), Some(relayed(config, stop)?));
    fill_by(&Filler { config, bindir: bindir.as_deref(), relay, stop }, setup)
}

fn fill_by(filler: &Filler<'_>, setup: &Setup) -> Result<(), EngineError> {
    let Filler { config, stop, .. } = *filler;
    if let Some(dump) = &setup.dump {
        filler.restore(dump)?;
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
/// and privileges. `pg_dump` reads in one transaction, changes nothing, and waits for a lock as
/// long as for a silent server.
///
/// # Errors
/// When the URL is invalid, or `pg_dump` is missing or fails, with its message: the file is removed
/// then.
pub fn dump(url: &str, to: &Path, stop: &Stop) -> Result<(), EngineError> {
    let config = Config::parse(url).map_err(|error| {
        EngineError::failed("parsing the URL of the database to dump", error.to_string())
    })?;
    let config = config.with_default_patience(CONNECTING, SILENCE);
    let (bindir, relay) = (installed_programs(), Some(relayed(&config, stop)?));
    let filler = Filler { config: &config, bindir: bindir.as_deref(), relay, stop };
    let mut command = filler.client("pg_dump", Path::new(""))?;
    command.args(["--format=custom", "--no-owner", "--no-privileges"]);
    command.arg(format!("--lock-wait-timeout={}", silence_max().as_millis()));
    command.arg("--file").arg(to);
    let doing = format!("dumping the database {}", config.database);
    // Half a dump cannot be used; report the failure of the dump, not that of the removal.
    filler.conduct(command, &doing).inspect_err(|_| drop(std::fs::remove_file(to)))
}

/// Program that fills or reads a database.
struct Filler<'a> {
    config: &'a Config,
    bindir: Option<&'a Path>,
    /// `None`: to a private server, which asks for no password.
    relay: Option<Relay>,
    stop: &'a Stop,
}

/// Returns the relays that connect programs to a server by URL: libpq sends a password to any
/// server that asks.
fn relayed(config: &Config, stop: &Stop) -> Result<Relay, EngineError> {
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
    let config = startup.options.iter().fold(config, |own, options| own.with_options(options));
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

impl Filler<'_> {
    /// The owners' roles may not exist here: owners and privileges in a dump are ignored.
    fn restore(&self, dump: &NamedFile) -> Result<(), EngineError> {
        let doing = || format!("restoring {}", dump.path);
        let format =
            of_pg_dump(&dump.place()).map_err(|message| EngineError::failed(doing(), message))?;
        let Format::Archive { parallel } = format else { return self.run(dump, &[]) };
        let mut command = self.client("pg_restore", &dump.folder)?;
        command.args(["--exit-on-error", "--no-owner", "--no-privileges"]);
        if parallel {
            let processes =
                std::thread::available_parallelism().map_or(1, usize::from).min(RESTORERS_MAX);
            command.args(["--jobs", &processes.to_string()]);
        }
        command.arg(&dump.path);
        self.conduct(command, &doing())
    }

    /// Runs a file by psql, which says where it fails and with which statement, and stops there.
    fn run(&self, file: &NamedFile, variables: &[(String, String)]) -> Result<(), EngineError> {
        let mut command = self.client("psql", &file.folder)?;
        command.args(["--no-psqlrc", "--quiet", "--echo-errors", "--set=ON_ERROR_STOP=1"]);
        command.args(variables.iter().map(|(name, value)| format!("--set={name}={value}")));
        command.arg("--file").arg(&file.path);
        self.conduct(command, &format!("running {}", file.path))
    }

    /// Runs a program as long as it comes on, or the server works for it: for a session by the
    /// program's name.
    fn conduct(&self, mut command: Command, doing: &str) -> Result<(), EngineError> {
        let name = format!("steelbench setup {}", std::process::id());
        command.env("PGAPPNAME", &name);
        let session = format!("application_name = {}", quote_literal(&name));
        let works = || is_working(self.config, &session);
        let ended = run_long(command, Stdio::null(), doing, &works, self.stop);
        // A login that a request to stop has ended looks to the program like a refusal.
        ended.map_err(|error| if self.stop.is_asked() { EngineError::Cancelled } else { error })
    }

    /// A program that connects to the database, in the folder from which the paths of its files
    /// count.
    fn client(&self, program: &str, folder: &Path) -> Result<Command, EngineError> {
        let mut command = command(&client_program(self.bindir, program)?, folder);
        command.args(["--dbname", &self.config.database, "--no-password"]);
        let known = ["PGUSER", "PGAPPNAME"];
        let own = self.config.client_environment().into_iter();
        let own = own.filter(|(name, _)| self.relay.is_none() || known.contains(&name.as_str()));
        command.envs(own.filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.relay.iter().flat_map(environment));
        Ok(command)
    }
}
