//! A thread's record of one stream; no other thread reads it before the thread ends.

use crate::{Arrivals, Direction, Durability, Sends, Stream};
use work::conductor::{Reader, Recorder};

/// A start later than this, with room in the queue, was missed by the thread.
const MISSED_NS: u64 = 1_000_000;

/// Intervals with preallocated room, where the duration is not known in advance.
const INTERVALS: usize = 4096;

/// I/Os of one direction.
#[derive(Debug, Default)]
pub struct Recorded {
    pub bytes: u64,
    pub latency: Recorder,
    pub service: Option<Recorder>,
}

impl Recorded {
    /// Returns the recorded values for the outcome.
    pub fn direction(self) -> Direction {
        let service = self.service.map(|service| service.histogram());
        Direction { bytes: self.bytes, latency: self.latency.histogram(), service }
    }
}

/// When an I/O happened, in nanoseconds on the run's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// When it should have begun (open loop).
    pub intended_ns: Option<u64>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// I/Os and bytes by interval.
#[derive(Debug, Default)]
pub struct Intervals {
    from_ns: u64,
    length_ns: u64,
    pub ios: Vec<u64>,
    pub bytes: Vec<u64>,
}

impl Intervals {
    /// Has room for a part of this length, so that measuring allocates nothing.
    pub fn new(length_ns: u64, part_ns: Option<u64>) -> Self {
        let room = part_ns.map_or(INTERVALS, |part_ns| (part_ns / length_ns) as usize + 64);
        let with_room = || Vec::with_capacity(room);
        Self { from_ns: 0, length_ns, ios: with_room(), bytes: with_room() }
    }

    #[inline]
    fn add(&mut self, at_ns: u64, bytes: u64) {
        let index = ((at_ns - self.from_ns) / self.length_ns) as usize;
        if self.ios.len() <= index {
            self.ios.resize(index + 1, 0);
            self.bytes.resize(index + 1, 0);
        }
        self.ios[index] += 1;
        self.bytes[index] += bytes;
    }
}

/// A thread's record of one stream in one part of the run.
#[derive(Debug, Default)]
pub struct Record {
    pub reads: Option<Recorded>,
    pub writes: Option<Recorded>,
    pub syncs: Option<Recorded>,
    pub intervals: Intervals,
    pub ios: u64,
    pub sends: Option<Sends>,
    /// I/Os in flight, since when, and their number summed over the time before.
    in_flight: u64,
    since_ns: u64,
    pub depth_ns: u64,
    /// The begin of the part, and the end of the last I/O.
    pub from_ns: u64,
    pub last_ns: u64,
}

impl Record {
    /// With all the room that it will need.
    pub fn new(stream: &Stream, intervals: Intervals) -> Self {
        let open_loop = matches!(stream.arrivals, Arrivals::Rate(_));
        let direction = |service: bool| Recorded {
            service: service.then(Recorder::default),
            ..Recorded::default()
        };
        Self {
            reads: (stream.read_percent > 0).then(|| direction(open_loop)),
            writes: (stream.read_percent < 100).then(|| direction(open_loop)),
            syncs: matches!(stream.durability, Durability::Sync { .. }).then(|| direction(false)),
            sends: open_loop.then(Sends::default),
            intervals,
            ..Self::default()
        }
    }

    /// Latencies of reads and writes, for others to read.
    pub fn readers(&self) -> impl Iterator<Item = Reader> {
        [&self.reads, &self.writes].into_iter().flatten().map(|recorded| recorded.latency.reader())
    }

    /// The part begins now, and not when it was made ready for.
    pub fn begin_at(&mut self, now_ns: u64) {
        self.intervals.from_ns = now_ns;
        (self.from_ns, self.since_ns, self.last_ns) = (now_ns, now_ns, now_ns);
    }

    /// An I/O has begun.
    #[inline]
    pub fn begun(&mut self, now_ns: u64) {
        self.passed(now_ns);
        self.in_flight += 1;
    }

    /// An I/O has ended or failed.
    #[inline]
    pub fn ended(&mut self, now_ns: u64) {
        self.passed(now_ns);
        self.in_flight -= 1;
        self.last_ns = now_ns;
    }

    #[inline]
    fn passed(&mut self, now_ns: u64) {
        self.depth_ns += self.in_flight * (now_ns - self.since_ns);
        self.since_ns = now_ns;
    }

    /// An I/O has moved its bytes.
    #[inline]
    pub fn done(&mut self, write: bool, bytes: u32, times: Times) {
        let bytes = u64::from(bytes);
        if let Some(direction) = if write { &mut self.writes } else { &mut self.reads } {
            record(direction, bytes, times);
        }
        self.intervals.add(times.end_ns, bytes);
        self.ios += 1;
    }

    /// A file was synced.
    pub fn synced(&mut self, times: Times) {
        if let Some(syncs) = &mut self.syncs {
            record(syncs, 0, times);
            self.last_ns = times.end_ns;
        }
    }

    /// An I/O of an open loop begins; the queue has had room since `room_since_ns`.
    pub fn sent(&mut self, intended_ns: u64, room_since_ns: u64, now_ns: u64) {
        let delay_ns = now_ns.saturating_sub(intended_ns.max(room_since_ns));
        let schedule_ns = intended_ns.saturating_sub(self.from_ns);
        if let Some(sends) = &mut self.sends {
            sends.add(&Sends {
                intended: 1,
                missed: u64::from(delay_ns > MISSED_NS),
                delay_ns_max: delay_ns,
                late: u64::from(room_since_ns.saturating_sub(intended_ns) > MISSED_NS),
                schedule_ns,
                free_until_ns: if room_since_ns <= intended_ns { schedule_ns } else { 0 },
            });
        }
    }
}

#[inline]
fn record(direction: &mut Recorded, bytes: u64, times: Times) {
    let from_ns = times.intended_ns.unwrap_or(times.start_ns).min(times.end_ns);
    direction.latency.record(times.end_ns - from_ns);
    if let Some(service) = &mut direction.service {
        service.record(times.end_ns - times.start_ns);
    }
    direction.bytes += bytes;
}
