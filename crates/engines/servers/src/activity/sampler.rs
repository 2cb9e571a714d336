use super::{KernelWatch, Process, Sample, Source, Window};
use engine::{ServerError, lock};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time that the last sample may take after sampling has ended.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Time between two lists of who is connected, of a server whose sessions stay.
pub const ROSTER_PERIOD: Duration = Duration::from_secs(1);
/// A process that is not on the list is worth a new one, but not more often than this.
const ROSTER_PERIOD_MIN: Duration = Duration::from_millis(100);

/// Most processes whose scheduler state is read with one sample: 0.3 ms.
const STATES_MAX: usize = 64;

/// Scheduler states at a moment.
#[derive(Debug, Default)]
struct States {
    /// By process: on a processor or in the run queue.
    runnable: HashMap<i32, bool>,
    /// Processes for each one that was looked at.
    read_each: usize,
}

/// Samples a server on a thread and a connection of its own.
pub struct Sampler {
    /// The thread samples as long as it is there.
    watcher: Option<Arc<Mutex<Watcher>>>,
    thread: Option<JoinHandle<()>>,
    /// Ends the source's connection from elsewhere.
    disconnect: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("watcher", &self.watcher).finish_non_exhaustive()
    }
}

impl Sampler {
    /// Begins the first window. `hz`: samples a second; `disconnect` ends the source's connection,
    /// even while it waits.
    ///
    /// # Errors
    /// When the server fails, or no thread can be started.
    pub fn start(
        source: Box<dyn Source>,
        hz: f64,
        roster_period: Duration,
        disconnect: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, ServerError> {
        let watcher = Arc::new(Mutex::new(Watcher::begin(source, hz, roster_period)?));
        let watched = Arc::downgrade(&watcher);
        let thread = std::thread::Builder::new()
            .name("wait sampler".to_owned())
            .spawn(move || work(&watched))
            .map_err(|error| {
                ServerError::new(format!("cannot start the thread that samples waits: {error}"))
            })?;
        Ok(Self { watcher: Some(watcher), thread: Some(thread), disconnect })
    }

    /// Ends the window, begins the next, and returns what was seen.
    ///
    /// # Errors
    /// When the server has failed since the last window.
    pub fn window(&self) -> Result<Window, ServerError> {
        let watcher =
            self.watcher.as_ref().ok_or_else(|| ServerError::new("sampling has ended"))?;
        let mut watcher = lock(watcher);
        watcher.state.clone()?;
        let window = watcher.finish();
        watcher.state = window.as_ref().map(|_| ()).map_err(Clone::clone);
        window
    }

    /// Returns the samples up to the loss of the server; `None` if there are none left.
    pub fn rest(&self) -> Option<Window> {
        let mut watcher = lock(self.watcher.as_ref()?);
        (watcher.state.is_err() && watcher.window.polls > 0).then(|| watcher.cut())
    }

    /// Returns whether the server is known to be lost, without waiting.
    pub fn is_lost(&self) -> bool {
        // While a sample is taken, nothing is known.
        let watcher = self.watcher.as_ref().map(|watcher| watcher.try_lock());
        watcher.is_some_and(|locked| locked.is_ok_and(|watcher| watcher.state.is_err()))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        drop(self.watcher.take());
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let requested = Instant::now();
            while !thread.is_finished() && requested.elapsed() < ANSWER_MAX {
                std::thread::sleep(Duration::from_millis(1));
            }
            // It may be waiting for a server that does not answer any more.
            (self.disconnect)();
            // A thread that panicked has no further result.
            let _ = thread.join();
        }
    }
}

/// Samples at a fixed rate until the sampler is dropped, or an error. Late samples are dropped, not
/// made up for: a burst of samples would report the same moment several times.
fn work(watcher: &Weak<Mutex<Watcher>>) {
    while let Some(watcher) = watcher.upgrade() {
        let mut watcher = lock(&watcher);
        if watcher.state.is_err() {
            return;
        }
        if watcher.due <= Instant::now() {
            watcher.state = watcher.tick();
            let period = watcher.period;
            watcher.due += period;
            watcher.miss_until(Instant::now());
        }
        let until_due = watcher.due.saturating_duration_since(Instant::now());
        drop(watcher);
        std::thread::park_timeout(until_due);
    }
}

/// State behind the lock.
#[derive(Debug)]
struct Watcher {
    source: Box<dyn Source>,
    kernel: Option<KernelWatch>,
    hz: f64,
    window: Window,
    began: Instant,
    listed: Instant,
    sampled: Instant,
    due: Instant,
    period: Duration,
    roster_period: Duration,
    /// A process was sampled that is not on the list.
    stranger: bool,
    /// The error that ended the sampling.
    state: Result<(), ServerError>,
}

impl Watcher {
    /// Reads everything that a window counts from.
    fn begin(
        mut source: Box<dyn Source>,
        hz: f64,
        roster_period: Duration,
    ) -> Result<Self, ServerError> {
        let period = match source.own_hz() {
            Some(_) => roster_period,
            None => Duration::from_secs_f64(1.0 / hz),
        };
        source.list()?;
        source.own_samples()?;
        let began = Instant::now();
        let mut watcher = Self {
            kernel: source.is_local().then(KernelWatch::default),
            source,
            hz,
            window: Window::default(),
            began,
            listed: began,
            sampled: began,
            due: began + period,
            period,
            roster_period,
            stranger: false,
            state: Ok(()),
        };
        watcher.read_kernel();
        watcher.window = watcher.empty_window();
        Ok(watcher)
    }

    fn empty_window(&self) -> Window {
        let (source, hz) = (self.source.name(), self.source.own_hz().unwrap_or(self.hz));
        Window { source, hz, processes: self.source.roster().present.clone(), ..Window::default() }
    }

    /// Gives up the samples that were due until then; the server itself takes those of a profile.
    fn miss_until(&mut self, now: Instant) {
        while self.due <= now {
            self.due += self.period;
            self.window.missed += u64::from(self.source.own_hz().is_none());
        }
    }

    fn tick(&mut self) -> Result<(), ServerError> {
        if self.source.own_hz().is_none() {
            self.take_sample()?;
        }
        let age = self.listed.elapsed();
        if age >= self.roster_period || (self.stranger && age >= ROSTER_PERIOD_MIN) {
            self.list()?;
        }
        Ok(())
    }

    fn take_sample(&mut self) -> Result<(), ServerError> {
        // Before the question: while the server answers it, sessions are kept from the processors.
        let states = if self.kernel.is_some() { self.read_states() } else { States::default() };
        let mut samples = self.source.sample()?;
        for sample in &mut samples {
            sample.runnable = states.runnable.get(&sample.pid).copied();
        }
        let woken = self.woken(&states, &samples);
        self.sampled = Instant::now();
        let since_start = self.sampled.duration_since(self.began);
        let window = &mut self.window;
        window.polls += 1;
        window.part_at(since_start).polls += 1;
        let mut together: HashMap<String, u64> = HashMap::new();
        for sample in samples {
            if self.source.roster().observers.contains(&sample.pid) {
                continue;
            }
            if !window.samples.contains_key(&sample) {
                window.keep(sample.bytes())?;
            }
            let process = window.processes.get(&sample.pid);
            self.stranger |= process.is_none();
            if process.is_none_or(Process::for_client) {
                let wait = sample.suspended_in().map(str::to_owned);
                if let Some(wait) = wait.clone() {
                    *together.entry(wait).or_insert(0) += 1;
                }
                let what = (wait, sample.query_id);
                let part = window.part_at(since_start);
                let is_new = !part.samples.contains_key(&what);
                *part.samples.entry(what).or_insert(0) += 1;
                if is_new {
                    window.keep(sample.bytes())?;
                }
            }
            *window.samples.entry(sample).or_insert(0) += 1;
        }
        for sample in woken {
            *window.samples.entry(sample).or_insert(0) += states.read_each as u64;
        }
        for (wait, count) in together {
            *window.squares.entry(wait).or_insert(0) += count * count;
        }
        Ok(())
    }

    /// Reads the scheduler's states of the processes; of many processes of some, in turn.
    fn read_states(&self) -> States {
        let roster = self.source.roster();
        let read_each = roster.present.len().div_ceil(STATES_MAX).max(1);
        let first = self.window.polls as usize % read_each;
        let pids = roster.present.keys().skip(first).step_by(read_each);
        let pids = pids.filter(|pid| !roster.observers.contains(*pid));
        let runnable = pids.filter_map(|pid| Some((*pid, self.source.is_runnable(*pid)?)));
        States { runnable: runnable.collect(), read_each }
    }

    /// Samples of processes that were idle and have just been woken up.
    fn woken(&self, states: &States, samples: &[Sample]) -> Vec<Sample> {
        let sampled: HashSet<i32> = samples.iter().map(|sample| sample.pid).collect();
        let idle =
            states.runnable.iter().filter(|(pid, runnable)| **runnable && !sampled.contains(pid));
        idle.filter_map(|(pid, _)| {
            let process = self.source.roster().present.get(pid);
            let (state, wait) = self.source.idle().describe(process)?;
            let (state, wait) = (state.to_owned(), Some(wait.to_owned()));
            let runnable = Some(true);
            Some(Sample { pid: *pid, state, wait, query_id: None, idle: true, runnable })
        })
        .collect()
    }

    /// Sessions that were listed have been there all the time since.
    fn count_present(&mut self, now: Instant) {
        let since_s = now.saturating_duration_since(self.listed).as_secs_f64();
        for pid in self.source.roster().present.keys() {
            *self.window.present_s.entry(*pid).or_insert(0.0) += since_s;
        }
        self.listed = now;
    }

    /// Lists the processes.
    fn list(&mut self) -> Result<(), ServerError> {
        self.count_present(Instant::now());
        self.stranger = false;
        self.read_kernel();
        self.source.list()?;
        for (pid, process) in &self.source.roster().present {
            if self.window.processes.get(pid) != Some(process) {
                self.window.keep(process.bytes())?;
                self.window.processes.insert(*pid, process.clone());
            }
        }
        Ok(())
    }

    fn read_kernel(&mut self) {
        if let Some(kernel) = &mut self.kernel {
            let present = self.source.roster().present.keys();
            kernel
                .read(present.filter_map(|session| Some((*session, self.source.times(*session)?))));
        }
    }

    /// The window up to its last sample, without asking the server.
    fn cut(&mut self) -> Window {
        self.count_present(self.sampled.max(self.listed));
        self.window.elapsed = self.sampled.duration_since(self.began);
        self.window.is_cut = true;
        self.window.add_idle(self.source.idle());
        self.window.statements.clone_from(&self.source.roster().statements);
        let next = self.empty_window();
        std::mem::replace(&mut self.window, next)
    }

    fn finish(&mut self) -> Result<Window, ServerError> {
        self.list()?;
        self.miss_until(self.listed);
        let elapsed = self.listed.duration_since(self.began);
        self.window.elapsed = elapsed;
        // Another observer may have been sampled before it was on the list.
        let observers = &self.source.roster().observers;
        self.window.samples.retain(|sample, _| !observers.contains(&sample.pid));
        self.window.kernel = self.kernel.as_mut().map(KernelWatch::take);
        if self.source.own_hz().is_some() {
            let mut counted = self.source.own_samples()?;
            counted.retain(|sample, _| !self.source.roster().observers.contains(&sample.pid));
            self.window.add_profile(counted);
        } else {
            self.window.add_idle(self.source.idle());
        }
        self.window.statements.clone_from(&self.source.roster().statements);
        self.began = self.listed;
        let next = self.empty_window();
        Ok(std::mem::replace(&mut self.window, next))
    }
}
