//! From a [`observations::Recording`] to what reports show: pure functions, no I/O, no engine.
//!
//! [`summarize`] is the entry point. Below it, from small to large:
//! [`Estimate`] is a mean with its interval, [`Comparison`] is two configurations by paired blocks,
//! [`FactorEffect`] is what the levels of a factor do, [`WaitTable`] is where sessions waited,
//! [`Accounting`] is where all of their time went, [`Decomposition`] is why two configurations differ,
//! and [`Finding`] is a sentence with the evidence behind it.
//!
//! Two functions serve the runner while a run goes on: [`health::marks`] when a trial ends and
//! [`repeats::narrow_enough`] to decide whether another block is worth its time.

pub mod accounting;
pub mod activity;
pub mod compare;
pub mod decompose;
pub mod drift;
pub mod effects;
pub mod estimate;
pub mod findings;
pub mod head_to_head;
pub mod health;
pub mod power;
pub mod repeats;
pub mod response;
pub mod summary;
pub mod waits;

mod bootstrap;
mod distribution;
mod grid;
mod holm;
mod wording;

pub use accounting::Accounting;
pub use activity::{ActivitySummary, activity};
pub use compare::{Comparison, Method, Scale, Standing};
pub use decompose::{Decomposition, Part, PartKind};
pub use drift::Drift;
pub use effects::{FactorEffect, LevelEffect};
pub use estimate::{Estimate, Interval};
pub use findings::{Finding, FindingKind};
pub use head_to_head::{HeadToHead, Side, compare};
pub use health::MarkCount;
pub use power::Detectable;
pub use response::ResponseChoice;
pub use summary::{ConfigurationRow, Failure, LevelWaits, Summary, summarize};
pub use waits::{WaitOptions, WaitRow, WaitTable};
