//! Waits of the sessions.
//!
//! DuckDB counts no waits. How long a session was suspended in it is exact: the wall time of its
//! requests less the time on a processor and in the run queue, which the kernel counts per thread.
//! The causes are sampled: the kernel shows the system call that a thread sleeps in and its
//! arguments (`/proc/<pid>/task/<tid>/syscall`, see proc(5)). These distinguish a read of the
//! database file, a sync of the log and a mutex. Samples divide the suspended time; they do not add
//! to it.

use super::threads::Workers;
use engine::{
    Collection, EngineError, EngineUse, Result, SessionPart, WaitCollector, WaitType, lock,
};
use observations::{Wait, WaitClass, WaitSource};
use observe::{ThreadClock, ThreadTimes};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

pub const WAIT_TYPES: &[WaitType] = &[
    WaitType::new("DATA_READ", WaitClass::DataRead, "reading the database file"),
    WaitType::new(
        "DATA_WRITE",
        WaitClass::DataWrite,
        "writing the database file (during a checkpoint)",
    ),
    WaitType::new(
        "DATA_SYNC",
        WaitClass::DataWrite,
        "syncing the database file, or changing its size",
    ),
    WaitType::new("WAL_READ", WaitClass::Log, "reading the write-ahead log"),
    WaitType::new("WAL_WRITE", WaitClass::Log, "writing to the write-ahead log"),
    WaitType::new("WAL_SYNC", WaitClass::Log, "syncing the write-ahead log, or changing its size"),
    WaitType::new(
        "OTHER_READ",
        WaitClass::DataRead,
        "reading another file, such as a temporary one",
    ),
    WaitType::new(
        "OTHER_WRITE",
        WaitClass::DataWrite,
        "writing another file, such as a temporary one",
    ),
    WaitType::new("OTHER_SYNC", WaitClass::DataWrite, "syncing another file, or changing its size"),
    WaitType::new(
        "MUTEX",
        WaitClass::Latch,
        "waiting for a mutex in DuckDB (log, catalog or checkpoint)",
    ),
    WaitType::new(
        "WORKERS",
        WaitClass::Other,
        "waiting for DuckDB's worker threads to finish their part of the statement, or for a \
         shared lock",
    ),
    WaitType::new("MEMORY", WaitClass::Other, "waiting for a page fault"),
    WaitType::new("SYSTEM_CALL", WaitClass::Other, "waiting in another system call"),
    WaitType::new("SUSPENDED", WaitClass::Other, "suspended; no sample shows the cause"),
];

/// A request that took less cannot have been suspended for long enough to be worth two readings of
/// the thread's times.
const SHORT: Duration = Duration::from_micros(20);

/// The slots in which the sessions of a trial are seen.
#[derive(Debug, Clone)]
pub struct Slots {
    observed: bool,
    all: Arc<Mutex<SlotList>>,
    /// The part of the measurement that runs.
    part: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct SlotList {
    slots: Vec<Arc<Visible>>,
    /// Suspended nanoseconds by part of the measurement, of the sessions that have ended it.
    suspended_ns: Vec<u64>,
}

/// A session's public state, on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Visible {
    /// The number of its thread; 0: it is not measured.
    thread: AtomicI32,
    in_engine: AtomicBool,
}

impl Slots {
    /// No slots yet; `observed`: sessions will be sampled.
    pub fn new(observed: bool) -> Self {
        Self { observed, all: Arc::default(), part: Arc::default() }
    }

    /// Adds the time that a session was suspended in a part.
    fn add(&self, part: usize, suspended_ns: u64) {
        let parts = &mut lock(&self.all).suspended_ns;
        if parts.len() <= part {
            parts.resize(part + 1, 0);
        }
        parts[part] += suspended_ns;
    }

    /// A slot for a session.
    pub fn take(&self) -> Slot {
        let visible = Arc::<Visible>::default();
        if self.observed {
            lock(&self.all).slots.push(visible.clone());
        }
        Slot { slots: self.clone(), visible, times: None }
    }
}

/// A session's own view of its slot.
pub struct Slot {
    slots: Slots,
    visible: Arc<Visible>,
    times: Option<Times>,
}

/// The times of a session's thread.
struct Times {
    clock: ThreadClock,
    /// The last reading, and when it was taken.
    read: (ThreadTimes, Instant),
    /// When the last request ended.
    left: Instant,
    /// Suspended in the part of the measurement.
    suspended_ns: u64,
    part: usize,
}

impl Times {
    fn read(&mut self) {
        self.read = (self.clock.read(), Instant::now());
    }
}

impl Slot {
    /// The measurement begins, on the thread that will work.
    pub fn begin(&mut self) {
        if !self.slots.observed {
            return;
        }
        let (clock, now) = (ThreadClock::of_this_thread(), Instant::now());
        let (read, left) = ((clock.read(), now), now);
        self.times = Some(Times { read, clock, left, suspended_ns: 0, part: 0 });
        self.visible.thread.store(observe::thread_id(), Ordering::Relaxed);
    }

    /// A request begins.
    pub fn enter(&mut self) {
        let Some(times) = &mut self.times else { return };
        let part = self.slots.part.load(Ordering::Relaxed);
        if part != times.part {
            self.slots.add(times.part, std::mem::take(&mut times.suspended_ns));
            times.part = part;
        }
        // Time that the thread spent outside does not count as a wait in DuckDB.
        if times.left.elapsed() > SHORT {
            times.read();
        }
        times.left = Instant::now();
        self.visible.in_engine.store(true, Ordering::Relaxed);
    }

    /// The request has ended.
    pub fn leave(&mut self) {
        let Some(times) = &mut self.times else { return };
        self.visible.in_engine.store(false, Ordering::Relaxed);
        if times.left.elapsed() > SHORT {
            let (before, before_at) = times.read;
            times.read();
            let (now, now_at) = times.read;
            let used = now.since(before);
            let wall_ns = now_at.duration_since(before_at).as_nanos() as u64;
            times.suspended_ns += wall_ns.saturating_sub(used.cpu_ns + used.run_delay_ns);
        }
        times.left = Instant::now();
    }

    /// The measurement is over.
    pub fn end(&mut self) {
        self.visible.thread.store(0, Ordering::Relaxed);
        if let Some(times) = self.times.take() {
            self.slots.add(times.part, times.suspended_ns);
        }
    }
}

/// Samples by wait type, and how many looks found a session suspended.
type Samples = BTreeMap<&'static str, u64>;

/// Divides the time that sessions were suspended by what they are seen to wait for.
pub(crate) struct DuckDbCollector {
    slots: Slots,
    workers: Workers,
    hz: f64,
    before: Option<Reading>,
    sampler: Option<Sampler>,
}

/// The kernel's counters at a moment.
struct Reading {
    /// Nanoseconds of each worker thread on a processor.
    workers_ns: Vec<(i32, u64)>,
    /// Bytes that this process has read from storage; it does nothing else during the measurement.
    read_bytes: Option<u64>,
}

impl Reading {
    fn read(workers: &Workers) -> Self {
        let read_bytes = observe::storage_read_bytes(std::process::id() as i32);
        Self { workers_ns: workers.cpu_ns(), read_bytes }
    }

    fn until_now(&self, workers: &Workers) -> EngineUse {
        let now = Self::read(workers);
        let before = |thread| {
            self.workers_ns.iter().find(|(known, _)| *known == thread).map_or(0, |(_, ns)| *ns)
        };
        let cpu_ns: u64 =
            now.workers_ns.iter().map(|(thread, ns)| ns.saturating_sub(before(*thread))).sum();
        let read =
            now.read_bytes.zip(self.read_bytes).map(|(now, before)| now.saturating_sub(before));
        EngineUse {
            worker_cpu_s: Some(cpu_ns as f64 / 1e9),
            disk_read_bytes: read,
            ..EngineUse::default()
        }
    }
}

/// Why sleeping threads were not sampled.
#[derive(Debug, thiserror::Error)]
enum SampleError {
    /// The kernel does not show them.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The sampling thread is gone.
    #[error("the sampling thread panicked")]
    Panicked,
}

/// The thread that looks.
struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Samples>, SampleError>>,
}

impl DuckDbCollector {
    /// A collector that samples `hz` times a second.
    pub fn new(slots: Slots, workers: Workers, hz: f64) -> Self {
        Self { slots, workers, hz, before: None, sampler: None }
    }
}

impl WaitCollector for DuckDbCollector {
    fn start(&mut self) -> Result<()> {
        self.before = Some(Reading::read(&self.workers));
        if !self.slots.observed {
            return Ok(());
        }
        lock(&self.slots.all).suspended_ns.clear();
        self.slots.part.store(0, Ordering::Relaxed);
        let (is_over, slots) = (Arc::<AtomicBool>::default(), self.slots.clone());
        let (stop, every) = (is_over.clone(), Duration::from_secs_f64(1.0 / self.hz));
        let thread =
            Builder::new().name("sampler".into()).spawn(move || sample(&slots, every, &stop));
        let thread = thread.map_err(|error| EngineError::no_thread(&error))?;
        self.sampler = Some(Sampler { is_over, thread });
        Ok(())
    }

    fn divide(&mut self) -> Result<()> {
        self.slots.part.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
        let used =
            self.before.take().map(|before| before.until_now(&self.workers)).unwrap_or_default();
        let samples = match self.sampler.take() {
            None => return Ok(Collection { used, ..Collection::default() }),
            Some(Sampler { is_over, thread }) => {
                is_over.store(true, Ordering::Relaxed);
                thread.thread().unpark();
                thread.join().unwrap_or(Err(SampleError::Panicked))
            }
        };
        let lost: Vec<String> = samples
            .as_ref()
            .err()
            .map(|error| format!("Waits of suspended sessions: {error}."))
            .into_iter()
            .collect();
        let mut taken = lock(&self.slots.all);
        taken.slots.retain(|slot| Arc::strong_count(slot) > 1);
        let (samples, ended) =
            (samples.unwrap_or_default(), self.slots.part.load(Ordering::Relaxed));
        let parts = (0..=ended).map(|part| {
            let suspended_s = taken.suspended_ns.get(part).map_or(0.0, |ns| *ns as f64 / 1e9);
            divide(suspended_s, samples.get(part).unwrap_or(&Samples::new()), self.hz)
        });
        let parts: Vec<Vec<Wait>> = parts.collect();
        let mut waits = Vec::<Wait>::new();
        for wait in parts.iter().flatten() {
            match waits.iter_mut().find(|total| total.wait_type == wait.wait_type) {
                Some(total) => total.add(wait),
                None => waits.push(wait.clone()),
            }
        }
        // A session's time is that of its thread, which the load's driver knows.
        let parts = parts.into_iter().filter(|_| ended > 0);
        let parts = parts.map(|waits| SessionPart { waits, ..SessionPart::default() }).collect();
        Ok(Collection { waits, parts, used, lost, ..Collection::default() })
    }
}

/// Divides suspended time in proportion to samples.
fn divide(suspended_s: f64, samples: &Samples, hz: f64) -> Vec<Wait> {
    let all: u64 = samples.values().sum();
    let source = |samples, error_s| WaitSource::Sampled { hz, samples: Some(samples), error_s };
    let wait = |name: &str, resource_s: f64, source| Wait {
        wait_type: name.into(),
        class: WaitType::class_of(WAIT_TYPES, name),
        count: None,
        resource_s,
        signal_s: 0.0,
        source,
    };
    if all == 0 {
        let unknown =
            (suspended_s > 0.0).then(|| wait("SUSPENDED", suspended_s, WaitSource::Counted));
        return unknown.into_iter().collect();
    }
    let divided = samples.iter().map(|(name, count)| {
        let share = *count as f64 / all as f64;
        // The standard error of a share of independent samples.
        let error_s = suspended_s * (share * (1.0 - share) / all as f64).sqrt();
        wait(name, suspended_s * share, source(*count, Some(error_s)))
    });
    divided.collect()
}

/// Looks at the sessions until it is over, by part of the measurement; an error when the kernel
/// shows nothing.
fn sample(
    slots: &Slots,
    every: Duration,
    is_over: &AtomicBool,
) -> Result<Vec<Samples>, SampleError> {
    let (mut samples, mut files): (Vec<Samples>, BTreeMap<i32, File>) = Default::default();
    let mut next = Instant::now() + every;
    while !is_over.load(Ordering::Relaxed) {
        std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
        if Instant::now() < next {
            continue;
        }
        next = (next + every).max(Instant::now());
        let part = slots.part.load(Ordering::Relaxed);
        if samples.len() <= part {
            samples.resize_with(part + 1, Samples::new);
        }
        let slots = lock(&slots.all).slots.clone();
        for slot in slots.iter().filter(|slot| slot.in_engine.load(Ordering::Relaxed)) {
            let thread = slot.thread.load(Ordering::Relaxed);
            if thread == 0 {
                continue;
            }
            if let Some(name) = look(&mut files, thread)? {
                *samples[part].entry(name).or_default() += 1;
            }
        }
    }
    Ok(samples)
}

/// Returns the call in which a thread sleeps; `None` when it does not sleep, or has ended.
fn look(files: &mut BTreeMap<i32, File>, thread: i32) -> Result<Option<&'static str>, SampleError> {
    let path = format!("/proc/self/task/{thread}/syscall");
    let file = match files.entry(thread) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => match File::open(&path) {
            Ok(file) => place.insert(file),
            Err(_) if !Path::new(&path).parent().is_some_and(Path::exists) => return Ok(None),
            Err(source) => return Err(SampleError::File { path, source }),
        },
    };
    let mut buffer = [0; 256];
    let length = match file.read_at(&mut buffer, 0) {
        Ok(length) => length,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        Err(source) => return Err(SampleError::File { path, source }),
    };
    Ok(wait_type(&String::from_utf8_lossy(&buffer[..length]), |descriptor| {
        Path::new("/proc/self/fd")
            .join(descriptor.to_string())
            .read_link()
            .ok()?
            .to_str()
            .map(str::to_owned)
    }))
}

/// The wait type of a thread of which the kernel shows this: `running`, `-1 ...` (asleep outside of
/// a system call), or the number of the call and its arguments. `file` gives the path of an open
/// file.
fn wait_type(text: &str, file: impl Fn(u64) -> Option<String>) -> Option<&'static str> {
    let mut words = text.split_ascii_whitespace();
    let call: i64 = words.next()?.parse().ok()?;
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (first, second) = (argument(), argument());
    let kinds: [&str; 3] = match call {
        -1 => return Some("MEMORY"),
        libc::SYS_futex => return Some(futex(second.unwrap_or(0))),
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_preadv | libc::SYS_readv => {
            ["DATA_READ", "WAL_READ", "OTHER_READ"]
        }
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_writev => {
            ["DATA_WRITE", "WAL_WRITE", "OTHER_WRITE"]
        }
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_ftruncate | libc::SYS_fallocate => {
            ["DATA_SYNC", "WAL_SYNC", "OTHER_SYNC"]
        }
        _ => return Some("SYSTEM_CALL"),
    };
    let path = first.and_then(file).unwrap_or_default();
    let kind = Path::new(&path).extension().and_then(|extension| extension.to_str());
    Some(
        kinds[match kind {
            Some("duckdb") => 0,
            Some("wal") => 1,
            _ => 2,
        }],
    )
}

/// A mutex is waited for by `FUTEX_WAIT`; condition variables, which threads use to wait for each
/// other's work, and shared locks by `FUTEX_WAIT_BITSET` (futex(2), glibc).
fn futex(operation: u64) -> &'static str {
    const COMMAND: u64 = 0x7f;
    if operation & COMMAND == libc::FUTEX_WAIT as u64 { "MUTEX" } else { "WORKERS" }
}

#[cfg(test)]
mod tests {
    use super::{Samples, divide, wait_type};

    #[test]
    fn a_thread_waits_for_what_its_system_call_is_about() {
        let file = |descriptor: u64| {
            let path = match descriptor {
                9 => "/work/data.duckdb",
                10 => "/work/data.duckdb.wal",
                _ => "/work/data.duckdb.tmp/duckdb_temp_storage-0.tmp",
            };
            Some(path.to_owned())
        };
        let shown = |call: i64, first: u64, second: u64| {
            wait_type(
                &format!("{call} {first:#x} {second:#x} 0x0 0x0 0x0 0x0 0x7ffd 0x7f62\n"),
                file,
            )
        };
        for (call, first, second, expected) in [
            (libc::SYS_pread64, 9, 0, "DATA_READ"),
            (libc::SYS_pwrite64, 10, 0, "WAL_WRITE"),
            (libc::SYS_fsync, 10, 0, "WAL_SYNC"),
            (libc::SYS_fdatasync, 9, 0, "DATA_SYNC"),
            (libc::SYS_pwrite64, 17, 0, "OTHER_WRITE"),
            // FUTEX_WAIT | FUTEX_PRIVATE_FLAG, and FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG |
            // FUTEX_CLOCK_REALTIME.
            (libc::SYS_futex, 0x7f00, 0x80, "MUTEX"),
            (libc::SYS_futex, 0x7f00, 0x189, "WORKERS"),
            (libc::SYS_ppoll, 0, 0, "SYSTEM_CALL"),
        ] {
            assert_eq!(shown(call, first, second), Some(expected), "{call} {first} {second}");
        }
        assert_eq!(wait_type("-1 0x7ffd 0x7f62\n", file), Some("MEMORY"));
        assert_eq!((wait_type("running\n", file), wait_type("", file)), (None, None));
    }

    #[test]
    fn samples_divide_the_suspended_time_and_do_not_add_to_it() {
        let samples = Samples::from([("WAL_SYNC", 30), ("MUTEX", 10)]);
        let waits = divide(2.0, &samples, 100.0);
        let seconds: Vec<(&str, f64)> =
            waits.iter().map(|wait| (wait.wait_type.as_str(), wait.resource_s)).collect();
        assert_eq!(seconds, [("MUTEX", 0.5), ("WAL_SYNC", 1.5)]);
        // sqrt(0.75 * 0.25 / 40) of 2 s, of each.
        let error_s = waits[1].source.error_s().unwrap();
        assert!((error_s - 0.136_93).abs() < 1e-5, "{error_s}");
        let unknown = divide(2.0, &Samples::new(), 100.0);
        assert_eq!((unknown[0].wait_type.as_str(), unknown[0].resource_s), ("SUSPENDED", 2.0));
        assert!(divide(0.0, &Samples::new(), 100.0).is_empty());
    }
}
