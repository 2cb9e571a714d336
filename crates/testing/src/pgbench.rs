//! PostgreSQL servers and pgbench, to compare with.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than any start of a server.
const LONG: Duration = Duration::from_secs(60);

/// A running server of each installed version, one after the other.
pub fn servers() -> impl Iterator<Item = Server> {
    let found: Vec<PathBuf> = match std::env::var_os("STEELBENCH_TEST_PG_BINDIRS") {
        Some(list) => std::env::split_paths(&list).collect(),
        None => fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .collect(),
    };
    let found: Vec<PathBuf> = found
        .into_iter()
        .filter(|bin| ["postgres", "pgbench", "psql"].iter().all(|name| bin.join(name).exists()))
        .collect();
    if found.is_empty() {
        println!("SKIPPED: no PostgreSQL server with pgbench is installed");
    }
    found.into_iter().map(|bin| Server::start(&bin))
}

/// A server in a folder of its own, reached by a unix socket there. Stopped when dropped.
pub struct Server {
    bin: PathBuf,
    folder: TempDir,
    process: Option<Child>,
}

impl Server {
    fn start(bin: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let user = unprivileged();
        if let Some(user) = user {
            chown(folder.path(), Some(user), Some(user)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(bin.join(program));
            if let Some(user) = user {
                command.uid(user).gid(user);
            }
            command.current_dir(folder.path()).stdout(Stdio::null());
            command
        };
        let init =
            ["-D", "data", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "--no-sync"];
        assert!(command("initdb").args(init).status().unwrap().success());
        let log = File::create(folder.path().join("log")).unwrap();
        let sockets = format!("unix_socket_directories={}", folder.path().display());
        let process = command("postgres")
            .args(["-D", "data", "-c", &sockets, "-c", "listen_addresses=", "-c", "fsync=off"])
            .args(["-c", "log_statement=all", "-c", "log_line_prefix="])
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self { bin: bin.to_owned(), folder, process: Some(process) };
        let end = Instant::now() + LONG;
        while !server.run("pg_isready", &["-q"], "").status.success() {
            assert!(Instant::now() < end, "{}", server.log());
            sleep(Duration::from_millis(20));
        }
        server
    }

    /// How to reach a database.
    pub fn url(&self, database: &str) -> String {
        format!("host={} user=owner dbname={database}", self.folder.path().display())
    }

    /// Where a program of this version is.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// Runs a program of this version as the server's owner.
    pub fn run(&self, program: &str, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(self.bin.join(program));
        command.args(arguments).env("PGHOST", self.folder.path()).env("PGUSER", "owner");
        command.env("PGDATABASE", "postgres").env("PGOPTIONS", "");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // Its output must be read at the same time, or its pipe fills up.
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        // Not every program reads its input.
        let _ = writer.join().unwrap();
        output
    }

    /// Runs psql and gives what it prints.
    pub fn psql(&self, database: &str, input: &str) -> String {
        let output = self.run("psql", &["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database], input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs pgbench with a script, and gives what it says on its standard error: `Err` if it fails.
    pub fn pgbench(&self, script: &str, arguments: &[&str]) -> Result<String, String> {
        let arguments = [&["-n", "-f", "/dev/stdin"], arguments].concat();
        let output = self.run("pgbench", &arguments, script);
        let text = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { Ok(text) } else { Err(text) }
    }

    /// Returns the output of `debug()` while pgbench runs a script.
    pub fn debug(&self, script: &str, arguments: &[&str]) -> Vec<String> {
        let pgbench = self.pgbench(script, arguments).unwrap_or_else(|error| panic!("{error}"));
        let values = pgbench.lines().filter(|line| line.starts_with("debug("));
        values.map(|line| line.split_once("): ").unwrap().1.to_owned()).collect()
    }

    /// Returns the server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let quit = Command::new("kill").args(["-QUIT", &process.id().to_string()]).status();
            if !quit.is_ok_and(|status| status.success()) {
                let _ = process.kill();
            }
            crate::ending::end(&mut process);
        }
    }
}

/// The user of servers when the tests run as root, because PostgreSQL refuses root.
fn unprivileged() -> Option<u32> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok()
    };
    (id(&["-u"]) == Some(0))
        .then(|| id(&["-u", "postgres"]).or_else(|| id(&["-u", "nobody"])).unwrap())
}
