//! Plain files and devices: the target of raw disk tests.
//!
//! - `file_plan`: the files that its settings ask for
//! - `host`: creating and filling them, and keeping them from trial to trial
//! - `engine`: what the laboratory asks of an engine

mod engine;
mod file_plan;
mod host;

pub use self::engine::FILES;
