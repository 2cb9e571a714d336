//! A PostgreSQL server for measuring us beside PostgreSQL's own programs, and those programs.

use super::run::{Used, used};
use crate::process::{output, succeed};
use crate::tools::install_tools;
use std::path::PathBuf;
use std::process::Command;

/// The role and database of everything that is measured.
const USER: &str = "bench";

/// A server with its data below the temporary folder; stopped and removed when dropped.
pub struct PeerServer {
    bindir: PathBuf,
    folder: PathBuf,
    /// Servers refuse to run as root.
    as_other: bool,
}

impl PeerServer {
    /// Starts a server of the distribution's version, whose pgbench and psql are the peers.
    pub fn start() -> Result<Self, String> {
        Self::start_with("")
    }

    /// Starts a server with further options of `postgres`.
    pub fn start_with(further: &str) -> Result<Self, String> {
        // Only PostgreSQL is required; other missing tools are reported.
        let [_, (_, bindirs), ..] = install_tools(false)?;
        let mut bindirs = std::env::split_paths(&bindirs);
        let bindir =
            bindirs.find(|bindir| bindir.join("pgbench").exists()).ok_or("there is no pgbench")?;
        let folder = std::env::temp_dir().join(format!("steelbench-bench-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let as_other = output(Command::new("id").arg("-u"))?.trim() == "0";
        let server = Self { bindir, folder, as_other };
        if as_other {
            succeed(Command::new("chown").arg("postgres").arg(&server.folder))?;
        }
        let data = server.data();
        output(server.program("initdb").args(["-U", USER, "-A", "trust", "-N", "-D"]).arg(&data))?;
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c max_connections=300 -c \
             synchronous_commit=off -c shared_buffers=512MB -c max_wal_size=8GB -c \
             checkpoint_timeout=1h {further}",
            server.folder.display()
        );
        let log = server.folder.join("log");
        let mut start = server.program("pg_ctl");
        start.args(["-w", "-D"]).arg(&data).args(["-o", &options, "-l"]).arg(log).arg("start");
        // Its output would be waited for until the server ends.
        succeed(start.stdout(std::process::Stdio::null()))?;
        output(
            server.program("createdb").args(["-h"]).arg(&server.folder).args(["-U", USER, USER]),
        )?;
        Ok(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A program of PostgreSQL, as the server's user.
    fn program(&self, name: &str) -> Command {
        let program = self.bindir.join(name);
        let mut command = if self.as_other {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(std::env::temp_dir());
        command
    }

    /// A path that the server's user may read and write.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// How our own program reaches it.
    pub fn url(&self) -> String {
        format!("host={} user={USER} dbname={USER}", self.folder.display())
    }

    /// Runs SQL.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        output(Command::new(self.bindir.join("psql")).args(self.place()).args(["-qAtX", "-c", sql]))
    }

    /// Arguments that say where the server is.
    fn place(&self) -> [String; 6] {
        ["-h", &self.folder.to_string_lossy(), "-U", USER, "-d", USER].map(str::to_owned)
    }

    /// Runs `pgbench` or `psql` with these arguments and says what it used.
    pub fn peer(&self, name: &str, arguments: &[&str]) -> Result<Used, String> {
        // pgbench has the database as its last argument.
        let place = self.place();
        used(Command::new(self.bindir.join(name)).args(&place[..4]).args(arguments).arg(&place[5]))
    }
}

impl Drop for PeerServer {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["-m", "immediate", "-D"]).arg(self.data()).arg("stop");
        // What remains is in the temporary folder, and is said.
        if let Err(error) = output(&mut stop) {
            eprintln!("{error}");
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
