//! The parts that engines with servers share: private servers and servers by URL.
//!
//! - [`private`]: a private server of any product
//! - [`hosted`]: the parts of an engine that hosts of its servers need, and the engine that is made
//!   of them; [`host`]: the server of consecutive trials, a private one or yours
//! - [`instance`]: the schema of a trial on it; [`administration`]: the connection that holds it;
//!   [`load`]: the connections of its load
//! - [`preflight`]: the check of trials before the first of them
//! - [`attached`]: a target that another process has prepared
//! - [`node`]: a private server as studies use it: its programs, its copies and its failures
//! - [`programs`]: psql, `pg_dump`, the `mariadb` client and others, for which our client logs in
//! - [`network`]: the relay between a load and its server; `link`: one with a bandwidth of its own
//! - `account`: the user that a private server runs as, never root; `process`: starting, finding
//!   and ending it
//! - [`command`]: programs that prepare it; [`printed_version`]: their versions, among which
//!   [`choose`] takes one
//! - `files`: its directory, and the folder of its sockets; `template`: the copy that it is cloned
//!   from; `data_sets`: data sets that it keeps between trials
//! - [`settings`]: the server's settings of a configuration; `url`: percent-encoding
//! - [`altered`]: settings of servers by URL that a run changes and puts back; [`applied`]: those
//!   that stay until they are undone
//! - [`activity`]: sampling the sessions of a server

pub mod account;
pub mod activity;
pub mod administration;
pub mod altered;
pub mod applied;
pub mod attached;
pub mod command;
pub mod data_sets;
pub mod files;
pub mod host;
pub mod hosted;
pub mod instance;
mod link;
pub mod load;
pub mod network;
pub mod node;
pub mod preflight;
pub mod private;
pub mod process;
pub mod programs;
mod progress;
pub mod settings;
pub mod template;
pub mod url;
mod version;

use engine::{EngineError, Result};
use std::time::{Duration, Instant};
pub use version::{choose, printed_version, substitution, versions, versions_of};
use work::Cancel;

/// The shortest and the longest time between two looks at something that may come soon.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// Polls until there is a result, the time is over (`None`), or the user asks to stop; intervals
/// become longer with time.
pub fn wait_for<T>(
    at_most: Duration,
    cancel: &Cancel,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let started = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        if started.elapsed() > at_most {
            return Ok(None);
        }
        std::thread::sleep((started.elapsed() / 64).clamp(LOOK_AGAIN[0], LOOK_AGAIN[1]));
    }
}
