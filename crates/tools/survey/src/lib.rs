//! `steelbench survey`: the inventory of this machine and of servers, and of many machines; and
//! `steelbench doctor`.
//!
//! - `tool`: arguments; `document`: the page of an inventory
//! - [`postgres`], [`mariadb`], [`sqlserver`]: servers, each with its rules; `server_rules`: the
//!   shared parts of these
//! - `advice`: rules on the settings of a machine; `meanings`: the purpose of each setting
//! - `doctor`: abilities of this machine for Steelbench
//! - `merge`: the inventories of many machines; `merged_document`: their page

mod advice;
mod doctor;
mod document;
pub mod mariadb;
mod meanings;
mod merge;
mod merged_document;
pub mod postgres;
mod server_rules;
pub mod sqlserver;
mod tool;

pub use advice::advice;
pub use doctor::Doctor;
pub use document::page;
pub use merge::{anonymous, merge};
pub use merged_document::merged;
pub use tool::SurveyTool;

#[cfg(test)]
mod tests;
