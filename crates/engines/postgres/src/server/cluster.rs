//! One private cluster and its server.

use super::files::{self, BASELINE_FILE, Postmaster, SETTINGS_FILE};
use super::installation::Installation;
use super::left::{PROGRAM, free_shared_memory};
use super::setup::ServerSetup;
use super::template::{self, DataOptions, SUPERUSER};
use crate::client::{Client, Config};
use crate::failed_at;
use engine::EngineError;
use rustix::process::Signal;
use servers::account::{Account, command};
use servers::data_sets::{DataSets, remove_beside};
use servers::files::{
    Layout, absolute, allocated_bytes, clone_folder, evict, is_vacant, last_lines, log_since,
    make_socket_folder, open_for, write_back,
};
use servers::process::{Process, kill_all, remove_files};
use servers::template::Template;
use servers::wait_for;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// What a cluster is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterOptions {
    /// The programs.
    pub installation: Installation,
    /// A directory that the caller has marked as ours; it may hold other things too.
    pub directory: PathBuf,
    /// A directory on another volume, marked as ours, for the log (as `initdb --waldir`).
    pub wal_directory: Option<PathBuf>,
    /// As whom it runs.
    pub account: Account,
    /// What is decided when a cluster is initialised.
    pub data: DataOptions,
    /// What the user has it filled with, once.
    pub setup: Option<ServerSetup>,
    /// Connections of the load that it must have room for.
    pub connections: u32,
    /// Files of cgroups (`cgroup.procs`) that the server joins before it starts.
    pub cgroups: Vec<PathBuf>,
}

/// How long a login may take on a slow disk; a server that is stopped would take for ever.
const CONNECTING: Duration = Duration::from_secs(60);

/// It only names the socket, which is in a folder of its own.
pub(super) const PORT: u16 = 5432;

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

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Connections are ended, all is written: the next start needs no recovery.
    Fast,
    /// As in a crash: the next start recovers.
    Immediate,
}

/// A private cluster. Dropping it stops the server and removes all of it.
#[derive(Debug)]
pub struct Cluster {
    /// What it was made with. Tablespaces must belong to its account.
    pub options: ClusterOptions,
    pub(super) layout: Layout,
    pub(super) sockets: PathBuf,
    pub(super) process: Option<Process>,
    /// The settings in force, when they are known.
    pub(super) applied: Option<BTreeMap<String, String>>,
    pub(crate) data_sets: DataSets,
}

impl Cluster {
    /// Makes a cluster by cloning a template; its server is not started yet. The account must reach
    /// the directory and the programs.
    pub fn create(mut options: ClusterOptions, cancel: &Cancel) -> Result<Self, EngineError> {
        options.directory = absolute(&options.directory)?;
        let account = &options.account;
        account.can_run(&options.installation.program(PROGRAM))?;
        let cache = template::cache_folder(account)?;
        let template = template::find_or_make(&cache, &options, cancel)?;
        let wal_directory = options.wal_directory.as_deref().map(absolute).transpose()?;
        for directory in [Some(&options.directory), wal_directory.as_ref()].into_iter().flatten() {
            open_for(account, directory)?;
        }
        options.wal_directory = wal_directory.map(|directory| directory.join("pg_wal"));
        let layout = Layout::of(&options.directory);
        is_vacant(&layout, options.wal_directory.as_deref())?;
        // From here on, dropping it removes what was made.
        let sockets = layout.socket.clone();
        let data_sets = DataSets::default();
        let mut cluster =
            Self { sockets, layout, options, process: None, applied: None, data_sets };
        cluster.lay_out(&template)?;
        Ok(cluster)
    }

    fn lay_out(&mut self, template: &Template) -> Result<(), EngineError> {
        let data = &self.layout.data;
        clone_folder(&template.data, data, &self.options.account)?;
        if let Some(wal) = &self.options.wal_directory {
            move_wal(&data.join("pg_wal"), wal, &self.options.account)?;
        }
        self.sockets = make_socket_folder(&self.layout, &self.options.account)?;
        let main = data.join("postgresql.conf");
        let included =
            format!("\ninclude '{BASELINE_FILE}'\ninclude_if_exists '{SETTINGS_FILE}'\n");
        let text = std::fs::read_to_string(&main).map_err(EngineError::at(&main))?;
        // A template with the user's tables has been a cluster already.
        if !text.ends_with(&included) {
            self.options.account.write(&main, &(text + &included))?;
        }
        write_back(data)?;
        self.options.wal_directory.as_deref().map_or(Ok(()), write_back)
    }

    /// How to connect as superuser, over the socket.
    pub fn config(&self) -> Config {
        Config::unix(&self.sockets, PORT, SUPERUSER, SUPERUSER)
            .with_connect_timeout(Some(CONNECTING))
    }

    /// Opens a connection as superuser. The error has the end of the log when the server has ended.
    pub fn connect(&self) -> Result<Client, EngineError> {
        self.connect_until(&Cancel::new())
    }

    /// The same for work between trials: no answer may take longer than a proper shutdown, or than
    /// until somebody asks to stop.
    pub(super) fn connect_until(&self, cancel: &Cancel) -> Result<Client, EngineError> {
        let connected =
            Client::connect(&self.config().with_stop(cancel.stop())).map(|mut client| {
                client.set_answer_timeout(Some(STOP_FAST));
                client.set_stop(cancel.stop(), Duration::ZERO);
                client
            });
        connected.map_err(|error| {
            if error.is_stopped() {
                return EngineError::Cancelled;
            }
            let ended = self.process.as_ref().and_then(Process::ended);
            let ended = ended.map(|status| {
                format!(
                    "; the server has ended with {status}; its log:\n{}",
                    self.log_tail(LOG_LINES)
                )
            });
            EngineError::failed(
                "connecting to the server",
                format!("{error}{}", ended.unwrap_or_default()),
            )
        })
    }

    /// The data directory.
    pub fn data_directory(&self) -> PathBuf {
        self.layout.data.clone()
    }

    /// Writes all dirty pages of the server.
    pub fn checkpoint(&self, cancel: &Cancel) -> Result<(), EngineError> {
        self.connect_until(cancel)?.batch("CHECKPOINT").map_err(failed_at("CHECKPOINT"))
    }

    /// The files of the data directory, the log and the tablespaces.
    pub fn files(&self) -> Result<Vec<PathBuf>, EngineError> {
        files::all(&self.layout.data)
    }

    /// Puts the files out of the operating system's page cache, after a checkpoint if it runs.
    /// What the server has in its shared buffers stays there: stop it before to begin cold.
    pub fn drop_os_cache(&self, cancel: &Cancel) -> Result<(), EngineError> {
        if self.is_running() {
            self.checkpoint(cancel)?;
        }
        evict(&self.files()?)
    }

    /// Bytes allocated by the data directory, the log and the tablespaces.
    pub fn space_bytes(&self) -> u64 {
        self.files().map_or(0, |files| allocated_bytes(&files))
    }

    /// Starts the server and waits until it accepts connections. Nothing happens if it runs. The
    /// error has the end of its log.
    pub fn start(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        if self.is_running() {
            return Ok(());
        }
        // What a server that was killed may have left running.
        self.stop(Stop::Immediate, cancel)?;
        self.options.account.write(&self.layout.data.join(BASELINE_FILE), &self.baseline())?;
        self.process = Some(self.spawn()?);
        let started = self.await_ready(cancel);
        if started.is_err() {
            // What goes on nevertheless is found by the next start, which says so.
            let _ = self.stop(Stop::Immediate, cancel);
        }
        started
    }

    fn spawn(&self) -> Result<Process, EngineError> {
        let log = &self.layout.log;
        let output =
            File::options().create(true).append(true).open(log).map_err(EngineError::at(log))?;
        let errors = output.try_clone().map_err(EngineError::at(log))?;
        let mut command = command(&self.options.installation.program(PROGRAM));
        command.arg("-D").arg(&self.layout.data).stdout(output).stderr(errors);
        // At our end an immediate shutdown.
        Process::start(command, &self.options.account, &self.options.cgroups, Signal::QUIT)
            .map_err(|error| EngineError::failed("starting the server", error.to_string()))
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
            Ok({
                let config =
                    self.config().with_connect_timeout(Some(CONNECT)).with_stop(cancel.stop());
                Client::connect(&config).ok()
            })
        })?;
        let late = || self.failed_start(&format!("it was not ready after {} s", START.as_secs()));
        ready.map(drop).ok_or_else(late)
    }

    fn failed_start(&self, why: &str) -> EngineError {
        let doing = format!("starting PostgreSQL {}", self.options.installation.version);
        EngineError::failed(
            doing,
            format!("{why}; its log ends with:\n{}", self.log_tail(LOG_LINES)),
        )
    }

    /// PostgreSQL's defaults, but for what has to do with being private and being observed.
    fn baseline(&self) -> String {
        let connections = CONNECTIONS.max(self.options.connections + CONNECTIONS_BESIDE);
        let sockets = self.sockets.to_string_lossy().into_owned();
        let settings = [
            ("cluster_name", "steelbench".to_owned()),
            ("listen_addresses", String::new()),
            ("port", PORT.to_string()),
            ("unix_socket_directories", list_item(&sockets)),
            ("unix_socket_permissions", "0700".to_owned()),
            ("max_connections", connections.to_string()),
            ("logging_collector", "off".to_owned()),
            ("track_io_timing", "on".to_owned()),
            ("track_wal_io_timing", "on".to_owned()),
        ];
        settings.iter().map(|(name, value)| super::settings::line(name, value) + "\n").collect()
    }

    /// Stops the server and waits until it has ended, without its checkpoint once somebody asks to
    /// stop. Nothing happens if it does not run.
    pub fn stop(&mut self, how: Stop, cancel: &Cancel) -> Result<(), EngineError> {
        if let Some(process) = &self.process {
            if how == Stop::Fast {
                process.signal(Signal::INT);
                process.wait(STOP_FAST, cancel);
            }
            process.signal(Signal::QUIT);
            // One that was frozen hears it now.
            process.signal(Signal::CONT);
            process.wait(STOP_IMMEDIATE, &Cancel::new());
        }
        let data = &self.layout.data;
        // After a proper end there is nobody; after a kill its children may go on.
        let gone = kill_all(PROGRAM, data, self.postmaster_pid());
        self.process = None;
        if gone {
            Ok(())
        } else {
            Err(EngineError::failed(data.display().to_string(), "the server cannot be killed"))
        }
    }

    /// Stops it so that nothing is left to recover, and starts it again.
    pub fn restart(&mut self, cancel: &Cancel) -> Result<(), EngineError> {
        self.stop(Stop::Fast, cancel)?;
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

    /// Whether the server has ended by itself: one that we stopped is as it was left.
    pub fn has_died(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_some())
    }

    /// Lets the server load its settings again, if it runs.
    pub(super) fn signal_reload(&self) {
        self.process.iter().for_each(|process| process.signal(Signal::HUP));
    }

    /// Length of the server's log.
    pub fn log_bytes(&self) -> u64 {
        self.layout.log.metadata().map_or(0, |found| found.len())
    }

    /// What the server has said since its log had this length: no more than its end.
    pub fn log_since(&self, bytes: u64) -> String {
        log_since(&self.layout.log, bytes)
    }

    /// The last lines of the server's log.
    pub fn log_tail(&self, lines: usize) -> String {
        last_lines(&self.log_since(0), lines)
    }

    /// Stops the server and removes the cluster; fails when something of it remains.
    pub fn remove(mut self) -> Result<(), EngineError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), EngineError> {
        self.stop(Stop::Immediate, &Cancel::new())?;
        if let Some((key, id)) = Postmaster::of(&self.layout.data).shared_memory {
            free_shared_memory(key, id);
        }
        remove_beside(&self.layout.directory)?;
        remove_files(&self.layout, self.options.wal_directory.as_deref())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What remains is found by the next run.
        let _ = self.clear();
    }
}

fn move_wal(from: &Path, to: &Path, account: &Account) -> Result<(), EngineError> {
    clone_folder(from, to, account)?;
    std::fs::remove_dir_all(from).map_err(EngineError::at(from))?;
    symlink(to, from).map_err(EngineError::at(from))?;
    account.own(from)
}

/// A value in a list of names: in quotes, so that commas and spaces are its own.
fn list_item(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
