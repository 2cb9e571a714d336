//! `io_uring(7)`: one ring a thread, with files and buffers registered.

use crate::data::Buffers;
use crate::queue::{Ended, Queue, Request};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// What a ring is made with.
type Builder = io_uring::Builder<squeue::Entry, cqueue::Entry>;

/// I/Os that a ring takes (`IORING_MAX_ENTRIES`).
pub const DEPTH_MAX: u32 = 32_768;

/// Buffers that a ring takes (`IORING_MAX_REG_BUFFERS`).
const BUFFERS_MAX: usize = 1 << 14;

/// Whether the system gives rings.
///
/// # Errors
/// Why it does not.
pub fn permitted() -> Result<(), String> {
    let ring = build(1).map_err(|error| why(&error))?;
    // Waiting for a time, that is.
    let is_new = ring.params().is_feature_ext_arg();
    is_new.then_some(()).ok_or_else(|| "this kernel's io_uring is too old (before Linux 5.11)".into())
}

/// A ring with what the kernel has of the ways to make it cheaper.
fn build(depth: u32) -> io::Result<IoUring> {
    let ways: [fn(&mut Builder) -> &mut Builder; 2] = [
        // Completions are worked off within the wait alone (Linux 6.1).
        |ring| ring.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun().setup_submit_all(),
        // Completions do not interrupt the thread (Linux 5.19).
        |ring| ring.setup_coop_taskrun().setup_submit_all(),
    ];
    for way in ways {
        match way(IoUring::builder().dontfork()).build(depth) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            built => return built,
        }
    }
    IoUring::builder().dontfork().build(depth)
}

/// Why the system gives no ring.
fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "io_uring is not permitted here (kernel.io_uring_disabled, or a seccomp filter as containers have it)".into()
        }
        Some(libc::ENOSYS) => "this kernel has no io_uring".into(),
        _ => format!("io_uring: {error}"),
    }
}

/// A ring. All that it does for its I/Os happens within [`wait`](Queue::wait).
pub struct Ring {
    ring: IoUring,
    /// The kernel knows the buffers.
    registered: bool,
}

impl Queue for Ring {
    const DEPTH_MAX: u32 = DEPTH_MAX;

    fn new(depth: u32, files: &[RawFd], buffers: &Buffers) -> Result<(Self, Option<String>), String> {
        let ring = build(depth).map_err(|error| match error.raw_os_error() {
            Some(libc::ENOMEM) => format!(
                "io_uring: no memory for a ring of {depth} I/Os: raise the limit of locked memory (ulimit -l, \
                 now {}), or use a smaller queue depth or fewer threads",
                memory_limit()
            ),
            _ => why(&error),
        })?;
        ring.submitter()
            .register_files(files)
            .map_err(|error| format!("io_uring: cannot register {} files: {error}", files.len()))?;
        let note = register(&ring, buffers).err();
        Ok((Self { ring, registered: note.is_none() }, note))
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let entry = self.entry(&request).user_data(u64::from(request.slot));
        // SAFETY: files and buffers outlive the I/O, and the buffer is this I/O's alone until it ends.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        debug_assert!(pushed.is_ok(), "there are as many entries as I/Os at once");
    }

    fn submit(&mut self) -> io::Result<()> {
        passable(self.ring.submit())
    }

    fn wait(&mut self, least: u32, most: Option<Duration>) -> io::Result<()> {
        let result = match most {
            None => self.ring.submit_and_wait(least as usize),
            Some(most) => {
                let most = Timespec::from(most);
                self.ring.submitter().submit_with_args(least as usize, &SubmitArgs::new().timespec(&most))
            }
        };
        passable(result)
    }

    #[inline]
    fn ended(&mut self) -> Option<Ended> {
        let completion = self.ring.completion().next()?;
        Some(Ended { slot: completion.user_data() as u32, result: completion.result() })
    }
}

/// Whether a call to the ring went well, or as well as if it were made again.
fn passable(result: io::Result<usize>) -> io::Result<()> {
    // The time is over, a signal came, or the kernel is short of memory for the moment.
    const PASSING: [i32; 4] = [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY];
    match result {
        Err(error) if !error.raw_os_error().is_some_and(|error| PASSING.contains(&error)) => Err(error),
        _ => Ok(()),
    }
}

impl Ring {
    #[inline]
    fn entry(&self, request: &Request) -> squeue::Entry {
        let (file, length, offset) = (Fixed(request.file), request.length, request.offset);
        let (address, buffer) = request.buffer;
        let durable = if request.durable { libc::RWF_DSYNC } else { 0 };
        match (request.write, self.registered) {
            (false, true) => opcode::ReadFixed::new(file, address, length, buffer).offset(offset).build(),
            (false, false) => opcode::Read::new(file, address, length).offset(offset).build(),
            (true, true) => opcode::WriteFixed::new(file, address, length, buffer)
                .offset(offset)
                .rw_flags(durable)
                .build(),
            (true, false) => {
                opcode::Write::new(file, address, length).offset(offset).rw_flags(durable).build()
            }
        }
    }
}

impl Drop for Ring {
    /// The kernel takes a ring apart some time after it was closed. Until then it would hold on to files,
    /// which cannot be unmounted so long, and to locked memory.
    fn drop(&mut self) {
        let _ = self.ring.submitter().unregister_files();
        let _ = self.ring.submitter().unregister_buffers();
    }
}

/// Makes the buffers known to the kernel, which then need not look them up for each I/O.
fn register(ring: &IoUring, buffers: &Buffers) -> Result<(), String> {
    let all = buffers.all();
    if all.len() > BUFFERS_MAX {
        return Err(format!(
            "I/O buffers are not registered: {} are more than the {BUFFERS_MAX} that io_uring takes",
            all.len()
        ));
    }
    // SAFETY: the memory outlives the ring's I/Os, and the kernel holds on to its pages by itself.
    unsafe { ring.submitter().register_buffers(&all) }.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOMEM | libc::EPERM) => format!(
            "I/O buffers are not registered, which costs processor time: the limit of locked memory (ulimit -l) is {}, \
             each thread needs {} KiB",
            memory_limit(),
            buffers.bytes().div_ceil(1024)
        ),
        _ => format!("I/O buffers are not registered, which costs processor time: {error}"),
    })
}

fn memory_limit() -> String {
    match observe::survey::soft_limit(libc::RLIMIT_MEMLOCK) {
        Some(libc::RLIM_INFINITY) => "unlimited".into(),
        bytes => format!("{} KiB", bytes.unwrap_or_default() / 1024),
    }
}
