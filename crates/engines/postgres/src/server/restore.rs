//! Restores of dumps: by the programs of the server's version, or, of a dump that a later `pg_dump`
//! has written, by those of the dump's version.

use super::filler::Filler;
use super::installation::{ClientProgram, Version, psql};
use crate::connecting::stoppable;
use crate::errors::failed_at;
use engine::{EngineError, Result};
use experiment::NamedFile;
use servers::programs::command;
use servers::programs::dump::{Format, Origin, of_pg_dump, origin_of_pg_dump};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, PipeWriter, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;

/// Processes that restore a dump, where its format allows several.
const RESTORERS_MAX: usize = 4;

/// Characters of its output that an error quotes.
const QUOTED_CHARS_MAX: usize = 800;

/// Codes of errors at something that the server does not know
/// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>): a column option, a syntax, a
/// name of a setting, type or method, a function.
const UNKNOWN: [&str; 4] = ["22023", "42601", "42704", "42883"];
/// Codes of errors at an extension that is not installed, and at its library.
const NOT_INSTALLED: [&str; 2] = ["0A000", "58P01"];

/// A restore of a dump into a database.
pub(super) struct Restore<'a> {
    filler: &'a Filler<'a>,
    dump: &'a NamedFile,
    format: Format,
    /// The versions of the server that was dumped and of the program that wrote the dump.
    source: Option<Version>,
    writer: Option<Version>,
    /// The version of the server.
    target: Version,
}

impl<'a> Restore<'a> {
    pub(super) fn new(
        filler: &'a Filler<'a>,
        dump: &'a NamedFile,
        target: Version,
    ) -> Result<Self> {
        let place = dump.place();
        let format = of_pg_dump(&place)
            .map_err(|message| EngineError::failed(format!("restoring {}", dump.path), message))?;
        let Origin { server, program } = origin_of_pg_dump(&place);
        let version = |text: Option<String>| Version::parse(&text?);
        let (source, writer) = (version(server), version(program));
        Ok(Self { filler, dump, format, source, writer, target })
    }

    /// Restores it. The owners' roles may not exist here: owners and privileges in an archive are
    /// ignored.
    ///
    /// # Errors
    /// When a program fails: with its message, and with a remedy where the server does not know
    /// something in the dump.
    pub(super) fn conduct(&self) -> Result<()> {
        let Format::Archive { parallel } = self.format else {
            let place = self.dump.place();
            return self.explained(if self.is_later(self.writer) {
                let script = File::open(&place).map_err(EngineError::at(&place))?;
                self.run_script(script, None)
            } else {
                let variables = [("VERBOSITY".to_owned(), "verbose".to_owned())];
                self.filler.run(self.dump, &variables)
            });
        };
        let version = self.writer.filter(|_| self.is_later(self.writer)).unwrap_or(self.target);
        let program = ClientProgram::find("pg_restore", self.filler.bindir, Some(version))?;
        // Programs of later versions begin each session with settings that the server may not
        // know; psql runs their SQL without these.
        let only_script = self.is_later(Some(program.version));
        let sections: &[&str] = if only_script { &[] } else { &["--section=pre-data"] };
        self.explained(self.run_archive(&program, sections))?;
        if only_script {
            return Ok(());
        }
        let mut restore = self.filler.client(&program.path, &self.dump.folder);
        restore.args(["--exit-on-error", "--no-owner", "--no-privileges"]);
        restore.args(["--section=data", "--section=post-data"]);
        if parallel {
            let processes = thread::available_parallelism().map_or(1, usize::from);
            restore.args(["--jobs", &processes.min(RESTORERS_MAX).to_string()]);
        }
        restore.arg(&self.dump.path);
        self.filler.conduct(restore, Stdio::null(), &self.doing())
    }

    fn doing(&self) -> String {
        format!("restoring {}", self.dump.path)
    }

    fn is_later(&self, version: Option<Version>) -> bool {
        version.is_some_and(|version| version.major > self.target.major)
    }

    /// Runs these sections of an archive, without any all of it, as SQL.
    fn run_archive(&self, program: &ClientProgram, sections: &[&str]) -> Result<()> {
        let failed = |error: io::Error| EngineError::failed(self.doing(), error.to_string());
        let memory = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC);
        let mut output = File::from(memory.map_err(|error| failed(error.into()))?);
        let mut archive = command(&program.path, &self.dump.folder);
        archive.args(["--no-owner", "--no-privileges", "--file=-"]).args(sections);
        archive.arg(&self.dump.path).stdin(Stdio::null()).stdout(Stdio::piped());
        archive.stderr(output.try_clone().map_err(failed)?);
        let mut child = archive.spawn().map_err(failed)?;
        let Some(script) = child.stdout.take() else { return Ok(()) };
        if let Err(error) = self.run_script(script, Some(&mut child)) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        let status = child.wait().map_err(failed)?;
        if status.success() {
            return Ok(());
        }
        let mut text = Vec::new();
        output.rewind().and_then(|()| output.read_to_end(&mut text)).map_err(failed)?;
        let text: String =
            String::from_utf8_lossy(&text).trim().chars().take(QUOTED_CHARS_MAX).collect();
        let remedy = self.writer.filter(|writer| *writer > program.version).map(|writer| {
            format!(
                ". pg_dump {writer} wrote this dump, which pg_restore {} may not read. Remedy: {}",
                program.version,
                Remedy::NewerPrograms(writer).text()
            )
        });
        let message = format!("pg_restore ended with {status}: {text}");
        Err(EngineError::failed(self.doing(), message + &remedy.unwrap_or_default()))
    }

    /// Runs SQL that `pg_dump` or `pg_restore` wrote, without settings that the server does not
    /// know; `writer` is killed when psql fails.
    fn run_script(&self, script: impl Read + Send, writer: Option<&mut Child>) -> Result<()> {
        let failed = |error: io::Error| EngineError::failed(self.doing(), error.to_string());
        let known = self.known_settings()?;
        let program = self.program_for_script()?;
        let mut psql = self.filler.psql(&program, &self.dump.folder);
        psql.arg("--set=VERBOSITY=verbose");
        let (input, output) = io::pipe().map_err(failed)?;
        thread::scope(|scope| {
            let named = thread::Builder::new().name("script".into());
            let passing = named.spawn_scoped(scope, || pass_on(script, output, &known));
            let passing = passing.map_err(|error| EngineError::no_thread(&error))?;
            let ended = self.filler.conduct(psql, input.into(), &self.doing());
            if let Some(writer) = writer.filter(|_| ended.is_err()) {
                let _ = writer.kill();
                let _ = writer.wait();
            }
            let passed = passing.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()));
            ended.and(passed.map_err(failed))
        })
    }

    /// Finds the psql that knows the commands in a script of this dump.
    fn program_for_script(&self) -> Result<PathBuf> {
        let version = self.writer.max(Some(self.target));
        let found = ClientProgram::find("psql", self.filler.bindir, version);
        found.map(|program| program.path).or_else(|_| psql(self.filler.bindir))
    }

    fn known_settings(&self) -> Result<BTreeSet<String>> {
        let doing = "reading the names of settings";
        let mut client =
            stoppable(self.filler.config, self.filler.stop).map_err(failed_at(doing))?;
        let rows = client.query("SELECT name FROM pg_settings", &[]).map_err(failed_at(doing))?;
        Ok(rows.iter().map(|row| row.text(0)).collect())
    }

    /// Adds a remedy to an error at something that the server does not know.
    fn explained(&self, ended: Result<()>) -> Result<()> {
        let Err(EngineError::Engine { doing, message }) = ended else { return ended };
        let code = code(&message).unwrap_or_default();
        let remedies: Vec<Remedy> = if NOT_INSTALLED.contains(&code) {
            vec![Remedy::Extension]
        } else if UNKNOWN.contains(&code) {
            self.remedies()
        } else {
            return Err(EngineError::Engine { doing, message });
        };
        let name = |version: Option<Version>| {
            version.map_or("unknown version".to_owned(), |version| version.to_string())
        };
        let remedies: Vec<String> = remedies.into_iter().map(Remedy::text).collect();
        let message = format!(
            "{message}\nPostgreSQL {} does not know this part of the dump (of PostgreSQL {}, by \
             pg_dump {}). Remedy: {}.",
            self.target,
            name(self.source),
            name(self.writer),
            remedies.join("; or ")
        );
        Err(EngineError::Engine { doing, message })
    }

    fn remedies(&self) -> Vec<Remedy> {
        let mut remedies = Vec::new();
        if let Some(source) = self.source {
            let is_own = self
                .writer
                .is_some_and(|writer| writer.major == source.major && writer.minor >= source.minor);
            if !is_own {
                remedies.push(Remedy::SameProgram(source));
            }
            if self.target.major != source.major || self.target < source {
                remedies.push(Remedy::Server(source));
            }
        }
        if remedies.is_empty() {
            remedies.push(Remedy::Removal);
        }
        remedies
    }
}

/// Help for an error of a restore.
enum Remedy {
    SameProgram(Version),
    NewerPrograms(Version),
    Server(Version),
    Extension,
    Removal,
}

impl Remedy {
    fn text(self) -> String {
        match self {
            Self::SameProgram(Version { major, minor }) => format!(
                "dump again with pg_dump {major}.{minor} or a later {major} (Debian: \
                 postgresql-client-{major}), which leaves out what only that server keeps"
            ),
            Self::NewerPrograms(Version { major, .. }) => format!(
                "install the client programs of version {major} (Debian: \
                 postgresql-client-{major}), or dump again with an older pg_dump"
            ),
            Self::Server(Version { major, minor }) => format!(
                "restore on PostgreSQL {major}.{minor} or a later {major}: install it (Debian: \
                 postgresql-{major}), or set target.bindir to the folder of its programs"
            ),
            Self::Extension => "install the extension on the machine of that server, for its \
                                version, or remove it from the dump"
                .to_owned(),
            Self::Removal => "remove it from the database and dump again".to_owned(),
        }
    }
}

/// Returns the code in what psql prints of an error with verbosity `verbose`: behind the severity
/// and two blanks.
fn code(message: &str) -> Option<&str> {
    message.lines().find_map(|line| {
        let (code, _) = line.split_once(":  ")?.1.split_once(": ")?;
        let is_code =
            code.len() == 5 && code.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
        is_code.then_some(code)
    })
}

/// Passes a script on, with blank lines in place of settings at its beginning that the server does
/// not know.
fn pass_on(script: impl Read, mut to: PipeWriter, known: &BTreeSet<String>) -> io::Result<()> {
    let mut script = BufReader::new(script);
    let mut pass = || -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if script.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line);
            let setting = text.strip_prefix("SET ").and_then(|rest| rest.split_once(" = "));
            let is_unknown = setting.is_some_and(|(name, _)| !known.contains(name));
            to.write_all(if is_unknown { b"\n" } else { &line })?;
            let begins = ["SET ", "SELECT pg_catalog.set_config(", "--", "\\restrict ", "\n"];
            if !begins.iter().any(|begin| text.starts_with(begin)) {
                break;
            }
        }
        io::copy(&mut script, &mut to).map(drop)
    };
    match pass() {
        // psql has ended and says why.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        passed => passed,
    }
}

#[cfg(test)]
mod tests {
    use super::{code, pass_on};
    use std::io::Read;

    #[test]
    fn settings_that_the_server_does_not_know_are_left_out_at_the_beginning() {
        let script = "--\n\\restrict x\n\nSET statement_timeout = 0;\nSET transaction_timeout = \
                      0;\nSELECT pg_catalog.set_config('search_path', '', false);\n\nCREATE TABLE \
                      t (a text);\nCOPY t FROM stdin;\nSET other = 1;\n\\.\n";
        let (mut reader, writer) = std::io::pipe().unwrap();
        let known = ["statement_timeout".to_owned()].into();
        pass_on(script.as_bytes(), writer, &known).unwrap();
        let mut passed = String::new();
        reader.read_to_string(&mut passed).unwrap();
        assert_eq!(passed, script.replace("SET transaction_timeout = 0;", ""));
    }

    #[test]
    fn the_code_of_an_error_is_read_in_any_language() {
        for severity in ["ERROR", "FEHLER"] {
            let message = format!(
                "psql ended with exit status: 3: psql:<stdin>:33: {severity}:  22023: \
                 unrecognized parameter \"pg_attver\"\nLOCATION:  parseRelOptionsInternal, \
                 reloptions.c:1501"
            );
            assert_eq!(code(&message), Some("22023"));
        }
        assert_eq!(code("pg_restore: error: could not open input file"), None);
    }
}
