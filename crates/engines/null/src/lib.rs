//! A scripted engine: it answers after a virtual delay with scripted waits.
//!
//! It exists so that order, resume, failure, accounting and reports can be tested exactly, and
//! so that the laboratory's own overhead can be measured. Its results are marked synthetic.

mod engine;
mod nothing;
mod shared;

pub use self::engine::{
    DATA_FILES, DELAY, FAIL_WHILE_EXISTS, NULL, REAL_DELAY, SPREAD, VOLUME, WAITS,
};
pub use nothing::NONE;
