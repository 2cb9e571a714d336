//! The engine on real files, loop devices and file systems.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod counts;
mod durability;
mod faults;
mod limits;
mod preparation;
mod support;
