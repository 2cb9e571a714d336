//! `steelbench waits`: its arguments, and the watch of a server.

use crate::document::ActivityView;
use crate::observation::{is_whole, show};
use crate::{recorded, watch};
use clap::{ArgAction, Parser};
use command::arguments::{MariaDb, Psql, positive};
use command::output::Form;
use command::{Context, ExitCode, Failure, Tool, Which, captures, results, servers, signals};
use engine::{ObserveOptions, ServerError};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::Store;

/// Show what the sessions of a server wait for, and who blocks whom; changes nothing on it
#[derive(Debug, Parser)]
#[command(name = "waits")]
#[command(disable_help_flag = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Waits {
    /// The server: postgres://, mariadb:// or mssql://user@host:port/database, keyword=value pairs
    /// or the name of a database [default: PG* variables]; or a results file that --output
    /// wrote, of several observations in it `FILE@2`; or a file of `capture`
    server: Option<String>,
    /// How long to watch; Ctrl-C ends it earlier and shows what was seen
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    seconds: f64,
    /// Show each interval of so many seconds by itself
    #[arg(long, value_name = "N", value_parser = positive::<86_400>)]
    interval: Option<f64>,
    /// Samples a second; of SQL Server 20 at most
    #[arg(long, value_name = "HZ", default_value_t = 100.0, value_parser = positive::<1000>)]
    rate: f64,
    /// Also show who waits, but for nobody, when the time is over
    #[arg(long)]
    tasks: bool,
    /// Also show the whole texts of statements, without the constants in them
    #[arg(long)]
    statements: bool,
    /// Leave the constants in statements, which may be anybody's data, in what is shown and
    /// recorded
    #[arg(long)]
    literals: bool,
    /// Also record what was seen in this results file, for `waits FILE`, `show`, `report` and
    /// `compare`; what it holds is kept
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Watch on the whole screen, a new picture each second
    #[arg(
        long,
        conflicts_with_all = ["json", "md", "tasks", "statements", "seconds", "interval", "output"],
    )]
    watch: bool,
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
            return show(recorded::read(&store, Which::numbered(number))?, view, self.form);
        }
        if let Some(record) = named.and_then(captures::read) {
            return show(record?.observation, view, self.form);
        }
        let given = self.server.as_deref();
        let url = self.mariadb.url(&self.psql, given).map_err(Failure::usage)?;
        let server = context.server(&url)?;
        let options = ObserveOptions {
            hz: self.rate,
            statements: true,
            literals: self.literals,
            ..ObserveOptions::default()
        };
        let stop = signals::stop_flag()?;
        let heard = servers::stop_by(&stop);
        let failure = |error: ServerError| servers::failure(&*server, &heard, &error);
        if self.watch {
            return watch::run(|| server.observe(options, &heard), &stop, failure);
        }
        let mut observer = server.observe(options, &heard).map_err(failure)?;
        let mut store = self.output.as_ref().map(Store::create_or_open).transpose()?;
        let end = Instant::now() + Duration::from_secs_f64(self.seconds);
        loop {
            let began_ms = servers::now_ms();
            let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
            let seconds = self.interval.map_or(left_s, |interval| interval.min(left_s));
            let activity = servers::observe(&mut *observer, seconds, &stop).map_err(failure)?;
            let ended = activity.ended.clone();
            let mut record = servers::record(&*server, began_ms, activity);
            // It is in the results file before it is shown.
            if let Some(store) = &mut store {
                record.id = store.record_activity(&record)?;
            }
            show(record, view, self.form)?;
            if let Some(why) = ended {
                return Err(failure(ServerError::new(why)));
            }
            if Instant::now() >= end || stop.load(Ordering::Relaxed) {
                return Ok(ExitCode::Ok);
            }
        }
    }
}
