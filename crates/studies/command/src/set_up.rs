//! The setup and cleanup commands, around consecutive trials that have the same.

use crate::job::Job;
use crate::run::Runner;
use experiment::Configuration;
use observe::Mark;
use probe::{ProbeError, SetUp};
use work::Cancel;

/// Shared set-up of consecutive trials: the effect of the setup command, until the cleanup command.
/// Two are equal if their commands are, with parameters filled in.
#[derive(Debug)]
pub struct CommandSetUp {
    job: Job,
    /// Processes that the setup command has left live until the end.
    mark: Mark,
}

impl CommandSetUp {
    /// Returns the set-up of a configuration, not begun yet; `None` if its settings are wrong,
    /// which its trials report.
    pub fn for_configuration(configuration: &Configuration) -> Option<Self> {
        Some(Self { job: Job::from_settings(configuration).ok()?, mark: Mark::new() })
    }

    fn runner<'a>(&'a self, cancel: &'a Cancel) -> Runner<'a> {
        let parameters =
            self.job.set_up_parameters().map(|(name, value)| (name.clone(), value.clone()));
        Runner::new(
            &self.job,
            parameters.map(|(name, value)| (name, Some(value))),
            &self.mark,
            cancel,
        )
    }
}

impl SetUp for CommandSetUp {
    fn identity(&self) -> String {
        self.job.set_up_identity()
    }

    /// Runs the setup command, if there is one.
    fn begin(&self, cancel: &Cancel) -> Result<(), ProbeError> {
        if self.job.setup.is_none() {
            return Ok(());
        }
        let runner = self.runner(cancel);
        runner.set_up().map_err(|error| runner.hide(error))
    }

    /// Runs the cleanup command, if there is one, then kills the processes that are still there.
    fn end(&self) -> Result<Vec<String>, ProbeError> {
        if self.job.cleanup.is_none() {
            Ok(self.mark.kill())
        } else {
            let cancel = Cancel::new();
            let runner = self.runner(&cancel);
            runner.clean_up().map_err(|error| runner.hide(error))
        }
    }
}
