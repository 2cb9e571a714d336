//! `steelbench survey`: its arguments, and the inventory of this machine and of servers.

use crate::{advice, document, merge, merged_document};
use clap::{Parser, Subcommand};
use command_line::files::{Replace, replace_file};
use command_line::output::{self, Extent, Form};
use command_line::{Context, ExitCode, Failure, Tool, servers, signals};
use engine::Server;
use inspection::survey::{self, SurveyFileError, of_server, parse_survey, survey_json};
use observations::{Survey, SurveyedServer, Unread};
use report::json::object;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use work::Stop;

/// No inventory comes near to this size.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Take an inventory of this machine and of servers
///
/// Merges the inventories of many machines.
#[derive(Debug, Parser)]
#[command(name = "survey")]
#[command(args_conflicts_with_subcommands = true)]
pub struct SurveyTool {
    #[command(subcommand)]
    command: Option<SurveyCommand>,
    /// Also include this server's version and settings: postgres://, mariadb:// or
    /// mssql://user@host:port/database, or keyword=value pairs; repeatable. Changes nothing, reads
    /// no table, records no password
    #[arg(long, value_name = "URL")]
    server: Vec<String>,
    /// Include the storage under this directory, file or device; repeatable [default: all mounted
    /// volumes]
    #[arg(long, value_name = "PATH")]
    volume: Vec<PathBuf>,
    #[command(flatten)]
    extent: Extent,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Write the JSON to this file, for `survey merge`; the page is printed unless --json is given
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Commands on saved inventories.
#[derive(Debug, Subcommand)]
pub(crate) enum SurveyCommand {
    /// Compare the inventories of many machines: differences and outliers
    #[command(after_long_help = "Examples:\n  steelbench survey merge db1.json db2.json\n  \
                                 steelbench survey merge db1.json db2.json --anonymous --md")]
    Merge {
        /// Files written by `survey --output` or `capture`
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Show numbers instead of machine names
        #[arg(long)]
        anonymous: bool,
        /// The form of the page.
        #[command(flatten)]
        form: Form,
    },
}

impl Tool for SurveyTool {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench survey", "steelbench survey --server postgres://user@host/db --json"];
    const SECTIONS: &'static [&'static str] = &document::SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(SurveyCommand::Merge { files, anonymous, form }) = &self.command {
            return merge_files(files, *anonymous, *form);
        }
        // What is typed wrong ends us before anything is asked.
        let servers =
            self.server.iter().map(|url| context.server(url)).collect::<Result<Vec<_>, _>>()?;
        let interrupt = signals::stop_flag()?;
        let stop = servers::stop_by(&interrupt);
        let mut taken = machine(self)?;
        let mut code = ExitCode::Ok;
        for server in &servers {
            match ask(context, &**server, &stop) {
                Ok((server, unread)) => {
                    taken.servers.push(server);
                    taken.unread.extend(unread);
                }
                Err(unread) => {
                    output::complain(&format!("error: {}: {}", unread.what, unread.why));
                    taken.unread.push(unread);
                    code = if stop.is_asked() { ExitCode::Interrupted } else { ExitCode::Failed };
                }
            }
        }
        show(&taken, self, context).map(|_| code)
    }
}

/// The inventory of this machine, as yet without servers.
fn machine(arguments: &SurveyTool) -> Result<Survey, Failure> {
    let named =
        arguments.volume.iter().map(|path| observe::inspect::volume(path).map_err(Failure::usage));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let taken = observe::survey::machine();
    let (volumes, failed) =
        if named.is_empty() { observe::inspect::volumes() } else { (named, Vec::new()) };
    Ok(Survey {
        taken_ms: servers::now_ms(),
        steelbench: env!("CARGO_PKG_VERSION").into(),
        machine: taken.machine,
        settings: taken.settings,
        volumes,
        servers: Vec::new(),
        unread: [taken.unread, failed].concat(),
    })
}

/// Reads a server's survey and its unreadable items, or the reason for failure.
fn ask(
    context: &Context,
    server: &dyn Server,
    stop: &Stop,
) -> Result<(SurveyedServer, Vec<Unread>), Unread> {
    let (surveyed, mut unread) = of_server(context, server, stop).map_err(|error| {
        let advice = error.advice.map(|advice| format!(". {advice}")).unwrap_or_default();
        Unread { what: server.to_string(), why: format!("{error}{advice}") }
    })?;
    for gap in &mut unread {
        gap.what = format!("{}: {}", surveyed.address, gap.what);
    }
    Ok((surveyed, unread))
}

fn show(survey: &Survey, arguments: &SurveyTool, context: &Context) -> Result<ExitCode, Failure> {
    let of_servers = survey::advice(context, survey);
    let advice = advice::advice(survey, of_servers);
    let json = survey_json(survey, &advice).map_err(Failure::failed)?;
    if let Some(file) = &arguments.output {
        replace_file(file, Replace::Named, |writer| writeln!(writer, "{json}"))?;
    }
    match (arguments.json, &arguments.output) {
        (true, None) => output::print_json(json),
        (true, Some(_)) => Ok(ExitCode::Ok),
        (false, _) => {
            output::print_document(&arguments.extent.part_of(document::page(survey, &advice))?)
        }
    }
}

/// Merges inventories. A file that is not an inventory is named and left out.
fn merge_files(files: &[PathBuf], is_anonymous: bool, form: Form) -> Result<ExitCode, Failure> {
    let mut surveys = Vec::new();
    let mut code = ExitCode::Ok;
    for file in files {
        match read(file) {
            Ok(survey) => surveys.push(survey),
            Err(why) => {
                output::complain(&format!("error: {}: {why}", file.display()));
                code = ExitCode::Failed;
            }
        }
    }
    if surveys.is_empty() {
        return Err(Failure::usage("no file is an inventory"));
    }
    if is_anonymous {
        merge::anonymous(&mut surveys);
    }
    let merged = merge::merge(&surveys);
    output::show(
        form,
        || object("survey_merge", &merged, Value::Null),
        || merged_document::merged(&merged),
    )
    .map(|_| code)
}

fn read(path: &Path) -> Result<Survey, SurveyFileError> {
    parse_survey(&experiment::read_text(path, FILE_BYTES_MAX)?)
}
