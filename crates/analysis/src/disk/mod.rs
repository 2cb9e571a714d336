//! What the disk probe measured: figures of each configuration, Little's law, the knee.

mod figures;
mod find_max;
mod knee;
mod little;

pub use figures::{DiskFigures, DiskRow, StreamFigures};
pub(crate) use figures::{is_paced, is_uniform};
pub use find_max::SearchLevels;
pub use knee::{Knee, KneePoint, knee};
pub use little::{LITTLE_TOLERANCE, Little, little_difference};

use crate::Summary;
use crate::settings::{self, ConfigurationGroup};
use observations::Recording;
use serde::Serialize;

/// What a report says of the configurations with the disk probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskSummary {
    /// The configurations that have figures, in the order of the file.
    pub rows: Vec<DiskRow>,
    /// Configurations that differ in threads and queue depth only.
    pub groups: Vec<ConfigurationGroup>,
    /// Where each group saturates.
    pub knees: Vec<Knee>,
}

impl Summary<'_> {
    /// What the disk probe measured; `None` when no configuration with it has a trial done.
    pub fn disk(&self) -> Option<DiskSummary> {
        let groups = groups(self.recording);
        let positions = settings::with_probe(self.recording, "disk");
        let rows: Vec<DiskRow> =
            positions.filter_map(|position| DiskRow::of(self.recording, &self.grid, position)).collect();
        (!rows.is_empty()).then(|| DiskSummary { rows, groups, knees: knee(self.recording) })
    }
}

/// The groups of a recording: configurations with the disk probe that differ in threads and queue depth only.
fn groups(recording: &Recording) -> Vec<ConfigurationGroup> {
    settings::groups(recording, "disk", &["workload.threads", "workload.queue_depth"])
}
