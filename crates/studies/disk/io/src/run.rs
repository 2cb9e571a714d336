//! A run from its beginning to its end: files are opened; threads warm up, go together and report;
//! what they saw is added up.

use crate::data::{Buffers, Kind};
use crate::error::QueueError;
use crate::feed::{BufferKinds, Feed, Schedule, Share};
use crate::lane::Lane;
use crate::queue::{Blocking, Queue, Ring};
use crate::recorder::{Intervals, Record, Recorded};
use crate::shared::SharedStream;
use crate::{Arrivals, Backend, DiskError, Load, Outcome, StreamOutcome, ThreadOutcome};
use observations::add_by_interval;
use observe::{ThreadClock, rings_permitted};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::os::fd::RawFd;
use work::conductor::{Director, Lanes, Stage, conduct};

/// Runs a load to its end.
///
/// An I/O that fails ends its stream on that file, and the outcome lists it; the other files and
/// streams continue.
///
/// # Errors
/// - A file cannot be opened, or the system permits neither backend.
/// - A setting does not fit the file: direct I/O on tmpfs, a block that is not a multiple of
///   the sector or larger than the region.
/// - The run is stopped.
pub fn run(load: &Load, director: &mut dyn Director) -> Result<Outcome, DiskError> {
    load.check()?;
    let groups =
        load.groups.iter().map(|group| group.streams.iter().map(SharedStream::open).collect());
    let groups: Vec<Vec<SharedStream<'_>>> = groups.collect::<Result<_, _>>()?;
    let (backend, note) = match load.backend {
        Some(Backend::Blocking) => (Backend::Blocking, None),
        requested => match (rings_permitted(), requested) {
            (Ok(()), _) => (Backend::IoUring, None),
            (Err(why), Some(_)) => return Err(QueueError::from(why).into()),
            (Err(why), None) => (
                Backend::Blocking,
                Some(format!("{why}; using pread and pwrite with one thread per I/O instead")),
            ),
        },
    };
    let reports = match backend {
        Backend::IoUring => run_on::<Ring>(load, &groups, director)?,
        Backend::Blocking => run_on::<Blocking>(load, &groups, director)?,
    };
    Ok(add_up(backend, note, &groups, reports))
}

/// Runs the load on threads with this kind of queue.
fn run_on<'a, Q: Queue>(
    load: &'a Load,
    groups: &'a [Vec<SharedStream<'a>>],
    director: &mut dyn Director,
) -> Result<Vec<Report>, DiskError> {
    let threads: Vec<Thread<'_>> = groups
        .iter()
        .enumerate()
        .flat_map(|(number, streams)| {
            let group = &load.groups[number];
            // A queue of one makes up for its depth with threads.
            let (of, depth) = match Q::DEPTH_MAX {
                1 => (u64::from(group.threads) * u64::from(group.queue_depth), 1),
                _ => (u64::from(group.threads), group.queue_depth),
            };
            (0..of).map(move |index| Thread { load, streams, group: number, index, of, depth })
        })
        .collect();
    let lanes = Lanes { number: threads.len(), name: "disk", warmup: load.warmup };
    conduct(lanes, director, |stage| threads[stage.lane].run::<Q>(stage))
}

/// A thread of a load.
#[derive(Debug, Clone, Copy)]
struct Thread<'a> {
    load: &'a Load,
    /// The streams of its group.
    streams: &'a [SharedStream<'a>],
    /// Number of its group, and its own within that.
    group: usize,
    index: u64,
    /// Threads of the group.
    of: u64,
    /// I/Os that it keeps in flight.
    depth: u32,
}

/// A thread's report.
#[derive(Debug)]
struct Report {
    group: usize,
    outcome: ThreadOutcome,
    /// Deviation from the request.
    note: Option<QueueError>,
    /// For each stream of the group: the measurement, and the intervals of the warm-up.
    streams: Vec<(Record, Intervals)>,
}

impl<'a> Thread<'a> {
    /// Runs its part of the load.
    fn run<Q: Queue>(self, stage: &Stage<'_>) -> Result<Report, DiskError> {
        let load = self.load;
        let (mut lane, note) = self.lane::<Q>(stage)?;
        if self.streams.iter().any(|stream| stream.stream.arrivals != Arrivals::Closed) {
            wake_in_time();
        }
        let warmup_ns = load.warmup.as_nanos() as u64;
        self.prepare(&mut lane, Some(warmup_ns), false);
        let warm_ns = stage.together()?;
        self.begin(&mut lane, warm_ns);
        if warmup_ns > 0 {
            lane.run(warm_ns, Some(warm_ns + warmup_ns), warm_ns + warmup_ns)?;
        }
        let duration_ns = load.duration.map(|duration| duration.as_nanos() as u64);
        let warm = self.prepare(&mut lane, duration_ns, true);
        stage
            .live()
            .latencies
            .get_or_init(|| lane.feeds.iter().flat_map(|feed| feed.record.readers()).collect());
        let clock = ThreadClock::of_this_thread();
        let go_ns = stage.together()?;
        self.begin(&mut lane, go_ns);
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
    fn lane<'s, Q: Queue>(
        self,
        stage: &'s Stage<'s>,
    ) -> Result<(Lane<'s, Q>, Option<QueueError>), DiskError>
    where
        'a: 's,
    {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed(0));
        let (kinds, of_stream) = kinds(self.streams);
        let buffers = Buffers::new(self.depth, &kinds, &mut random).map_err(|source| {
            let bytes: u64 = kinds.iter().map(|kind| u64::from(kind.bytes)).sum();
            DiskError::NoMemory { bytes: bytes * u64::from(self.depth), source }
        })?;
        let files: Vec<RawFd> = self.streams.iter().flat_map(SharedStream::descriptors).collect();
        let (queue, note) = Q::new(self.depth, &files, &buffers)?;
        let mut first_file = 0;
        let feeds = self
            .streams
            .iter()
            .zip(of_stream)
            .map(|(shared, buffers)| {
                let feed = Feed::new(shared, first_file, buffers);
                first_file += shared.files.len() as u32;
                feed
            })
            .collect();
        let batch = self.load.groups[self.group].batch;
        Ok((Lane::new(queue, buffers, batch, feeds, random, stage), note))
    }

    /// Makes the histograms and the like of a part of the run; its length is unknown if it ends
    /// with its streams. Returns the records of the part before.
    fn prepare<Q: Queue>(
        self,
        lane: &mut Lane<'_, Q>,
        length_ns: Option<u64>,
        is_measured: bool,
    ) -> Vec<Record> {
        let interval_ns = self.load.interval.as_nanos() as u64;
        let feeds = lane.feeds.iter_mut();
        feeds
            .map(|feed| feed.prepare(Intervals::new(interval_ns, length_ns), is_measured))
            .collect()
    }

    /// Begins a part of the run that was prepared.
    fn begin<Q: Queue>(self, lane: &mut Lane<'_, Q>, from_ns: u64) {
        let share = Share { index: self.index, threads: self.of };
        for (feed, purpose) in lane.feeds.iter_mut().zip(1..) {
            let arrivals = feed.stream().arrivals;
            feed.schedule = Schedule::new(arrivals, share, self.seed(purpose), from_ns);
            feed.record.begin_at(from_ns);
        }
    }

    /// A seed of its own for each thread and purpose.
    fn seed(self, purpose: u64) -> u64 {
        // Odd factors, so that no two are alike in any likely load.
        let thread = (self.group as u64) << 32 | self.index;
        self.load.seed
            ^ thread.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ purpose.wrapping_mul(0xd1b5_4a32_d192_ed03)
    }
}

/// Ends the thread's counts at the end of the measurement, and returns that time for this thread.
fn finish<Q: Queue>(lane: &mut Lane<'_, Q>, until_ns: Option<u64>) -> u64 {
    let Some(until_ns) = until_ns else { return lane.last_end_ns };
    for feed in lane.feeds.iter_mut().filter(|feed| !feed.ended) {
        feed.record.last_ns = feed.record.last_ns.max(until_ns);
        if let Some(sends) = &mut feed.record.sends {
            let never_begun = feed.schedule.intended_before(until_ns);
            sends.intended += never_begun;
            sends.late += never_begun;
            sends.schedule_ns = until_ns - feed.record.from_ns;
        }
    }
    let over_before = lane.feeds.iter().all(|feed| feed.ended);
    if over_before { lane.last_end_ns } else { lane.last_end_ns.max(until_ns) }
}

/// The kinds of buffers that a group's threads need: one that all streams read into, and one for
/// each that writes; and which of them each stream uses.
fn kinds(streams: &[SharedStream<'_>]) -> (Vec<Kind>, Vec<BufferKinds>) {
    let streams = || streams.iter().map(|shared| shared.stream);
    let read =
        streams().filter(|stream| stream.read_percent > 0).map(|stream| stream.block.max).max();
    let mut kinds: Vec<Kind> =
        read.map(|bytes| Kind { bytes, compress_percent: None }).into_iter().collect();
    let mut of_stream = Vec::new();
    for stream in streams() {
        of_stream.push(BufferKinds { read: 0, write: kinds.len() });
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

/// Adds the reports of all threads up.
fn add_up(
    backend: Backend,
    note: Option<String>,
    groups: &[Vec<SharedStream<'_>>],
    reports: Vec<Report>,
) -> Outcome {
    let elapsed_s = reports.iter().map(|report| report.outcome.elapsed_s).fold(0.0, f64::max);
    let threads = reports.iter().map(|report| report.outcome).collect();
    let mut notes: Vec<String> = note.into_iter().collect();
    let mut streams: Vec<Vec<_>> = groups
        .iter()
        .map(|group| {
            group
                .iter()
                .map(|shared| StreamOutcome {
                    name: shared.stream.name.clone(),
                    failures: shared.failures_by_time(),
                    ..StreamOutcome::default()
                })
                .collect()
        })
        .collect();
    for report in reports {
        let note = report.note.map(|note| note.to_string());
        notes.extend(note.filter(|note| !notes.contains(note)));
        for (outcome, (record, warmup)) in streams[report.group].iter_mut().zip(report.streams) {
            add(outcome, record, &warmup, elapsed_s);
        }
    }
    Outcome { elapsed_s, backend, notes, streams: streams.into_iter().flatten().collect(), threads }
}

fn add(outcome: &mut StreamOutcome, record: Record, warmup: &Intervals, elapsed_s: f64) {
    let own_s = (record.last_ns - record.from_ns) as f64 / 1e9;
    outcome.elapsed_s = outcome.elapsed_s.max(own_s);
    let directions = [&mut outcome.reads, &mut outcome.writes, &mut outcome.syncs];
    for (sum, recorded) in directions.into_iter().zip([record.reads, record.writes, record.syncs]) {
        sum.add(&recorded.map(Recorded::direction).unwrap_or_default());
    }
    if elapsed_s > 0.0 {
        outcome.depth_mean += record.depth_ns as f64 / 1e9 / elapsed_s;
    }
    add_by_interval(&mut outcome.ios_by_interval, &record.intervals.ios);
    add_by_interval(&mut outcome.bytes_by_interval, &record.intervals.bytes);
    add_by_interval(&mut outcome.warmup_ios_by_interval, &warmup.ios);
    add_by_interval(&mut outcome.warmup_bytes_by_interval, &warmup.bytes);
    if let Some(sends) = record.sends {
        outcome.sends.get_or_insert_default().add(&sends);
    }
}
