//! `steelbench sort-order`

use crate::args::SortOrder;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use sort_order::file::{Advised, FileError, ParquetFile};

/// Says in which order the rows of a table would take the least.
pub fn sort_order(arguments: &SortOrder) -> Result<ExitCode, Failure> {
    let (path, rows_max) = (&arguments.file, arguments.rows as usize);
    let shown = path.display().to_string();
    let (name, file, rows_all) = if let Some(table) = &arguments.table {
        let folder = tempfile::tempdir().map_err(Failure::failed)?;
        let exported = folder.path().join("rows.parquet");
        let rows_all = engines::sample::export(path, table, arguments.rows, &exported)
            .map_err(Failure::failed)?;
        (
            format!("{table} of {shown}"),
            ParquetFile::read(&exported, rows_max).map_err(failure)?,
            rows_all,
        )
    } else {
        let file = ParquetFile::read(path, rows_max).map_err(failure)?;
        let rows_all = file.rows_all;
        (shown, file, rows_all)
    };
    let mut advised = Advised::of(name, &file, rows_all).map_err(failure)?;
    let orders = usize::from(arguments.orders);
    if arguments.measure {
        advised.measure(&file, orders).map_err(failure)?;
    }
    advised.orders.truncate(orders);
    output::show(
        arguments.form,
        || report::json::sort_order(&advised),
        || report::sort_order(&advised),
    )
}

fn failure(error: FileError) -> Failure {
    match error {
        FileError::Write(_) => Failure::failed(error),
        _ => Failure::usage(error),
    }
}
