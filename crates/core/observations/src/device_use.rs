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

/// Bytes that the load and the devices disagree about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disagreement {
    /// Bytes read by the load and from the devices, where these disagree.
    pub read: Option<(u64, u64)>,
    /// Bytes written by the load and to the devices, where these disagree.
    pub written: Option<(u64, u64)>,
}

/// Compares the bytes that a load read and wrote by direct I/O with the kernel's counters of its
/// devices; `None` when they agree within 2 % or 1 MiB, whichever is larger, and without devices.
///
/// Bytes are compared and not I/Os, because the kernel splits and merges. A mirror writes
/// everything to each of its devices: a whole multiple is not a disagreement; see [`write_copies`].
pub fn device_agreement(read: u64, written: u64, devices: &[DeviceUse]) -> Option<Disagreement> {
    let (device_read, device_written) = sums(devices)?;
    let writes_agree = close(written, device_written) || write_copies(written, devices).is_some();
    let disagreement = Disagreement {
        read: (!close(read, device_read)).then_some((read, device_read)),
        written: (!writes_agree).then_some((written, device_written)),
    };
    (disagreement.read.is_some() || disagreement.written.is_some()).then_some(disagreement)
}

/// Returns the devices' writes as a multiple of the load's, when that is a whole number from 2 to
/// the number of devices: mirrors over devices that are counted one by one do (btrfs RAID 1 and
/// 10).
pub fn write_copies(ours: u64, devices: &[DeviceUse]) -> Option<u64> {
    let (_, written) = sums(devices)?;
    copies(ours, written).filter(|copies| *copies <= devices.len() as u64)
}

fn sums(devices: &[DeviceUse]) -> Option<(u64, u64)> {
    let sum = |of: fn(&DeviceUse) -> u64| devices.iter().map(of).fold(0, u64::saturating_add);
    (!devices.is_empty())
        .then(|| (sum(|device| device.read_bytes), sum(|device| device.write_bytes)))
}

fn close(ours: u64, devices: u64) -> bool {
    ours.abs_diff(devices) as f64 <= TOLERANCE_BYTES.max(TOLERANCE * ours as f64)
}

fn copies(ours: u64, devices: u64) -> Option<u64> {
    // Within the tolerance of nothing, anything is a multiple.
    if ours as f64 <= TOLERANCE_BYTES {
        return None;
    }
    let copies = (devices as f64 / ours as f64).round() as u64;
    (copies >= 2 && close(ours.saturating_mul(copies), devices)).then_some(copies)
}

impl Disagreement {
    /// A sentence with the figures, for a warning.
    pub fn sentence(&self) -> String {
        let sentence = |(verb, preposition): (&str, &str), (ours, devices): (u64, u64)| {
            let (ours, devices) = (ours as f64 / 1e6, devices as f64 / 1e6);
            format!(
                "the load {verb} {ours:.1} MB, the kernel counted {devices:.1} MB {preposition} \
                 the devices"
            )
        };
        let parts = [
            self.read.map(|bytes| sentence(("read", "from"), bytes)),
            self.written.map(|bytes| sentence(("wrote", "to"), bytes)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
