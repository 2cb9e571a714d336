//! A MariaDB server of Debian's version for measuring us beside other programs.

use crate::process::{output, succeed};
use crate::tools::install_tools;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time that a server may take to start.
const START: Duration = Duration::from_mins(1);
/// Options of a server without the Performance Schema.
pub const OFF: &[&str] = &["--performance-schema=OFF"];

/// A server with its data below the temporary folder; killed and removed when dropped.
pub struct Server {
    folder: PathBuf,
    process: Child,
}

impl Server {
    /// Starts a server that listens on its socket alone.
    pub fn start(name: &str, options: &[&str]) -> Result<Self, String> {
        Self::start_with(name, options, &["--skip-networking".to_owned()])
    }

    /// Starts a server that also listens on a free port of this machine, which it returns.
    pub fn start_on_port(name: &str, options: &[&str]) -> Result<(Self, u16), String> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let port = free.and_then(|free| free.local_addr()).map_err(|error| error.to_string())?;
        let port = port.port();
        let network = ["--bind-address=127.0.0.1".to_owned(), format!("--port={port}")];
        Ok((Self::start_with(name, options, &network)?, port))
    }

    fn start_with(name: &str, options: &[&str], network: &[String]) -> Result<Self, String> {
        install_tools(true)?;
        let folder =
            std::env::temp_dir().join(format!("steelbench-bench-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut common = vec![format!("--datadir={}", folder.join("data").display())];
        if output(Command::new("id").arg("-u"))?.trim() == "0" {
            // Servers refuse to run as root.
            common.push("--user=mysql".into());
            succeed(Command::new("chown").arg("mysql").arg(&folder))?;
        }
        let mut install = Command::new("mariadb-install-db");
        install.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]);
        output(install.args(&common).env("TMPDIR", &folder))?;
        let log = std::fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let mut command = Command::new("mariadbd");
        command.arg("--no-defaults").args(&common).args(options).env("TMPDIR", &folder);
        command.args(network).args(["--local-infile=ON", "--max-connections=300"]);
        command.args(["--innodb-buffer-pool-size=512M", "--innodb-flush-log-at-trx-commit=0"]);
        command.arg(format!("--socket={}", folder.join("sock").display())).stderr(log);
        let process = command.spawn().map_err(|error| format!("mariadbd: {error}"))?;
        let (server, started) = (Self { folder, process }, Instant::now());
        while server.sql("DO 0").is_err() {
            if started.elapsed() > START {
                return Err(format!(
                    "mariadbd does not start: see {}",
                    server.folder.join("log").display()
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    /// The process.
    pub fn pid(&self) -> String {
        self.process.id().to_string()
    }

    /// The path of its socket.
    pub fn socket(&self) -> String {
        self.folder.join("sock").display().to_string()
    }

    /// A path that the server's user may read and write.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs SQL; the rows without headings, columns between tabs.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--user=root", "--local-infile=1", "-BN", "-e", sql]);
        output(client.arg(format!("--socket={}", self.socket())).stdin(Stdio::null()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
