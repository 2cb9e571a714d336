//! Starting, watching and stopping the server of a cluster.

use super::account::command;
use super::cluster::{Cluster, free_port};
use super::layout::{BASELINE_FILE, Postmaster};
use super::process::{Process, kill_all};
use super::template::SUPERUSER;
use super::{at, failed, wait_for};
use crate::postgres::failure::of_client;
use crate::{Cancel, EngineError};
use pgclient::{Client, quote_literal};
use rustix::process::Signal;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// How long a start may take, with recovery of what a crash left.
const START: Duration = Duration::from_secs(300);
/// How long one attempt to connect may take while it starts.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a fast shutdown may take: it writes all dirty pages.
const STOP_FAST: Duration = Duration::from_secs(300);
/// How long an immediate shutdown may take; the server itself kills after 5 s what does not end.
const STOP_IMMEDIATE: Duration = Duration::from_secs(15);
/// Connections that a server has room for unless it is asked for more: PostgreSQL's default.
const CONNECTIONS: u32 = 100;
/// Connections beyond those of the load: observers, and those that the server keeps for superusers.
const CONNECTIONS_BESIDE: u32 = 20;
/// Lines of the log in errors.
pub(super) const LOG_LINES: usize = 20;
/// Bytes of the log that are looked at for its last lines.
const LOG_BYTES_MAX: u64 = 64 << 10;

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Connections are ended, all is written: the next start needs no recovery.
    Fast,
    /// As in a crash: the next start recovers.
    Immediate,
}

impl Cluster {
    /// Starts the server and waits until it accepts connections. Nothing happens if it runs. The error
    /// has the end of its log.
    pub fn start(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        if self.is_running() {
            return Ok(());
        }
        // What a server that was killed may have left running.
        self.stop(Stop::Immediate)?;
        if self.options.tcp {
            // Another program may have taken it meanwhile.
            self.port = free_port();
        }
        self.options.account.write(&self.layout.data.join(BASELINE_FILE), &self.baseline())?;
        self.process = Some(self.spawn()?);
        let started = self.await_ready(cancel);
        if started.is_err() {
            // What goes on nevertheless is found by the next start, which says so.
            let _ = self.stop(Stop::Immediate);
        }
        started
    }

    fn spawn(&self) -> Result<Process, EngineError> {
        let log = &self.layout.log;
        let output = File::options().create(true).append(true).open(log).map_err(at(log))?;
        let errors = output.try_clone().map_err(at(log))?;
        let mut command = command(&self.options.installation.program("postgres"));
        command.arg("-D").arg(&self.layout.data).stdout(output).stderr(errors);
        Process::start(command, &self.options.account, &self.options.cgroups)
            .map_err(|error| failed("starting the server", error.to_string()))
    }

    fn await_ready(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        let ready = wait_for(START, cancel, || {
            let ended = self.process.as_ref().and_then(Process::ended);
            if let Some(status) = ended {
                return Err(self.failed_start(&format!("it ended with {status}")));
            }
            let note = Postmaster::of(&self.layout.data);
            if !note.ready || note.pid != self.postmaster_pid() {
                return Ok(None);
            }
            // It says so a moment before it does.
            Ok(Client::connect(&self.config().with_connect_timeout(Some(CONNECT))).ok())
        })?;
        let Some(mut client) = ready else {
            return Err(self.failed_start(&format!("it was not ready after {} s", START.as_secs())));
        };
        if let Some(password) = &self.password {
            let sql = format!("ALTER ROLE {SUPERUSER} PASSWORD {}", quote_literal(&password.0));
            client.batch(&sql).map_err(|error| of_client("setting the password", &error))?;
        }
        Ok(())
    }

    fn failed_start(&self, why: &str) -> EngineError {
        let doing = format!("starting PostgreSQL {}", self.options.installation.version);
        failed(doing, format!("{why}; its log ends with:\n{}", self.log_tail(LOG_LINES)))
    }

    /// PostgreSQL's defaults, but for what has to do with being private and being observed.
    fn baseline(&self) -> String {
        let connections = CONNECTIONS.max(self.options.connections + CONNECTIONS_BESIDE);
        let address = if self.options.tcp { "127.0.0.1" } else { "" };
        let sockets = self.sockets.to_string_lossy().into_owned();
        let settings = [
            ("cluster_name", "steelbench".to_owned()),
            ("listen_addresses", address.to_owned()),
            ("port", self.port.to_string()),
            ("unix_socket_directories", list_item(&sockets)),
            ("unix_socket_permissions", "0700".to_owned()),
            ("max_connections", connections.to_string()),
            ("logging_collector", "off".to_owned()),
            ("track_io_timing", "on".to_owned()),
            ("track_wal_io_timing", "on".to_owned()),
        ];
        settings.iter().map(|(name, value)| super::settings::line(name, value) + "\n").collect()
    }

    /// Stops the server and waits until it has ended. Nothing happens if it does not run.
    pub fn stop(&mut self, how: Stop) -> Result<(), EngineError> {
        if let Some(process) = &self.process {
            if how == Stop::Fast {
                process.signal(Signal::INT);
                process.wait(STOP_FAST);
            }
            process.signal(Signal::QUIT);
            process.wait(STOP_IMMEDIATE);
        }
        let data = &self.layout.data;
        // After a proper end there is nobody; after a kill its children may go on.
        let gone = kill_all(data, self.postmaster_pid());
        self.process = None;
        if gone { Ok(()) } else { Err(failed(data.display().to_string(), "the server cannot be killed")) }
    }

    /// Stops it so that nothing is left to recover, and starts it again.
    pub fn restart(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        self.stop(Stop::Fast)?;
        self.start(cancel)
    }

    /// The number of the server's first process, while we have not stopped it.
    pub fn postmaster_pid(&self) -> Option<i32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Whether the server's first process lives.
    pub fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_none())
    }

    /// Lets the server load its settings again, if it runs.
    pub(super) fn signal_reload(&self) {
        if let Some(process) = &self.process {
            process.signal(Signal::HUP);
        }
    }

    /// Length of the server's log.
    pub fn log_bytes(&self) -> u64 {
        self.layout.log.metadata().map_or(0, |found| found.len())
    }

    /// What the server has said since its log had this length.
    pub fn log_since(&self, bytes: u64) -> String {
        let grown = self.log_bytes().saturating_sub(bytes);
        tail(&self.layout.log, grown.min(LOG_BYTES_MAX)).unwrap_or_default()
    }

    /// The last lines of the server's log.
    pub fn log_tail(&self, lines: usize) -> String {
        let text = tail(&self.layout.log, LOG_BYTES_MAX).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// A value in a list of names: in quotes, so that commas and spaces are its own.
fn list_item(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The last bytes of a file, as text.
fn tail(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes_max)))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
