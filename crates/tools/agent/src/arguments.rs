//! Options of `run` for load generators in other processes.

use crate::fleet::{AgentDemand, Fleet, Origin};
use crate::launch::Place;
use crate::token;
use clap::{ArgMatches, Args, FromArgMatches};
use command_line::{Failure, RunAction, RunOptions, output};
use experiment::Experiment;
use experiment::file::MACHINES;
use probe::load::GENERATORS;
use runner::Agents;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Most agents of a run.
const AGENTS_MAX: u32 = 256;

/// The options that `run` has for agents.
pub const RUN_OPTIONS: RunOptions =
    RunOptions { augment: AgentArguments::augment_args, action: RunAction::Begin(begin) };

fn begin(
    matches: &ArgMatches,
    experiment: &Experiment,
    results: &Path,
) -> Result<Option<Agents>, Failure> {
    let arguments = AgentArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    arguments.begin(experiment, results)
}

/// The agents of a run.
#[derive(Debug, Args)]
struct AgentArguments {
    /// Number of agents that generate load or run blocks: here, on --hosts or at --broker
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    agents: Option<u32>,
    /// URL of your broker, or auto: a private nats-server
    #[arg(long, value_name = "URL", default_value = "auto", requires = "agents")]
    broker: String,
    /// File with the token of your broker, which only its owner can read
    #[arg(long, value_name = "FILE", requires = "agents")]
    token_file: Option<PathBuf>,
    /// Machines on which the agents are started by ssh
    #[arg(long, value_name = "HOST", value_delimiter = ',', requires = "agents")]
    hosts: Vec<String>,
    /// Seconds to wait for free agents before a trial
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "agents")]
    agents_within: u64,
    /// Permit agents of another version or build
    #[arg(long, requires = "agents")]
    allow_mixed: bool,
}

impl AgentArguments {
    /// Connects to the broker, and starts what the options ask for; without --agents nothing.
    /// Trials on agents of this machine have their data beside the results file.
    ///
    /// # Errors
    /// When the options contradict the experiment or each other, or there is no broker.
    fn begin(&self, experiment: &Experiment, results: &Path) -> Result<Option<Agents>, Failure> {
        let Some(agents) = self.agents.map(|agents| agents.min(AGENTS_MAX)) else {
            return Ok(None);
        };
        let generators = experiment
            .configurations
            .iter()
            .filter_map(|configuration| configuration.get(GENERATORS))
            .max();
        let machines = experiment.get(MACHINES);
        let (setting, most) = match (generators, machines) {
            (_, Some(machines)) => (MACHINES.path(), machines),
            (Some(most), None) => (GENERATORS.path(), most),
            (None, None) => {
                let (generators, machines) = (GENERATORS.path(), MACHINES.path());
                return Err(Failure::usage(format!(
                    "--agents needs {generators} = {agents} or {machines} = {agents} in the \
                     experiment"
                )));
            }
        };
        if most > agents {
            let message = format!("{setting} goes up to {most}: use --agents {most}");
            return Err(Failure::usage(message));
        }
        if most < agents && machines.is_none() {
            output::complain(&format!(
                "warning: {setting} goes up to {most}: {} of {agents} agents remain idle",
                agents - most
            ));
        }
        let folder = results.parent().filter(|folder| !folder.as_os_str().is_empty());
        let origin = self.origin(agents, folder.unwrap_or(Path::new(".")))?;
        let request = AgentDemand {
            agents: agents as usize,
            allow_mixed: self.allow_mixed,
            by_name: machines.is_some(),
            within: Duration::from_secs(self.agents_within),
        };
        let fleet = Fleet::begin(origin, request, experiment).map_err(Failure::failed)?;
        let fleet = Arc::new(fleet);
        Ok(Some(if machines.is_some() {
            Agents { machines: Some(fleet), ..Agents::default() }
        } else {
            Agents { generators: Some(fleet), ..Agents::default() }
        }))
    }

    fn origin(&self, agents: u32, folder: &Path) -> Result<Origin, Failure> {
        if self.broker == "auto" {
            if self.token_file.is_some() {
                return Err(Failure::usage("--token-file is for the broker of --broker URL"));
            }
            let places = if self.hosts.is_empty() {
                let names = (1..=agents).map(|number| format!("local-{number}"));
                names.map(|name| Place::Here { name, folder: folder.to_path_buf() }).collect()
            } else if self.hosts.len() == agents as usize {
                self.hosts.iter().cloned().map(Place::Host).collect()
            } else {
                let hosts = self.hosts.len();
                let message = format!("--hosts names {hosts} machines: use --agents {hosts}");
                return Err(Failure::usage(message));
            };
            return Ok(Origin::Private(places));
        }
        if !self.hosts.is_empty() {
            let message = "--hosts needs --broker auto; at your broker, start the agents yourself";
            return Err(Failure::usage(message));
        }
        let Some(file) = &self.token_file else {
            return Err(Failure::usage("--broker URL needs --token-file FILE with its token"));
        };
        let token = token::read(file).map_err(Failure::failed)?;
        Ok(Origin::Url { url: self.broker.clone(), token })
    }
}
