//! `steelbench plan`: execution plans in files, explained without a server.
//!
//! - [`Plan`]: the command; `found`: plans in files and folders; `document`: the report

mod command;
mod document;
mod found;

pub use command::Plan;
