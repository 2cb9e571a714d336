//! `steelbench data`: data sets as files.

mod tool;

pub use tool::Data;
