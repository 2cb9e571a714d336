//! The optimizer's statistics, the files of the server and the waits of its clients.
//!
//! <https://mariadb.com/kb/en/mysqlinnodb_index_stats/>,
//! <https://mariadb.com/kb/en/mysqlcolumn_stats-table/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/information-schema-column-statistics-table.html>

use super::indexes::Tables;
use super::{Reader, is_mariadb};
use crate::query_reader::StorageDetail;
use crate::statements::{DataFile, FileIo, HistogramStep, Snapshot, TableStatistics};
use engine::{ServerError, View, WaitType};
use observations::{Wait, WaitSource};
use serde_json::Value;
use std::collections::HashMap;

/// Picoseconds, the unit of the Performance Schema, in a nanosecond.
const PICOSECONDS_PER_NS: u64 = 1_000;
/// The queries. Waits of tables are left out: they contain the waits for files and locks below
/// them.
const FILE: &str = include_str!("storage.sql");
/// Files that are read at most: those with most time.
pub(super) const FILES_MAX: usize = 5_000;

impl Reader {
    /// Adds statistics and files where they are asked for; what cannot be read is noted.
    pub(super) fn storage(&mut self, tables: &mut Tables<'_>, snapshot: &mut Snapshot) {
        if self.limits.storage == StorageDetail::Nothing {
            return;
        }
        snapshot.read("statistics of indexes", self.index_statistics(tables));
        snapshot.read("statistics of columns", self.column_statistics(tables));
    }

    /// Statistics that InnoDB keeps: of each prefix of an index, from a sample of its pages.
    fn index_statistics(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let rows = self.rows::<8>(&tables.sql("statistics of indexes"))?;
        for [schema, table, name, columns, distinct, pages, rows, gathered] in rows {
            let Some(table) = tables.get(schema, table) else { continue };
            table.statistics.push(TableStatistics {
                name,
                columns: columns.split(',').map(str::to_owned).collect(),
                rows: rows.parse().ok(),
                sampled_pages: pages.parse().ok(),
                gathered_ms: gathered.parse::<f64>().ok().map(|ms| ms as i64),
                distinct: distinct.parse().ok(),
                ..TableStatistics::default()
            });
        }
        Ok(())
    }

    /// Statistics that ANALYZE TABLE PERSISTENT (MariaDB) or UPDATE HISTOGRAM (MySQL) gathers.
    fn column_statistics(&mut self, tables: &mut Tables<'_>) -> Result<(), ServerError> {
        let name = if is_mariadb(&*self.session) {
            "column statistics of MariaDB"
        } else {
            "column statistics of MySQL"
        };
        let sql = tables.sql_with(name, self.limits.storage == StorageDetail::Values);
        for [schema, table, name, nulls, steps, sampled, gathered, histogram] in
            self.rows::<8>(&sql)?
        {
            let Some(table) = tables.get(schema, table) else { continue };
            table.statistics.push(TableStatistics {
                columns: vec![name.clone()],
                name,
                nulls: nulls.parse().ok(),
                steps: steps.parse().ok(),
                sampled_share: sampled.parse().ok(),
                gathered_ms: gathered.parse().ok(),
                histogram: self::histogram(&serde_json::from_str(&histogram).unwrap_or_default()),
                ..TableStatistics::default()
            });
        }
        Ok(())
    }

    /// Files that the Performance Schema counts, with their sizes where InnoDB knows them.
    pub(super) fn files(&mut self) -> Result<Vec<DataFile>, ServerError> {
        let sizes = self.rows::<2>(&self.form(&View::new("sizes of files", FILE)));
        // Without the PROCESS privilege sizes stay unknown.
        let sizes: HashMap<String, u64> = sizes
            .unwrap_or_default()
            .into_iter()
            .filter_map(|[name, bytes]| Some((name, bytes.parse().ok()?)))
            .collect();
        let rows = self.rows::<8>(&View::new("files", FILE).sql())?;
        let files = rows.into_iter().map(|row| {
            let [name, kind, reads, read_bytes, read_ps, writes, write_bytes, write_ps] = row;
            let io = |count: String, bytes: String, ps: String| FileIo {
                count: count.parse().ok(),
                bytes: bytes.parse().ok(),
                ns: ps.parse::<u64>().ok().map(|ps| ps / PICOSECONDS_PER_NS),
            };
            let tablespace = name.strip_suffix(".ibd").map(|path| {
                let mut parts = path.rsplit(['/', '\\']);
                let (table, database) = (parts.next(), parts.next());
                (database.unwrap_or_default().to_owned(), table.unwrap_or_default().to_owned())
            });
            let bytes = tablespace
                .as_ref()
                .and_then(|(database, table)| sizes.get(&format!("{database}/{table}")).copied());
            DataFile {
                database: tablespace.map(|(database, _)| database).unwrap_or_default(),
                name,
                kind,
                bytes,
                reads: io(reads, read_bytes, read_ps),
                writes: io(writes, write_bytes, write_ps),
                ..DataFile::default()
            }
        });
        Ok(files.collect())
    }

    /// The waits of all clients since the server counts them. It does not tell the run queue apart.
    pub(super) fn waits_of_clients(&mut self) -> Result<Vec<Wait>, ServerError> {
        let rows = self.rows::<3>(&View::new("waits", FILE).sql())?;
        let wait_types = self.session.server().wait_types;
        let waits = rows.into_iter().filter_map(|[name, count, seconds]| {
            Some(Wait {
                class: WaitType::class_of(wait_types, &name),
                wait_type: name,
                count: count.parse().ok(),
                resource_s: seconds.parse().ok()?,
                signal_s: 0.0,
                source: WaitSource::Server {
                    counter: "events_waits_summary_by_account_by_event_name".into(),
                    error_s: None,
                },
            })
        });
        Ok(waits.collect())
    }
}

/// The steps of MariaDB's `histogram_hb`, whose buckets name their beginning, or of MySQL's
/// `buckets`, which name their end and the share of all values up to it.
fn histogram(histogram: &Value) -> Vec<HistogramStep> {
    let list = |name: &str| histogram[name].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of_mariadb = list("histogram_hb");
    let ends = of_mariadb.iter().skip(1).map(|next| &next["start"]);
    let ends = ends.chain(of_mariadb.last().map(|last| &last["end"]));
    let of_mariadb = of_mariadb.iter().zip(ends).map(|(bucket, end)| HistogramStep {
        value: text(end),
        share_between: bucket["size"].as_f64(),
        distinct_between: bucket["ndv"].as_f64(),
        ..HistogramStep::default()
    });
    let mut before = 0.0;
    let of_mysql = list("buckets").iter().map(|bucket| {
        // `[value, share]` or `[lowest, highest, share, different values]`.
        let is_value = bucket[2].is_null();
        let (end, until) = if is_value { (0, 1) } else { (1, 2) };
        let until = bucket[until].as_f64();
        let share = until.map(|until| until - before);
        before = until.unwrap_or(before);
        HistogramStep {
            value: text(&bucket[end]),
            share_equal: share.filter(|_| is_value),
            share_between: share.filter(|_| !is_value),
            distinct_between: bucket[3].as_f64(),
        }
    });
    let of_mysql: Vec<HistogramStep> = of_mysql.collect();
    of_mariadb.chain(of_mysql).collect()
}

#[cfg(test)]
mod tests {
    use super::{HistogramStep, histogram};

    /// Value, shares of rows with it and below it, and distinct values below it.
    type Step = (String, Option<f64>, Option<f64>, Option<f64>);

    fn steps(json: &str) -> Vec<Step> {
        let steps = histogram(&serde_json::from_str(json).unwrap());
        let rounded = |share: Option<f64>| share.map(|share| (share * 1e9).round() / 1e9);
        let step = |histogram_step: HistogramStep| {
            (
                histogram_step.value,
                rounded(histogram_step.share_equal),
                rounded(histogram_step.share_between),
                histogram_step.distinct_between,
            )
        };
        steps.into_iter().map(step).collect()
    }

    #[test]
    fn buckets_become_steps_with_their_own_share() {
        // As both manuals print them.
        assert_eq!(
            steps(
                r#"{"histogram_hb": [{"start": "a", "size": 0.25, "ndv": 3},
                                     {"start": "k", "end": "z", "size": 0.75, "ndv": 9}]}"#
            ),
            [
                ("k".to_owned(), None, Some(0.25), Some(3.0)),
                ("z".to_owned(), None, Some(0.75), Some(9.0))
            ]
        );
        assert_eq!(
            steps(r#"{"buckets": [[1, 0.3333333333333333], [2, 0.6666666666666666], [3, 1]]}"#)
                .iter()
                .map(|step| (step.0.as_str(), step.1))
                .collect::<Vec<_>>(),
            [("1", Some(0.333_333_333)), ("2", Some(0.333_333_333)), ("3", Some(0.333_333_333))]
        );
        assert_eq!(
            steps(r#"{"buckets": [["a", "f", 0.4, 5], ["g", "z", 1.0, 8]]}"#),
            [
                ("f".to_owned(), None, Some(0.4), Some(5.0)),
                ("z".to_owned(), None, Some(0.6), Some(8.0))
            ]
        );
        assert_eq!(steps("null"), []);
    }
}
