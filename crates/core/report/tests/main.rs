//! The tests of this crate, in one executable.
#![allow(clippy::float_cmp, clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod charts;
mod exports;
mod factors;
mod formats;
mod html;
mod published;
mod run;
