//! `steelbench import`: measurements of other tools as a run in a results file.
//!
//! - [`Import`]: the command; `formats`: what each tool writes, as trials; `recording`: trials as
//!   a run that verdicts, comparisons and reports work on; `benchbase`: configurations of BenchBase
//!   as experiment files

mod benchbase;
mod command;
mod formats;
mod recording;

pub use command::Import;
