//! Asking the system for I/Os: a queue of many is a ring, the queue of one calls `pread` and `pwrite`.

use crate::data::Buffers;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// One I/O for the system.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Names the I/O when it has ended.
    pub slot: u32,
    /// Number of the file among those of the thread.
    pub file: u32,
    pub offset: u64,
    /// Where the bytes are or come to, and the number of that buffer.
    pub buffer: (*mut u8, u16),
    pub length: u32,
    pub write: bool,
    /// Made durable by itself.
    pub durable: bool,
}

/// An I/O that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
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

    /// A queue for so many I/Os at once, and what is not as it should be.
    ///
    /// # Errors
    /// When the system does not give it; the text says what to do.
    fn new(depth: u32, files: &[RawFd], buffers: &Buffers) -> Result<(Self, Option<String>), String>;

    /// Adds an I/O, which begins at the latest with the next wait.
    fn push(&mut self, request: Request);

    /// Begins what was added.
    ///
    /// # Errors
    /// When the queue is broken.
    fn submit(&mut self) -> io::Result<()>;

    /// Begins what was added and waits until so many I/Os have ended or the time is over.
    ///
    /// # Errors
    /// When the queue is broken.
    fn wait(&mut self, least: u32, most: Option<Duration>) -> io::Result<()>;

    /// An I/O that has ended.
    fn ended(&mut self) -> Option<Ended>;
}

/// Makes one I/O at a time, in the wait.
#[derive(Debug)]
pub struct Blocking {
    files: Vec<RawFd>,
    request: Option<Request>,
    ended: Option<Ended>,
}

impl Queue for Blocking {
    const DEPTH_MAX: u32 = 1;

    fn new(_: u32, files: &[RawFd], _: &Buffers) -> Result<(Self, Option<String>), String> {
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
            self.ended = Some(Ended { slot: request.slot, result });
        }
        Ok(())
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.take()
    }
}

/// Bytes moved, or the negative error number.
fn perform(file: RawFd, request: &Request) -> i32 {
    let buffer = libc::iovec { iov_base: request.buffer.0.cast(), iov_len: request.length as usize };
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
