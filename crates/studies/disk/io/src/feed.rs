//! A stream as one thread serves it: when its I/Os are meant to begin, and what they are.

use crate::error::IoFailure;
use crate::offsets::{Place, Space, below};
use crate::recorder::{Intervals, Record};
use crate::shared::SharedStream;
use crate::{Arrivals, Durability, Stream};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A thread's part of a stream's arrivals. Times are nanoseconds on the run's clock.
#[derive(Debug)]
pub enum Schedule {
    /// Whenever the queue has room.
    Closed,
    /// At random distances, exponentially distributed: the threads together are a Poisson process.
    Poisson { mean_ns: f64, next_ns: f64, random: Box<Xoshiro256PlusPlus> },
    /// A burst of `count` at a time, one every `every_ns`.
    Burst { count: u64, every_ns: u64, left: u64, due_ns: u64 },
}

/// A thread among those that share the arrivals of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The thread's number, from 0.
    pub index: u64,
    /// Number of threads.
    pub threads: u64,
}

impl Schedule {
    /// A thread's part of the arrivals, from `start_ns` on.
    pub fn new(arrivals: Arrivals, share: Share, seed: u64, start_ns: u64) -> Self {
        let Share { index, threads } = share;
        match arrivals {
            Arrivals::Closed => Self::Closed,
            Arrivals::Rate(rate) => {
                let mut schedule = Self::Poisson {
                    mean_ns: 1e9 * threads as f64 / rate,
                    next_ns: start_ns as f64,
                    random: Box::new(Xoshiro256PlusPlus::seed_from_u64(seed)),
                };
                // Threads do not all begin at once.
                schedule.take(start_ns);
                schedule
            }
            Arrivals::Burst { count, every } => {
                let count = count / threads + u64::from(index < count % threads);
                let due_ns = if count == 0 { u64::MAX } else { start_ns };
                Self::Burst { count, every_ns: every.as_nanos() as u64, left: count, due_ns }
            }
        }
    }

    /// Returns whether I/Os wait for their intended time.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// When the next I/O is due; always, in a closed loop.
    pub fn due_ns(&self) -> u64 {
        match self {
            Self::Closed => 0,
            Self::Poisson { next_ns, .. } => *next_ns as u64,
            Self::Burst { due_ns, .. } => *due_ns,
        }
    }

    /// Returns the number of an open loop's I/Os that were still to begin before this time: the
    /// expected number beyond the next one.
    pub fn intended_before(&self, until_ns: u64) -> u64 {
        match self {
            Self::Poisson { mean_ns, next_ns, .. } if *next_ns < until_ns as f64 => {
                1 + ((until_ns as f64 - next_ns) / mean_ns) as u64
            }
            _ => 0,
        }
    }

    /// Takes an I/O that is due.
    pub fn take(&mut self, now_ns: u64) -> Arrival {
        match self {
            Self::Closed => Arrival { intended_ns: None, ends_burst: false },
            Self::Poisson { mean_ns, next_ns, random } => {
                let intended_ns = Some(*next_ns as u64);
                // The inverse of the exponential distribution; 1 - u is never 0.
                let uniform: f64 = random.random();
                *next_ns -= *mean_ns * (1.0 - uniform).ln();
                Arrival { intended_ns, ends_burst: false }
            }
            Self::Burst { count, every_ns, left, due_ns } => {
                *left -= 1;
                let ends_burst = *left == 0;
                if ends_burst {
                    *left = *count;
                    *due_ns = (*due_ns + *every_ns).max(now_ns);
                }
                Arrival { intended_ns: None, ends_burst }
            }
        }
    }
}

/// An I/O that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it should begin (open loop).
    pub intended_ns: Option<u64>,
    /// It is the last of a burst.
    pub ends_burst: bool,
}

/// A thread's part of a stream.
#[derive(Debug)]
pub(crate) struct Feed<'a> {
    pub shared: &'a SharedStream<'a>,
    pub schedule: Schedule,
    pub record: Record,
    /// Nothing more is to be done: its bytes are moved, or all its files have failed.
    pub ended: bool,
    /// Number of its first file among those of the thread.
    pub first_file: u32,
    pub buffers: BufferKinds,
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

/// Positions of the kinds of buffers that a stream uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferKinds {
    pub read: usize,
    pub write: usize,
}

impl<'a> Feed<'a> {
    pub fn new(shared: &'a SharedStream<'a>, first_file: u32, buffers: BufferKinds) -> Self {
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

    /// Makes ready for a part of the run; returns the record of the one before.
    pub fn prepare(&mut self, intervals: Intervals, measured: bool) -> Record {
        self.measured = measured;
        self.ended = false;
        self.unsynced = 0;
        self.dirty.fill(false);
        std::mem::replace(&mut self.record, Record::new(self.shared.stream, intervals))
    }

    /// Draws the next I/O; `None` at the end.
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

    /// Returns whether something was written since the last sync.
    pub fn is_unsynced(&self) -> bool {
        self.unsynced > 0
    }

    /// The next file that is to be synced; `None` when all are.
    pub fn next_unsynced(&mut self) -> Option<usize> {
        let shared = self.shared;
        let next = self
            .dirty
            .iter()
            .enumerate()
            .position(|(file, dirty)| *dirty && !shared.has_failed(file));
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
    pub fn fail(
        &self,
        doing: &'static str,
        Place { file, offset, length }: Place,
        result: i32,
        at_s: f64,
    ) {
        let (errno, message) = match result {
            0.. => {
                let end = offset + result as u64;
                (
                    None,
                    format!(
                        "transferred {result} of {length} bytes: the file ends at byte \
                                {end}"
                    ),
                )
            }
            error => (Some(-error), std::io::Error::from_raw_os_error(-error).to_string()),
        };
        let path = self.shared.files[file].path.clone();
        self.shared.fail(file, IoFailure { path, doing, offset, length, errno, message, at_s });
    }
}

#[cfg(test)]
mod tests {
    use super::{Schedule, Share};
    use crate::Arrivals;
    use std::time::Duration;

    #[test]
    fn a_rate_is_kept_with_the_spread_of_a_poisson_process() {
        let mut schedule =
            Schedule::new(Arrivals::Rate(4_000.0), Share { index: 3, threads: 4 }, 7, 1_000);
        let times: Vec<u64> = (0..100_000).filter_map(|_| schedule.take(0).intended_ns).collect();
        let distances: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance =
            distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // 1,000 a second for each of 4 threads; an exponential's deviation equals its mean.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
        assert!(times[0] >= 1_000);
    }

    #[test]
    fn bursts_divide_their_count_and_a_late_one_begins_at_once() {
        let burst = Arrivals::Burst { count: 5, every: Duration::from_nanos(100) };
        let mut first = Schedule::new(burst, Share { index: 0, threads: 2 }, 1, 1_000);
        let ends: Vec<bool> = (0..6).map(|_| first.take(1_000).ends_burst).collect();
        assert_eq!(ends, [false, false, true, false, false, true]);
        assert_eq!(first.due_ns(), 1_200);
        let mut second = Schedule::new(burst, Share { index: 1, threads: 2 }, 1, 1_000);
        second.take(1_000);
        assert_eq!(second.due_ns(), 1_000);
        assert!(second.take(5_000).ends_burst);
        assert_eq!(second.due_ns(), 5_000);
        let idle = Arrivals::Burst { count: 1, every: Duration::from_nanos(100) };
        assert_eq!(Schedule::new(idle, Share { index: 1, threads: 2 }, 1, 0).due_ns(), u64::MAX);
    }
}
