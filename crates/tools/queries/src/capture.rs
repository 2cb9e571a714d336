//! `steelbench capture`: a server's inventory, waits and statements as a file to send.

use crate::arguments::Limits;
use crate::examine::{explained, open, statement_rules};
use crate::machine;
use clap::Parser;
use command_line::arguments::positive;
use command_line::files::{Replace, replace_file};
use command_line::servers::{self, Deadline};
use command_line::{Context, ExitCode, Failure, Tool, output, signals};
use engine::{ObserveOptions, Server, ServerError};
use inspection::QueryReader;
use inspection::observation::{observe, record};
use inspection::query_reader::StorageDetail;
use inspection::statements::{Advice, Captured, CapturedTexts, Snapshot};
use inspection::survey::{self, advice, capture_json, of_server};
use observations::{Survey, Unread};
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

/// Save a server's settings, waits and statistics to one file
///
/// `waits`, `queries` and `survey merge` read the file.
#[derive(Debug, Parser)]
#[command(name = "capture")]
pub struct Capture {
    /// The server: postgres:// or mssql://user@host:port/database, or a connection string
    #[arg(value_name = "URL")]
    server: String,
    /// The file to write. It contains no password, and no statement texts unless requested
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How long to observe
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = positive::<86_400>)]
    seconds: f64,
    /// Also write statement texts, without literal values
    #[arg(long)]
    statements: bool,
    /// Keep literal values (may contain personal data)
    #[arg(long, requires = "statements")]
    literals: bool,
    #[command(flatten)]
    limits: Limits,
    /// Give up reading the server after this time in addition to `--seconds`, in seconds
    #[arg(
        long, value_name = "N", default_value_t = 600,
        value_parser = clap::value_parser!(u32).range(1..=604_800),
    )]
    time_limit: u32,
}

impl Tool for Capture {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench capture postgres://user@host/db --output monday.json",
        "steelbench waits monday.json",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let server: Rc<dyn Server> = context.server(&self.server)?.into();
        let interrupt = signals::stop_flag()?;
        let deadline = Deadline::begin(self.time_limit, self.seconds, &server, &interrupt);
        let stop = deadline.stop();
        let failure = |error: ServerError| deadline.failure(&*server, &error);
        let options = ObserveOptions {
            statements: self.statements,
            literals: self.literals,
            ..ObserveOptions::default()
        };
        let began_ms = servers::now_ms();
        // Servers first: who may not be asked what it is needs no watching.
        let (surveyed, mut unread) = of_server(context, &*server, &stop).map_err(failure)?;
        let limits = self.limits.with(StorageDetail::Figures);
        let counters = open(context, &server, limits, &stop).and_then(|mut reader| {
            reader.look()?;
            Ok((reader.snapshot()?, reader))
        });
        let counters = answered(counters).map_err(failure)?;
        let mut observer = server.observe(options, &stop).map_err(failure)?;
        let mut activity = observe(&mut *observer, self.seconds, &interrupt).map_err(failure)?;
        let readings = observer.readings();
        let settings = machine::settings(context, &machine::on_this_machine(surveyed.clone()));
        let queries =
            counters.and_then(|(first, reader)| self.counted(context, first, reader, settings));
        if let Err(error) = &queries {
            let what = format!("statements, plans and indexes of {server}");
            output::complain(&format!("warning: the capture lacks {what}: {error}"));
            unread.push(Unread { what, why: error.to_string() });
        }
        if !self.statements {
            for task in activity.tasks.iter_mut().flatten() {
                let sessions = task.blocked_by.iter_mut().chain([&mut task.session]);
                sessions.for_each(|session| session.statement.clear());
            }
            for pair in &mut activity.blocked {
                pair.blocker.clear();
                pair.victim.clear();
            }
        }
        let ended = activity.ended.clone();
        let observation = record(&*server, began_ms, activity);
        let survey = Survey {
            taken_ms: began_ms,
            steelbench: observation.steelbench.clone(),
            servers: vec![surveyed],
            unread,
            ..Survey::default()
        };
        let advice = advice(context, &survey);
        let captured = survey::Capture { survey, observation, queries: queries.ok(), readings };
        let json = capture_json(&captured, &advice).map_err(Failure::failed)?;
        replace_file(&self.output, Replace::Named, |writer| writeln!(writer, "{json}"))?;
        ended.map_or(Ok(ExitCode::Ok), |why| Err(failure(ServerError::new(why))))
    }
}

/// The result of a server that answers, if with a refusal: a silent one is not asked again.
fn answered<T>(result: Result<T, ServerError>) -> Result<Result<T, ServerError>, ServerError> {
    match result {
        Err(error) if error.is_silence() => Err(error),
        result => Ok(result),
    }
}

impl Capture {
    /// The counters until now, and the plans that the server makes.
    fn counted(
        &self,
        context: &Context,
        first: Snapshot,
        mut reader: Box<dyn QueryReader>,
        settings: Option<Advice>,
    ) -> Result<Captured, ServerError> {
        let last = reader.snapshot()?;
        let rules = statement_rules(context, &last.engine)
            .map_err(|failure| ServerError::new(failure.message()))?;
        let mut found = explained(&mut *reader, last, Vec::new(), usize::MAX, rules);
        found.advice.extend(settings);
        let kept = CapturedTexts { texts: self.statements, literals: self.literals };
        Ok(Captured::new(first, found.snapshot, found.advice, rules, kept))
    }
}
