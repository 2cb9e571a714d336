//! One private server.

use super::installation::{Installation, PROGRAMS};
use super::setup::ServerSetup;
use super::template;
use super::variables;
use crate::client::{Client, Config};
use crate::failed_at;
use engine::EngineError;
use rustix::process::Signal;
use servers::account::{Account, command};
use servers::data_sets::{DataSets, remove_beside};
use servers::files::{
    Layout, absolute, allocated_bytes, clone_folder, evict, is_vacant, last_lines, log_since,
    make_socket_folder, open_for, remove_socket_folder, walk, write_back,
};
use servers::process::{Process, data_directories, kill_all, remove_files};
use servers::template::Template;
use servers::wait_for;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// What a server is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOptions {
    /// The programs.
    pub installation: Installation,
    /// A directory that the caller has marked as ours; it may hold other things too.
    pub directory: PathBuf,
    /// A directory on another volume, marked as ours, for the redo log and the binary log.
    pub log_directory: Option<PathBuf>,
    /// Directories of tables outside of the data directory, which MySQL wants to be told of.
    pub table_directories: Vec<PathBuf>,
    /// As whom it runs.
    pub account: Account,
    /// Bytes of a page, as the file has them; `None`: the version's default.
    pub page_bytes: Option<String>,
    /// Tables of the user that it begins with.
    pub setup: Option<ServerSetup>,
    /// Connections of the load that it must have room for.
    pub connections: u32,
    /// Whether its instruments of waits are on.
    pub instruments: bool,
    /// Files of cgroups (`cgroup.procs`) that the server joins before it starts.
    pub cgroups: Vec<PathBuf>,
}

/// The superuser of servers of ours.
const SUPERUSER: &str = "root";
/// Name of the file with all settings of the server, in the data directory.
pub(super) const SETTINGS_FILE: &str = "steelbench.cnf";

/// How long a start may take, with recovery of what a crash left.
const START: Duration = Duration::from_secs(300);
/// How long a login may take on a slow disk.
const CONNECTING: Duration = Duration::from_secs(60);
/// How long one attempt to connect may take while it starts.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a shutdown may take: it writes all dirty pages.
const STOP_CLEAN: Duration = Duration::from_secs(300);
/// How long a killed server may take to go.
const STOP_KILLED: Duration = Duration::from_secs(15);
/// Connections beyond those of the load.
const CONNECTIONS_BESIDE: u32 = 20;
/// Lines of the log in errors.
const LOG_LINES: usize = 20;

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All dirty pages are written: the next start needs no recovery.
    Clean,
    /// As in a crash: the next start recovers.
    Kill,
}

/// A private server. Dropping it stops the server and removes all of it.
#[derive(Debug)]
pub struct PrivateServer {
    /// What it was made with.
    pub options: ServerOptions,
    pub(super) layout: Layout,
    sockets: PathBuf,
    process: Option<Process>,
    /// The settings in force; `None`: it has to be started with them.
    pub(super) in_force: Option<BTreeMap<String, String>>,
    pub(crate) data_sets: DataSets,
}

impl PrivateServer {
    /// Makes it by cloning a template; it is not started yet. The account must reach the directory
    /// and the programs.
    ///
    /// # Errors
    /// When something is there already, or the template cannot be made.
    pub fn create(mut options: ServerOptions, cancel: &Cancel) -> Result<Self, EngineError> {
        options.directory = absolute(&options.directory)?;
        let account = &options.account;
        account.can_run(&options.installation.server)?;
        let template = template::find_or_make(&options, cancel)?;
        let log_directory = options.log_directory.as_deref().map(absolute).transpose()?;
        for directory in [Some(&options.directory), log_directory.as_ref()].into_iter().flatten() {
            open_for(account, directory)?;
        }
        options.log_directory = log_directory.map(|directory| directory.join("log"));
        let layout = Layout::of(&options.directory);
        is_vacant(&layout, options.log_directory.as_deref())?;
        // From here on, dropping it removes what was made.
        let (sockets, data_sets) = (layout.socket.clone(), DataSets::default());
        let mut server =
            Self { sockets, layout, options, process: None, in_force: None, data_sets };
        server.lay_out(&template)?;
        Ok(server)
    }

    fn lay_out(&mut self, template: &Template) -> Result<(), EngineError> {
        let (data, account) = (&self.layout.data, &self.options.account);
        clone_folder(&template.data, data, account)?;
        if let Some(log) = &self.options.log_directory {
            account.make_folder(log)?;
            let redo_log = self.options.installation.redo_log();
            let (from, to) = (data.join(redo_log), log.join(redo_log));
            clone_folder(&from, &to, account)?;
            let remove = if from.is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
            remove(&from).map_err(EngineError::at(&from))?;
            write_back(log)?;
        }
        self.sockets = make_socket_folder(&self.layout, account)?;
        write_back(data)
    }

    fn socket(&self) -> PathBuf {
        self.sockets.join("server.sock")
    }

    /// How to connect as superuser, over the socket.
    pub fn config(&self) -> Config {
        Config::unix(&self.socket(), SUPERUSER).with_default_timeout(CONNECTING)
    }

    /// Opens a connection as superuser, on which no answer may take longer than a shutdown, or than
    /// until somebody asks to stop. The error has the end of the log when the server has ended.
    pub(super) fn connect(&self, cancel: &Cancel) -> Result<Client, EngineError> {
        let connected =
            Client::connect(&self.config().with_stop(cancel.stop())).map(|mut client| {
                client.set_answer_timeout(Some(STOP_CLEAN));
                client.set_stop(cancel.stop());
                client
            });
        connected.map_err(|error| match self.process.as_ref().and_then(Process::ended) {
            Some(status) if !error.is_stopped() => {
                self.failed_start(&format!("it ended with {status}"))
            }
            _ => failed_at("connecting to the server")(error),
        })
    }

    /// Starts the server with these settings and waits until it accepts connections. It must not
    /// run.
    pub(super) fn start(
        &mut self,
        settings: &BTreeMap<String, String>,
        cancel: &Cancel,
    ) -> Result<(), EngineError> {
        // What a server that was killed may have left running.
        self.stop(Stop::Kill, cancel)?;
        let file = self.layout.data.join(SETTINGS_FILE);
        self.options.account.write(&file, &self.settings_file(settings))?;
        self.process = Some(self.spawn(&file)?);
        let started = self.await_ready(cancel);
        match started {
            Ok(()) => self.in_force = Some(settings.clone()),
            // What goes on nevertheless is found by the next start, which says so.
            Err(_) => drop(self.stop(Stop::Kill, cancel)),
        }
        started
    }

    fn spawn(&self, settings: &Path) -> Result<Process, EngineError> {
        let log = &self.layout.log;
        let output =
            File::options().create(true).append(true).open(log).map_err(EngineError::at(log))?;
        let errors = output.try_clone().map_err(EngineError::at(log))?;
        let mut command = command(&self.options.installation.server);
        // Before all other options.
        command
            .arg(format!("--defaults-file={}", settings.display()))
            .stdout(output)
            .stderr(errors);
        // A clean shutdown at our end would write for minutes what is thrown away.
        Process::start(command, &self.options.account, &self.options.cgroups, Signal::KILL)
            .map_err(|error| EngineError::failed("starting the server", error.to_string()))
    }

    fn await_ready(&self, cancel: &Cancel) -> Result<(), EngineError> {
        let mut config = self.config().with_stop(cancel.stop());
        config.connect_timeout = Some(CONNECT);
        let ready =
            wait_for(START, cancel, || match self.process.as_ref().and_then(Process::ended) {
                Some(status) => Err(self.failed_start(&format!("it ended with {status}"))),
                None => Ok(Client::connect(&config).ok()),
            })?;
        let late = || self.failed_start(&format!("it was not ready after {} s", START.as_secs()));
        ready.map(drop).ok_or_else(late)
    }

    fn failed_start(&self, why: &str) -> EngineError {
        let doing = format!("starting {}", self.options.installation);
        EngineError::failed(
            doing,
            format!("{why}; its log ends with:\n{}", self.log_tail(LOG_LINES)),
        )
    }

    /// The program's defaults, but for what has to do with being private and being observed; then
    /// the experiment's settings.
    fn settings_file(&self, settings: &BTreeMap<String, String>) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let on = |is: bool| if is { "ON" } else { "OFF" }.to_owned();
        let log = self.options.log_directory.as_deref().unwrap_or(&self.layout.data);
        let connections = (self.options.connections + CONNECTIONS_BESIDE).to_string();
        let mut own = vec![
            ("datadir", path(&self.layout.data)),
            ("socket", path(&self.socket())),
            ("pid_file", path(&self.layout.data.join("server.pid"))),
            // A server that starts removes what another one has as temporary tables in the same
            // folder.
            ("tmpdir", path(&self.layout.data)),
            ("skip_networking", on(true)),
            ("innodb_log_group_home_dir", path(log)),
            // What the buffer pool held before a restart is not loaded again: the caches are as
            // the file says.
            ("innodb_buffer_pool_dump_at_shutdown", on(false)),
            ("innodb_buffer_pool_load_at_startup", on(false)),
            ("max_connections", connections),
            ("local_infile", on(true)),
            ("performance_schema", on(self.options.instruments)),
        ];
        if self.options.instruments {
            own.push(("performance_schema_instrument", "wait/%=ON".into()));
            own.push(("performance_schema_instrument", "idle=ON".into()));
        }
        if self.options.installation.is_mysql() {
            let directories: Vec<String> =
                self.options.table_directories.iter().map(|own| path(own)).collect();
            own.push(("innodb_directories", directories.join(";")));
            // A second protocol, with a socket that others see.
            own.push(("mysqlx", on(false)));
        }
        own.extend(self.options.page_bytes.iter().map(|bytes| ("innodb_page_size", bytes.clone())));
        let own = own.iter().map(|(name, value)| variables::line(name, value));
        let settings = settings.iter().map(|(name, value)| match name.as_str() {
            "log_bin" => variables::log_bin(value, log),
            _ => variables::line(name, value),
        });
        // As MariaDB's is, MySQL's binary log is off unless it is asked for.
        let no_log = variables::log_bin("OFF", log);
        // MariaDB reads this section, too.
        format!("[mysqld]\n{no_log}{}", own.chain(settings).collect::<String>())
    }

    /// Stops the server and waits until it has ended, without writing its pages once somebody asks
    /// to stop. Nothing happens if it does not run.
    ///
    /// # Errors
    /// When it goes on running.
    pub fn stop(&mut self, how: Stop, cancel: &Cancel) -> Result<(), EngineError> {
        self.in_force = None;
        if let Some(process) = &self.process {
            if how == Stop::Clean {
                process.signal(Signal::TERM);
                process.wait(STOP_CLEAN, cancel);
            }
            process.signal(Signal::KILL);
            process.wait(STOP_KILLED, &Cancel::new());
        }
        let data = &self.layout.data;
        let first = self.process.as_ref().map(Process::pid);
        let gone = PROGRAMS.iter().all(|program| kill_all(program, data, first));
        self.process = None;
        if gone {
            Ok(())
        } else {
            Err(EngineError::failed(data.display().to_string(), "the server cannot be killed"))
        }
    }

    /// Stops it so that nothing is left to recover, puts its files out of the page cache if that is
    /// wanted, and starts it with the settings that were in force.
    ///
    /// # Errors
    /// When it does not stop, or does not start again.
    pub fn restart(&mut self, evicts: bool, cancel: &Cancel) -> Result<(), EngineError> {
        let settings = self.in_force.clone().unwrap_or_default();
        self.stop(Stop::Clean, cancel)?;
        if evicts {
            evict(&self.files()?)?;
        }
        self.start(&settings, cancel)
    }

    /// Whether the server lives.
    pub fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_none())
    }

    /// Whether the server has ended by itself: one that we stopped is as it was left.
    pub fn has_died(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_some())
    }

    /// The number of the server's process.
    pub fn pid(&self) -> Option<i32> {
        self.process.as_ref().map(Process::pid)
    }

    /// The data directory.
    pub fn data_directory(&self) -> &Path {
        &self.layout.data
    }

    /// The files of the data directory and the log's.
    pub fn files(&self) -> Result<Vec<PathBuf>, EngineError> {
        let mut files = Vec::new();
        for folder in
            [Some(&self.layout.data), self.options.log_directory.as_ref()].into_iter().flatten()
        {
            walk(folder, &mut files)?;
        }
        Ok(files)
    }

    /// Bytes allocated by them.
    pub fn space_bytes(&self) -> u64 {
        self.files().map_or(0, |files| allocated_bytes(&files))
    }

    /// Length of the server's log of messages.
    pub fn log_bytes(&self) -> u64 {
        self.layout.log.metadata().map_or(0, |found| found.len())
    }

    /// What the server has said since that log had this length: no more than its end.
    pub fn log_since(&self, bytes: u64) -> String {
        log_since(&self.layout.log, bytes)
    }

    fn log_tail(&self, lines: usize) -> String {
        last_lines(&self.log_since(0), lines)
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // What remains is found by the next run.
        if self.stop(Stop::Kill, &Cancel::new()).is_ok() {
            let _ = remove_beside(&self.layout.directory);
            let _ = remove_files(&self.layout, self.options.log_directory.as_deref());
        }
    }
}

/// Stops servers whose data directories are inside a directory that the caller knows as ours, and
/// removes the folders of sockets that they have outside of it. A server is known by the directory
/// that its process works in; others are never touched.
///
/// # Errors
/// When one goes on running.
pub fn reclaim(directory: &Path) -> Result<(), EngineError> {
    // The files are those that only MariaDB has, or only MySQL.
    let is_one = |folder: &Path| {
        let has = |mark| folder.join(mark).is_file();
        folder.join("mysql").is_dir() && (has("aria_log_control") || has("mysql.ibd"))
    };
    for data in &data_directories(directory, is_one) {
        if !PROGRAMS.iter().all(|program| kill_all(program, data, None)) {
            let message = "a server that an earlier run left cannot be killed";
            return Err(EngineError::failed(data.display().to_string(), message));
        }
        data.parent().map_or(Ok(()), |parent| remove_socket_folder(&Layout::of(parent)))?;
    }
    Ok(())
}
