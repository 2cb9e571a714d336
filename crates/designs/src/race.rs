//! A race: all combinations run the first blocks, then losers leave after each block.

pub mod analysis;
pub mod file;
pub mod racing;
pub mod schedule;
mod section;
pub mod settings;

pub(crate) use section::section;

/// The race as reports have it.
pub const DESIGN: ::analysis::Design = ::analysis::Design {
    kind: settings::KIND,
    legend: Some(
        "±: 95 % CI of the mean of one candidate, not corrected for the choice of candidates; the \
         section Race has corrected intervals.",
    ),
    sentences: |summary, _| analysis::report(summary).map(|race| race.sentences()),
    continued: None,
};
