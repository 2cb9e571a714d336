use super::kernel;
use engine::ServerError;
use observe::ProcessTimes;
use std::collections::HashMap;
use std::time::Duration;

/// The kind of a session that is a thread of its server and has no other name there.
pub const CONNECTION: &str = "connection";

/// Wait names of idle sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Idle {
    /// The state of a session of a client.
    pub state: &'static str,
    /// Wait of an idle client session.
    pub client: &'static str,
    /// Wait of an idle background process.
    pub background: &'static str,
}

impl Idle {
    /// State and wait of a process that has nothing to do; `None` if its activity is hidden.
    pub(super) fn describe(
        self,
        process: Option<&Process>,
    ) -> Option<(&'static str, &'static str)> {
        match process {
            Some(process) if process.hidden => None,
            Some(process) if process.is_session() => Some((self.state, self.client)),
            _ => Some(("", self.background)),
        }
    }
}

/// A process of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// The kind: `client backend`, `checkpointer`.
    pub kind: String,
    /// Application name of the client.
    pub application: String,
    /// User of the session.
    pub user: String,
    /// The database.
    pub database: String,
    /// True if our role may not see its activity.
    pub hidden: bool,
}

impl Process {
    /// Roughly what it takes of memory.
    pub fn bytes(&self) -> usize {
        let texts = [&self.kind, &self.application, &self.user, &self.database];
        texts.iter().map(|text| text.len()).sum::<usize>() + size_of::<Self>()
    }

    /// Returns whether it is a client's session.
    fn is_session(&self) -> bool {
        self.for_client() && self.kind != "parallel worker"
    }

    /// Returns whether it works for a client: the client's process or thread, or a worker of its
    /// query.
    pub fn for_client(&self) -> bool {
        matches!(self.kind.as_str(), "client backend" | "parallel worker" | CONNECTION)
    }
}

/// A sample of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The process.
    pub pid: i32,
    /// State of the session; empty for background processes.
    pub state: String,
    /// The wait event, `Type:Event`; `None`: on a processor, or ready for one.
    pub wait: Option<String>,
    /// Number of the statement.
    pub query_id: Option<i64>,
    /// Nothing was asked of the session.
    pub idle: bool,
    /// The scheduler's state just after: on a processor or in the run queue; `None` if it was not
    /// read. A session whose wait is over keeps its wait event until it is on a processor again.
    pub runnable: Option<bool>,
}

impl Sample {
    /// The wait in which the session was suspended.
    pub fn suspended_in(&self) -> Option<&str> {
        self.wait.as_deref().filter(|_| self.runnable != Some(true))
    }

    /// Roughly what it takes of memory.
    pub fn bytes(&self) -> usize {
        self.state.len() + self.wait.as_ref().map_or(0, String::len) + size_of::<Self>()
    }
}

/// Samples of clients' processes in a part of a window, by wait and statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// Samples taken of each process.
    pub polls: u64,
    /// The number of samples of each kind.
    pub samples: HashMap<(Option<String>, Option<i64>), u64>,
}

/// A window has no more parts than this: in a long one they are longer.
const PARTS_MAX: usize = 64;
/// The length of the parts of a short one.
const PART: Duration = Duration::from_secs(1);

/// Most bytes that a window keeps of processes and samples: for tens of thousands of sessions. What
/// a server says must not fill our memory.
const WINDOW_BYTES_MAX: usize = 64 << 20;

/// Samples from one reading of a [`super::Sampler`] to the next.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// The time.
    pub elapsed: Duration,
    /// The source of the samples.
    pub source: &'static str,
    /// Samples a second that were asked for.
    pub hz: f64,
    /// Samples taken of each process.
    pub polls: u64,
    /// Samples that were due but were not taken.
    pub missed: u64,
    /// The number of samples of each kind. A process that is not in it was idle at that time.
    pub samples: HashMap<Sample, u64>,
    /// Of each wait of processes that work for clients: the sum over polls of the squares of how
    /// many were suspended in it.
    pub squares: HashMap<String, u64>,
    /// The samples in consecutive parts of the window; empty for a profile.
    pub parts: Vec<Part>,
    /// The number of times that parts were joined in pairs.
    pub halvings: u32,
    /// The server was lost before the window was to end.
    pub is_cut: bool,
    /// Seconds in which a process was there.
    pub present_s: HashMap<i32, f64>,
    /// All processes of the window, including those that have ended.
    pub processes: HashMap<i32, Process>,
    /// Time that each process used in the window; `None` when the kernel of the server is not
    /// ours.
    pub kernel: Option<HashMap<i32, ProcessTimes>>,
    /// Texts of statements that were seen.
    pub statements: HashMap<i64, String>,
    /// Bytes of samples and processes.
    pub bytes: usize,
}

impl Window {
    /// Adds the window that follows. Its parts of a second are left out: the windows themselves are
    /// parts.
    pub fn add(&mut self, next: &Self) {
        self.elapsed += next.elapsed;
        self.polls += next.polls;
        self.missed += next.missed;
        for (sample, count) in &next.samples {
            *self.samples.entry(sample.clone()).or_insert(0) += count;
        }
        for (wait, squares) in &next.squares {
            *self.squares.entry(wait.clone()).or_insert(0) += squares;
        }
        self.parts.clear();
        self.is_cut |= next.is_cut;
        for (pid, present_s) in &next.present_s {
            *self.present_s.entry(*pid).or_insert(0.0) += present_s;
        }
        self.processes.extend(next.processes.iter().map(|(pid, process)| (*pid, process.clone())));
        self.kernel = self.kernel.take().zip(next.kernel.as_ref()).map(|(mut sum, next)| {
            for (pid, times) in next {
                kernel::add(sum.entry(*pid).or_default(), *times);
            }
            sum
        });
        self.statements.extend(next.statements.iter().map(|(id, text)| (*id, text.clone())));
        self.bytes += next.bytes;
    }

    /// Seconds that one sample stands for.
    pub fn sample_s(&self) -> f64 {
        if self.polls == 0 { 0.0 } else { self.elapsed.as_secs_f64() / self.polls as f64 }
    }

    /// The part that a moment belongs to.
    pub fn part_at(&mut self, since_start: Duration) -> &mut Part {
        let position =
            |halvings: u32| (since_start.as_millis() / PART.as_millis()) as usize >> halvings;
        while position(self.halvings) >= PARTS_MAX {
            self.halvings += 1;
            let pairs = std::mem::take(&mut self.parts);
            self.parts = pairs.chunks(2).map(Part::joined).collect();
        }
        let position = position(self.halvings);
        if position >= self.parts.len() {
            self.parts.resize_with(position + 1, Part::default);
        }
        &mut self.parts[position]
    }

    /// Variance of how often processes that work for clients were suspended in a wait, summed over
    /// polls; `None` when it was not recorded by poll.
    pub fn variance(&self, wait: &str) -> Option<f64> {
        let squares = *self.squares.get(wait)? as f64;
        let sum: u64 = self
            .samples
            .iter()
            .filter(|(sample, _)| {
                self.processes.get(&sample.pid).is_none_or(Process::for_client)
                    && sample.suspended_in() == Some(wait)
            })
            .map(|(_, count)| count)
            .sum();
        Some(squares - (sum * sum) as f64 / self.polls.max(1) as f64)
            .filter(|variance| *variance > 0.0)
    }

    /// Counts this many bytes more; fails when the total is too large.
    pub fn keep(&mut self, bytes: usize) -> Result<(), ServerError> {
        self.bytes += bytes;
        if self.bytes > WINDOW_BYTES_MAX {
            let what = "too many different sessions and waits: they take more than";
            return Err(ServerError::new(format!("{what} {} MiB", WINDOW_BYTES_MAX >> 20)));
        }
        Ok(())
    }

    /// Adds what polls leave out: a process that was there but not in a sample had nothing to do.
    pub fn add_idle(&mut self, idle: Idle) {
        for (pid, rest) in self.rests() {
            let process = self.processes.get(&pid);
            let Some((state, wait)) = idle.describe(process) else { continue };
            let runnable = self.kernel.is_some().then_some(false);
            let (state, wait) = (state.to_owned(), Some(wait.to_owned()));
            let sample = Sample { pid, state, wait, query_id: None, idle: true, runnable };
            *self.samples.entry(sample).or_insert(0) += rest;
        }
    }

    /// Takes the samples from a profile. It leaves out present processes that did not wait: they
    /// were on a processor or ready for one.
    pub fn add_profile(&mut self, counted: HashMap<Sample, u64>) {
        let mut totals: HashMap<i32, u64> = HashMap::new();
        for (sample, count) in counted {
            *totals.entry(sample.pid).or_insert(0) += count;
            *self.samples.entry(sample).or_insert(0) += count;
        }
        // A process that waits all the time is in every sample: its count is the number of samples,
        // however exactly the extension keeps to its period.
        self.polls = totals.into_values().max().unwrap_or(0);
        for (pid, rest) in self.rests() {
            let sample = Sample { pid, ..Sample::default() };
            *self.samples.entry(sample).or_insert(0) += rest;
        }
    }

    /// For each process: in how many samples it could have been but was not.
    fn rests(&self) -> Vec<(i32, u64)> {
        let mut counts: HashMap<i32, u64> = HashMap::new();
        for (sample, count) in &self.samples {
            *counts.entry(sample.pid).or_insert(0) += count;
        }
        let sample_s = self.sample_s();
        if sample_s == 0.0 {
            return Vec::new();
        }
        let rest = |(pid, present_s): (&i32, &f64)| {
            let samples = (present_s / sample_s).round() as u64;
            (*pid, samples.saturating_sub(counts.get(pid).copied().unwrap_or(0)))
        };
        self.present_s.iter().map(rest).filter(|(_, rest)| *rest > 0).collect()
    }

    /// Why the kernel's figures are missing, if they are.
    pub fn without_kernel(&self) -> Option<&'static str> {
        self.kernel.is_none().then_some(if self.is_cut {
            "the connection was lost before the final reading of the server's processes"
        } else {
            "the server's processes are not on this machine or not visible to Steelbench"
        })
    }
}

impl Part {
    fn joined(parts: &[Self]) -> Self {
        let mut joined = Self::default();
        for part in parts {
            joined.polls += part.polls;
            for (what, count) in &part.samples {
                *joined.samples.entry(what.clone()).or_insert(0) += count;
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTS_MAX, Window};
    use std::time::Duration;

    #[test]
    fn a_long_window_has_longer_parts_and_no_sample_is_lost() {
        let mut window = Window::default();
        for second in (0..1000).filter(|second| !(300..400).contains(second)) {
            let part = window.part_at(Duration::from_secs(second));
            part.polls += 1;
            *part.samples.entry((None, Some((second % 3) as i64))).or_insert(0) += 2;
        }
        assert!(
            window.parts.len() <= PARTS_MAX && window.parts.len() > PARTS_MAX / 2 - 2,
            "{window:?}"
        );
        assert_eq!(window.parts.iter().map(|part| part.polls).sum::<u64>(), 900);
        let samples = window.parts.iter().flat_map(|part| part.samples.values());
        assert_eq!(samples.sum::<u64>(), 1800);
        // 1,000 s in at most 64 parts: 16 s each.
        assert_eq!(window.parts[0].polls, 16);
        assert_eq!(window.parts[20].polls, 0, "nothing was sampled between 320 and 336 s");
    }
}
