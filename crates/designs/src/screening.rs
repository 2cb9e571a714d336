//! Screenings: few runs of two levels for each factor, which tell the factors that matter.

pub mod analysis;
pub mod extension;
pub mod file;
pub mod next_step;
mod plan;
pub(crate) mod section;

/// The screening as reports have it.
pub const DESIGN: ::analysis::Design = ::analysis::Design {
    kind: crate::settings::SCREENING,
    legend: None,
    sentences: |summary, response| {
        let screening = analysis::screening(summary)?.sentences(response);
        let surface = crate::surface::analysis::surface(summary);
        let surface = surface.map(|surface| surface.sentences(response));
        Some(screening.into_iter().chain(surface.into_iter().flatten()).collect())
    },
};
