//! A user's Parquet file: its rows as ranks, and written again in another order.
//!
//! A file may be damaged, or made to harm: all that it says of itself is checked against what is
//! read, and a panic of the reader is an error. Memory is bounded by [`ROWS_MAX`], [`CELLS_MAX`]
//! and [`COLUMN_BYTES_MAX`], and of one page by [`ParquetReader`].

mod advised;
mod values;

pub use advised::{Advised, AdvisedOrder, Size};

use crate::{Coded, Column};
use parquet_files::{
    Cells, ParquetError, ParquetReader, ParquetWriter, Repetition, RowGroupMetaData, Type, TypePtr,
};
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use values::Distinct;

/// Rows of a row group that is written: as many as `DuckDB`'s have.
pub const GROUP_ROWS: usize = 122_880;

/// Rows that may be asked for.
pub const ROWS_MAX: usize = 100_000_000;

/// Values that are kept, rows times columns: 1 GiB of ranks. Of a table with many columns fewer
/// rows are read.
const CELLS_MAX: usize = 256 << 20;

/// Bytes of the values of a column in the rows that are read.
const COLUMN_BYTES_MAX: usize = 1 << 30;

/// Most columns of a table that can be analysed.
const COLUMNS_MAX: usize = 2_000;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An order of the user's that the file cannot have.
    #[error("--order: {0}")]
    Order(String),
    /// It is not a Parquet file, or damaged.
    #[error("cannot read {path} as Parquet: {message}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error.
        message: String,
    },
    /// There is nothing to sort by.
    #[error("{path} has {what}; there is nothing to sort")]
    Nothing {
        /// The file.
        path: PathBuf,
        /// `no rows`.
        what: &'static str,
    },
    /// It is larger than what is read.
    #[error("{path}: {what}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The oversized item and the remedy.
        what: String,
    },
    /// Rows could not be written again.
    #[error("writing rows as Parquet: {0}")]
    Write(#[from] ParquetError),
}

/// The rows of a file, or some of them.
pub struct ParquetFile {
    /// The columns as ranks.
    pub coded: Coded,
    /// Rows of the whole file.
    pub rows_all: u64,
    /// Columns that are not looked at, because they hold lists or records.
    pub left_out: Vec<String>,
    columns: Vec<Distinct>,
    schema: TypePtr,
}

impl ParquetFile {
    /// Reads at most `rows_max` rows: whole row groups, evenly spread over the file.
    ///
    /// # Errors
    /// When it is not a Parquet file, or damaged, or too large.
    pub fn read(path: &Path, rows_max: usize) -> Result<Self, FileError> {
        let unreadable = |source| FileError::Io { path: path.into(), source };
        // Opening a pipe waits for its other end, and reading a device may never end.
        if !path.metadata().map_err(unreadable)?.is_file() {
            return Err(unreadable(io::Error::other("not a regular file")));
        }
        let file = File::open(path).map_err(unreadable)?;
        let hook = std::panic::take_hook();
        // A panic of the reader on a damaged file becomes an error; do not print it as well.
        std::panic::set_hook(Box::new(|_| ()));
        let read = catch_unwind(AssertUnwindSafe(|| Reading { path, rows_max }.read(file)));
        std::panic::set_hook(hook);
        read.unwrap_or_else(|_| Err(damaged(path, &"its values do not match its metadata")))
    }

    /// The positions of columns with these names.
    ///
    /// # Errors
    /// When there is no such column, or one is named twice.
    fn positions(&self, names: &[String]) -> Result<Vec<usize>, FileError> {
        let known = || self.coded.columns.iter().map(|column| column.name.as_str());
        let mut positions = Vec::new();
        for name in names {
            let position = known().position(|column| column == name).ok_or_else(|| {
                let known: Vec<_> = known().collect();
                FileError::Order(experiment::unknown_name("column", name, &known))
            })?;
            if positions.contains(&position) {
                return Err(FileError::Order(format!("column {name} is given twice")));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// Writes some of its rows in this order, with Snappy compression; gives the bytes of each
    /// column by row group.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(
        &self,
        rows: &[u32],
        to: &mut (dyn Write + Send),
    ) -> Result<Vec<Vec<u64>>, FileError> {
        let mut file = ParquetWriter::new(to, self.schema.clone())?;
        let groups = rows.chunks(GROUP_ROWS).map(|some| {
            file.group(&mut |at, target| {
                let codes = &self.coded.columns[at].codes;
                let codes: Vec<u32> = some.iter().map(|row| codes[*row as usize]).collect();
                self.columns[at].write(&codes, target)
            })
        });
        let bytes = groups.collect::<Result<_, _>>()?;
        file.close()?;
        Ok(bytes)
    }
}

/// Reads and decodes all values of a file that Steelbench wrote.
fn scan(file: File) -> Result<(), ParquetError> {
    let reader = ParquetReader::trusted(file)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    for (number, group) in reader.metadata().row_groups().iter().enumerate() {
        for at in 0..schema.num_columns() {
            let nullable = schema.column(at).max_def_level() > 0;
            let mut cells = Cells::empty(schema.column(at).physical_type(), nullable);
            reader.read(number, at, group.num_rows() as usize, usize::MAX, &mut cells)?;
        }
    }
    Ok(())
}

fn damaged(path: &Path, message: &dyn ToString) -> FileError {
    FileError::Damaged { path: path.into(), message: message.to_string() }
}

/// A file that is read.
struct Reading<'a> {
    path: &'a Path,
    rows_max: usize,
}

impl Reading<'_> {
    fn damaged(&self, message: &dyn ToString) -> FileError {
        damaged(self.path, message)
    }

    fn read(&self, file: File) -> Result<ParquetFile, FileError> {
        let reader = ParquetReader::untrusted(file).map_err(|error| self.damaged(&error))?;
        let groups = reader.metadata().row_groups();
        let rows = |group: &RowGroupMetaData| u64::try_from(group.num_rows()).unwrap_or(0);
        let rows_all = groups.iter().map(rows).fold(0, u64::saturating_add);
        let schema = reader.metadata().file_metadata().schema_descr();
        // Positions among the columns of values, of which lists and records have several.
        let flat = |at: &usize| {
            let column = schema.column(*at);
            column.max_rep_level() == 0 && column.path().parts().len() == 1
        };
        let kept: Vec<usize> = (0..schema.num_columns()).filter(flat).collect();
        let name = |at: usize| schema.column(at).path().string();
        let left_out = (0..schema.num_columns()).filter(|at| !flat(at)).map(name).collect();
        if kept.len() > COLUMNS_MAX {
            return Err(
                self.too_large(format!("{} columns exceed the limit of {COLUMNS_MAX}", kept.len()))
            );
        }
        for (what, none) in
            [("no rows", rows_all == 0), ("no columns of single values", kept.is_empty())]
        {
            if none {
                return Err(FileError::Nothing { path: self.path.into(), what });
            }
        }
        let taken = self.row_groups(&groups.iter().map(rows).collect::<Vec<u64>>(), kept.len());
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for at in &kept {
            let (column, column_values) =
                self.column(&reader, *at, &taken).map_err(|fault| match fault {
                    FileError::Damaged { message, .. } => {
                        self.damaged(&format!("column {}: {message}", name(*at)))
                    }
                    fault => fault,
                })?;
            columns.push(column);
            values.push(column_values);
        }
        let fields = kept.iter().map(|at| schema.column(*at).self_type_ptr()).collect();
        let root =
            Type::group_type_builder(schema.root_schema().name()).with_fields(fields).build();
        Ok(ParquetFile {
            coded: Coded { columns, rows: taken.iter().map(|(_, rows)| rows).sum() },
            rows_all,
            left_out,
            columns: values,
            schema: Arc::new(root.map_err(|error| self.damaged(&error))?),
        })
    }

    fn too_large(&self, what: String) -> FileError {
        FileError::TooLarge { path: self.path.into(), what }
    }

    /// The row groups that are read and how many of their rows: all, or some that are evenly
    /// spread.
    fn row_groups(&self, groups: &[u64], columns: usize) -> Vec<(usize, usize)> {
        let most = self.rows_max.min(ROWS_MAX).min(CELLS_MAX / columns).max(1) as u64;
        let all = groups.iter().copied().fold(0, u64::saturating_add);
        let count = if all <= most {
            groups.len()
        } else {
            ((most as f64 / all as f64 * groups.len() as f64).ceil() as usize)
                .clamp(1, groups.len())
        };
        let mut left = most;
        let some = (0..count).map(|number| number * groups.len() / count).map(|group| {
            let rows = groups[group].min(left);
            left -= rows;
            (group, rows as usize)
        });
        some.filter(|(_, rows)| *rows > 0).collect()
    }

    /// Reads the rows of a column.
    fn column(
        &self,
        reader: &ParquetReader,
        at: usize,
        taken: &[(usize, usize)],
    ) -> Result<(Column, Distinct), FileError> {
        let descriptor = reader.metadata().file_metadata().schema_descr().column(at);
        let nullable = descriptor.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
        let mut cells = Cells::empty(descriptor.physical_type(), nullable);
        for (group, rows) in taken {
            let read = reader
                .read(*group, at, *rows, COLUMN_BYTES_MAX, &mut cells)
                .map_err(|error| self.damaged(&error))?;
            let Some(read) = read else {
                return Err(self.too_large(format!(
                    "column {} exceeds {} MiB in the rows to read; read fewer with --rows",
                    descriptor.name(),
                    COLUMN_BYTES_MAX >> 20
                )));
            };
            if read != *rows {
                return Err(
                    self.damaged(&format!("row group {group} has {read} of its {rows} rows"))
                );
            }
        }
        Ok(values::coded(cells, descriptor.name()))
    }
}
