//! A private server of any product.

use super::setup::ServerSetup;
use crate::account::Account;
use crate::data_sets::{DataSets, remove_unused};
use crate::files::{
    Layout, absolute, allocated_bytes, clone_folder, evict, is_vacant, last_lines, log_since,
    open_for, walk, write_back,
};
use crate::process::{Process, data_directories, kill_all, processes_of, remove_files};
use crate::sockets::{make_socket_folder, remove_socket_folder};
use crate::template::{Template, Unfinished};
use engine::setup::Setup;
use engine::{EngineError, Result, ServerError, failed_at, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use work::{Cancel, Stop as WorkStop};

/// Settings of a server by their names.
pub type Settings = BTreeMap<String, String>;

/// How the servers of a product are reached.
pub trait Reached: Debug + Clone + PartialEq + Send + Sized + 'static {
    /// The address of a server and the login; shown without its password.
    type Config: Display + Clone;
    /// A connection.
    type Client;

    /// Returns how to connect as superuser, over a socket in this folder.
    fn config(sockets: &Path) -> Self::Config;
    /// Connects. No answer may take longer than `answer`, or than until a request to stop.
    fn connect(
        config: &Self::Config,
        answer: Duration,
        stop: &WorkStop,
    ) -> Result<Self::Client, ServerError>;
}

/// How the data directories of a product are made and known.
pub trait DataDirectory: Reached {
    /// Returns what a data directory depends on, in addition to the program and the account.
    fn identity(&self) -> String;
    /// Returns the product without what only a trial's server has.
    #[must_use]
    fn for_template(&self) -> Self {
        self.clone()
    }
    /// Runs the program that makes a data directory, as `data` in the template's folder.
    fn initialise(&self, account: &Account, template: &Unfinished<'_>) -> Result<()>;
    /// Prepares a cloned data directory, and moves its log to where the options want it.
    fn lay_out(options: &Options<Self>, data: &Path) -> Result<()>;
    /// Returns folders with data outside of the data directory, in addition to that of the log.
    fn more_folders(_data: &Path) -> Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
    /// Returns whether a folder is a data directory.
    fn is_data_directory(folder: &Path) -> bool;
    /// Asks a server that another run left to end. Returns its first process, where the data
    /// directory names it.
    fn ask_to_end(_data: &Path) -> Option<i32> {
        None
    }
    /// Frees what a server that was killed left outside of its directory.
    fn free(_data: &Path) {}
}

/// A server product: its programs, and how its servers are configured and queried.
pub trait Product: DataDirectory {
    /// Names and signals.
    const CONSTANTS: Constants;

    /// Returns the server's program.
    fn program(&self) -> PathBuf;
    /// Returns its version: 10.11.6.
    fn version(&self) -> String;
    /// Returns its name and version, for messages.
    fn name(&self) -> String;
    /// Fills a running server with the tables of a user.
    fn fill(server: &Server<Self>, setup: &Setup, cancel: &Cancel) -> Result<()>;
    /// Writes the files from which a server takes its options and settings when it starts.
    fn write_settings(server: &Server<Self>, settings: &Settings) -> Result<()>;
    /// Returns the command that starts a server.
    fn command(server: &Server<Self>) -> Command;
    /// Returns whether a started server accepts connections.
    fn is_ready(server: &Server<Self>, cancel: &Cancel) -> bool;
    /// Brings the settings of a server to exactly these, and reads each back. Returns whether the
    /// server was restarted.
    fn apply(server: &mut Server<Self>, settings: &Settings, cancel: &Cancel) -> Result<bool>;
}

/// Names and signals of a product.
pub struct Constants {
    /// The folder of its templates in the cache.
    pub cache: &'static str,
    /// The prefix of the names of its templates.
    pub templates: &'static str,
    /// The user of the system that its packages make for servers.
    pub account: &'static str,
    /// The server's programs, as its processes are called.
    pub programs: &'static [&'static str],
    /// The folder of the log on a volume of its own.
    pub log_folder: &'static str,
    /// The file with the settings of the experiment, in the data directory.
    pub settings_file: &'static str,
    /// Settings, in lower case, that change what a dump, SQL or a load makes, or whether it can.
    pub shaping: &'static [&'static str],
    /// Settings with which a template is filled: a crash loses it, and it is made again.
    pub unsafe_settings: &'static [(&'static str, &'static str)],
    /// Further settings with which a data set is loaded.
    pub bulk_settings: &'static [(&'static str, &'static str)],
    /// The signal for a shutdown that writes all dirty pages.
    pub shutdown: Signal,
    /// The signals for an end as in a crash.
    pub crash: &'static [Signal],
    /// The signal that a server is sent when Steelbench dies.
    pub orphaned: Signal,
}

/// Options of a new server.
#[derive(Debug, Clone, PartialEq)]
pub struct Options<P> {
    /// The programs, and what only this product decides when a server is made.
    pub product: P,
    /// A directory that the caller has marked as ours; it may hold other things too.
    pub directory: PathBuf,
    /// A directory on another volume, marked as ours, for the log.
    pub log_directory: Option<PathBuf>,
    /// As whom it runs.
    pub account: Account,
    /// Tables of the user that it begins with.
    pub setup: Option<ServerSetup>,
    /// Connections of the load that it must have room for.
    pub connections: u32,
    /// Files of cgroups (`cgroup.procs`) that the server joins before it starts.
    pub cgroups: Vec<PathBuf>,
}

/// The time that a start may take, with recovery of what a crash left.
const START: Duration = Duration::from_secs(300);
/// The time that a clean shutdown may take: it writes all dirty pages.
const STOP_CLEAN: Duration = Duration::from_secs(300);
/// The time that an end as in a crash may take; PostgreSQL itself kills after 5 s what does not
/// end.
const STOP_CRASH: Duration = Duration::from_secs(15);
/// Lines of the log in errors.
const LOG_LINES: usize = 20;
/// The failure to end a server.
const CANNOT_KILL: &str = "cannot kill the server";

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Connections are ended, all is written: the next start needs no recovery.
    Clean,
    /// As in a crash: the next start recovers.
    Crash,
}

/// A private server. Dropping it stops the server and removes all of it.
#[derive(Debug)]
pub struct Server<P: Product> {
    /// The options. Folders of its tables must belong to its account.
    pub options: Options<P>,
    /// The places of its files.
    pub layout: Layout,
    sockets: PathBuf,
    process: Option<Process>,
    /// The settings in force, with which it starts again; `None`: they are not known.
    pub in_force: Option<Settings>,
    /// The data set that its data directory holds.
    pub data_sets: DataSets,
    /// A study has disturbed it: it serves no other trial.
    pub is_spent: bool,
}

impl<P: Product> Server<P> {
    /// Makes it by cloning a template; it is not started yet. The account must reach the directory.
    ///
    /// # Errors
    /// When something is there already, or cannot be copied.
    pub fn clone_from_template(options: Options<P>, template: &Template) -> Result<Self> {
        Self::with_data(options, |options, data| {
            clone_folder(&template.data, data, &options.account)?;
            P::lay_out(options, data)
        })
    }

    /// Makes it of a data directory that `make` makes; it is not started yet.
    ///
    /// # Errors
    /// When something is there already, or `make` fails.
    pub fn with_data(
        mut options: Options<P>,
        make: impl FnOnce(&Options<P>, &Path) -> Result<()>,
    ) -> Result<Self> {
        options.directory = absolute(&options.directory)?;
        let log_directory = options.log_directory.as_deref().map(absolute).transpose()?;
        for directory in [Some(&options.directory), log_directory.as_ref()].into_iter().flatten() {
            open_for(&options.account, directory)?;
        }
        options.log_directory =
            log_directory.map(|directory| directory.join(P::CONSTANTS.log_folder));
        let layout = Layout::in_directory(&options.directory);
        is_vacant(&layout, options.log_directory.as_deref())?;
        // From here on, dropping it removes what was made.
        let (sockets, data_sets) = (layout.socket.clone(), DataSets::default());
        let mut server = Self {
            sockets,
            layout,
            options,
            process: None,
            in_force: None,
            data_sets,
            is_spent: false,
        };
        make(&server.options, &server.layout.data)?;
        server.sockets = make_socket_folder(&server.layout, &server.options.account)?;
        write_back(&server.layout.data)?;
        server.options.log_directory.as_deref().map_or(Ok(()), write_back)?;
        Ok(server)
    }

    /// Returns the options of another server like this one, in a directory that is marked as ours.
    pub fn options_in(&self, directory: &Path) -> Options<P> {
        let directory = directory.to_path_buf();
        Options { directory, log_directory: None, setup: None, ..self.options.clone() }
    }

    /// Returns the folder of its sockets.
    pub fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Returns how to connect as superuser, over the socket.
    pub fn config(&self) -> P::Config {
        P::config(&self.sockets)
    }

    /// Opens a connection as superuser. The error has the end of the log when the server has ended.
    pub fn connect(&self) -> Result<P::Client> {
        self.connect_until(&Cancel::new())
    }

    /// Connects for work between trials: no answer may take longer than a clean shutdown; a stop
    /// ends the wait.
    pub fn connect_until(&self, cancel: &Cancel) -> Result<P::Client> {
        P::connect(&self.config(), STOP_CLEAN, &cancel.stop())
            .map_err(|error| self.with_log(failed_at("connecting to the server")(error)))
    }

    /// Adds the end of the log to an error of connecting, when the server has ended.
    pub(crate) fn with_log(&self, error: EngineError) -> EngineError {
        match (error, self.process.as_ref().and_then(Process::ended)) {
            (EngineError::Engine { doing, message }, Some(status)) => {
                let log = self.log_tail(LOG_LINES);
                let ended = format!("the server has ended with {status}; its log:\n{log}");
                EngineError::failed(doing, format!("{message}; {ended}"))
            }
            (error, _) => error,
        }
    }

    /// Starts the server, with the settings that were in force, and waits until it accepts
    /// connections. Nothing happens if it runs.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    pub fn start(&mut self, cancel: &Cancel) -> Result<()> {
        if self.is_running() {
            return Ok(());
        }
        let settings = self.in_force.clone().unwrap_or_default();
        self.start_with(settings, cancel)
    }

    /// Starts the server with these settings and waits until it accepts connections. It must not
    /// run.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    pub fn start_with(&mut self, settings: Settings, cancel: &Cancel) -> Result<()> {
        self.in_force = None;
        // A killed server may have left processes running.
        self.stop(Stop::Crash, cancel)?;
        P::write_settings(self, &settings)?;
        self.process = Some(self.spawn()?);
        let started = self.await_ready(cancel);
        match started {
            Ok(()) => self.in_force = Some(settings),
            // If it continues nevertheless, the next start finds and reports it.
            Err(_) => drop(self.stop(Stop::Crash, cancel)),
        }
        started
    }

    fn spawn(&self) -> Result<Process> {
        let log = &self.layout.log;
        let output =
            File::options().create(true).append(true).open(log).map_err(EngineError::at(log))?;
        let errors = output.try_clone().map_err(EngineError::at(log))?;
        let mut command = P::command(self);
        command.stdout(output).stderr(errors);
        let Options { account, cgroups, .. } = &self.options;
        Process::start(command, account, cgroups, P::CONSTANTS.orphaned)
            .map_err(|error| EngineError::failed("starting the server", error.to_string()))
    }

    fn await_ready(&self, cancel: &Cancel) -> Result<()> {
        let ready =
            wait_for(START, cancel, || match self.process.as_ref().and_then(Process::ended) {
                Some(status) => Err(self.failed_start(&format!("it ended with {status}"))),
                None => Ok(P::is_ready(self, cancel).then_some(())),
            })?;
        ready.ok_or_else(|| {
            self.failed_start(&format!("it was not ready after {} s", START.as_secs()))
        })
    }

    fn failed_start(&self, why: &str) -> EngineError {
        let log = self.log_tail(LOG_LINES);
        let doing = format!("starting {}", self.options.product.name());
        EngineError::failed(doing, format!("{why}; its log ends with:\n{log}"))
    }

    /// Brings the settings of the server to exactly these; others have their defaults. It is
    /// started if it does not run, and restarted if some setting needs it. Each is read back.
    /// Returns whether it was restarted.
    ///
    /// # Errors
    /// When the server refuses one, or has another value.
    pub fn apply(&mut self, settings: &Settings, cancel: &Cancel) -> Result<bool> {
        P::apply(self, settings, cancel)
    }

    /// Stops the server and waits until it has ended, as in a crash after a stop request.
    /// Nothing happens if it does not run.
    ///
    /// # Errors
    /// When it continues to run.
    pub fn stop(&mut self, how: Stop, cancel: &Cancel) -> Result<()> {
        if let Some(process) = &self.process {
            if how == Stop::Clean {
                process.signal(P::CONSTANTS.shutdown);
                process.wait(STOP_CLEAN, cancel);
            }
            P::CONSTANTS.crash.iter().for_each(|signal| process.signal(*signal));
            process.wait(STOP_CRASH, &Cancel::new());
        }
        // After a proper end there is no process; after a kill its children may continue.
        let killed = kill_programs::<P>(&self.layout.data, self.pid(), CANNOT_KILL);
        self.process = None;
        killed
    }

    /// Kills all its processes, also of a server that was frozen.
    ///
    /// # Errors
    /// When it continues to run.
    pub fn kill(&mut self) -> Result<()> {
        let killed = kill_programs::<P>(&self.layout.data, self.pid(), CANNOT_KILL);
        // Its end is noted by another thread.
        if let Some(process) = self.process.take() {
            process.wait(STOP_CRASH, &Cancel::new());
        }
        killed
    }

    /// Stops all its processes (SIGSTOP).
    pub fn freeze(&self) {
        // Processes that others have started since they were listed are in the second round.
        for _ in 0..2 {
            for program in P::CONSTANTS.programs {
                let all = processes_of(program, &self.layout.data, self.pid());
                for pid in all.into_iter().filter_map(Pid::from_raw) {
                    // One that has ended needs no signal.
                    let _ = kill_process(pid, Signal::STOP);
                }
            }
        }
    }

    /// Stops it so that nothing is left to recover, puts its files out of the page cache if that is
    /// wanted, and starts it with the settings that were in force.
    ///
    /// # Errors
    /// When it does not stop, or does not start again.
    pub fn restart(&mut self, evicts: bool, cancel: &Cancel) -> Result<()> {
        self.stop(Stop::Clean, cancel)?;
        if evicts {
            evict(&self.files()?)?;
        }
        self.start(cancel)
    }

    /// Returns the number of the server's first process, while it has not been stopped.
    pub fn pid(&self) -> Option<i32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Returns whether the server's first process is alive.
    pub fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_none())
    }

    /// Returns whether the server ended by itself; not if it was stopped.
    pub fn has_died(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.ended().is_some())
    }

    /// Sends its first process a signal, if it runs.
    pub fn signal(&self, signal: Signal) {
        self.process.iter().for_each(|process| process.signal(signal));
    }

    /// Returns the data directory.
    pub fn data_directory(&self) -> &Path {
        &self.layout.data
    }

    /// Lists the files of the data directory, the log and the folders elsewhere.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let (data, mut files) = (&self.layout.data, Vec::new());
        walk(data, &mut files)?;
        for folder in P::more_folders(data)?.iter().chain(&self.options.log_directory) {
            walk(folder, &mut files)?;
        }
        Ok(files)
    }

    /// Returns the bytes allocated by them.
    pub fn space_bytes(&self) -> u64 {
        self.files().map_or(0, |files| allocated_bytes(&files))
    }

    /// Returns the length of the server's log of messages.
    pub fn log_bytes(&self) -> u64 {
        self.layout.log.metadata().map_or(0, |found| found.len())
    }

    /// Returns what the server has said since that log had this length: no more than its end.
    pub fn log_since(&self, bytes: u64) -> String {
        log_since(&self.layout.log, bytes)
    }

    /// Returns the last lines of that log.
    pub fn log_tail(&self, lines: usize) -> String {
        last_lines(&self.log_since(0), lines)
    }

    /// Stops the server and removes it; fails when something of it remains.
    pub fn remove(mut self) -> Result<()> {
        self.clear()
    }

    pub(crate) fn clear(&mut self) -> Result<()> {
        self.stop(Stop::Crash, &Cancel::new())?;
        P::free(&self.layout.data);
        let data_sets = remove_unused(&self.layout.directory);
        remove_files(&self.layout, self.options.log_directory.as_deref())?;
        data_sets
    }
}

impl<P: Product> Drop for Server<P> {
    fn drop(&mut self) {
        // The next run finds the remains.
        let _ = self.clear();
    }
}

fn kill_programs<P: Product>(data: &Path, first: Option<i32>, failure: &str) -> Result<()> {
    let gone = P::CONSTANTS.programs.iter().all(|program| kill_all(program, data, first));
    gone.then_some(()).ok_or_else(|| EngineError::failed(data.display().to_string(), failure))
}

/// Stops servers whose data directories are inside a directory that the caller knows as ours, and
/// frees what they have outside of it. The directory itself is left to the caller. A server is
/// known by the directory that its processes work in; others are never touched.
///
/// # Errors
/// When one continues to run.
pub fn reclaim<P: Product>(directory: &Path) -> Result<()> {
    for data in &data_directories(directory, P::is_data_directory) {
        let failure = "cannot kill a server left by an earlier run";
        kill_programs::<P>(data, P::ask_to_end(data), failure)?;
        P::free(data);
        if let Some(parent) = data.parent() {
            remove_socket_folder(&Layout::in_directory(parent))?;
        }
    }
    Ok(())
}
