//! What several processors make of a scan.

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

fn section(own: &SpeedUp) -> Section {
    let first = own.rows[0].degree;
    let mut section = Section::new(match own.group.as_str() {
        "" => "Speed-up of a scan".to_owned(),
        group => format!("Speed-up of a scan: {group}"),
    });
    let mut table = Columns::for_rows(&own.rows);
    table.right("degree", |row| row.degree.to_string());
    table.left("scan ms", |row| Cell::estimate_without_unit(&row.scan));
    table.left("speed-up", |row| row.speed_up.as_ref().map(|own| number::comparison(own, "ms")));
    table.left("efficiency", |row| {
        row.efficiency.map(|share| efficiency(share, row.efficiency_interval))
    });
    table.left("scaling", |row| row.between.map(class));
    table.left("processors busy", |row| row.busy.as_ref().map(Cell::estimate_without_unit));
    table.left("processor time", |row| {
        row.processor_time.as_ref().map(|own| number::comparison(own, "us/row"))
    });
    section.table(table);
    let (flat, linear) = (number::percent(FLAT_SHARE, 0), number::percent(LINEAR_EFFICIENCY, 0));
    section.note(format!(
        "Speed-up and processor time are relative to degree {first}. Efficiency is the speed-up \
         divided by how many times the degree is: linear from {linear} on; flat: the time changes \
         by no more than {flat}. Processors busy: processor time of all workers divided by the \
         time of the scan; below the degree, the engine did not use all of it, its workers \
         waited, or other programs had the processors."
    ));
    section
}
