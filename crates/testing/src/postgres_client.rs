//! Real servers to test against: each in a directory of its own, stopped and removed when dropped.

use crate::installed::folder;
pub use crate::process::LONG;
use crate::process::{end, wait_for};
use crate::templates::data_directory;
use postgres::client::{Client, Config};
use servers::account::Account;
use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The role that owns the servers.
pub const OWNER: &str = "owner";

/// The folders of installed servers, or a line that says there is none.
pub fn bindirs() -> Vec<PathBuf> {
    let found: Vec<PathBuf> = match std::env::var_os("STEELBENCH_TEST_PG_BINDIRS") {
        Some(list) => std::env::split_paths(&list).collect(),
        None => fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .collect(),
    };
    let found: Vec<_> = found.into_iter().filter(|bin| bin.join("postgres").exists()).collect();
    if found.is_empty() {
        println!("SKIPPED: no PostgreSQL server is installed");
    }
    found
}

/// The folders of servers that can encrypt.
pub fn tls_bindirs() -> Vec<PathBuf> {
    let found: Vec<_> = bindirs()
        .into_iter()
        .filter(|bin| {
            let built = Command::new(bin.join("pg_config")).arg("--configure").output().unwrap();
            String::from_utf8_lossy(&built.stdout).contains("ssl")
        })
        .collect();
    if found.is_empty() {
        println!("SKIPPED: no PostgreSQL server with TLS is installed");
    }
    found
}

/// A server that listens on a unix socket and on 127.0.0.1.
pub struct Server {
    /// The folder of its programs.
    pub bin: PathBuf,
    /// The port on 127.0.0.1.
    pub port: u16,
    folder: TempDir,
    process: Option<Child>,
}

impl Server {
    /// Starts a server with these lines of `pg_hba.conf` before the one that trusts all connections
    /// over the unix socket.
    pub fn start(bin: &Path, hba: &str, settings: &[(&str, &str)]) -> Self {
        let mut server = Self::in_new_folder(bin);
        let data = server.folder().join("data");
        data_directory(&bin.display().to_string(), &data, || {
            let init = server
                .command("initdb")
                .args(["-A", "trust", "-U", OWNER, "-E", "UTF8"])
                .args(["--locale=C", "--no-sync", "-D", data.to_str().unwrap()])
                .output()
                .unwrap();
            assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
        });
        fs::write(data.join("pg_hba.conf"), format!("{hba}\nlocal all all trust\n")).unwrap();
        server.run(settings);
        server
    }

    /// Starts a streaming replica of this server, which has to let `pg_basebackup` in.
    #[must_use]
    pub fn replica(&self, settings: &[(&str, &str)]) -> Self {
        let mut replica = Self::in_new_folder(&self.bin);
        let data = replica.folder().join("data");
        let copied = replica
            .command("pg_basebackup")
            .args(["--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--username", OWNER])
            .args(["--host", self.folder().to_str().unwrap(), "--port", &self.port.to_string()])
            .args(["--pgdata", data.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        replica.run(settings);
        replica
    }

    fn in_new_folder(bin: &Path) -> Self {
        let folder = folder();
        give(folder.path());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { bin: bin.to_owned(), port, folder, process: None }
    }

    fn run(&mut self, settings: &[(&str, &str)]) {
        let log = self.folder().join("log");
        let mut command = self.command("postgres");
        command.args(["-D", self.folder().join("data").to_str().unwrap()]);
        command.args(["-k", self.folder().to_str().unwrap(), "-p", &self.port.to_string()]);
        for (name, value) in
            [("listen_addresses", "127.0.0.1"), ("fsync", "off")].iter().chain(settings)
        {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let errors = fs::File::create(&log).unwrap();
        let process = command.stdout(Stdio::null()).stderr(errors).spawn().unwrap();
        let config = self.config();
        wait_for(self.process.insert(process), &log, || Client::connect(&config));
    }

    /// A program of the server's, run by its user: never root, whom PostgreSQL refuses.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        account().enter(&mut command);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(self.folder());
        command
    }

    /// The folder of its socket and its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The owner, over the unix socket.
    pub fn config(&self) -> Config {
        let config = Config::unix(self.folder(), self.port, OWNER, "postgres");
        config.with_connect_timeout(Some(LONG))
    }

    /// A connection string of its owner, over the unix socket.
    pub fn conninfo(&self) -> String {
        let (folder, port) = (self.folder().display(), self.port);
        format!("host={folder} port={port} user={OWNER} dbname=postgres")
    }

    /// A connection of its owner.
    pub fn connect(&self) -> Client {
        Client::connect(&self.config()).unwrap()
    }

    /// Runs psql with this connection string and these variables only: rows, or `Err` with its
    /// complaint.
    pub fn psql<K: AsRef<OsStr>>(
        &self,
        conninfo: &str,
        variables: &[(K, String)],
        sql: &str,
    ) -> Result<String, String> {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.env_clear().env("HOME", self.folder()).env("PATH", "/usr/bin:/bin");
        psql.envs(variables.iter().map(|(name, value)| (name, value)));
        let output = psql.args(["-XAtwd", conninfo, "-c", sql]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // At once, but with its children; it may have ended by itself.
            let _ = Command::new("kill").args(["-QUIT", &process.id().to_string()]).output();
            end(&mut process);
        }
    }
}

/// Makes a file the servers' user's.
pub fn give(path: &Path) {
    account().chown(path).unwrap();
}

/// Whom servers run as.
fn account() -> Account {
    Account::for_server(None, "postgres").unwrap()
}
