//! Response surfaces: points to which a curved surface is fitted.

pub mod analysis;
pub mod file;
mod plan;
pub mod runs;
mod section;
pub mod settings;

pub use analysis::surface;
pub(crate) use section::sections;

/// The response surface as reports have it.
pub const DESIGN: ::analysis::Design = ::analysis::Design {
    kind: crate::settings::RESPONSE_SURFACE,
    legend: None,
    sentences: |summary, response| {
        analysis::surface(summary).map(|surface| surface.sentences(response))
    },
    continued: None,
};
