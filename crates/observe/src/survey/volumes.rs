use crate::inspect::volume;
use crate::mounts;
use observations::{Unread, VolumeFacts};
use std::collections::BTreeSet;

/// File systems of packages and media, on which nobody puts a database.
const READ_ONLY: [&str; 4] = ["squashfs", "erofs", "iso9660", "udf"];

/// What is under each mounted file system that is on block devices, and what could not be looked at. Of one
/// that is mounted several times, the first mount.
pub fn all() -> (Vec<VolumeFacts>, Vec<Unread>) {
    let unread = |what: String, why: String| Unread { what, why };
    let mounts = match mounts::all() {
        Ok(mounts) => mounts,
        Err(error) => return (Vec::new(), vec![unread("/proc/self/mountinfo".into(), error.to_string())]),
    };
    let (mut found, mut failed, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for mount in mounts {
        let is_mine = mount.source.starts_with('/') && !READ_ONLY.contains(&mount.file_system.as_str());
        if !is_mine || !mount.folder.is_dir() || !seen.insert(mount.number) {
            continue;
        }
        match volume(&mount.folder) {
            Ok(facts) if facts.devices.is_empty() => {}
            Ok(facts) => found.push(facts),
            Err(error) => failed.push(unread(mount.folder.display().to_string(), error.to_string())),
        }
    }
    (found, failed)
}
