//! Waits of a PostgreSQL server: sampled where it does not count them, exact where it does, with
//! the kernel's figures of its processes' time where they run on this machine.
//!
//! Nothing here changes the server: its sessions are read-only and have an application name of
//! their own.
//!
//! `sources` is what is sampled (see [`servers::activity`]); `accounting` turns the samples of
//! sessions into waits; `counters` reads what the server counts itself; `tasks` asks who waits for
//! whom now; `used` reads the pages and the processors that a load used. [`PostgresCollector`]
//! watches the sessions of a trial, [`PostgresObserver`] a whole server, both by the windows of a
//! `watch`. `types` is the table of wait events.

mod accounting;
mod collector;
mod counters;
mod observer;
mod sources;
mod tasks;
mod types;
mod used;
mod watch;

pub use collector::PostgresCollector;
pub use counters::FLUSH_OWN_COUNTERS;
pub(super) use observer::PostgresObserver;
pub use sources::{ACTIVITY, PROFILE, sampler};
pub use types::{WAIT_TYPES, class};
