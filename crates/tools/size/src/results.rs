//! `steelbench results`

use crate::published;
use crate::published_document::{self as document, Digits};
use clap::Parser;
use command_line::output::{self, Form};
use command_line::{Context, ExitCode, Failure, Tool};
use report::json::object;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Compare published benchmark results
///
/// Knows TPC-C, TPC-E and TPC-H, and reads any file of scores.
#[derive(Debug, Parser)]
#[command(name = "results")]
pub struct Results {
    /// CSV files with one line per result
    #[arg(required_unless_present = "example")]
    files: Vec<PathBuf>,
    /// Column name in the files: score=tpmC. Known columns: benchmark, system, score, unit, better
    /// (higher or lower), power, throughput, cores, `memory_gb`, disks, price, `price_NAME` for its
    /// parts, and q1, q2, .. for query times in seconds
    #[arg(long, value_name = "OURS=THEIRS", value_delimiter = ',', value_parser = column)]
    columns: Vec<(String, String)>,
    /// Show computed figures with all digits
    #[arg(long)]
    exact: bool,
    /// Print a file with figures of published studies as a starting point
    #[arg(long, exclusive = true)]
    example: bool,
    #[command(flatten)]
    form: Form,
}

impl Tool for Results {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench results tpch.csv",
        "steelbench results scores.csv --columns score=tpmC,price=cost",
    ];

    fn run(&self, _: &Context) -> Result<ExitCode, Failure> {
        if self.example {
            return output::print_as_it_is(published::EXAMPLE);
        }
        let mut entries = Vec::new();
        for file in &self.files {
            let wrong = |error: &dyn std::fmt::Display| {
                Failure::usage(format!("{}: {error}", file.display()))
            };
            let text = experiment::read_text(file, experiment::SOURCE_BYTES_MAX)
                .map_err(|error| wrong(&error))?;
            entries.extend(published::read(&text, &self.columns).map_err(|error| wrong(&error))?);
        }
        let compared = published::compare(&entries);
        output::show(
            self.form,
            || object("results", &json!({ "benchmarks": compared }), Value::Null),
            || {
                let digits = if self.exact { Digits::All } else { Digits::Rounded };
                document::published(&compared, digits)
            },
        )
    }
}

/// A column without its name in the file.
#[derive(Debug, thiserror::Error)]
#[error("expected COLUMN=NAME, as in score=tpmC")]
struct ColumnError;

/// Reads a column by our name and theirs.
fn column(text: &str) -> Result<(String, String), ColumnError> {
    let (ours, theirs) = text.split_once('=').ok_or(ColumnError)?;
    Ok((ours.trim().to_owned(), theirs.trim().to_owned()))
}
