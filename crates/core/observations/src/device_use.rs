use crate::VolumeNames;
use serde::{Deserialize, Serialize};

/// Use of a block device during the measurement, by the kernel's counters
/// (`/sys/dev/block/*/stat`): of all processes, not only the trial's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Volumes that it carries, `default` for the work directory; of existing files and devices
    /// their paths.
    pub volume: VolumeNames,
    /// The name: `vda`, `loop3`.
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

/// Counters and load may differ by this share of what the load moved...
const TOLERANCE: f64 = 0.02;
/// ... or by this many bytes: file systems write some metadata of their own.
const TOLERANCE_BYTES: f64 = 1024.0 * 1024.0;

/// Returns the devices' writes as a multiple of the load's, when that is a whole number from 2 to
/// the number of devices: mirrors over devices that are counted one by one do (btrfs RAID 1 and
/// 10).
pub fn write_copies(ours: u64, devices: &[DeviceUse]) -> Option<u64> {
    let (_, written) = device_bytes(devices)?;
    copies(ours, written).filter(|copies| *copies <= devices.len() as u64)
}

/// Bytes that were read from all devices and written to them; `None` without devices.
pub fn device_bytes(devices: &[DeviceUse]) -> Option<(u64, u64)> {
    let sum = |of: fn(&DeviceUse) -> u64| devices.iter().map(of).fold(0, u64::saturating_add);
    (!devices.is_empty())
        .then(|| (sum(|device| device.read_bytes), sum(|device| device.write_bytes)))
}

/// Returns whether bytes agree within 2 % or 1 MiB, whichever is larger.
pub fn bytes_agree(ours: u64, devices: u64) -> bool {
    ours.abs_diff(devices) as f64 <= TOLERANCE_BYTES.max(TOLERANCE * ours as f64)
}

fn copies(ours: u64, devices: u64) -> Option<u64> {
    // Within the tolerance of nothing, anything is a multiple.
    if ours as f64 <= TOLERANCE_BYTES {
        return None;
    }
    let copies = (devices as f64 / ours as f64).round() as u64;
    (copies >= 2 && bytes_agree(ours.saturating_mul(copies), devices)).then_some(copies)
}
