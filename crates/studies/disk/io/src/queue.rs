//! Asking the system for I/Os: a queue of many is a ring (`io_uring(7)`) with files and buffers
//! registered, the queue of one calls `pread` and `pwrite`.

use crate::data::Buffers;
use crate::error::QueueError;
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// An I/O for the system.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Names the I/O when it has ended.
    pub slot: u32,
    /// Number of the file among those of the thread.
    pub file: u32,
    pub offset: u64,
    /// The place of the bytes, and the number of that buffer.
    pub buffer: (*mut u8, u16),
    pub length: u32,
    pub write: bool,
    /// Made durable by itself.
    pub durable: bool,
}

/// An I/O that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    pub slot: u32,
    /// Bytes moved, or the negative error number.
    pub result: i32,
}

/// A queue of I/Os of one thread.
///
/// It is made on the thread that uses it. Files and buffers outlive all I/Os.
pub trait Queue: Sized {
    /// I/Os at once that one takes.
    const DEPTH_MAX: u32;

    /// A queue for `depth` I/Os in flight, and any limitation of it.
    ///
    /// # Errors
    /// When the system does not give it.
    fn new(
        depth: u32,
        files: &[RawFd],
        buffers: &Buffers,
    ) -> Result<(Self, Option<QueueError>), QueueError>;

    /// Adds an I/O, which begins at the latest with the next wait.
    fn push(&mut self, request: Request);

    /// Begins what was added.
    ///
    /// # Errors
    /// When the queue is broken.
    fn submit(&mut self) -> io::Result<()>;

    /// Begins what was added and waits until this many I/Os have ended or the time is over.
    ///
    /// # Errors
    /// When the queue is broken.
    fn wait(&mut self, least: u32, most: Option<Duration>) -> io::Result<()>;

    /// An I/O that has ended.
    fn ended(&mut self) -> Option<Completion>;
}

/// Makes one I/O at a time, in the wait.
#[derive(Debug)]
pub struct Blocking {
    files: Vec<RawFd>,
    request: Option<Request>,
    ended: Option<Completion>,
}

impl Queue for Blocking {
    const DEPTH_MAX: u32 = 1;

    fn new(_: u32, files: &[RawFd], _: &Buffers) -> Result<(Self, Option<QueueError>), QueueError> {
        Ok((Self { files: files.to_vec(), request: None, ended: None }, None))
    }

    fn push(&mut self, request: Request) {
        debug_assert!(self.request.is_none(), "a queue of one");
        self.request = Some(request);
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _least: u32, _most: Option<Duration>) -> io::Result<()> {
        if let Some(request) = self.request.take() {
            let result = perform(self.files[request.file as usize], &request);
            self.ended = Some(Completion { slot: request.slot, result });
        }
        Ok(())
    }

    fn ended(&mut self) -> Option<Completion> {
        self.ended.take()
    }
}

/// Bytes moved, or the negative error number.
fn perform(file: RawFd, request: &Request) -> i32 {
    let buffer =
        libc::iovec { iov_base: request.buffer.0.cast(), iov_len: request.length as usize };
    let offset = request.offset as libc::off_t;
    loop {
        // SAFETY: the buffer is this I/O's alone and as long as said; the kernel checks the rest.
        let moved = unsafe {
            match (request.write, request.durable) {
                (false, _) => libc::pread(file, buffer.iov_base, buffer.iov_len, offset),
                (true, false) => libc::pwrite(file, buffer.iov_base, buffer.iov_len, offset),
                (true, true) => libc::pwritev2(file, &raw const buffer, 1, offset, libc::RWF_DSYNC),
            }
        };
        match moved {
            0.. => return moved as i32,
            _ => match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                error => return -error.unwrap_or(libc::EIO),
            },
        }
    }
}

/// Builder of a ring.
type Builder = io_uring::Builder<squeue::Entry, cqueue::Entry>;

/// I/Os that a ring takes (`IORING_MAX_ENTRIES`).
pub const DEPTH_MAX: u32 = 32_768;

/// Buffers that a ring takes (`IORING_MAX_REG_BUFFERS`).
const BUFFERS_MAX: usize = 1 << 14;

/// A ring with what the kernel has of the ways to make it cheaper.
fn build(depth: u32) -> io::Result<IoUring> {
    let ways: [fn(&mut Builder) -> &mut Builder; 2] = [
        // Completions are worked off within the wait alone (Linux 6.1).
        |ring| {
            ring.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun().setup_submit_all()
        },
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

/// A ring. All that it does for its I/Os happens within [`wait`](Queue::wait).
pub struct Ring {
    ring: IoUring,
    /// The kernel knows the buffers.
    registered: bool,
}

impl Queue for Ring {
    const DEPTH_MAX: u32 = DEPTH_MAX;

    fn new(
        depth: u32,
        files: &[RawFd],
        buffers: &Buffers,
    ) -> Result<(Self, Option<QueueError>), QueueError> {
        let ring = build(depth).map_err(|source| match source.raw_os_error() {
            Some(libc::ENOMEM) => QueueError::NoMemory { depth, source },
            _ => QueueError::Ring(source.into()),
        })?;
        ring.submitter()
            .register_files(files)
            .map_err(|source| QueueError::Files { files: files.len(), source })?;
        let note = register(&ring, buffers).err();
        Ok((Self { ring, registered: note.is_none() }, note))
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let entry = self.entry(&request).user_data(u64::from(request.slot));
        // SAFETY: files and buffers outlive the I/O, and the buffer is this I/O's alone until it
        // ends.
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
                self.ring
                    .submitter()
                    .submit_with_args(least as usize, &SubmitArgs::new().timespec(&most))
            }
        };
        passable(result)
    }

    #[inline]
    fn ended(&mut self) -> Option<Completion> {
        let completion = self.ring.completion().next()?;
        Some(Completion { slot: completion.user_data() as u32, result: completion.result() })
    }
}

/// Accepts the result of a ring call that succeeded or that can be repeated.
fn passable(result: io::Result<usize>) -> io::Result<()> {
    // The time is over, a signal came, or the kernel is short of memory for the moment.
    const PASSING: [i32; 4] = [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY];
    match result {
        Err(error) if !error.raw_os_error().is_some_and(|error| PASSING.contains(&error)) => {
            Err(error)
        }
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
            (false, true) => {
                opcode::ReadFixed::new(file, address, length, buffer).offset(offset).build()
            }
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
    /// The kernel takes a ring apart some time after it was closed. Until then it would keep the
    /// files open, which cannot be unmounted for that time, and the locked memory.
    fn drop(&mut self) {
        let _ = self.ring.submitter().unregister_files();
        let _ = self.ring.submitter().unregister_buffers();
    }
}

/// Makes the buffers known to the kernel, which then need not look them up for each I/O.
fn register(ring: &IoUring, buffers: &Buffers) -> Result<(), QueueError> {
    let all = buffers.all();
    if all.len() > BUFFERS_MAX {
        return Err(QueueError::ManyBuffers { buffers: all.len(), most: BUFFERS_MAX });
    }
    // SAFETY: the memory outlives the ring's I/Os, and the kernel holds on to its pages by itself.
    unsafe { ring.submitter().register_buffers(&all) }.map_err(|source| {
        match source.raw_os_error() {
            Some(libc::ENOMEM | libc::EPERM) => {
                QueueError::LockedMemory { bytes: buffers.bytes(), source }
            }
            _ => QueueError::Buffers(source),
        }
    })
}
