//! Experiment files with designs.

use crate::common;
use experiment::{Catalog, Changes, Experiment, FileErrors};

pub fn catalog() -> Catalog {
    Catalog { designs: designs::DESIGNS, ..common::catalog() }
}

pub fn parse(source: &str) -> Result<Experiment, FileErrors> {
    experiment::parse(source, &catalog())
}

/// The experiment of a file that is right.
#[track_caller]
pub fn experiment(source: &str) -> Experiment {
    parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("test.toml", source)))
}

pub fn changes(old: &Experiment, new: &Experiment) -> Changes {
    experiment::changes(old, new, &catalog())
}
