//! `steelbench survey`: the inventory of this machine and of servers, and of many machines; and
//! `steelbench doctor`.
//!
//! - `tool`: arguments; `document`: the page of an inventory
//! - `advice`: rules on the settings of a machine; `meanings`: the purpose of each setting
//! - `doctor`: abilities of this machine for Steelbench
//! - `merge`: the inventories of many machines; `merged_document`: their page

mod advice;
mod doctor;
mod document;
mod meanings;
mod merge;
mod merged_document;
mod tool;

pub use advice::advice;
pub use doctor::Doctor;
pub use document::page;
pub use merge::{anonymous, merge};
pub use merged_document::merged;
pub use tool::SurveyTool;

#[cfg(test)]
mod tests;
