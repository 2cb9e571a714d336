//! What the disk probe measured: figures of each configuration, Little's law, the knee.

mod figures;
mod find_max;
mod groups;
mod knee;
mod little;

pub use figures::{DiskFigures, DiskRow, StreamFigures};
pub(crate) use figures::{is_paced, is_uniform};
pub use find_max::SearchLevels;
pub use groups::DiskGroup;
pub use knee::{Knee, KneePoint, knee};
pub use little::{LITTLE_TOLERANCE, Little, little_difference};

use crate::grid::Grid;
use observations::Recording;
use serde::Serialize;

/// What a report says of the configurations with the disk probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskSummary {
    /// The configurations that have figures, in the order of the file.
    pub rows: Vec<DiskRow>,
    /// Configurations that differ in threads and queue depth only.
    pub groups: Vec<DiskGroup>,
    /// Where each group saturates.
    pub knees: Vec<Knee>,
}

impl DiskSummary {
    /// `None` when no configuration with the disk probe has a trial done.
    pub(crate) fn of(recording: &Recording, grid: &Grid) -> Option<Self> {
        let groups = groups::of(recording);
        let positions = crate::settings::with_probe(recording, "disk");
        let rows: Vec<DiskRow> =
            positions.filter_map(|position| DiskRow::of(recording, grid, position)).collect();
        (!rows.is_empty()).then(|| Self { rows, groups, knees: knee(recording) })
    }
}
