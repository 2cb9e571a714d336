//! The optimizer's statistics of tables, and the files of databases.

use super::views::{CREATED_SINCE_S, PAGE};
use crate::statements::{DataFile, FileIo, HistogramStep, TableStatistics};
use engine::{Row, Rows};
use observations::number;
use std::collections::HashMap;

/// `max_size` of a file that grows until its disk is full.
const UNLIMITED: i64 = -1;

fn id(row: Row<'_>) -> Option<(i32, i32)> {
    row.parse("object_id").zip(row.parse("stats_id"))
}

/// Statistics by the number of their table.
pub fn statistics(
    properties: &Rows,
    columns: &Rows,
    histograms: &Rows,
) -> HashMap<i32, Vec<TableStatistics>> {
    let mut of: HashMap<(i32, i32), TableStatistics> = HashMap::new();
    for (id, row) in columns.iter().filter_map(|row| Some((id(row)?, row))) {
        of.entry(id).or_default().columns.push(row.text("column_name"));
    }
    for (id, row) in histograms.iter().filter_map(|row| Some((id(row)?, row))) {
        // Rows until they are known to be shares of which table.
        of.entry(id).or_default().histogram.push(HistogramStep {
            value: row.text("value"),
            share_equal: row.parse("equal_rows"),
            share_between: row.parse("range_rows"),
            distinct_between: row.parse("range_values"),
        });
    }
    let mut all: HashMap<i32, Vec<TableStatistics>> = HashMap::new();
    for (id, row) in properties.iter().filter_map(|row| Some((id(row)?, row))) {
        let known = of.remove(&id).unwrap_or_default();
        let gathered_s = row.parse::<i64>("gathered_s").map(|s| s + CREATED_SINCE_S);
        let rows: Option<f64> = row.parse("row_count");
        all.entry(id.0).or_default().push(TableStatistics {
            name: row.text("statistics_name"),
            rows,
            sampled_rows: row.parse("rows_sampled"),
            changes: row.parse("changes"),
            gathered_ms: gathered_s.map(|s| s * 1000),
            steps: row.parse("steps"),
            histogram: shares(known.histogram, rows),
            columns: known.columns,
            ..TableStatistics::default()
        });
    }
    all
}

fn shares(steps: Vec<HistogramStep>, rows: Option<f64>) -> Vec<HistogramStep> {
    let share = |of: Option<f64>| Some(of? / rows.filter(|rows| *rows > 0.0)?);
    let step = |step: HistogramStep| HistogramStep {
        share_equal: share(step.share_equal),
        share_between: share(step.share_between),
        ..step
    };
    steps.into_iter().map(step).collect()
}

/// Files with their I/O, which is counted since the server started.
pub fn files(rows: &Rows) -> Vec<DataFile> {
    let io = |row: Row<'_>, count, bytes, ms| FileIo {
        count: row.parse(count),
        bytes: row.parse(bytes),
        ns: row.parse::<u64>(ms).map(|ms| ms.saturating_mul(1_000_000)),
    };
    rows.iter()
        .map(|row| DataFile {
            database: row.text("database_name"),
            name: row.text("file_name"),
            kind: row.text("type_desc"),
            bytes: row.parse::<u64>("pages").map(|pages| pages * PAGE),
            bytes_max: row
                .parse::<i64>("pages_max")
                .filter(|pages| *pages > UNLIMITED)
                .map(|pages| pages as u64 * PAGE),
            growth: growth(row),
            reads: io(row, "reads", "read_bytes", "read_ms"),
            writes: io(row, "writes", "write_bytes", "write_ms"),
            ..DataFile::default()
        })
        .collect()
}

fn growth(row: Row<'_>) -> String {
    match (row.parse::<u64>("growth"), row.get("is_percent_growth")) {
        (Some(0), _) => "none".into(),
        (Some(percent), Some("1")) => format!("{percent} %"),
        (Some(pages), _) => number::bytes(pages * PAGE),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{files, statistics};
    use testing::rows::rows;

    #[test]
    fn rows_become_statistics_with_their_histograms() {
        let found = statistics(
            &rows(
                "object_id | stats_id | statistics_name | row_count | rows_sampled | steps | \
                 changes | gathered_s
                 5 | 2 | IX_City | 200 | 50 | 2 | 30 | 5
                 5 | 3 | _WA_Sys_1 | - | - | - | - | -",
            ),
            &rows("object_id | stats_id | column_name\n5 | 2 | City\n5 | 2 | Name\n5 | 3 | Note"),
            &rows(
                "object_id | stats_id | value | range_rows | equal_rows | range_values
                 5 | 2 | Basel | 0 | 20 | 0\n5 | 2 | Zug | 150 | 30 | 12",
            ),
        );
        let [city, never] = &found[&5][..] else { panic!("{found:?}") };
        assert_eq!(
            (city.rows, city.sampled_rows, city.changes, city.gathered_ms, city.steps),
            (Some(200.0), Some(50.0), Some(30), Some(946_684_805_000), Some(2))
        );
        assert_eq!(city.columns, ["City", "Name"]);
        let steps: Vec<_> = city
            .histogram
            .iter()
            .map(|histogram| {
                (
                    &*histogram.value,
                    histogram.share_equal,
                    histogram.share_between,
                    histogram.distinct_between,
                )
            })
            .collect();
        assert_eq!(
            steps,
            [
                ("Basel", Some(0.1), Some(0.0), Some(0.0)),
                ("Zug", Some(0.15), Some(0.75), Some(12.0))
            ]
        );
        assert_eq!(
            (never.rows, never.sampled_rows, never.gathered_ms, never.steps),
            (None, None, None, None)
        );
    }

    #[test]
    fn a_file_grows_by_a_size_by_a_share_or_not_at_all() {
        let head = "database_name | file_name | type_desc | pages | pages_max | growth | \
                    is_percent_growth | reads | read_bytes | read_ms | writes | write_bytes | \
                    write_ms\n";
        let found = files(&rows(&format!(
            "{head}shop | D:\\shop.mdf | ROWS | 1024 | -1 | 8192 | 0 | 7 | 57344 | 21 | 2 | 16384 \
             | 1\nshop | L:\\shop.ldf | LOG | 128 | 256 | 10 | 1 | - | - | - | - | - | -\nold | \
             D:\\old.mdf | ROWS | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0"
        )));
        let shapes: Vec<_> =
            found.iter().map(|file| (file.bytes, file.bytes_max, file.growth.as_str())).collect();
        assert_eq!(
            shapes,
            [
                (Some(8 << 20), None, "64.0 MiB"),
                (Some(1 << 20), Some(2 << 20), "10 %"),
                (Some(8192), Some(0), "none")
            ]
        );
        assert_eq!((found[0].reads.count, found[0].reads.ns), (Some(7), Some(21_000_000)));
        assert_eq!((found[1].reads.count, found[1].writes.bytes), (None, None));
        assert_eq!(found[2].writes.count, Some(0), "counted, and none");
    }
}
