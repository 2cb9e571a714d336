//! The bytes of a load compared with the kernel's counters of its devices.

use observations::{DeviceUse, bytes_agree, device_bytes, write_copies};

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
    let (device_read, device_written) = device_bytes(devices)?;
    let writes_agree =
        bytes_agree(written, device_written) || write_copies(written, devices).is_some();
    let disagreement = Disagreement {
        read: (!bytes_agree(read, device_read)).then_some((read, device_read)),
        written: (!writes_agree).then_some((written, device_written)),
    };
    (disagreement.read.is_some() || disagreement.written.is_some()).then_some(disagreement)
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
