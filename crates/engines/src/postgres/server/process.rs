//! Processes of a server: starting it so that it ends when we do, finding and ending them; and what a run that was
//! killed left: a server that goes on, its files and its shared memory. A server that starts again in the same data
//! directory frees its memory itself; one whose directory is removed never does.

use super::account::Account;
use super::data_sets::remove_beside;
use super::files::{Layout, Postmaster, remove_socket_folder};
use super::wait_for;
use crate::{Cancel, EngineError, lock};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process, set_parent_process_death_signal, setsid,
    waitid,
};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How long killed processes may take to go.
const KILLED: Duration = Duration::from_secs(10);

/// A server process that we started. It is sent SIGQUIT (immediate shutdown) when we die.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    /// Held while a signal is sent, so that the number cannot go to another process meanwhile.
    ended: Arc<Mutex<Option<ExitStatus>>>,
}

impl Process {
    /// Starts a command as the account, in these cgroups (files that take a process number).
    pub(super) fn start(mut command: Command, account: &Account, cgroups: &[PathBuf]) -> io::Result<Self> {
        let cgroups = cgroups.iter().map(|file| open_cgroup(file)).collect::<io::Result<Vec<File>>>()?;
        let join = move || {
            // Zero stands for the process that writes.
            for mut cgroup in &cgroups {
                cgroup.write_all(b"0")?;
            }
            // In a session of its own the server does not hear a terminal's Ctrl-C.
            Ok(setsid().map(drop)?)
        };
        // SAFETY: only system calls between fork and exec; nothing is allocated or locked.
        unsafe { command.pre_exec(join) };
        account.enter(&mut command);
        end_with_us(&mut command, Signal::QUIT);
        let ended = Arc::new(Mutex::new(None));
        let pid = keep(command, Arc::clone(&ended))?;
        Ok(Self { pid, ended })
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// How it ended, once it has.
    pub(super) fn ended(&self) -> Option<ExitStatus> {
        *lock(&self.ended)
    }

    /// Sends a signal, unless it has ended.
    pub(super) fn signal(&self, signal: Signal) {
        if lock(&self.ended).is_none() {
            // The process has not been reaped, so the number is its own.
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Waits until it has ended; `false` when it has not in this time, or before somebody asks to stop.
    pub(super) fn wait(&self, at_most: Duration, cancel: &Cancel) -> bool {
        matches!(wait_for(at_most, cancel, || Ok(self.ended())), Ok(Some(_)))
    }
}

/// Lets a command be sent a signal when the thread that starts it ends, as it does when we are
/// killed. After [`Account::enter`]: a change of user undoes it.
pub(super) fn end_with_us(command: &mut Command, signal: Signal) {
    let us = Pid::from_raw(std::process::id() as i32);
    let ask = move || {
        set_parent_process_death_signal(Some(signal))?;
        // Another parent: we were killed before the signal was asked for.
        if getppid() == us { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    // SAFETY: only system calls between fork and exec; nothing is allocated or locked.
    unsafe { command.pre_exec(ask) };
}

/// Starts a command from a thread that waits for its end: the signal at the parent's death comes
/// when the *thread* that started it ends.
fn keep(mut command: Command, ended: Arc<Mutex<Option<ExitStatus>>>) -> io::Result<Pid> {
    let (tell, told) = mpsc::channel();
    std::thread::Builder::new().name("server".into()).spawn(move || {
        let started = command.spawn();
        // The files it holds are not ours any more.
        drop(command);
        match started {
            Err(error) => drop(tell.send(Err(error))),
            Ok(mut child) => {
                let pid = Pid::from_child(&child);
                let _ = tell.send(Ok(pid));
                // Waits for its end and leaves its number taken.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
                let mut ended = lock(&ended);
                // Cannot fail: nobody else waits for it.
                *ended = Some(child.wait().unwrap_or_else(|_| ExitStatus::from_raw(0)));
            }
        }
    })?;
    told.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that starts the server ended")))
}

fn open_cgroup(file: &Path) -> io::Result<File> {
    let opened = File::options().write(true).open(file);
    opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

/// Processes of the server with this data directory: its first one, those that work there, and
/// the first one's children. Where another user's working directory cannot be seen, the first one
/// is known by its arguments.
pub(super) fn processes_of(data: &Path, first: Option<i32>) -> Vec<i32> {
    let Ok(data) = data.canonicalize() else { return Vec::new() };
    let ours = |pid: &i32| works_in(*pid, &data).unwrap_or_else(|| was_given(*pid, &data));
    let first = first.filter(ours);
    let is_of = |pid: &i32| ours(pid) || (first.is_some() && parent(*pid) == first);
    numbers_in_proc().filter(|pid| is_server(*pid) && is_of(pid) && alive(*pid)).collect()
}

/// Kills the processes of a server; `false` when some are still there after a while.
pub(super) fn kill_all(data: &Path, first: Option<i32>) -> bool {
    let mut pids = Vec::new();
    let gone = wait_for(KILLED, &Cancel::new(), || {
        // Children are known while their parent lives.
        pids.extend(processes_of(data, first));
        pids.retain(|pid| is_server(*pid) && alive(*pid));
        for pid in pids.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        Ok(pids.is_empty().then_some(()))
    });
    matches!(gone, Ok(Some(())))
}

fn numbers_in_proc() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process works in this folder; `None` when that cannot be seen.
fn works_in(pid: i32, folder: &Path) -> Option<bool> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok().map(|cwd| cwd == folder)
}

/// Whether a server was started with this data directory. Only its first process keeps its
/// arguments; the others show what they do in their place.
fn was_given(pid: i32, data: &Path) -> bool {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments: Vec<&[u8]> = arguments.split(|byte| *byte == 0).collect();
    let data = data.as_os_str().as_encoded_bytes();
    arguments.windows(2).any(|pair| pair[0] == b"-D" && pair[1] == data)
}

fn is_server(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "postgres")
}

/// State and parent of a process, from `/proc/<pid>/stat`: after the name, which may hold anything.
fn stat(pid: i32) -> Option<(char, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The process that started this one.
pub fn parent(pid: i32) -> Option<i32> {
    stat(pid).map(|(_, parent)| parent)
}

fn alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// So far below a marked directory clusters are looked for.
const DEPTH_MAX: u32 = 3;
/// How long an orphan may take for an immediate shutdown.
const STOP: Duration = Duration::from_secs(10);

/// Stops servers whose data directories are inside a directory that the caller knows as ours, and
/// frees what they have outside of it: shared memory and folders of sockets. The directory itself
/// is left to the caller. A server is known by the directory that its processes work in; others
/// are never touched.
pub fn reclaim(directory: &Path) -> Result<(), EngineError> {
    let Ok(directory) = directory.canonicalize() else { return Ok(()) };
    let mut data_directories = Vec::new();
    find(&directory, DEPTH_MAX, &mut data_directories);
    for data in &data_directories {
        end(data)?;
        if let Some(parent) = data.parent() {
            let layout = Layout::of(parent);
            remove_socket_folder(&layout)?;
        }
    }
    Ok(())
}

/// Removes the files of a cluster whose server has ended, in its directory and outside.
pub(super) fn remove_files(layout: &Layout, wal: Option<&Path>) -> Result<(), EngineError> {
    remove_socket_folder(layout)?;
    for folder in [Some(layout.data.as_path()), wal].into_iter().flatten() {
        removed(folder, std::fs::remove_dir_all(folder))?;
    }
    remove_beside(&layout.directory)?;
    removed(&layout.log, std::fs::remove_file(&layout.log))
}

/// The result of removing this, which may be gone already.
pub(super) fn removed(path: &Path, result: io::Result<()>) -> Result<(), EngineError> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(EngineError::at(path)(source)),
        _ => Ok(()),
    }
}

fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    if folder.join("PG_VERSION").is_file() && folder.join("global").is_dir() {
        found.push(folder.into());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        find(&entry.path(), depth - 1, found);
    }
}

fn end(data: &Path) -> Result<(), EngineError> {
    let note = Postmaster::of(data);
    let running = processes_of(data, note.pid);
    if let Some(first) = note.pid.filter(|pid| running.contains(pid)) {
        // The process was seen to work for this data directory.
        let _ = Pid::from_raw(first).map(|first| kill_process(first, Signal::QUIT));
        wait_for(STOP, &Cancel::new(), || Ok(processes_of(data, note.pid).is_empty().then_some(())))?;
    }
    if !kill_all(data, note.pid) {
        return Err(EngineError::failed(
            data.display().to_string(),
            "a server that an earlier run left cannot be killed",
        ));
    }
    if let Some((key, id)) = note.shared_memory {
        free_shared_memory(key, id);
    }
    Ok(())
}

/// First bytes of a server's System V segment (`PGShmemHeader` in `storage/pg_shmem.h`).
const SEGMENT_MAGIC: u32 = 679_834_894;
/// Where in it the handle of the control segment of dynamic shared memory is.
const CONTROL_HANDLE_AT: usize = 24;
/// First bytes of that control segment (`dsm_control_header` in `storage/ipc/dsm.c`), which lists
/// the others in items of this size, the handle first and then the number of references.
const CONTROL_MAGIC: u32 = 0x9a50_3d32;
const CONTROL_ITEMS_AT: usize = 16;
const CONTROL_ITEM_BYTES: usize = 40;

/// Frees the shared memory of a server that is gone, known by the key and identifier of its
/// System V segment, unless a process still has it.
pub(super) fn free_shared_memory(key: i64, id: i32) {
    // SAFETY: all zeros is a valid shmid_ds, filled by the call.
    let (known, state) = unsafe {
        let mut state: libc::shmid_ds = std::mem::zeroed();
        (libc::shmctl(id, libc::IPC_STAT, &raw mut state) == 0, state)
    };
    if !known || state.shm_nattch != 0 || i64::from(state.shm_perm.__key as u32) != key {
        return;
    }
    if let Some(handle) = control_handle(id, state.shm_segsz) {
        free_dynamic(handle);
    }
    // SAFETY: a system call without a pointer to anything.
    unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
}

fn control_handle(id: i32, bytes: usize) -> Option<u32> {
    if bytes < CONTROL_HANDLE_AT + size_of::<u32>() {
        return None;
    }
    // SAFETY: the segment is attached for reading, is at least that long, and is detached below.
    // Nobody writes to it: nobody else has it.
    unsafe {
        let segment = libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY);
        if segment as isize == -1 {
            return None;
        }
        let magic = segment.cast::<u32>().read();
        let handle = segment.cast::<u8>().add(CONTROL_HANDLE_AT).cast::<u32>().read_unaligned();
        libc::shmdt(segment);
        (magic == SEGMENT_MAGIC && handle != 0).then_some(handle)
    }
}

/// Removes the POSIX segments that a control segment lists, and itself.
fn free_dynamic(control: u32) {
    let path = posix_segment(control);
    let Ok(content) = std::fs::read(&path) else { return };
    let handles = listed_handles(&content);
    for segment in handles.iter().map(|handle| posix_segment(*handle)).chain([path]) {
        // Already gone is as good.
        let _ = std::fs::remove_file(segment);
    }
}

fn posix_segment(handle: u32) -> PathBuf {
    Path::new("/dev/shm").join(format!("PostgreSQL.{handle}"))
}

fn listed_handles(control: &[u8]) -> Vec<u32> {
    let number = |at: usize| {
        let bytes = control.get(at..at + size_of::<u32>()).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    };
    if number(0) != CONTROL_MAGIC {
        return Vec::new();
    }
    let items = (CONTROL_ITEMS_AT..control.len()).step_by(CONTROL_ITEM_BYTES).take(number(4) as usize);
    items.filter(|at| number(at + 4) > 0).map(number).collect()
}
