//! The use of processor time by processes: sampled call stacks.

use crate::range;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Name of what no symbol is known of.
pub const UNKNOWN: &str = "[unknown]";

/// Sampled call stacks of some processes.
///
/// The clock of a sample is processor time, not time: each sample stands for `1 / hz` seconds that
/// a thread was on a processor, and a thread that waits leaves none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The sampled target: a command line, `pid 4711 (postgres)`, `the load's process`.
    pub target: String,
    /// Seconds between start and stop.
    pub elapsed_s: f64,
    /// Samples for each second on a processor.
    pub hz: f64,
    /// Threads with at least one sample.
    pub threads: u64,
    /// Records that the kernel had no room for; at most this many samples are missing.
    pub lost: u64,
    /// Seconds on a processor that collecting the samples took; the kernel's part of taking them
    /// is in the stacks.
    pub profiler_cpu_s: f64,
    /// Programs, libraries and the kernel's parts, by path or in brackets: `/usr/lib/libc.so.6`,
    /// `[kernel]`.
    pub modules: Vec<String>,
    /// Frames of the stacks.
    pub frames: Vec<Frame>,
    /// Each distinct stack once.
    pub stacks: Vec<Stack>,
    /// Limits of the profile with remedies, one sentence each.
    pub missing: Vec<String>,
}

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The name, readable, or [`UNKNOWN`].
    pub function: String,
    /// Index into [`Profile::modules`].
    pub module: usize,
    /// True if it runs in the kernel.
    pub kernel: bool,
}

/// A distinct call stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Indices into [`Profile::frames`], from the outermost caller to the function that ran.
    pub frames: Vec<usize>,
    /// Samples that found it.
    pub samples: u64,
}

impl Profile {
    /// Number of samples.
    pub fn samples(&self) -> u64 {
        range::total(self.stacks.iter().map(|stack| stack.samples))
    }

    /// Seconds on a processor that these samples represent.
    pub fn seconds(&self, samples: u64) -> f64 {
        if self.hz > 0.0 { samples as f64 / self.hz } else { 0.0 }
    }

    /// Frames of a stack, from the outermost caller to the function that ran.
    pub fn frames_of<'a>(&'a self, stack: &'a Stack) -> impl DoubleEndedIterator<Item = &'a Frame> {
        stack.frames.iter().filter_map(|frame| self.frames.get(*frame))
    }

    /// The module of a frame.
    pub fn module_of(&self, frame: &Frame) -> &str {
        self.modules.get(frame.module).map_or(UNKNOWN, String::as_str)
    }

    /// Samples of each frame, by its index: those in it, and those in it or in what it called. A
    /// function that calls itself counts once for each sample.
    pub fn self_and_total(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0_u64, 0_u64); self.frames.len()];
        for stack in &self.stacks {
            let distinct: HashSet<usize> = stack.frames.iter().copied().collect();
            for frame in distinct {
                if let Some((_, total)) = counts.get_mut(frame) {
                    *total = total.saturating_add(stack.samples);
                }
            }
            if let Some((count, _)) = stack.frames.last().and_then(|leaf| counts.get_mut(*leaf)) {
                *count = count.saturating_add(stack.samples);
            }
        }
        counts
    }

    /// Returns whether samples were taken at a known rate; without it they are no time.
    pub fn has_rate(&self) -> bool {
        self.hz.is_finite() && self.hz > 0.0
    }

    /// Returns whether every index is valid; a file from elsewhere may hold anything.
    pub fn is_consistent(&self) -> bool {
        self.frames.iter().all(|frame| frame.module < self.modules.len())
            && self.stacks.iter().all(|stack| {
                !stack.frames.is_empty()
                    && stack.frames.iter().all(|frame| *frame < self.frames.len())
            })
    }
}
