//! Response surfaces: points to which a curved surface is fitted.

pub mod analysis;
pub mod factor;
pub mod file;
mod plan;
pub mod runs;
pub(crate) mod section;

/// The response surface as reports have it.
pub const DESIGN: ::analysis::Design = ::analysis::Design {
    kind: crate::settings::RESPONSE_SURFACE,
    legend: None,
    sentences: |summary, response| {
        analysis::surface(summary).map(|surface| surface.sentences(response))
    },
};
