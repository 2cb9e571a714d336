//! How primitives of synchronisation scale: many threads add to a small table of counters.
//!
//! - `primitive`: what there is, by name; `tables`: the table of counters under each of them
//! - `spin`: the locks that are written by hand; `atomics`: what they are made of
//! - `padding`: how far apart the counters lie
//! - `plan`: what a thread does, drawn before it begins; `worker`: the measured loop
//! - `placement`: which thread runs on which processor
//! - `run`: a load and what it needs, and the check of what was counted; `lanes`: its threads
//! - `samples`, `outcome`: what is seen of them

mod atomics;
mod lanes;
mod outcome;
mod padding;
mod placement;
mod plan;
mod primitive;
mod run;
mod samples;
mod spin;
mod tables;
mod worker;

pub use outcome::{Outcome, ThreadOutcome};
pub use padding::Padding;
pub use placement::{Pinning, place};
pub use plan::MEMBERS_MAX;
pub use primitive::{Primitive, Waiting};
pub use run::{Load, SyncError, run};
pub use samples::SAMPLED_EVERY;
