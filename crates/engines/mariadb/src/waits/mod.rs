//! Waits of the sessions.
//!
//! The Performance Schema counts and times the waits of each session's thread
//! (<https://mariadb.com/kb/en/performance-schema-events_waits_summary_by_thread_by_event_name-table/>):
//! their differences over the measurement are taken. A wait on a table (`wait/io/table`,
//! `wait/lock/table`) contains the file operations and mutexes below it and the processor time of
//! the engine: it is left out, so that nothing counts twice. Row locks are `InnoDB`'s own counter.
//! Waits that the server does not time (for the redo log), or is not configured to time, are
//! sampled in the process list. `reading` reads the counters, `accounting` has the arithmetic.
//!
//! [`MariaCollector`] watches the sessions of a trial, [`MariaObserver`] a whole server, which
//! `source` samples; `tasks` asks who waits for whom.

mod accounting;
mod collector;
mod observer;
mod reading;
mod sampler;
mod source;
mod tasks;
mod types;

pub use collector::MariaCollector;
pub(super) use observer::MariaObserver;
pub(super) use source::local_process;
pub use types::WAIT_TYPES;
