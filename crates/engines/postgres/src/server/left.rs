//! Remains of a run that was killed: a server that still runs, and its shared memory. A server that
//! starts again in the same data directory frees its memory itself; one whose directory
//! is removed never does.

use super::files::Postmaster;
use engine::wait_for;
use rustix::process::{Pid, Signal, kill_process};
use servers::process::processes_of;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// The server's program, as its processes are called.
pub(crate) const PROGRAM: &str = "postgres";

/// The time that an orphan may take for an immediate shutdown.
const STOP: Duration = Duration::from_secs(10);

/// Asks the server of a data directory that another run left for an immediate shutdown. Returns its
/// first process.
pub(super) fn ask_to_end(data: &Path) -> Option<i32> {
    let first = Postmaster::read(data).pid?;
    if processes_of(PROGRAM, data, Some(first)).contains(&first) {
        // The process was seen to work for this data directory.
        let _ = Pid::from_raw(first).map(|first| kill_process(first, Signal::QUIT));
        // One that does not end is killed.
        let _ = wait_for(STOP, &Cancel::new(), || {
            Ok(processes_of(PROGRAM, data, Some(first)).is_empty().then_some(()))
        });
    }
    Some(first)
}

/// Frees the shared memory of a server that is gone, unless a process still has it: it is known by
/// the key and identifier of its System V segment in the data directory.
pub(super) fn free_shared_memory(data: &Path) {
    if let Some((key, id)) = Postmaster::read(data).shared_memory {
        free_segments(key, id);
    }
}

/// First bytes of a server's System V segment (`PGShmemHeader` in `storage/pg_shmem.h`).
const SEGMENT_MAGIC: u32 = 679_834_894;
/// The offset in it of the handle of the control segment of dynamic shared memory.
const CONTROL_HANDLE_AT: usize = 24;
/// First bytes of that control segment (`dsm_control_header` in `storage/ipc/dsm.c`), which lists
/// the others in items of this size, the handle first and then the number of references.
const CONTROL_MAGIC: u32 = 0x9a50_3d32;
const CONTROL_ITEMS_AT: usize = 16;
const CONTROL_ITEM_BYTES: usize = 40;

fn free_segments(key: i64, id: i32) {
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
    // No other process has it, so that none writes to it.
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
    let items =
        (CONTROL_ITEMS_AT..control.len()).step_by(CONTROL_ITEM_BYTES).take(number(4) as usize);
    items.filter(|at| number(at + 4) > 0).map(number).collect()
}
