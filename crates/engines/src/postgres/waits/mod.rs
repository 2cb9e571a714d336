//! Waits of a PostgreSQL server: sampled where it does not count them, exact where it does, with
//! the kernel's figures of its processes' time where they run on this machine.
//!
//! Nothing here changes the server: its sessions are read-only, and tell what they are by their
//! application name, [`OBSERVER`].
//!
//! [`Sampler`] takes samples on a thread of its own and gives them in [`Window`]s; `accounting`
//! turns the samples of sessions into waits; `counters` reads what the server counts itself;
//! `tasks` asks who waits for whom now. [`PostgresCollector`] watches the sessions of a trial,
//! [`LiveObserver`] a whole server.

mod accounting;
mod classes;
mod collector;
mod connection;
mod counters;
mod error;
mod kernel;
mod live;
mod meanings;
mod profile;
mod roster;
mod sampler;
mod summing;
mod tasks;
mod window;

pub use classes::class;
pub use collector::PostgresCollector;
pub use connection::OBSERVER;
pub use counters::FLUSH_OWN_COUNTERS;
pub use error::WaitsError;
pub use live::LiveObserver;
pub use meanings::{MEANINGS, meaning};
pub use sampler::{ObserveOptions, Sampler};
pub use window::{Process, Sample, Source, Window};
