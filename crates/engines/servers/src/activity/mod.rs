//! Activity of a server's sessions, for any engine: its [`Source`] lists and samples them.
//!
//! - [`Sampler`]: asks a source at a fixed rate, on a thread of its own
//! - [`Window`]: what it saw of sessions in an interval
//! - `cells`: a window as the rows that `steelbench waits` records
//! - `kernel`: the time that sessions used, where they run on this machine

pub mod cells;
mod kernel;
mod sampler;
mod window;

pub use kernel::KernelWatch;
pub use sampler::{ROSTER_PERIOD, Sampler};
pub use window::{CONNECTION, Idle, Part, Process, Sample, Window};

use engine::ServerError;
use observe::ProcessTimes;
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;

/// The sources of samples: a server, asked on a connection of its own.
pub trait Source: Debug + Send {
    /// Returns the source of samples, in the server's terms.
    fn name(&self) -> &'static str;
    /// Takes a snapshot of the sessions. A session that is not in it was idle.
    ///
    /// # Errors
    /// When the server fails.
    fn sample(&mut self) -> Result<Vec<Sample>, ServerError>;
    /// Reads who is connected.
    ///
    /// # Errors
    /// When the server fails.
    fn list(&mut self) -> Result<(), ServerError>;
    /// Returns the sessions of the last reading.
    fn roster(&self) -> &Roster;
    /// Returns a session's CPU time since its start; `None` when it has ended, or runs on another
    /// kernel.
    fn times(&self, session: i32) -> Option<ProcessTimes>;
    /// Returns whether a session is on a processor or in the run queue; `None` as for
    /// [`Source::times`].
    fn is_runnable(&self, session: i32) -> Option<bool>;
    /// Returns whether sessions are processes or threads of this machine.
    fn is_local(&self) -> bool;
    /// Returns the sample of an idle session.
    fn idle(&self) -> Idle;
    /// The samples a second of a server that takes them itself; [`Source::sample`] is not asked
    /// then.
    fn own_hz(&self) -> Option<f64> {
        None
    }
    /// Returns the samples that the server itself took since the last call.
    ///
    /// # Errors
    /// When the server fails.
    fn own_samples(&mut self) -> Result<HashMap<Sample, u64>, ServerError> {
        Ok(HashMap::new())
    }
}

/// Connected sessions: read about once a second, because this costs more than a sample.
#[derive(Debug, Default)]
pub struct Roster {
    /// The sessions and processes there are, without our own.
    pub present: HashMap<i32, Process>,
    /// Connections of Steelbench, including its other observers, which are not reported.
    pub observers: HashSet<i32>,
    /// Texts of statements seen, by their number.
    pub statements: HashMap<i64, String>,
    text_bytes: usize,
}

/// Returns whether lock modes conflict, by the bits of `matrix`: of each mode for those that it
/// conflicts with, in their order. Modes outside the matrix count as conflicting.
pub fn conflict(matrix: &[(&str, u16)], mode: &str, held: &str) -> bool {
    let at = |mode: &str| matrix.iter().position(|(known, _)| *known == mode);
    at(mode).zip(at(held)).is_none_or(|(mode, held)| matrix[mode].1 & (1 << held) != 0)
}

/// Most bytes of statements' texts that are kept; the others have only their number.
const TEXT_BYTES_MAX: usize = 16 << 20;

impl Roster {
    /// Keeps the text of a statement, if there is room for it and it is not known yet.
    pub fn keep(&mut self, number: i64, text: &str) {
        if !self.statements.contains_key(&number) && self.text_bytes + text.len() <= TEXT_BYTES_MAX
        {
            self.text_bytes += text.len();
            self.statements.insert(number, text.to_owned());
        }
    }
}
