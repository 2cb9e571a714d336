//! `steelbench waits`: its arguments, and the watch of a server.

use crate::document::{ActivityView, SECTIONS};
use crate::observation::{is_whole, show};
use crate::{recorded, watch};
use clap::{ArgAction, Parser};
use command_line::arguments::{MariaDb, Psql, positive};
use command_line::output::{Extent, Form};
use command_line::{Context, ExitCode, Failure, Tool, Which, results, servers, signals};
use engine::{ObserveOptions, ServerError};
use inspection::observation::{observe, record};
use inspection::survey::read_capture;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::Store;

/// Show what a server's sessions wait for, and who blocks whom
///
/// Changes nothing on the server.
#[derive(Debug, Parser)]
#[command(name = "waits")]
#[command(disable_help_flag = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Waits {
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or a database name [default: PG* variables]; or a results file written with --output
    /// (`FILE@2` for its second observation), or a file written by `capture`
    server: Option<String>,
    /// How long to observe; Ctrl-C stops earlier and shows the results so far
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    seconds: f64,
    /// Show each interval of this many seconds separately
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    interval: Option<f64>,
    /// Samples per second; at most 20 for SQL Server
    #[arg(long, value_name = "HZ", default_value_t = 100.0, value_parser = positive::<1000>)]
    rate: f64,
    /// Also list waiting tasks without a blocker at the end
    #[arg(long)]
    tasks: bool,
    /// Also show full statement texts, without literal values
    #[arg(long)]
    statements: bool,
    /// Keep literal values in statements, shown and recorded (may contain personal data)
    #[arg(long)]
    literals: bool,
    /// Also record the observation in this results file, for `waits FILE`, `show`, `report` and
    /// `compare`; existing content is kept
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Full-screen view, refreshed every second
    #[arg(
        long,
        conflicts_with_all = ["json", "md", "tasks", "statements", "seconds", "interval", "output"],
    )]
    watch: bool,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    psql: Psql,
    #[command(flatten)]
    mariadb: MariaDb,
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

impl Tool for Waits {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench waits postgres://user@host/db --seconds 30",
        "steelbench waits mariadb://user@host/ --watch",
    ];
    const SECTIONS: &'static [&'static str] = &SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let view = ActivityView {
            tasks: self.tasks,
            statements: self.statements,
            whole: is_whole(self.form),
        };
        let is_file = self.psql.is_empty() && self.mariadb.is_empty();
        let named = self.server.as_deref().filter(|_| is_file);
        if let Some((file, number)) = named.and_then(results::observation) {
            let store = results::open(context, Some(file))?;
            let record = recorded::read(&store, Which::numbered(number))?;
            return show(record, view, self.form, &self.extent);
        }
        if let Some(capture) = named.and_then(read_capture) {
            return show(capture?.observation, view, self.form, &self.extent);
        }
        let server = self.server.as_deref();
        let url = self.mariadb.url(&self.psql, server).map_err(Failure::usage)?;
        let server = context.server(&url)?;
        let options = ObserveOptions {
            hz: self.rate,
            statements: true,
            literals: self.literals,
            ..ObserveOptions::default()
        };
        let stop = signals::stop_flag()?;
        let signal = servers::stop_by(&stop);
        let failure = |error: ServerError| servers::failure(&*server, &signal, &error);
        if self.watch {
            return watch::run(|| server.observe(options, &signal), &stop, failure);
        }
        let mut observer = server.observe(options, &signal).map_err(failure)?;
        let mut store = self.output.as_ref().map(Store::create_or_open).transpose()?;
        let end = Instant::now() + Duration::from_secs_f64(self.seconds);
        loop {
            let began_ms = servers::now_ms();
            let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
            let seconds = self.interval.map_or(left_s, |interval| interval.min(left_s));
            let activity = observe(&mut *observer, seconds, &stop).map_err(failure)?;
            let ended = activity.ended.clone();
            let mut record = record(&*server, began_ms, activity);
            // It is in the results file before it is shown.
            if let Some(store) = &mut store {
                record.id = store.record_activity(&record)?;
            }
            show(record, view, self.form, &self.extent)?;
            if let Some(why) = ended {
                return Err(failure(ServerError::new(why)));
            }
            if Instant::now() >= end || stop.load(Ordering::Relaxed) {
                return Ok(ExitCode::Ok);
            }
        }
    }
}
