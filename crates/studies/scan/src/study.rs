//! The study's part in the analysis of its runs.

use crate::demand::findings;
use analysis::{Access, CostKind, Study, TableUse, WorkCost};
use observations::Observations;
use probe::data::{KERNEL_CPU_S, TABLE_ROWS, processor_s};

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study {
    table: Some(TableUse { access: Access::Scan, costs: COSTS }),
    findings: Some(findings),
    ..Study::new("scan")
};

const COSTS: &[WorkCost] = &[
    WorkCost::new(CostKind::Processor, "us/row", |observations| {
        Some(1e6 * processor_s(observations)? / rows(observations)?)
    }),
    WorkCost::new(CostKind::Kernel, "us/row", |observations| {
        Some(1e6 * KERNEL_CPU_S.read(observations)? / rows(observations)?)
    }),
    WorkCost::new(CostKind::Time, "ms", |observations| observations.response("scan")),
];

fn rows(observations: &Observations) -> Option<f64> {
    TABLE_ROWS.read(observations).filter(|rows| *rows > 0.0)
}
