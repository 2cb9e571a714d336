//! Screenings: few runs of two levels for each factor, which tell the factors that matter.

pub mod analysis;
pub mod file;
mod next_step;
mod plan;
mod section;
pub mod settings;

pub use next_step::RUN_OPTIONS;
pub(crate) use section::sections;

/// The screening as reports have it.
pub const DESIGN: ::analysis::Design = ::analysis::Design {
    kind: settings::KIND,
    legend: None,
    sentences: |summary, response| Some(analysis::screening(summary)?.sentences(response)),
    continued: Some(|summary| analysis::screening(summary)?.continued(summary.recording)),
};
