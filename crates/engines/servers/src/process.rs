//! Processes of a private server: starting it so that it ends when we do, finding and ending them.

use super::account::Account;
use super::files::Layout;
use super::sockets::remove_socket_folder;
use engine::{EngineError, Result, lock, wait_for};
use observe::processes;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process, set_parent_process_death_signal,
    setsid, waitid,
};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use work::Cancel;

/// The time that killed processes may take to go.
const KILLED: Duration = Duration::from_secs(10);

/// A server process that we started, which is sent a signal when we die.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    /// Held while a signal is sent, so that the number cannot go to another process at that time.
    ended: Arc<Mutex<Option<ExitStatus>>>,
}

impl Process {
    /// Starts a command as the account, in these cgroups (files that take a process number); `last`
    /// is the signal that it is sent when we die.
    pub fn start(
        mut command: Command,
        account: &Account,
        cgroups: &[PathBuf],
        last: Signal,
    ) -> io::Result<Self> {
        let cgroups =
            cgroups.iter().map(|file| open_cgroup(file)).collect::<io::Result<Vec<File>>>()?;
        // SAFETY: only system calls between fork and exec; nothing is allocated or locked.
        unsafe {
            command.pre_exec(move || {
                // Zero stands for the process that writes.
                for mut cgroup in &cgroups {
                    cgroup.write_all(b"0")?;
                }
                // In a session of its own the server does not receive a terminal's Ctrl-C.
                Ok(setsid().map(drop)?)
            })
        };
        account.enter(&mut command);
        end_with_us(&mut command, last);
        let ended = Arc::new(Mutex::new(None));
        let pid = keep(command, Arc::clone(&ended))?;
        Ok(Self { pid, ended })
    }

    /// The number.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// The end, once it has ended.
    pub fn ended(&self) -> Option<ExitStatus> {
        *lock(&self.ended)
    }

    /// Sends a signal, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        if lock(&self.ended).is_none() {
            // The process has not been reaped, so the number is its own.
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Waits until it has ended; `false` when it has not in this time, or before a request to stop.
    pub fn wait(&self, at_most: Duration, cancel: &Cancel) -> bool {
        matches!(wait_for(at_most, cancel, || Ok(self.ended())), Ok(Some(_)))
    }
}

/// Lets a command be sent a signal when the thread that starts it ends, as it does when we are
/// killed. After [`Account::enter`]: a change of user undoes it.
pub fn end_with_us(command: &mut Command, signal: Signal) {
    let us = Pid::from_raw(std::process::id() as i32);
    // SAFETY: only system calls between fork and exec; nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(signal))?;
            // Another parent: we were killed before the signal was asked for.
            if getppid() == us { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        })
    };
}

/// Starts a command from a thread that waits for its end: the signal at the parent's death comes
/// when the *thread* that started it ends.
fn keep(mut command: Command, ended: Arc<Mutex<Option<ExitStatus>>>) -> io::Result<Pid> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().name("server".into()).spawn(move || {
        let started = command.spawn();
        // The files it holds are not ours any more.
        drop(command);
        match started {
            Err(error) => drop(sender.send(Err(error))),
            Ok(mut child) => {
                let pid = Pid::from_child(&child);
                let _ = sender.send(Ok(pid));
                // Waits for its end and leaves its number taken.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
                let mut ended = lock(&ended);
                // Cannot fail: this thread alone waits for it.
                *ended = Some(child.wait().unwrap_or_else(|_| ExitStatus::from_raw(0)));
            }
        }
    })?;
    let ended = || io::Error::other("the thread that starts the server has ended");
    receiver.recv().unwrap_or_else(|_| Err(ended()))
}

fn open_cgroup(file: &Path) -> io::Result<File> {
    let opened = File::options().write(true).open(file);
    opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

/// Processes of the server program with this data directory: its first one, those that work there,
/// and the first one's children. Where another user's working directory cannot be seen, the first
/// one is known by its arguments.
pub fn processes_of(program: &str, data: &Path, first: Option<i32>) -> Vec<i32> {
    let Ok(data) = data.canonicalize() else { return Vec::new() };
    let ours = |pid: &i32| works_in(*pid, &data).unwrap_or_else(|| was_given(*pid, &data));
    let first = first.filter(ours);
    processes::all()
        .filter(|pid| {
            runs(*pid, program)
                && (ours(pid) || (first.is_some() && processes::parent(*pid) == first))
                && processes::is_alive(*pid)
        })
        .collect()
}

/// Kills the processes of a server; `false` when some are still there after a while.
pub(crate) fn kill_all(program: &str, data: &Path, first: Option<i32>) -> bool {
    let mut pids = Vec::new();
    let gone = wait_for(KILLED, &Cancel::new(), || {
        // Children are known while their parent lives.
        pids.extend(processes_of(program, data, first));
        pids.retain(|pid| runs(*pid, program) && processes::is_alive(*pid));
        for pid in pids.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        Ok(pids.is_empty().then_some(()))
    });
    matches!(gone, Ok(Some(())))
}

/// Returns whether a process works in this folder; `None` when that is hidden.
fn works_in(pid: i32, folder: &Path) -> Option<bool> {
    std::fs::read_link(processes::path(pid, "cwd")).ok().map(|cwd| cwd == folder)
}

/// Returns whether a server was started with this data directory: `-D folder`, `--datadir=folder`.
/// In PostgreSQL only the first process keeps its arguments; the others show a title.
fn was_given(pid: i32, data: &Path) -> bool {
    let arguments = std::fs::read(processes::path(pid, "cmdline")).unwrap_or_default();
    let data = data.as_os_str().as_encoded_bytes();
    let mut options =
        arguments.split(|byte| *byte == 0).filter_map(|argument| argument.strip_suffix(data));
    options.any(|option| option.is_empty() || option.ends_with(b"="))
}

fn runs(pid: i32, program: &str) -> bool {
    processes::name(pid).is_some_and(|name| name == program)
}

/// So far below a marked directory data directories are looked for.
const DEPTH_MAX: u32 = 3;

/// The data directories in a directory that the caller knows as ours.
pub(crate) fn data_directories(directory: &Path, is_one: fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Ok(directory) = directory.canonicalize() {
        find(&directory, is_one, DEPTH_MAX, &mut found);
    }
    found
}

fn find(folder: &Path, is_one: fn(&Path) -> bool, depth: u32, found: &mut Vec<PathBuf>) {
    if is_one(folder) {
        found.push(folder.into());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in
        entries.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()))
    {
        find(&entry.path(), is_one, depth - 1, found);
    }
}

/// Removes the files of a server that has ended, in its directory and outside.
pub(crate) fn remove_files(layout: &Layout, log: Option<&Path>) -> Result<()> {
    remove_socket_folder(layout)?;
    for folder in [Some(layout.data.as_path()), log].into_iter().flatten() {
        removed(folder, std::fs::remove_dir_all(folder))?;
    }
    removed(&layout.log, std::fs::remove_file(&layout.log))
}

/// The result of removing this, which may be gone already.
pub fn removed(path: &Path, result: io::Result<()>) -> Result<()> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::at(path)(source))
        }
        _ => Ok(()),
    }
}
