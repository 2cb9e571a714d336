//! Sizing: how many parts a demand needs, and which link of the chain from disks to processor is
//! the narrowest; `steelbench size` and `results`.
//!
//! - [`Plan`]: a demand, parts and alternatives; `sections`: the file that they are read from
//! - [`size`]: the load of each link of each alternative
//! - `queue`: the time of a request at a busy server
//! - `purchases`: buying as the data grows, and the cost of a month
//! - `raid`: what an array makes of the I/Os of its host, whole and with a disk failed
//! - [`EXAMPLE`]: a file with a published example

mod command;
mod document;
mod link;
mod plan;
pub mod published;
mod published_document;
mod purchases;
mod queue;
mod raid;
mod results;
mod sections;
mod sized;

pub use command::Size;
pub use link::{LinkLoad, Rebuild, Resource, Use};
pub use plan::{Alternative, Demand, Link, Part, Plan, Recorded, Targets};
pub use purchases::Purchases;
pub use raid::Raid;
pub use results::Results;
pub use sized::{Sizes, Sizing, size};

/// The example file: the storage of a published TPC-C result.
pub const EXAMPLE: &str = include_str!("example.toml");
