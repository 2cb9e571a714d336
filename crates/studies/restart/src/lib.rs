//! Study S3f: how long a server takes to recover from a crash, by the log since its last
//! checkpoint.

mod probe;

pub use crate::probe::{CHECKPOINT_DISTANCE, COMMITTED, PRESENT, Restart};
