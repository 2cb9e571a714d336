//! Agents that the coordinator starts: processes of this machine, or over ssh of other machines.
//! They get the token by standard input, whose end also ends them: none outlives its coordinator.

use crate::broker::PrivateBroker;
use crate::error::AgentError;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for an agent to end by itself.
const END_MAX: Duration = Duration::from_secs(3);

/// The place of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// This machine.
    Here {
        /// The agent's name.
        name: String,
        /// The folder for the data of whole trials.
        folder: PathBuf,
    },
    /// Another machine, as ssh knows it.
    Host(String),
}

/// An agent that the coordinator has started.
#[derive(Debug)]
pub(crate) struct AgentProcess {
    place: Place,
    child: Child,
    /// The end is the agent's.
    input: Option<ChildStdin>,
}

impl AgentProcess {
    /// Starts an agent that connects to this broker.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(place: Place, broker: &PrivateBroker) -> Result<Self, AgentError> {
        let (mut command, name) = match &place {
            Place::Here { name, .. } => {
                let program = std::env::current_exe();
                (Command::new(program.unwrap_or_else(|_| PathBuf::from("steelbench"))), name)
            }
            Place::Host(host) => (over_ssh(host, broker.port()), host),
        };
        let agent = ["agent", "--broker", &broker.url(), "--token-file", "-", "--name"];
        command.args(agent).arg(plain(name));
        if let Place::Here { folder, .. } = &place {
            command.arg("--folder").arg(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child =
            command.spawn().map_err(|source| AgentError::Start { program, source, advice: "" })?;
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // An agent that has ended is noticed as missing.
            let _ = writeln!(input, "{}", broker.token().reveal());
        }
        Ok(Self { place, child, input })
    }

    /// Number of its process, if that has ended.
    pub fn ended(&mut self) -> Option<u32> {
        (!matches!(self.child.try_wait(), Ok(None))).then(|| self.child.id())
    }

    /// Starts it again where it has ended.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn revive(&mut self, broker: &PrivateBroker) -> Result<(), AgentError> {
        if self.ended().is_some() {
            *self = Self::start(self.place.clone(), broker)?;
        }
        Ok(())
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + END_MAX;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A command on another machine. The broker listens on this machine only: ssh brings the agent's
/// connection here, encrypted, by the same port.
fn over_ssh(host: &str, port: u16) -> Command {
    let mut ssh = Command::new("ssh");
    let forward = format!("127.0.0.1:{port}:127.0.0.1:{port}");
    ssh.args(["-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-R", &forward]);
    ssh.args(["--", host, "steelbench"]);
    ssh
}

/// A name without characters that an agent's has not.
fn plain(name: &str) -> String {
    let plain = name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "-");
    plain.chars().take(64).collect()
}
