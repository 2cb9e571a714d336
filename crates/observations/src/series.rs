use serde::{Deserialize, Serialize};

/// A figure over time, in intervals of equal length. Interval `i` covers
/// `start_s + i * interval_s` to one interval later; "go" is second 0 and warm-up is before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// `throughput`, `wait:WAL_SYNC`, ...
    pub name: String,
    /// Unit as printed: `rows/s`.
    pub unit: String,
    /// Start of the first interval in seconds after "go"; negative for warm-up.
    pub start_s: f64,
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// One value an interval. The last interval may be cut short: its value is scaled to a whole second.
    pub values: Vec<f64>,
}
