//! Advice for a user's table: orders with what they are expected to take as Parquet, and what the
//! best ones really take.

use super::{FileError, GROUP_ROWS, ParquetFile, scan};
use crate::{Candidate, Layout, Order, Prediction, advise, predict};
use observations::order;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter};
use std::time::Instant;

/// Seed of the row groups that predictions look at: the same advice for the same file.
const SEED: u64 = 1;

/// The origin of an order that the user named.
pub(crate) const YOURS: &str = "you (--order)";

/// Rounds in which every order is read once.
const ROUNDS: usize = 5;

/// Advice on the order of a table's rows.
#[derive(Debug, Clone, Serialize)]
pub struct Advised {
    /// The table as the user named it.
    pub name: String,
    /// Rows that were looked at.
    pub rows: u64,
    /// Rows of the table.
    pub rows_all: u64,
    /// Columns that were not looked at, because they hold lists or records.
    pub left_out: Vec<String>,
    /// The columns of single values.
    pub columns: Vec<AdvisedColumn>,
    /// The rows as they lie, written again by the same writer.
    pub generated: AdvisedOrder,
    /// Other orders, those with the least predicted bytes first.
    pub orders: Vec<AdvisedOrder>,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub struct AdvisedColumn {
    /// The name.
    pub name: String,
    /// Number of different values in the rows that were looked at.
    pub distinct: usize,
    /// Estimated number in the whole table.
    pub distinct_of_table: f64,
}

/// An order.
#[derive(Debug, Clone, Serialize)]
pub struct AdvisedOrder {
    /// Columns to sort by; none: as the rows lie.
    pub columns: Vec<String>,
    /// Reason for the candidate.
    pub why: &'static str,
    /// Expected size of all rows: an estimate.
    pub predicted: Prediction,
    /// Measured size of the sampled rows, if requested.
    pub measured: Option<Size>,
}

/// Measured size of the sampled rows in an order.
#[derive(Debug, Clone, Serialize)]
pub struct Size {
    /// Bytes of all columns.
    pub bytes: u64,
    /// Seconds to write them, sorted already.
    pub write_s: f64,
    /// Seconds of processor time to read and decode all values, in each round.
    pub read_cpu_s: Vec<f64>,
}

impl Advised {
    /// Advises on a table, of which `rows_all` is the number of rows. `names`: orders of the
    /// user's, by names of columns, which are predicted beside the advice.
    ///
    /// # Errors
    /// When its rows cannot be written again, or an order names a column that is not there.
    pub fn for_file(
        name: String,
        file: &ParquetFile,
        rows_all: u64,
        names: &[Vec<String>],
    ) -> Result<Self, FileError> {
        let layout = Layout { group_rows: GROUP_ROWS, table_rows: rows_all, seed: SEED };
        let mut store = |rows: Vec<u32>| file.write(&rows, &mut io::sink());
        let as_it_lies = predict(&file.coded, &Order::Generated, layout, &mut store)?;
        let order = |advice: crate::Advice| AdvisedOrder {
            columns: file
                .coded
                .names(&advice.candidate.columns)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            why: advice.candidate.why,
            predicted: advice.prediction,
            measured: None,
        };
        let mut orders = Vec::new();
        for names in names {
            let columns = file.positions(names)?;
            let prediction = predict(&file.coded, &Order::By(columns.clone()), layout, &mut store)?;
            orders.push(order(crate::Advice {
                candidate: Candidate { columns, why: YOURS },
                prediction,
            }));
        }
        let advice = advise(&file.coded, layout, &mut store)?.into_iter().map(order);
        orders.extend(advice.filter(|advice| !names.contains(&advice.columns)));
        order::smallest_first(&mut orders, &|row| row.predicted.bytes);
        Ok(Self {
            name,
            rows: file.coded.rows as u64,
            rows_all,
            left_out: file.left_out.clone(),
            columns: file
                .coded
                .columns
                .iter()
                .map(|column| AdvisedColumn {
                    name: column.name.clone(),
                    distinct: column.distinct,
                    distinct_of_table: column.distinct_of_table(rows_all),
                })
                .collect(),
            generated: AdvisedOrder {
                columns: Vec::new(),
                why: "current order",
                predicted: as_it_lies,
                measured: None,
            },
            orders,
        })
    }

    /// Keeps the best orders, at most `most` of them, and those of the user.
    pub fn keep(&mut self, most: usize) {
        let mut better = 0;
        self.orders.retain(|order| {
            better += usize::from(order.why != YOURS);
            order.why == YOURS || better <= most
        });
    }

    /// Writes the rows that were looked at as they lie and in all orders to files without a name,
    /// and reads each of them back in several rounds.
    ///
    /// # Errors
    /// When a file cannot be written or read.
    pub fn measure(&mut self, file: &ParquetFile) -> Result<(), FileError> {
        let measured = self.orders.iter_mut().chain([&mut self.generated]);
        let mut written: Vec<(&mut AdvisedOrder, Size, File)> = Vec::new();
        for order in measured {
            let columns = file.positions(&order.columns)?;
            let rows = file.coded.ordered(&if columns.is_empty() {
                Order::Generated
            } else {
                Order::By(columns)
            });
            let target = tempfile::tempfile().map_err(temporary)?;
            let started = Instant::now();
            let groups = file.write(&rows, &mut BufWriter::new(&target))?;
            let write_s = started.elapsed().as_secs_f64();
            let bytes = groups.iter().flatten().sum();
            written.push((order, Size { bytes, write_s, read_cpu_s: Vec::new() }, target));
        }
        for _ in 0..ROUNDS {
            for (_, measured, target) in &mut written {
                let before = cpu_s();
                scan(target.try_clone().map_err(temporary)?)?;
                measured.read_cpu_s.push(cpu_s() - before);
            }
        }
        for (order, measured, _) in written {
            order.measured = Some(measured);
        }
        Ok(())
    }
}

fn temporary(source: io::Error) -> FileError {
    FileError::Io { path: std::env::temp_dir(), source }
}

/// Seconds that this thread has been on a processor.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
