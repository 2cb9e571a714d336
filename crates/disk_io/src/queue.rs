//! What both ways of asking the system have in common.

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

    /// How it is made on each thread.
    type Mode: Copy + Sync;

    /// A queue for so many I/Os at once, and what is not as it should be.
    ///
    /// # Errors
    /// When the system does not give it; the text says what to do.
    fn new(
        mode: Self::Mode,
        depth: u32,
        files: &[RawFd],
        buffers: &Buffers,
    ) -> Result<(Self, Option<String>), String>;

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
