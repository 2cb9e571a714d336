//! The kernel's events: one for each thread and processor, all of one processor with one ring.

use super::Result;
use super::error::{ProfileError, advice};
use perf_event::events::Software;
use perf_event::{Builder, Counter, SampleFlag, Sampler};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::HashMap;
use std::io;
use std::os::fd::AsRawFd;

/// Bytes of a ring, emptied ten times a second: at 999 Hz room for stacks of 60 frames.
const RING_BYTES: usize = 256 << 10;
/// `_IO('$', 5)` of `linux/perf_event.h`.
const SET_OUTPUT: libc::c_ulong = 0x2405;
/// Files that are open in addition to the events.
const FILES_BESIDE: usize = 128;

/// Open events and their rings.
pub(crate) struct Events {
    pub rings: Vec<Sampler>,
    followers: Vec<Counter>,
    /// Thread that an event was opened for. Threads that it starts inherit the event.
    pub owners: HashMap<u64, i32>,
    /// True if kernel time is sampled.
    pub kernel: bool,
}

impl Events {
    /// Events of threads, not yet enabled. Threads that have ended since they were listed are
    /// skipped.
    pub fn of_threads(threads: &[i32], cpus: &[u32], hz: u32) -> Result<Self> {
        let needed = threads.len() * cpus.len() + FILES_BESIDE;
        allow_files(needed as u64);
        let who: Vec<Option<i32>> = threads.iter().copied().map(Some).collect();
        Self::open(&who, cpus, hz).map_err(|error| match error.raw_os_error() {
            Some(libc::EMFILE) => ProfileError::TooManyFiles(threads.len(), cpus.len(), needed),
            _ => refused(error),
        })
    }

    /// Events of the processes that the calling thread starts from now on, switched on when they
    /// execute a program.
    pub fn of_started(cpus: &[u32], hz: u32) -> Result<Self> {
        Self::open(&[None], cpus, hz).map_err(refused)
    }

    /// `who` are threads, whose events begin when they are switched on, or `None` for what the
    /// calling thread starts.
    fn open(who: &[Option<i32>], cpus: &[u32], hz: u32) -> io::Result<Self> {
        match Self::open_with(who, cpus, hz, true) {
            // Permitted in user mode only.
            Err(error) if is_refusal(&error) => Self::open_with(who, cpus, hz, false),
            result => result,
        }
    }

    fn open_with(who: &[Option<i32>], cpus: &[u32], hz: u32, kernel: bool) -> io::Result<Self> {
        let mut events =
            Self { rings: Vec::new(), followers: Vec::new(), owners: HashMap::new(), kernel };
        for &cpu in cpus {
            let mut ring: Option<Sampler> = None;
            for &who in who {
                let counter = match builder(who, cpu as usize, hz, kernel).build() {
                    Ok(counter) => counter,
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                    // The processor has been switched off since it was listed.
                    Err(error) if error.raw_os_error() == Some(libc::ENODEV) => break,
                    Err(error) => return Err(error),
                };
                if let Some(thread) = who {
                    events.owners.insert(counter.id(), thread);
                }
                match &ring {
                    None => ring = Some(counter.sampled(RING_BYTES)?),
                    Some(ring) => {
                        redirect(&counter, ring)?;
                        events.followers.push(counter);
                    }
                }
            }
            events.rings.extend(ring);
        }
        Ok(events)
    }

    /// Switches sampling on or off: `Counter::enable`, `Counter::disable`.
    pub fn each(&mut self, change: fn(&mut Counter) -> io::Result<()>) -> io::Result<()> {
        let rings = self.rings.iter_mut().map(Sampler::as_counter_mut);
        rings.chain(&mut self.followers).try_for_each(change)
    }
}

fn builder(who: Option<i32>, cpu: usize, hz: u32, kernel: bool) -> Builder<'static> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder
        .one_cpu(cpu)
        .inherit(true)
        .sample_frequency(hz.into())
        .sample(SampleFlag::TID | SampleFlag::TIME | SampleFlag::ID | SampleFlag::CALLCHAIN)
        .sample_id_all(true)
        // Which file comes to be at which address, and which process and thread begins and ends.
        .mmap(true)
        .mmap2(true)
        .comm(true)
        .comm_exec(true)
        .task(true)
        .exclude_kernel(!kernel)
        .exclude_callchain_kernel(!kernel);
    match who {
        Some(thread) => builder.observe_pid(thread),
        None => builder.observe_self().enable_on_exec(true),
    };
    builder
}

/// Lets an event write to the ring of another one on the same processor.
fn redirect(event: &Counter, ring: &Sampler) -> io::Result<()> {
    // SAFETY: both are open files of events, and the call changes nothing but where the kernel
    // writes.
    match unsafe { libc::ioctl(event.as_raw_fd(), SET_OUTPUT as _, ring.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// In words for the user.
fn refused(error: io::Error) -> ProfileError {
    match error.raw_os_error() {
        Some(libc::EACCES) => ProfileError::NotPermitted(advice()),
        // Of mmap: the ring does not fit in what may be locked. Of the event, no capability: the
        // advice fits both.
        Some(libc::EPERM) => ProfileError::NotPermitted(format!(
            "{}; or memory for samples cannot be locked: raise kernel.perf_event_mlock_kb or \
             `ulimit -l`",
            advice()
        )),
        Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOENT) => ProfileError::NotSupported,
        Some(libc::ENOMEM) => ProfileError::NoMemory,
        _ => ProfileError::System("open the event cpu-clock", error),
    }
}

/// Raises the limit on open files as far as needed and allowed; what is still too many fails when
/// it is opened.
fn allow_files(needed: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < needed) {
        let current = Some(maximum.map_or(needed, |maximum| maximum.min(needed)));
        // Raising the soft limit up to the hard one is always allowed.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}
