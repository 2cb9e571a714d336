//! `steelbench plan`: execution plans in files, explained without a server.

mod document;
mod tool;

pub use tool::Plan;
