//! A run from its beginning to its end.

use crate::blocking::Blocking;
use crate::lane::Surroundings;
use crate::queue::Queue;
use crate::recorder::Live;
use crate::ring::{self, Ring};
use crate::shared::SharedStream;
use crate::thread::{Report, Thread};
use crate::time::Clock;
use crate::watch::{Gate, Presence, Watch};
use crate::{Backend, DiskError, Group, Hooks, Load, Outcome, add_up};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::ScopedJoinHandle;

/// Runs a load to its end.
///
/// An I/O that fails ends its stream on that file, which the outcome tells; the other files and
/// streams go on.
///
/// # Errors
/// When a file cannot be opened, a setting does not fit it (direct I/O on tmpfs, a block that is not
/// a multiple of the sector or larger than the region), the system permits neither backend, or the
/// run is stopped.
pub fn run(load: &Load, hooks: Hooks<'_>) -> Result<Outcome, DiskError> {
    check(load)?;
    let groups = load.groups.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let (mode, note) = match load.backend {
        Some(Backend::Blocking) => (None, None),
        Some(Backend::IoUring) => (Some(ring::Mode::best().map_err(DiskError::System)?), None),
        None => match ring::Mode::best() {
            Ok(mode) => (Some(mode), None),
            Err(why) => (None, Some(format!("{why}: I/O goes by pread and pwrite, a thread for each"))),
        },
    };
    let (backend, reports) = match mode {
        Some(mode) => (Backend::IoUring, run_on::<Ring>(load, &groups, mode, hooks)?),
        None => (Backend::Blocking, run_on::<Blocking>(load, &groups, (), hooks)?),
    };
    Ok(add_up::add_up(backend, note, &groups, reports))
}

/// What makes no sense whatever the files are.
fn check(load: &Load) -> Result<(), DiskError> {
    let wrong = |message: String| Err(DiskError::System(message));
    for group in &load.groups {
        if group.threads == 0 || group.queue_depth == 0 || group.streams.is_empty() {
            return wrong("threads, queue depth and streams are at least 1".into());
        }
        if group.queue_depth > ring::DEPTH_MAX && load.backend != Some(Backend::Blocking) {
            return wrong(format!(
                "queue depth {}: io_uring takes at most {} I/Os a thread: use more threads",
                group.queue_depth,
                ring::DEPTH_MAX
            ));
        }
        if let Some(never) = group.streams.iter().find(|one| one.weight == 0) {
            return wrong(format!("stream {}: its share is 0", never.stream.name));
        }
        let endless = group.streams.iter().find(|one| one.stream.bytes.is_none() && load.duration.is_none());
        if let Some(endless) = endless {
            return wrong(format!(
                "stream {} has neither a time nor bytes to end after",
                endless.stream.name
            ));
        }
    }
    if load.interval.is_zero() {
        return wrong("the interval of the series is 0".into());
    }
    Ok(())
}

fn open(group: &Group) -> Result<Vec<SharedStream<'_>>, DiskError> {
    group.streams.iter().map(|weighted| SharedStream::open(&weighted.stream)).collect()
}

/// The threads of a load, group by group: number of the group, and its part of the group.
fn threads<Q: Queue>(load: &Load) -> Vec<Thread> {
    let of_group = |(number, group): (usize, &Group)| {
        // A queue of one makes up for its depth with threads.
        let (threads, depth) = match Q::DEPTH_MAX {
            1 => (u64::from(group.threads) * u64::from(group.queue_depth), 1),
            _ => (u64::from(group.threads), group.queue_depth),
        };
        (0..threads).map(move |index| Thread { group: number, index, of: threads, depth })
    };
    load.groups.iter().enumerate().flat_map(of_group).collect()
}

/// Runs the load on threads with this kind of queue.
fn run_on<'a, Q: Queue>(
    load: &'a Load,
    groups: &'a [Vec<SharedStream<'a>>],
    mode: Q::Mode,
    mut hooks: Hooks<'_>,
) -> Result<Vec<Report>, DiskError> {
    let threads = threads::<Q>(load);
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    let live: Vec<Live> = threads.iter().map(|_| Live::default()).collect();
    let gates = [Gate::default(), Gate::default()];
    let (sender, events) = channel();
    let mut watch = Watch::new(events, &clock, &live, &stop);
    std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(threads.len());
        let mut refused = None;
        for (number, (thread, live)) in threads.iter().zip(&live).enumerate() {
            let presence = Presence(sender.clone());
            let surroundings = Surroundings { clock: &clock, stop: &stop, live };
            let (group, gates) = (&groups[thread.group], &gates);
            let spawned = std::thread::Builder::new().name(format!("disk-{number}")).spawn_scoped(scope, {
                move || thread.work::<Q>(load, group, mode, surroundings, (gates, &presence))
            });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    refused = Some(DiskError::System(format!(
                        "cannot start thread {} of {}: {error}: use fewer threads or raise the limit (ulimit -u)",
                        number + 1,
                        threads.len()
                    )));
                    break;
                }
            }
        }
        drop(sender);
        let gone = conduct(&mut watch, &gates, load, &mut hooks, refused);
        let join = |handle: ScopedJoinHandle<'_, _>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let reports = handles.into_iter().map(join).collect();
        // What went wrong goes before the "stopped" of those that stopped because of it.
        gone.and_then(|()| first_error(reports))
    })
}

/// Leads the threads through warm-up and measured part to the end.
fn conduct(
    watch: &mut Watch<'_>,
    [ready, go]: &[Gate; 2],
    load: &Load,
    hooks: &mut Hooks<'_>,
    refused: Option<DiskError>,
) -> Result<(), DiskError> {
    let warmup_ns = load.warmup.as_nanos() as u64;
    let leave = |watch: &mut Watch<'_>, hooks: &Hooks<'_>| {
        watch.stop.store(true, Ordering::Relaxed);
        ready.give_up();
        go.give_up();
        watch.all_left(hooks);
    };
    watch.go_ns = watch.clock.now_ns() + warmup_ns;
    if let Some(refused) = refused {
        leave(watch, hooks);
        return Err(refused);
    }
    if !watch.all_arrived(hooks) {
        leave(watch, hooks);
        return Ok(());
    }
    watch.go_ns = watch.clock.now_ns() + warmup_ns;
    ready.open(watch.clock.now_ns());
    if !watch.all_arrived(hooks) {
        leave(watch, hooks);
        return Ok(());
    }
    if let Err(error) = (hooks.go)() {
        leave(watch, hooks);
        return Err(error);
    }
    watch.go_ns = watch.clock.now_ns();
    go.open(watch.go_ns);
    watch.all_left(hooks);
    Ok(())
}

/// All reports, or the first error that is not a mere consequence.
fn first_error(reports: Vec<Result<Report, DiskError>>) -> Result<Vec<Report>, DiskError> {
    let mut stopped = None;
    let mut good = Vec::with_capacity(reports.len());
    for report in reports {
        match report {
            Ok(report) => good.push(report),
            Err(DiskError::Stopped) => stopped = Some(DiskError::Stopped),
            Err(error) => return Err(error),
        }
    }
    stopped.map_or(Ok(good), Err)
}
