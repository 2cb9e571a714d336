//! `steelbench report`

use clap::{Parser, ValueEnum};
use command_line::arguments::Recorded;
use command_line::files::{Replace, write_html};
use command_line::{Context, ExitCode, Failure, Place, Tool, Which, output, results};
use std::path::PathBuf;
use store::Store;

/// Write a run's report as one HTML file that works offline
#[derive(Debug, Parser)]
#[command(name = "report")]
pub struct Report {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Where to write it [default: beside the results file, NAME.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One self-contained file for browsers
    Html,
}

impl Tool for Report {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench report random-insert",
        "steelbench report random-insert --output random-insert.html",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let ReportFormat::Html = self.format;
        let Recorded { name, run } = &self.recorded;
        let store = results::open(context, name.as_deref())?;
        let usual = (store.path().with_extension("html"), Replace::Ours);
        let (path, may) = self.output.clone().map_or(usual, |path| (path, Replace::Named));
        let shown = format!("{}\n", path.display());
        for records in context.records {
            let place = Place { store: &store, which: Which::numbered(*run) };
            if let Some(document) = records.document(place)? {
                write_html(&report::web::page(&document), &path, may)?;
                return output::print(&shown);
            }
        }
        let recording = results::read_run(&store, *run, Store::read)?;
        let summary = results::summary(context, &recording, store.path());
        write_html(&report::html(&summary, context.sections), &path, may)?;
        output::print(&shown)
    }
}
