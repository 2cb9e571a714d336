//! The tests of this crate, in one executable.

mod published;
mod published_results;
