use serde::{Deserialize, Serialize};

/// What a block device did during the measurement, by the kernel's own counters
/// (`/sys/dev/block/*/stat`): for everybody on the machine, not only for the trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Volume that it carries, `default` for the work directory; of existing files and devices
    /// their path.
    pub volume: String,
    /// Its name: `vda`, `loop3`.
    pub device: String,
    /// Reads that ended, after the kernel merged adjacent ones.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Seconds that reads were in flight, summed.
    pub read_s: f64,
    /// Writes that ended, after the kernel merged adjacent ones.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Seconds that writes were in flight, summed.
    pub write_s: f64,
    /// Flushes of its write cache that ended.
    pub flushes: u64,
    /// Seconds that flushes were in flight, summed.
    pub flush_s: f64,
    /// Seconds in which at least one I/O was in flight.
    pub busy_s: f64,
    /// I/Os in flight, summed over the seconds: divided by elapsed seconds, the mean queue.
    pub queue_s: f64,
    /// Length of the measurement in seconds, between the two readings.
    pub elapsed_s: f64,
}
