//! `steelbench tune`: searches settings within a budget and confirms the gain in blocks of its own.
//!
//! - `sections`: reads `[[knob]]` and `[tune]`; `knob`, `relation`: what they declare
//! - `space`: the knobs as points; `goal`: the outcome of a trial
//! - [`optimiser`]: the next points of a search, and when a trial is hopeless
//! - `stage`: an experiment of several points, run and read back
//! - `search`: rounds of trials; `confirmation`: the best points against the present settings, and
//!   [`rating`], the statistics of it
//! - `ablation`: which knobs the gain needs
//! - `document`: the page; `command`: the arguments

mod ablation;
mod command;
mod confirmation;
mod document;
mod goal;
mod knob;
pub mod optimiser;
pub mod rating;
mod relation;
mod search;
mod sections;
mod space;
mod stage;

pub use command::Tune;
pub use sections::SECTIONS;
