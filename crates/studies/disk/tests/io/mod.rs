//! The I/O engine on real files, loop devices and file systems.
mod counts;
mod durability;
mod faults;
mod limits;
mod preparation;
mod support;
