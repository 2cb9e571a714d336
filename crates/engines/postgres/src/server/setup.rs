//! Tables of one's own: a dump and SQL that fill a database once, by psql and `pg_restore`, so that
//! all is as it is there.

use super::installation::{client_program, installed_programs};
use crate::client::{Client, Config, quote_literal};
use crate::connecting::is_working;
use crate::failed_at;
use engine::EngineError;
use engine::setup::{Setup, first_bytes};
use experiment::NamedFile;
use rustix::process::Signal;
use servers::account::command;
use servers::command::run_long;
use servers::process::end_with_us;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
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

/// How a dump is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A script for psql.
    Plain,
    /// An archive for `pg_restore`, by one process or by several.
    Archive { parallel: bool },
}

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
    let program = match format(&dump.place()).map_err(|message| about(message.into()))? {
        Format::Plain => "psql",
        Format::Archive { .. } => "pg_restore",
    };
    needs(path, program).map(drop).map_err(|(_, error)| about(error))
}

/// The format of a dump by its first bytes: those of the custom format (`pg_backup_archiver.c`), of
/// a compressed file, or of a tar archive (POSIX ustar). The table of contents is the first file of
/// the archive; a folder has it as a file.
fn format(place: &Path) -> Result<Format, &'static str> {
    let first = first_bytes(place);
    if place.is_dir() {
        let known = place.join("toc.dat").is_file();
        return if known {
            Ok(Format::Archive { parallel: true })
        } else {
            Err("not a dump: the folder has no toc.dat")
        };
    }
    match first.as_slice() {
        [b'P', b'G', b'D', b'M', b'P', ..] => Ok(Format::Archive { parallel: true }),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err("it is compressed; decompress it first")
        }
        _ if first.starts_with(b"toc.dat\0") => Ok(Format::Archive { parallel: false }),
        _ if first.contains(&0) => Err("not a pg_dump file"),
        _ => Ok(Format::Plain),
    }
}

/// Fills a database by psql and `pg_restore`: those in this folder, else on the `PATH`.
///
/// # Errors
/// When one of them fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(
    config: &Config,
    bindir: Option<&Path>,
    setup: &Setup,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let filler = Filler { config, bindir, stop: &cancel.stop() };
    if let Some(dump) = &setup.dump {
        filler.restore(dump)?;
    }
    for file in &setup.sql {
        filler.run(file, &setup.variables)?;
    }
    setup.verify_unchanged()?;
    // As the server itself would soon do it, in the midst of a measurement.
    let mut client = Client::connect(&config.clone().with_stop(cancel.stop()))
        .map_err(failed_at("connecting"))?;
    client.set_stop(cancel.stop(), Duration::ZERO);
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
    let bindir = installed_programs();
    let filler = Filler { config: &config, bindir: bindir.as_deref(), stop };
    let mut command = filler.client("pg_dump", Path::new(""))?;
    command.args(["--format=custom", "--no-owner", "--no-privileges"]);
    command.arg(format!("--lock-wait-timeout={}", silence_max().as_millis()));
    command.arg("--file").arg(to);
    let doing = format!("dumping the database {}", config.database);
    let dumped = filler.conduct(command, &doing);
    if dumped.is_err() {
        // Half a dump cannot be used; report the failure of the dump, not that of the removal.
        let _ = std::fs::remove_file(to);
    }
    dumped
}

/// Program that fills or reads a database.
struct Filler<'a> {
    config: &'a Config,
    bindir: Option<&'a Path>,
    stop: &'a Stop,
}

impl Filler<'_> {
    /// The owners' roles may not exist here: owners and privileges in a dump are ignored.
    fn restore(&self, dump: &NamedFile) -> Result<(), EngineError> {
        let doing = || format!("restoring {}", dump.path);
        let format =
            format(&dump.place()).map_err(|message| EngineError::failed(doing(), message))?;
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
        run_long(command, Stdio::null(), doing, &works, self.stop)
    }

    /// A program that connects to the database, in the folder from which the paths of its files
    /// count.
    fn client(&self, program: &str, folder: &Path) -> Result<Command, EngineError> {
        let mut command = command(&client_program(self.bindir, program)?);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        command.current_dir(folder).args(["--dbname", &self.config.database, "--no-password"]);
        for (name, value) in self.config.client_environment() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        end_with_us(&mut command, Signal::KILL);
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, format};

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let of = |bytes: &[u8]| {
            let path = folder.path().join("dump");
            std::fs::write(&path, bytes).unwrap();
            format(&path)
        };
        assert_eq!(of(b"PGDMP\x01\x0e"), Ok(Format::Archive { parallel: true }));
        assert_eq!(of(b"toc.dat\0\0\0"), Ok(Format::Archive { parallel: false }));
        assert_eq!(of(b"--\n-- PostgreSQL database dump\n"), Ok(Format::Plain));
        assert_eq!(of(b""), Ok(Format::Plain));
        assert!(of(b"\x1f\x8b\x08").is_err() && of(b"SQLite format 3\0").is_err());
        assert!(format(folder.path()).is_err());
        std::fs::write(folder.path().join("toc.dat"), "PGDMP").unwrap();
        assert_eq!(format(folder.path()), Ok(Format::Archive { parallel: true }));
    }
}
