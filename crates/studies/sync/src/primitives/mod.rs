//! How primitives of synchronisation scale: many threads add to a small table of counters.
//!
//! - `primitive`: what there is, by name; `tables`: the table of counters under each of them
//! - `spin`: the locks that are written by hand; `atomics`: what they are made of
//! - `padding`: how far apart the counters lie
//! - `topology`: the processors; `placement`: which thread runs on which of them
//! - `worker`: the measured loop; `run`: a load, its threads and the check of what was counted
//! - `outcome`: what is seen of them

mod atomics;
mod outcome;
mod padding;
mod placement;
mod primitive;
mod run;
mod spin;
mod tables;
mod topology;
mod worker;

pub use outcome::{Outcome, ThreadOutcome};
pub use padding::Padding;
pub use placement::{Pinning, place};
pub use primitive::{Primitive, Waiting};
pub use run::{Load, SyncError, run};
pub use topology::{Span, Topology};
pub use worker::{MEMBERS_MAX, SAMPLED_EVERY};
