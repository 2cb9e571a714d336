//! What the threads of a run share: little, and written seldom.

use crate::offsets::Space;
use crate::open::{self, OpenFile};
use crate::outcome::IoFailure;
use crate::{DiskError, Stream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Lines of cache of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Apart(AtomicU64);

/// A stream with its files, for all threads that serve it.
#[derive(Debug)]
pub struct SharedStream<'a> {
    pub stream: &'a Stream,
    pub files: Vec<OpenFile>,
    pub space: Space,
    position: Apart,
    claimed: Apart,
    failed: Vec<AtomicBool>,
    failures: AtomicU32,
    first_failures: Mutex<Vec<IoFailure>>,
}

impl<'a> SharedStream<'a> {
    /// Opens the files.
    ///
    /// # Errors
    /// See [`open::open`].
    pub fn open(stream: &'a Stream) -> Result<Self, DiskError> {
        let (files, space) = open::open(stream)?;
        let failed = files.iter().map(|_| AtomicBool::default()).collect();
        Ok(Self {
            stream,
            files,
            space,
            position: Apart::default(),
            claimed: Apart::default(),
            failed,
            failures: AtomicU32::new(0),
            first_failures: Mutex::default(),
        })
    }

    /// The descriptors of its files, in order.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.files.iter().map(|file| file.file.as_raw_fd())
    }

    /// Where the threads of a sequential stream have come to.
    #[inline]
    pub fn position(&self) -> &AtomicU64 {
        &self.position.0
    }

    /// Claims bytes of those that the stream is to move; false when there are none left.
    #[inline]
    pub fn claim(&self, bytes: u32) -> bool {
        match self.stream.bytes {
            None => true,
            Some(most) => self.claimed.0.fetch_add(u64::from(bytes), Ordering::Relaxed) < most,
        }
    }

    /// Number of files that have failed so far.
    #[inline]
    pub fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Whether a file has failed.
    pub fn has_failed(&self, file: usize) -> bool {
        self.failed[file].load(Ordering::Relaxed)
    }

    /// A file has failed: no thread of the stream uses it any more. The first failure is kept.
    pub fn fail(&self, file: usize, failure: impl FnOnce() -> IoFailure) {
        if !self.failed[file].swap(true, Ordering::Relaxed) {
            if let Ok(mut failures) = self.first_failures.lock() {
                failures.push(failure());
            }
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first failure of each file that failed.
    pub fn take_failures(&self) -> Vec<IoFailure> {
        self.first_failures.lock().map(|mut failures| std::mem::take(&mut *failures)).unwrap_or_default()
    }
}
