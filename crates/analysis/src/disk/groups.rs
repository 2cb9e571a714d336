use crate::settings::{self, Group};
use observations::Recording;
use serde::Serialize;

/// The settings that say how many I/Os are under way.
const LOAD: [&str; 2] = ["workload.threads", "workload.queue_depth"];

/// Configurations with the disk probe that differ in threads and queue depth only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskGroup {
    /// Levels of the factors by which groups differ: `pattern=random-read block_size=8 KiB`; empty when
    /// there is none.
    pub label: String,
    /// Their positions in the recording, in the order of the file.
    pub configurations: Vec<usize>,
}

/// The groups of a recording.
pub fn of(recording: &Recording) -> Vec<DiskGroup> {
    let groups = settings::groups(recording, "disk", &LOAD).into_iter();
    groups.map(|Group { label, configurations }| DiskGroup { label, configurations }).collect()
}
