use super::sources::{KernelWatch, Profile, Roster};
use super::window::{ACTIVITY, PROFILE, Process, Sample, Window};
use super::{connect, while_doing};
use crate::{ObserveOptions, ServerError, lock};
use pgclient::{Client, Config, Disconnector, Statement};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the last sample may take once nobody wants any.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Time between two lists of who is connected, of a server whose sessions stay.
pub const ROSTER_PERIOD: Duration = Duration::from_secs(1);
/// A process that is not on the list is worth a new one, but not more often than this.
const ROSTER_PERIOD_MIN: Duration = Duration::from_millis(100);

/// One look at what processes do, as cheap as we know: about 0.1 ms of the server's time for 64
/// connections. Who is idle is left out, and so is what our role may not see.
const SAMPLE: &str = "SELECT pid, state, wait_event_type, wait_event, query_id FROM pg_stat_get_activity(NULL) \
     WHERE wait_event_type IS DISTINCT FROM 'Activity' \
     AND (wait_event IS DISTINCT FROM 'ClientRead' OR state IS DISTINCT FROM 'idle') \
     AND backend_type IS NOT NULL AND pid <> pg_backend_pid()";

/// Samples a server on a thread and a connection of its own.
#[derive(Debug)]
pub struct Sampler {
    /// The thread samples as long as it is there.
    watcher: Option<Arc<Mutex<Watcher>>>,
    thread: Option<JoinHandle<()>>,
    /// Ends its connection from elsewhere.
    disconnector: Disconnector,
}

impl Sampler {
    /// Connects, and begins the first window.
    ///
    /// # Errors
    /// When the server refuses, or no thread can be started.
    pub fn start(config: &Config, options: ObserveOptions) -> Result<Self, ServerError> {
        Self::on(connect(config, None)?, options, ROSTER_PERIOD)
    }

    /// The same on a connection for observing.
    pub(super) fn on(
        client: Client,
        options: ObserveOptions,
        roster_period: Duration,
    ) -> Result<Self, ServerError> {
        let disconnector = client.disconnector().map_err(while_doing("connecting"))?;
        let watcher = Arc::new(Mutex::new(Watcher::begin(client, options, roster_period)?));
        let watched = Arc::downgrade(&watcher);
        let thread =
            std::thread::Builder::new().name("wait sampler".to_owned()).spawn(move || work(&watched));
        let failed = |error| ServerError::new(format!("cannot start a thread that samples waits: {error}"));
        Ok(Self { watcher: Some(watcher), thread: Some(thread.map_err(failed)?), disconnector })
    }

    /// Ends the window, begins the next, and returns what was seen.
    ///
    /// # Errors
    /// When the server has failed meanwhile.
    pub fn window(&self) -> Result<Window, ServerError> {
        let watcher = self.watcher.as_ref().ok_or_else(|| ServerError::new("nothing is sampled any more"))?;
        let mut watcher = lock(watcher);
        watcher.state.clone()?;
        let window = watcher.finish();
        watcher.state = window.as_ref().map(|_| ()).map_err(Clone::clone);
        window
    }

    /// What was seen until the server was lost: `None` when nothing was, or all of it was returned before.
    pub fn rest(&self) -> Option<Window> {
        let mut watcher = lock(self.watcher.as_ref()?);
        (watcher.state.is_err() && watcher.window.polls > 0).then(|| watcher.cut())
    }

    /// Whether the server is known to be lost. Does not wait.
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
            let asked = Instant::now();
            while !thread.is_finished() && asked.elapsed() < ANSWER_MAX {
                std::thread::sleep(Duration::from_millis(1));
            }
            // It may be waiting for a server that does not answer any more.
            self.disconnector.disconnect();
            // A thread that panicked has nothing more to tell.
            let _ = thread.join();
        }
    }
}

/// Samples at a fixed rate until nobody can ask any more, or it fails. What is late is dropped, not made up
/// for: a burst of samples would tell the same moment several times.
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

/// What the lock protects.
#[derive(Debug)]
struct Watcher {
    client: Client,
    sample: Statement,
    roster: Roster,
    profile: Option<Profile>,
    kernel: Option<KernelWatch>,
    options: ObserveOptions,
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
    /// Prepares to sample, and reads everything that a window counts from.
    fn begin(
        mut client: Client,
        options: ObserveOptions,
        roster_period: Duration,
    ) -> Result<Self, ServerError> {
        let sample = client.prepare(SAMPLE).map_err(while_doing("preparing to sample"))?;
        let mut roster = Roster::prepare(&mut client, options.statements)?;
        let mut profile = options.use_profile.then(|| Profile::find(&mut client)).flatten();
        let user = client.cell("SELECT session_user").map_err(while_doing("asking who we are"))?;
        let kernel = KernelWatch::of(&client, &user.unwrap_or_default());
        let period = match profile {
            Some(_) => roster_period,
            None => Duration::from_secs_f64(1.0 / options.hz),
        };
        roster.read(&mut client)?;
        if let Some(profile) = &mut profile {
            profile.advance(&mut client)?;
        }
        let began = Instant::now();
        let mut watcher = Self {
            client,
            sample,
            roster,
            profile,
            kernel,
            options,
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
        let source = if self.profile.is_some() { PROFILE } else { ACTIVITY };
        let hz = self.profile.as_ref().map_or(self.options.hz, |profile| profile.hz);
        Window { source, hz, processes: self.roster.present.clone(), ..Window::default() }
    }

    /// Gives up the samples that were due until then; the server itself takes those of a profile.
    fn miss_until(&mut self, now: Instant) {
        while self.due <= now {
            self.due += self.period;
            self.window.missed += u64::from(self.profile.is_none());
        }
    }

    fn tick(&mut self) -> Result<(), ServerError> {
        if self.profile.is_none() {
            self.take_sample()?;
        }
        let age = self.listed.elapsed();
        if age >= self.roster_period || (self.stranger && age >= ROSTER_PERIOD_MIN) {
            self.list()?;
        }
        Ok(())
    }

    fn take_sample(&mut self) -> Result<(), ServerError> {
        let rows = self.client.query_prepared(&self.sample, &[]).map_err(while_doing("sampling"))?;
        self.sampled = Instant::now();
        let since_start = self.sampled.duration_since(self.began);
        let window = &mut self.window;
        window.polls += 1;
        window.part_at(since_start).polls += 1;
        let mut together: HashMap<String, u64> = HashMap::new();
        for row in rows.iter() {
            let Some(pid) = row.parse(0) else { continue };
            let sample = Sample {
                pid,
                state: row.text(1),
                wait: row.get(2).zip(row.get(3)).map(|(kind, event)| format!("{kind}:{event}")),
                query_id: row.parse(4),
                idle: false,
            };
            if self.roster.observers.contains(&sample.pid) {
                continue;
            }
            if !window.samples.contains_key(&sample) {
                window.keep(sample.bytes())?;
            }
            let process = window.processes.get(&sample.pid);
            self.stranger |= process.is_none();
            if process.is_none_or(Process::for_client) {
                if let Some(wait) = sample.wait.clone() {
                    *together.entry(wait).or_insert(0) += 1;
                }
                let what = (sample.wait.clone(), sample.query_id);
                let part = window.part_at(since_start);
                let is_new = !part.samples.contains_key(&what);
                *part.samples.entry(what).or_insert(0) += 1;
                if is_new {
                    window.keep(sample.bytes())?;
                }
            }
            *window.samples.entry(sample).or_insert(0) += 1;
        }
        for (wait, count) in together {
            *window.squares.entry(wait).or_insert(0) += count * count;
        }
        Ok(())
    }

    /// Those that were listed have been there all the time since.
    fn count_present(&mut self, now: Instant) {
        let since_s = now.saturating_duration_since(self.listed).as_secs_f64();
        for pid in self.roster.present.keys() {
            *self.window.present_s.entry(*pid).or_insert(0.0) += since_s;
        }
        self.listed = now;
    }

    /// Lists the processes.
    fn list(&mut self) -> Result<(), ServerError> {
        self.count_present(Instant::now());
        self.stranger = false;
        self.read_kernel();
        self.roster.read(&mut self.client)?;
        for (pid, process) in &self.roster.present {
            if self.window.processes.get(pid) != Some(process) {
                self.window.keep(process.bytes())?;
                self.window.processes.insert(*pid, process.clone());
            }
        }
        Ok(())
    }

    fn read_kernel(&mut self) {
        if let Some(kernel) = &mut self.kernel {
            kernel.read(self.roster.present.keys().copied());
        }
    }

    /// The window up to its last sample, without asking the server.
    fn cut(&mut self) -> Window {
        self.count_present(self.sampled.max(self.listed));
        self.window.elapsed = self.sampled.duration_since(self.began);
        self.window.is_cut = true;
        self.window.add_idle();
        self.window.statements.clone_from(&self.roster.statements);
        let next = self.empty_window();
        std::mem::replace(&mut self.window, next)
    }

    fn finish(&mut self) -> Result<Window, ServerError> {
        self.list()?;
        self.miss_until(self.listed);
        let elapsed = self.listed.duration_since(self.began);
        self.window.elapsed = elapsed;
        // Another observer may have been sampled before it was on the list.
        let observers = &self.roster.observers;
        self.window.samples.retain(|sample, _| !observers.contains(&sample.pid));
        self.window.kernel = self.kernel.as_mut().map(KernelWatch::take);
        if let Some(profile) = &mut self.profile {
            let mut counted = profile.advance(&mut self.client)?;
            counted.retain(|sample, _| !self.roster.observers.contains(&sample.pid));
            self.window.add_profile(counted);
        } else {
            self.window.add_idle();
        }
        self.window.statements.clone_from(&self.roster.statements);
        self.began = self.listed;
        let next = self.empty_window();
        Ok(std::mem::replace(&mut self.window, next))
    }
}
