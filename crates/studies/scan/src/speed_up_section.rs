//! Speed-up of a scan by several CPUs.

use crate::speed_up::SpeedUp;
use analysis::Summary;
use analysis::scaling::{FLAT_SHARE, LINEAR_EFFICIENCY};
use report::Cell;
use report::number;
use report::scaling::{class, efficiency};
use report::{Columns, Section};

/// A section for each.
pub fn sections(_: &Summary, all: &[SpeedUp]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(speed_up: &SpeedUp) -> Section {
    let first = speed_up.rows[0].degree;
    let mut section = Section::about("Speed-up of a scan", &speed_up.group);
    let mut table = Columns::for_rows(&speed_up.rows);
    table.right("degree", |row| row.degree.to_string());
    table.left("scan ms", |row| Cell::estimate_without_unit(&row.scan));
    table.left("speed-up", |row| {
        row.speed_up.as_ref().map(|speed_up| number::comparison(speed_up, "ms"))
    });
    table.left("efficiency", |row| {
        row.efficiency.map(|share| efficiency(share, row.efficiency_interval))
    });
    table.left("scaling", |row| row.between.map(|(low, high)| class(low, high)));
    table.left("CPUs busy", |row| row.busy.as_ref().map(Cell::estimate_without_unit));
    table.left("CPU time", |row| {
        row.processor_time
            .as_ref()
            .map(|processor_time| number::comparison(processor_time, "us/row"))
    });
    section.table(table);
    let (flat, linear) = (number::percent(FLAT_SHARE, 0), number::percent(LINEAR_EFFICIENCY, 0));
    section.note(format!(
        "Speed-up and CPU time are relative to degree {first}. Efficiency is the speed-up \
         divided by the relative degree. Linear: efficiency from {linear} up; flat: the time \
         changes by at most {flat}. CPUs busy: CPU time of all workers divided by the scan time. \
         If it is below the degree, the engine did not use the full degree, its workers waited, \
         or other programs used the CPUs."
    ));
    section
}
