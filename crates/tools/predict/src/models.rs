//! Models of performance: from what was measured to what would be. Pure: numbers in, data out.
//!
//! - [`usl`]: Amdahl's and Gunther's laws of scalability, fitted
//! - [`network`]: queueing networks, and transactions that arrive at a rate
//! - [`curve`]: throughput against connections, by either
//! - [`average`]: several of them, by how they predict the highest levels; `bounds`: what no
//!   throughput exceeds
//! - [`hold_out`]: how well these predict levels that they have not seen

pub mod average;
mod bounds;
pub mod curve;
pub mod hold_out;
pub mod network;
pub mod usl;
