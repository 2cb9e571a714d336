//! The parts of a difference.

use crate::Interval;
use observations::WaitClass;
use serde::Serialize;

/// Kind of a [`Part`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// On a processor.
    Cpu,
    /// Resource wait of a class.
    Resource(WaitClass),
    /// Runnable, waiting for a processor.
    Signal,
    /// Waiting for the client.
    Client,
    /// Not accounted for.
    Unaccounted,
    /// Resource and signal wait of one wait type.
    WaitType(String),
    /// Waiting for the client, by wait type: a session without work. It is not a cause.
    ClientWait(String),
    /// Processor time in a function itself.
    Function {
        /// The name.
        function: String,
        /// The program, library or part of the kernel that it is in.
        module: String,
    },
    /// Processor time in all other functions.
    OtherCode,
    /// The sum.
    Total,
}

impl PartKind {
    /// Returns whether it is time in which sessions waited for their client.
    pub fn is_client(&self) -> bool {
        matches!(self, Self::Client | Self::ClientWait(_))
    }
}

/// A part: from `from_s` to `to_s`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Kind of the part.
    pub kind: PartKind,
    /// Seconds for each unit of work in the first (the baseline).
    pub from_s: f64,
    /// Seconds for each unit of work in the second.
    pub to_s: f64,
    /// `to_s - from_s`: negative is a gain.
    pub change_s: f64,
    /// Interval of the change over blocks, by t. For the total: 95 %. For the parts of a sum:
    /// wider, because the named causes are selected from many. Of the parts whose interval does not
    /// hold 0, at most 5 % are expected not to have changed.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no change" (t over blocks), not corrected.
    pub p_value: Option<f64>,
    /// Share of the total change that this part is; `None` when the total change is 0.
    pub share: Option<f64>,
    /// The interval, as wide as that of the change; `None` where the total change may be 0.
    pub share_interval: Option<Interval>,
}

impl Part {
    /// Returns whether the change is significant: the interval excludes 0. Sentences, figures and
    /// tables all use this test.
    pub fn supported(&self) -> bool {
        self.interval.is_some_and(|interval| !interval.contains(0.0))
    }
}
