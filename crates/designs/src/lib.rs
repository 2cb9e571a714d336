//! Designs beside the grid. Deleting one is its folder and the lines here that name it.
//!
//! - [`screening`]: few runs that tell which of many factors matter, and their extensions
//! - [`race`]: candidates that leave once they have lost
//! - [`surface`]: points to which a curved surface is fitted
//! - [`mathematics`]: plain numbers; [`settings`], [`extension`], [`factor`]: parts of a file
//!
//! A design has the same parts: `file` reads its part of an experiment file, `plan` is for `check`,
//! `analysis` computes the data of its section, and `section` shows it.

pub mod extension;
pub mod factor;
pub mod mathematics;
pub mod race;
pub mod screening;
pub mod settings;
pub mod surface;

use command_line::RunOptions;
use experiment::{Designs, GRID, Kind};

/// The designs as files have them.
pub const DESIGNS: Designs = Designs {
    settings: SETTINGS,
    extension: settings::EXTENSION,
    all: &[
        // A line for each, so that it can go.
        &screening::file::Screening,
        &race::file::Race,
        &surface::file::ResponseSurface,
    ],
};

/// The designs as reports have them.
pub const ANALYSES: &[&analysis::Design] = &[
    // A line for each.
    &screening::DESIGN,
    &race::DESIGN,
    &surface::DESIGN,
];

const KINDS: &[&str] = &[
    // A line for each design.
    GRID,
    screening::DESIGN.kind,
    race::DESIGN.kind,
    surface::DESIGN.kind,
];

experiment::settings! {
    const SETTINGS = [
        screening::settings::RESOLUTION,
        screening::settings::RUNS,
        race::settings::RACE_FIRST,
        surface::settings::SURFACE,
        surface::settings::AXIAL_POINTS,
        settings::CENTRE_POINTS,
        settings::LOG_SCALE,
    ];
    /// Which combinations of levels are run. screening: few runs that estimate the effect of each
    /// of many factors with two levels; effects may be aliased with interactions. race: all
    /// combinations run the first blocks, then losers leave after each block. response-surface:
    /// points between a low and a high level of each factor, to which a curved surface is fitted.
    DESIGN_KIND: String = "design.kind", Kind::Choice(KINDS), "grid", Shown "\"screening\"";
}

/// Options that designs add to `run`.
pub const RUN_OPTIONS: &[RunOptions] = &[
    // A line for each that has some.
    screening::RUN_OPTIONS,
];

report::sections! {
    /// The sections of the designs.
    pub const SECTIONS = |summary| {
        Headline race: race::analysis::report(summary).as_ref() => race::section [screen];
        Headline screening: screening::analysis::screening(summary) => screening::sections [screen];
        Headline surface: surface::surface(summary).as_ref() => surface::sections [screen];
    }
}
