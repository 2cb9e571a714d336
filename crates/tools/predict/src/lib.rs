//! Models of a run's throughput, ceilings of its storage, and `steelbench predict`: a recorded run
//! at levels that were not measured.
//!
//! - [`models`]: the mathematics: numbers in, data out
//! - [`throughput`]: the models of a recording, with the demands of its transactions; `section`:
//!   their part of a report; `record`: their part of a history
//! - [`ceiling`]: the use of storage relative to what it was measured to do; `ceiling_section`
//! - `settings`: the levels on which models are tested
//! - `what_if`: a prediction; `change`: changes other than a level; `at_rate`: open loops;
//!   `by_script`: scripts of a mix
//! - `prediction`: its data and its errors; `document`: its page; `command`

mod at_rate;
mod by_script;
pub mod ceiling;
mod ceiling_section;
mod change;
mod command;
mod document;
pub mod models;
mod prediction;
mod record;
mod section;
mod settings;
pub mod throughput;
mod what_if;

pub use command::Predict;
pub use prediction::{ByScript, ScriptPrediction, WhatIf, WhatIfError};
pub use record::history_part;
pub use settings::SECTION;
pub use what_if::what_if;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Models models: &throughput::models(summary) => section::sections;
        Limits ceilings: &ceiling::ceilings(summary) => ceiling_section::section;
    }
}
