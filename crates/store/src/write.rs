//! Writing: a run's plan once, then one transaction for each trial.

mod plan;
mod trial;

pub use plan::NewRun;
