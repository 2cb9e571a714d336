//! A server's statement counters over an interval, by `steelbench queries --every`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An interval in a results file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryInterval {
    /// Number within the results file, from 1.
    pub id: i64,
    /// Version of Steelbench that recorded it.
    pub steelbench: String,
    /// The server as it was named, without its password.
    pub address: String,
    /// The engine: `postgres`.
    pub engine: String,
    /// Product and version: `PostgreSQL 15.18`.
    pub server: String,
    /// When it began by the server's clock, ms since 1970 UTC; of intervals that adjoin when the
    /// one before ended.
    pub from_ms: i64,
    /// When it ended.
    pub to_ms: i64,
    /// Bytes of a page.
    pub block_bytes: u64,
    /// The number of times that the server forgot statements to make room for others; `None`: not
    /// known.
    pub evictions: Option<u64>,
    /// Notes on the figures, one sentence each.
    pub notes: Vec<String>,
    /// The statements that took most time, in that order.
    pub statements: Vec<CountedStatement>,
}

/// A statement in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedStatement {
    /// The server's number of it.
    pub digest: String,
    /// Where it ran.
    pub database: String,
    /// User that ran it; empty where the server does not distinguish users.
    pub user: String,
    /// True if clients sent it, not a function that they called.
    pub is_top: bool,
    /// The text.
    pub text: String,
    /// True if the server reset its counter within the interval, so some is missing.
    pub is_partial: bool,
    /// Counters by name, such as `calls` and `time_ns`.
    pub counters: BTreeMap<String, u64>,
    /// Hash of `plan`.
    pub plan_hash: Option<String>,
    /// The plan at the end of the interval, one operator a line, indented below the one that reads
    /// it, without estimates.
    pub plan: Option<String>,
}

/// Beginning of the names of counters of samples: of what runs of the statement were seen to wait
/// for.
const SAMPLED: &str = "sampled.";

impl CountedStatement {
    /// Adds samples in which runs of it waited for something.
    pub fn add_samples(&mut self, wait: &str, samples: u64) {
        *self.counters.entry(format!("{SAMPLED}{wait}")).or_default() += samples;
    }

    /// The waits of its runs, with the number of samples.
    pub fn samples(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counters.iter().filter_map(|(name, count)| Some((name.strip_prefix(SAMPLED)?, *count)))
    }

    /// A counter, where the server has it.
    pub fn get(&self, counter: &str) -> Option<u64> {
        self.counters.get(counter).copied()
    }
}
