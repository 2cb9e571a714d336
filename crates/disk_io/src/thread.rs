//! One load thread: what it makes before, and what it reports after.

use crate::arrivals::Schedule;
use crate::data::{Buffers, Kind};
use crate::feed::Feed;
use crate::lane::Lane;
use crate::queue::Queue;
use crate::recorder::{Intervals, Record};
use crate::shared::SharedStream;
use crate::{Arrivals, DiskError, Group, Load, ThreadOutcome};
use conductor::Stage;
use observe::ThreadClock;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::os::fd::RawFd;

/// One of the threads of a load.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// Number of its group, and its own within that.
    pub group: usize,
    pub index: u64,
    /// Threads of the group.
    pub of: u64,
    /// I/Os that it keeps in flight.
    pub depth: u32,
}

/// What a thread saw.
#[derive(Debug)]
pub struct Report {
    pub group: usize,
    pub outcome: ThreadOutcome,
    /// What is not as it was asked for.
    pub note: Option<String>,
    /// For each stream of the group: the measurement, and the intervals of the warm-up.
    pub streams: Vec<(Record, Intervals)>,
}

impl Thread {
    /// Runs its part of the load.
    pub fn run<Q: Queue>(
        self,
        load: &Load,
        streams: &[SharedStream<'_>],
        mode: Q::Mode,
        stage: &Stage<'_>,
    ) -> Result<Report, DiskError> {
        let group = &load.groups[self.group];
        let (mut lane, note) = self.lane::<Q>(load, streams, mode, stage)?;
        if group.streams.iter().any(|one| one.stream.arrivals != Arrivals::Closed) {
            wake_in_time();
        }
        let warm_ns = stage.together()?;
        let warmup_ns = load.warmup.as_nanos() as u64;
        self.begin(load, &mut lane, warm_ns, (Some(warmup_ns), false));
        if warmup_ns > 0 {
            lane.run(warm_ns, Some(warm_ns + warmup_ns), warm_ns + warmup_ns)?;
        }
        // Histograms and the like are made now, the schedules once the beginning is known.
        let duration_ns = load.duration.map(|duration| duration.as_nanos() as u64);
        let warm = self.begin(load, &mut lane, 0, (duration_ns, true));
        let readers = || lane.feeds.iter().flat_map(|feed| feed.record.readers()).collect();
        stage.live().latencies.get_or_init(readers);
        let clock = ThreadClock::of_this_thread();
        let go_ns = stage.together()?;
        for (number, feed) in lane.feeds.iter_mut().enumerate() {
            feed.schedule = self.schedule(load, feed, number, go_ns);
            feed.record.begin_at(go_ns);
        }
        let before = clock.usage();
        let until_ns = duration_ns.map(|duration_ns| go_ns + duration_ns);
        lane.run(go_ns, until_ns, go_ns)?;
        let used = clock.usage().since(before);
        let end_ns = finish(&mut lane, until_ns);
        let outcome = ThreadOutcome {
            elapsed_s: (end_ns - go_ns) as f64 / 1e9,
            used,
            idle_s: lane.idle_ns as f64 / 1e9,
            io_waits: lane.io_waits,
        };
        let records = lane.feeds.iter_mut().map(|feed| std::mem::take(&mut feed.record));
        let streams = records.zip(warm.into_iter().map(|record| record.intervals)).collect();
        Ok(Report { group: self.group, outcome, note, streams })
    }

    /// Buffers, queue and feeds.
    fn lane<'a, Q: Queue>(
        self,
        load: &Load,
        streams: &'a [SharedStream<'a>],
        mode: Q::Mode,
        stage: &'a Stage<'a>,
    ) -> Result<(Lane<'a, Q>, Option<String>), DiskError> {
        let group = &load.groups[self.group];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed(load, 0));
        let (kinds, of_stream) = kinds(group);
        let buffers = Buffers::new(self.depth, &kinds, &mut random).map_err(|error| {
            let bytes: u64 = kinds.iter().map(|kind| u64::from(kind.bytes)).sum();
            DiskError::System(format!(
                "no memory for the I/O buffers of a thread, {} MiB: {error}: use a smaller block or queue depth",
                (bytes * u64::from(self.depth)) >> 20
            ))
        })?;
        let files: Vec<RawFd> = streams.iter().flat_map(SharedStream::descriptors).collect();
        let (queue, note) = Q::new(mode, self.depth, &files, &buffers).map_err(DiskError::System)?;
        let mut first_file = 0;
        let mut feeds = Vec::with_capacity(streams.len());
        for ((stream, weighted), buffers) in streams.iter().zip(&group.streams).zip(of_stream) {
            feeds.push(Feed::new(stream, weighted.weight, first_file, buffers));
            first_file += stream.files.len() as u32;
        }
        Ok((Lane::new((queue, buffers, self.depth, group.batch), feeds, random, stage), note))
    }

    /// Makes all feeds ready for a part of the run; hands over what they saw in the one before.
    fn begin<Q: Queue>(
        self,
        load: &Load,
        lane: &mut Lane<'_, Q>,
        from_ns: u64,
        (part_ns, measured): (Option<u64>, bool),
    ) -> Vec<Record> {
        let interval_ns = load.interval.as_nanos() as u64;
        let begin = |(number, feed): (usize, &mut Feed<'_>)| {
            let schedule = self.schedule(load, feed, number, from_ns);
            feed.begin(schedule, Intervals::new(from_ns, interval_ns, part_ns), measured)
        };
        lane.feeds.iter_mut().enumerate().map(begin).collect()
    }

    fn schedule(self, load: &Load, feed: &Feed<'_>, number: usize, from_ns: u64) -> Schedule {
        let seed = self.seed(load, number as u64 + 1);
        Schedule::new(feed.stream().arrivals, (self.index, self.of), seed, from_ns)
    }

    /// A seed of its own for each thread and purpose.
    fn seed(self, load: &Load, purpose: u64) -> u64 {
        // Odd factors, so that no two are alike in any likely load.
        let thread = (self.group as u64) << 32 | self.index;
        load.seed ^ thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.wrapping_mul(0xd1b5_4a32_d192_ed03)
    }
}

/// Closes the books at the end of the measurement, and says when that was for this thread.
fn finish<Q: Queue>(lane: &mut Lane<'_, Q>, until_ns: Option<u64>) -> u64 {
    let Some(until_ns) = until_ns else { return lane.last_end_ns };
    for feed in lane.feeds.iter_mut().filter(|feed| !feed.ended) {
        feed.record.last_ns = feed.record.last_ns.max(until_ns);
        feed.record.sends_intended += feed.schedule.intended_before(until_ns);
    }
    let over_before = lane.feeds.iter().all(|feed| feed.ended);
    if over_before { lane.last_end_ns } else { lane.last_end_ns.max(until_ns) }
}

/// The kinds of buffers that a group's threads need: one that all streams read into, and one for each
/// that writes; and which of them each stream uses.
fn kinds(group: &Group) -> (Vec<Kind>, Vec<(usize, usize)>) {
    let streams = || group.streams.iter().map(|weighted| &weighted.stream);
    let read = streams().filter(|stream| stream.read_percent > 0).map(|stream| stream.block.max).max();
    let mut kinds: Vec<Kind> = read.map(|bytes| Kind { bytes, compress_percent: None }).into_iter().collect();
    let mut of_stream = Vec::new();
    for stream in streams() {
        of_stream.push((0, kinds.len()));
        if stream.read_percent < 100 {
            let compress_percent = Some(stream.compress_percent);
            kinds.push(Kind { bytes: stream.block.max, compress_percent });
        }
    }
    (kinds, of_stream)
}

/// Has this thread woken when its time comes, not 50 us later (the usual timer slack).
fn wake_in_time() {
    // SAFETY: changes a property of the calling thread; a failure leaves it as it was.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
