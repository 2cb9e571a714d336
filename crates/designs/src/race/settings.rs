//! Settings of races.

use experiment::{Kind, settings};

/// The kind in files.
pub const KIND: &str = "race";

settings! {
    /// Blocks that all candidates of a race run before the first of them leave.
    pub RACE_FIRST: u32 = "design.first", Kind::Count { min: 2, max: 1_000 }, "5", Shown "5";
}
