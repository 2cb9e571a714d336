//! A stream as one thread serves it.

use crate::arrivals::Schedule;
use crate::offsets::{Place, Space, below};
use crate::outcome::IoFailure;
use crate::recorder::{Intervals, Record};
use crate::shared::SharedStream;
use crate::{Durability, Stream};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

/// One thread's part of a stream.
#[derive(Debug)]
pub struct Feed<'a> {
    pub shared: &'a SharedStream<'a>,
    pub schedule: Schedule,
    pub record: Record,
    /// Nothing more is to be done: its bytes are moved, or all its files have failed.
    pub ended: bool,
    /// Number of its first file among those of the thread.
    pub first_file: u32,
    /// Kinds of buffers: to read into, and to write from.
    pub buffers: (usize, usize),
    space: Space,
    /// This is the measurement, in which bytes are counted off.
    measured: bool,
    failures_seen: u32,
    /// Writes since the last sync, and the files that they went to.
    unsynced: u32,
    dirty: Vec<bool>,
}

/// The next I/O of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    pub place: Place,
    pub write: bool,
    /// The writes so far are to be synced when it has ended.
    pub sync: bool,
}

impl<'a> Feed<'a> {
    pub fn new(shared: &'a SharedStream<'a>, first_file: u32, buffers: (usize, usize)) -> Self {
        Self {
            shared,
            schedule: Schedule::Closed,
            record: Record::default(),
            ended: false,
            first_file,
            buffers,
            space: shared.space.clone(),
            measured: false,
            failures_seen: 0,
            unsynced: 0,
            dirty: vec![false; shared.files.len()],
        }
    }

    pub fn stream(&self) -> &'a Stream {
        self.shared.stream
    }

    /// Makes ready for a part of the run, and hands over what was seen of the one before.
    pub fn begin(&mut self, schedule: Schedule, intervals: Intervals, measured: bool) -> Record {
        self.schedule = schedule;
        self.measured = measured;
        self.ended = false;
        self.unsynced = 0;
        self.dirty.fill(false);
        std::mem::replace(&mut self.record, Record::new(self.shared.stream, intervals))
    }

    /// Draws the next I/O; `None` when there is none any more.
    #[inline]
    pub fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> Option<Next> {
        let shared = self.shared;
        if shared.failures() != self.failures_seen {
            self.failures_seen = shared.failures();
            self.space.remove(|file| shared.has_failed(file));
        }
        let stream = shared.stream;
        let write = match stream.read_percent {
            0 => true,
            100 => false,
            percent => below(random, 100) >= u64::from(percent),
        };
        let place = self.space.next(random, &shared.position.0)?;
        if self.measured && !shared.claim(place.length) {
            return None;
        }
        let mut sync = false;
        if write && let Durability::Sync { every, .. } = stream.durability {
            self.dirty[place.file] = true;
            self.unsynced += 1;
            sync = self.unsynced >= every;
        }
        Some(Next { place, write, sync })
    }

    /// Whether something was written since the last sync.
    pub fn is_unsynced(&self) -> bool {
        self.unsynced > 0
    }

    /// The next file that is to be synced; `None` when all are.
    pub fn next_unsynced(&mut self) -> Option<usize> {
        let shared = self.shared;
        let next = self.dirty.iter().enumerate().position(|(file, dirty)| *dirty && !shared.has_failed(file));
        if let Some(file) = next {
            self.dirty[file] = false;
        } else {
            self.dirty.fill(false);
            self.unsynced = 0;
        }
        next
    }

    /// An I/O has failed, or has moved fewer bytes than it should.
    #[cold]
    pub fn fail(&self, doing: &'static str, place: Place, result: i32, at_s: f64) {
        let path = &self.shared.files[place.file].path;
        self.shared.fail(place.file, || failure(path, doing, place, result, at_s));
    }
}

fn failure(path: &Path, doing: &'static str, place: Place, result: i32, at_s: f64) -> IoFailure {
    let (errno, message) = match result {
        0.. => {
            let end = place.offset + result as u64;
            (None, format!("only {result} of {} bytes: the file ends at byte {end}", place.length))
        }
        error => (Some(-error), std::io::Error::from_raw_os_error(-error).to_string()),
    };
    IoFailure { path: path.into(), doing, offset: place.offset, length: place.length, errno, message, at_s }
}
