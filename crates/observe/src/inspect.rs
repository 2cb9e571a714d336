//! What is under a path: file system, stripes, partitions, sectors, queues. Nothing is written.

mod device;
mod mount;

use crate::devices::{Device, members_of};
use observations::VolumeFacts;
use std::collections::VecDeque;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Why nothing can be said of a path.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// It cannot be looked at.
    #[error(
        "{}: cannot look at it: {source}; name a directory, a file or a block device that is there",
        path.display()
    )]
    Path {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Looks at the volume that holds a directory or file, or at a block device.
pub fn volume(path: &Path) -> Result<VolumeFacts, InspectError> {
    let unreadable = |source| InspectError::Path { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(unreadable)?;
    let is_device = real.metadata().map_err(unreadable)?.file_type().is_block_device();
    // No devices are known of file systems in memory or on a network; that is an answer.
    let members = members_of(&real).unwrap_or_default();
    Ok(VolumeFacts {
        path: path.display().to_string(),
        mount: if is_device { None } else { mount::of(&real, &members) },
        devices: layers(members),
    })
}

/// These devices, and after them those that they are made of.
fn layers(members: Vec<Device>) -> Vec<observations::DeviceFacts> {
    let mut waiting = VecDeque::from(members);
    let (mut seen, mut layers) = (Vec::new(), Vec::new());
    while let Some(device) = waiting.pop_front() {
        if seen.contains(&device) {
            continue;
        }
        seen.push(device);
        let Ok(folder) = device.folder().canonicalize() else { continue };
        layers.push(device::of(&folder));
        // A partition is made of nothing but its disk, whose facts it has.
        waiting.extend(crate::devices::described_in(&device.whole().folder().join("slaves")));
    }
    layers
}

#[cfg(test)]
mod tests;
