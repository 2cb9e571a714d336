//! The submit loop: one thread, its queue, and the streams that it serves.

use crate::data::Buffers;
use crate::feed::{Arrival, Feed, Next, Schedule};
use crate::offsets::{Place, below};
use crate::queue::{Completion, Queue, Request};
use crate::recorder::Times;
use crate::{DiskError, Durability};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::os::fd::AsRawFd;
use std::time::Duration;
use work::conductor::{LoadError, Stage};

/// Longest sleep without a look at whether to stop.
const SLEEP_MAX_NS: u64 = 50_000_000;

/// Direct I/Os that are submitted in one call. A device that reports its I/Os by the batch, as
/// virtual ones do, would sit idle while a whole batch is prepared: this was seen to cost a tenth
/// of the IOPS. Smaller portions cost more calls.
const PORTION: usize = 4;

/// An I/O in flight.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    feed: usize,
    place: Place,
    write: bool,
    intended_ns: Option<u64>,
    start_ns: u64,
}

/// A load thread.
pub struct Lane<'a, Q> {
    /// Dropped before the buffers.
    queue: Q,
    buffers: Buffers,
    pub feeds: Vec<Feed<'a>>,
    /// Feeds that go on whenever there is room, and those that wait for their time.
    closed: Vec<usize>,
    timed: Vec<usize>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots whose I/O begins with the next wait.
    fresh: Vec<u32>,
    /// Number of these at most.
    portion: usize,
    /// I/Os of closed feeds that are begun and waited for together.
    batch: usize,
    /// The feed that is to be synced: nothing begins until that is done.
    sync_due: Option<usize>,
    /// Since when there is room in the queue.
    room_since_ns: u64,
    random: Xoshiro256PlusPlus,
    stage: &'a Stage<'a>,
    go_ns: u64,
    /// The last look at the clock.
    now_ns: u64,
    /// When the last I/O ended.
    pub last_end_ns: u64,
    /// Time asleep with nothing in flight, and number of waits for I/Os.
    pub idle_ns: u64,
    pub io_waits: u64,
}

impl<'a, Q: Queue> Lane<'a, Q> {
    /// A thread that keeps as many I/Os in flight as there are buffers of a kind, and begins
    /// `batch` of them together.
    pub fn new(
        queue: Q,
        buffers: Buffers,
        batch: u32,
        feeds: Vec<Feed<'a>>,
        random: Xoshiro256PlusPlus,
        stage: &'a Stage<'a>,
    ) -> Self {
        let depth = buffers.depth();
        let direct = feeds.iter().any(|feed| feed.stream().direct);
        let batch = batch.clamp(1, depth) as usize;
        Self {
            queue,
            buffers,
            closed: Vec::new(),
            timed: Vec::new(),
            slots: vec![Slot::default(); depth as usize],
            free: (0..depth).rev().collect(),
            fresh: Vec::with_capacity(depth as usize),
            // From the page cache, an I/O ends as it begins.
            portion: if direct && batch == 1 { PORTION } else { usize::MAX },
            batch,
            sync_due: None,
            room_since_ns: 0,
            random,
            stage,
            go_ns: 0,
            now_ns: 0,
            last_end_ns: 0,
            idle_ns: 0,
            io_waits: 0,
            feeds,
        }
    }

    /// Runs a part: until its end, or until every feed has ended. Returns when nothing is in
    /// flight. Failures have their time since `go_ns`.
    ///
    /// # Errors
    /// When the queue is broken, or the load stops.
    pub fn run(
        &mut self,
        from_ns: u64,
        until_ns: Option<u64>,
        go_ns: u64,
    ) -> Result<(), DiskError> {
        self.go_ns = go_ns;
        self.room_since_ns = from_ns;
        (self.idle_ns, self.io_waits, self.last_end_ns) = (0, 0, from_ns);
        self.now_ns = self.stage.now_ns();
        self.arrange();
        while !self.stage.is_stopped() && until_ns.is_none_or(|until_ns| self.now_ns < until_ns) {
            self.fill()?;
            if self.in_flight() > 0 {
                self.turn(self.time_to_next(until_ns))?;
            } else if let Some(feed) = self.sync_due {
                self.sync(feed);
            } else if self.closed.is_empty() && self.timed.is_empty() {
                break;
            } else {
                self.sleep(until_ns);
            }
        }
        while self.in_flight() > 0 {
            self.turn(None)?;
        }
        if let Some(feed) = self.sync_due {
            self.sync(feed);
        }
        if self.stage.is_stopped() { Err(LoadError::Stopped.into()) } else { Ok(()) }
    }

    /// Sorts the feeds that have not ended.
    fn arrange(&mut self) {
        let alive = |timed| {
            let feeds = self.feeds.iter().enumerate();
            feeds
                .filter(move |(_, feed)| !feed.ended && feed.schedule.is_timed() == timed)
                .map(|(n, _)| n)
        };
        (self.closed, self.timed) = (alive(false).collect(), alive(true).collect());
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Takes I/Os as long as the queue has room and one is due.
    #[inline]
    fn fill(&mut self) -> Result<(), DiskError> {
        while self.sync_due.is_none() && !self.free.is_empty() {
            let Some(number) = self.due_feed() else { break };
            if self.fresh.len() >= self.portion {
                self.stamp();
                self.queue.submit().map_err(DiskError::Broken)?;
            }
            let feed = &mut self.feeds[number];
            let arrival = feed.schedule.take(self.now_ns);
            if let Some(next) = feed.next(&mut self.random) {
                self.begin(number, next, arrival);
            } else {
                feed.ended = true;
                // A burst ends with the writes made so far.
                if matches!(feed.schedule, Schedule::Burst { .. }) && feed.is_unsynced() {
                    self.sync_due = Some(number);
                }
                self.arrange();
            }
        }
        Ok(())
    }

    /// The feed whose turn it is: one whose time has come, else one of the others by weight.
    #[inline]
    fn due_feed(&mut self) -> Option<usize> {
        if !self.timed.is_empty() {
            let due = self.timed.iter().find(|n| self.feeds[**n].schedule.due_ns() <= self.now_ns);
            if let Some(number) = due {
                return Some(*number);
            }
        }
        match self.closed[..] {
            [] => None,
            [only] => Some(only),
            _ => {
                let weight = |number: &usize| u64::from(self.feeds[*number].stream().weight);
                let mut drawn =
                    below(&mut self.random, self.closed.iter().map(weight).sum::<u64>().max(1));
                self.closed.iter().copied().find(|number| {
                    let here = drawn < weight(number);
                    drawn = drawn.saturating_sub(weight(number));
                    here
                })
            }
        }
    }

    /// Adds an I/O to the queue; there is room.
    #[inline]
    fn begin(&mut self, number: usize, Next { place, write, sync }: Next, arrival: Arrival) {
        let Some(slot) = self.free.pop() else { return };
        let feed = &mut self.feeds[number];
        let kinds = feed.buffers;
        if write {
            self.buffers.stamp(kinds.write, slot, &mut self.random);
        }
        if let Some(intended_ns) = arrival.intended_ns {
            feed.record.sent(intended_ns, self.room_since_ns, self.now_ns);
        }
        if sync || (arrival.ends_burst && feed.is_unsynced()) {
            self.sync_due = Some(number);
        }
        self.slots[slot as usize] =
            Slot { feed: number, place, write, intended_ns: arrival.intended_ns, start_ns: 0 };
        self.fresh.push(slot);
        self.queue.push(Request {
            slot,
            file: feed.first_file + place.file as u32,
            offset: place.offset,
            buffer: self.buffers.get(if write { kinds.write } else { kinds.read }, slot),
            length: place.length,
            write,
            durable: write && feed.stream().durability == Durability::EachWrite,
        });
    }

    /// Returns the longest time to wait for I/Os: until the next one is due, where there is room
    /// for it.
    #[inline]
    fn time_to_next(&self, until_ns: Option<u64>) -> Option<Duration> {
        if self.timed.is_empty() || self.free.is_empty() || self.sync_due.is_some() {
            return None;
        }
        Some(Duration::from_nanos(self.next_due_ns(until_ns).saturating_sub(self.stage.now_ns())))
    }

    fn next_due_ns(&self, until_ns: Option<u64>) -> u64 {
        let due = self.timed.iter().map(|number| self.feeds[*number].schedule.due_ns());
        due.chain(until_ns).min().unwrap_or(u64::MAX)
    }

    /// Stamps the start of the I/Os taken: an I/O lasts from just before the call that starts it to
    /// just after its completion was seen.
    #[inline]
    fn stamp(&mut self) {
        let now_ns = self.stage.now_ns();
        for slot in self.fresh.drain(..) {
            let slot = &mut self.slots[slot as usize];
            slot.start_ns = now_ns;
            self.feeds[slot.feed].record.begun(now_ns);
        }
    }

    /// Begins what was taken, waits until an I/O has ended, and takes note of all that have.
    #[inline]
    fn turn(&mut self, most: Option<Duration>) -> Result<(), DiskError> {
        self.stamp();
        self.io_waits += 1;
        // I/Os with an intended start are not batched.
        let least = if self.timed.is_empty() { self.batch.min(self.in_flight()) } else { 1 };
        self.queue.wait(least as u32, most).map_err(DiskError::Broken)?;
        self.now_ns = self.stage.now_ns();
        let was_full = self.free.is_empty() || self.sync_due.is_some();
        let mut any = false;
        while let Some(ended) = self.queue.ended() {
            self.end(ended);
            any = true;
        }
        if any {
            self.last_end_ns = self.now_ns;
            if was_full {
                self.room_since_ns = self.now_ns;
            }
            self.publish();
        }
        Ok(())
    }

    /// Takes note of an I/O that has ended.
    #[inline]
    fn end(&mut self, Completion { slot: number, result }: Completion) {
        let slot = self.slots[number as usize];
        let feed = &mut self.feeds[slot.feed];
        feed.record.ended(self.now_ns);
        if result == slot.place.length as i32 {
            let times = Times {
                intended_ns: slot.intended_ns,
                start_ns: slot.start_ns,
                end_ns: self.now_ns,
            };
            feed.record.done(slot.write, slot.place.length, times);
        } else {
            let at_s = (self.now_ns as f64 - self.go_ns as f64) / 1e9;
            feed.fail(if slot.write { "write" } else { "read" }, slot.place, result, at_s);
        }
        self.free.push(number);
    }

    /// For the live display.
    fn publish(&self) {
        self.stage.live().done.set(self.feeds.iter().map(|feed| feed.record.ios).sum());
    }

    /// Makes a feed's writes durable. Nothing else is in flight, so that a plain system call does.
    fn sync(&mut self, number: usize) {
        let feed = &mut self.feeds[number];
        let data_only =
            matches!(feed.stream().durability, Durability::Sync { data_only: true, .. });
        while let Some(file) = feed.next_unsynced() {
            let descriptor = feed.shared.files[file].file.as_raw_fd();
            let start_ns = self.stage.now_ns();
            // SAFETY: the descriptor is open as long as the stream.
            let failed = unsafe {
                if data_only { libc::fdatasync(descriptor) } else { libc::fsync(descriptor) }
            };
            self.now_ns = self.stage.now_ns();
            if failed == 0 {
                feed.record.synced(Times { intended_ns: None, start_ns, end_ns: self.now_ns });
            } else {
                let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
                let place = Place { file, offset: 0, length: 0 };
                feed.fail("sync", place, -error, (self.now_ns as f64 - self.go_ns as f64) / 1e9);
            }
        }
        self.sync_due = None;
        (self.last_end_ns, self.room_since_ns) = (self.now_ns, self.now_ns);
    }

    /// Nothing is in flight: sleeps until the next I/O is due.
    fn sleep(&mut self, until_ns: Option<u64>) {
        let before_ns = self.stage.now_ns();
        let sleep_ns = self.next_due_ns(until_ns).saturating_sub(before_ns).min(SLEEP_MAX_NS);
        if sleep_ns > 0 {
            std::thread::sleep(Duration::from_nanos(sleep_ns));
        }
        self.now_ns = self.stage.now_ns();
        self.idle_ns += self.now_ns - before_ns;
    }
}

impl<Q> Drop for Lane<'_, Q> {
    fn drop(&mut self) {
        if self.free.len() < self.slots.len() {
            self.buffers.leak();
        }
    }
}
