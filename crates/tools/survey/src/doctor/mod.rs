//! `steelbench doctor`: abilities of this machine, and the remedy of each that is missing.
//!
//! - `tool`: arguments; `check`: an ability and its state
//! - `engines`: the engines of the binary; `machine`: the operating system
//! - `document`: the page

mod check;
mod document;
mod engines;
mod machine;
mod tool;

pub use tool::Doctor;
