//! Bandwidth that scans demanded.

use crate::demand::ScanDemand;
use analysis::Summary;
use report::{Cell, Columns, Section};

/// A section with a row for each configuration.
pub fn sections(_: &Summary, all: &[ScanDemand]) -> Vec<Section> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut section = Section::new("Bandwidth that scans demanded");
    let mut table = Columns::for_rows(all);
    table.name("configuration", |row| row.label.as_str());
    table.left("table GB/s", |row| Cell::estimate_without_unit(&row.bandwidth));
    table.left("from storage GB/s", |row| row.storage.as_ref().map(Cell::estimate_without_unit));
    table.left("CPUs busy", |row| row.busy.as_ref().map(Cell::estimate_without_unit));
    table.left("GB/s of a busy CPU", |row| row.per_cpu.as_ref().map(Cell::estimate_without_unit));
    section.table(table);
    section.note(
        "Pages of the table that all sessions read, by elapsed time. From storage: bytes that \
         the kernel read there, read-ahead included. Whether the rate grows with the CPUs has to \
         be measured: see the speed-up of a scan.",
    );
    vec![section]
}
