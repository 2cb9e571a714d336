//! Designs beside the grid: which combinations of levels run, and what they say.
//!
//! - [`screening`]: few runs that tell which of many factors matter, and their extensions
//! - [`race`]: candidates that leave once they have lost
//! - [`surface`]: points to which a curved surface is fitted
//! - [`mathematics`]: designs and effects as plain numbers
//! - [`settings`]: what a file can say of them
//!
//! A design has the same parts: `file` reads its part of an experiment file, `plan` is for `check`,
//! `analysis` computes the data of its section, and `section` shows it.

pub mod mathematics;
pub mod race;
pub mod screening;
pub mod settings;
pub mod surface;

use experiment::Designs;

/// The designs as files have them.
pub const DESIGNS: Designs = Designs {
    settings: settings::SETTINGS,
    extension: settings::EXTENSION,
    all: &[&screening::file::Screening, &race::file::Race, &surface::file::ResponseSurface],
};

/// The designs as reports have them.
pub const ANALYSES: &[&analysis::Design] = &[&screening::DESIGN, &race::DESIGN, &surface::DESIGN];

report::sections! {
    /// The sections of the designs.
    pub const SECTIONS = |summary| {
        Headline race: race::analysis::report(summary).as_ref() => race::section::section [screen];
        Headline screening: screening::analysis::screening(summary)
            => screening::section::sections [screen];
        Headline surface: surface::analysis::surface(summary).as_ref()
            => surface::section::sections [screen];
    }
}
