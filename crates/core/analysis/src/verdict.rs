//! The verdict on a difference between two runs, or between two times.

use crate::Comparison;
use serde::Serialize;

/// Verdict on a difference between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second is better, supported at a family level of 5 % (Holm).
    Better,
    /// The second is worse, supported at a family level of 5 %.
    Worse,
    /// The second is better in these two runs. How much runs of one side differ is unknown with one
    /// run per side, so that nothing is claimed beyond them.
    BetterInTheseRuns,
    /// The second is worse in these two runs.
    WorseInTheseRuns,
    /// No difference that can be seen.
    NotSeen,
    /// Not testable: no values, or a single block.
    Unknown,
}

impl Verdict {
    /// The verdict of a comparison; `Unknown` without one.
    pub fn judge(comparison: Option<&Comparison>) -> Self {
        match comparison {
            Some(comparison) if comparison.supported() && comparison.is_better() => Self::Better,
            Some(comparison) if comparison.supported() => Self::Worse,
            Some(comparison) if comparison.p_value.is_some() && comparison.bound.is_none() => {
                Self::NotSeen
            }
            _ => Self::Unknown,
        }
    }

    /// The verdict on a single run per side.
    #[must_use]
    pub fn in_two_runs(self) -> Self {
        match self {
            Self::Better => Self::BetterInTheseRuns,
            Self::Worse => Self::WorseInTheseRuns,
            other => other,
        }
    }
}
