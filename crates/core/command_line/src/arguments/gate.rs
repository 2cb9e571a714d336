//! The options of a regression gate.

use crate::files::{Replace, replace_file};
use crate::{ExitCode, Failure, output};
use analysis::gate::{Decision, Gate, Limit};
use clap::Args;
use std::io::Write as _;
use std::path::PathBuf;

/// Limits on a change, and further readers of the result.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Regression gate")]
pub struct GateOptions {
    /// Exit code 1 if a change is significantly beyond this: `slower:3%`, `faster:3%`, or for a
    /// response `latency_p99:+5%`, `iops:-3%`; repeatable
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<Limit>,
    /// Exit code 1 also if a change may exceed the limit
    #[arg(hide_short_help = true, long, requires = "fail_if")]
    pub fail_if_unsure: bool,
    /// Write the result as a test report in `JUnit`'s format
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "fail_if")]
    pub junit: Option<PathBuf>,
    /// Print the result as an annotation of a GitHub workflow
    #[arg(hide_short_help = true, long, requires = "fail_if")]
    pub github: bool,
}

impl GateOptions {
    /// Returns whether there is a limit.
    pub fn is_given(&self) -> bool {
        !self.fail_if.is_empty()
    }

    /// Tells the services that were asked for, under a name of what was compared; the exit code
    /// says whether the limits are kept. `is_json`: standard output is for a program.
    ///
    /// # Errors
    /// When a file cannot be written, or a limit cannot be judged: such a gate must not look like
    /// one that was passed.
    pub fn conclude(&self, gate: &Gate, name: &str, is_json: bool) -> Result<ExitCode, Failure> {
        if let Some(path) = &self.junit {
            // The format bears no sign of who wrote it.
            let text = report::junit(gate, name);
            replace_file(path, Replace::Any, |writer| writer.write_all(text.as_bytes()))?;
        }
        // The reason is for people, who read the log of what read the JSON.
        if is_json {
            output::complain(report::gate(gate).as_str());
        }
        if self.github {
            let line = report::github(gate);
            if is_json {
                output::complain(line.trim_end());
            } else {
                output::print_as_it_is(&line)?;
            }
        }
        self.exit_code(gate)
    }

    fn exit_code(&self, gate: &Gate) -> Result<ExitCode, Failure> {
        match gate.decision {
            Decision::Broken => Ok(ExitCode::Failed),
            _ if gate.too_few().next().is_some() => {
                let reasons: Vec<String> = gate
                    .too_few()
                    .map(|(limit, few)| format!("cannot judge {limit}: {few}"))
                    .collect();
                Err(Failure::usage(reasons.join("; ")))
            }
            _ if gate.not_judged().next().is_some() => {
                let limits: Vec<String> =
                    gate.not_judged().map(|judgement| judgement.limit.to_string()).collect();
                let limits = limits.join(", ");
                Err(Failure::usage(format!(
                    "cannot judge any configuration by {limits}: this needs values above 0 and \
                     two blocks in each run, or two runs per side"
                )))
            }
            Decision::Unsure if self.fail_if_unsure => Ok(ExitCode::Failed),
            Decision::Unsure | Decision::Kept => Ok(ExitCode::Ok),
        }
    }
}
