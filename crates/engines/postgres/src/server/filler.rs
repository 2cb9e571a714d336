//! The programs of PostgreSQL that fill a database: how they connect, and how long they may take.

use super::installation::psql;
use crate::client::{Config, quote_literal};
use crate::connecting::is_working;
use engine::{EngineError, Result};
use experiment::NamedFile;
use servers::command::run_long;
use servers::programs::libpq::environment;
use servers::programs::{Relay, command};
use std::path::Path;
use std::process::{Command, Stdio};
use work::Stop;

/// Program that fills or reads a database.
pub(super) struct Filler<'a> {
    pub(super) config: &'a Config,
    /// The folder of the programs of a private server.
    pub(super) bindir: Option<&'a Path>,
    /// `None`: to a private server, which asks for no password.
    pub(super) relay: Option<Relay>,
    pub(super) stop: &'a Stop,
}

impl Filler<'_> {
    /// Runs a file by psql, which says where it fails and with which statement, and stops there.
    pub(super) fn run(&self, file: &NamedFile, variables: &[(String, String)]) -> Result<()> {
        let mut command = self.psql(&psql(self.bindir)?, &file.folder);
        command.args(variables.iter().map(|(name, value)| format!("--set={name}={value}")));
        command.arg("--file").arg(&file.path);
        self.conduct(command, Stdio::null(), &format!("running {}", file.path))
    }

    /// Starts psql so that it stops at the first error, with its statement.
    pub(super) fn psql(&self, program: &Path, folder: &Path) -> Command {
        let mut command = self.client(program, folder);
        command.args(["--no-psqlrc", "--quiet", "--echo-errors", "--set=ON_ERROR_STOP=1"]);
        command
    }

    /// Runs a program as long as it comes on, or the server works for it: for a session by the
    /// program's name.
    pub(super) fn conduct(&self, mut command: Command, input: Stdio, doing: &str) -> Result<()> {
        let name = format!("steelbench setup {}", std::process::id());
        command.env("PGAPPNAME", &name);
        let session = format!("application_name = {}", quote_literal(&name));
        let works = || is_working(self.config, &session);
        let ended = run_long(command, input, doing, &works, self.stop);
        // A login that a request to stop has ended looks to the program like a refusal.
        ended.map_err(|error| if self.stop.is_asked() { EngineError::Cancelled } else { error })
    }

    /// A program that connects to the database, in the folder from which the paths of its files
    /// count.
    pub(super) fn client(&self, program: &Path, folder: &Path) -> Command {
        let mut command = command(program, folder);
        command.args(["--dbname", &self.config.database, "--no-password"]);
        let known = ["PGUSER", "PGAPPNAME"];
        let client_environment = self.config.client_environment().into_iter();
        let client_environment = client_environment
            .filter(|(name, _)| self.relay.is_none() || known.contains(&name.as_str()));
        command.envs(client_environment.filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.relay.iter().flat_map(environment));
        command
    }
}
