//! `steelbench predict`

use crate::document;
use crate::what_if::what_if;
use clap::Parser;
use command_line::arguments::Recorded;
use command_line::output::{self, Form};
use command_line::{Context, ExitCode, Failure, Tool, results};
use report::json::object;
use serde_json::Value;

/// Predict a run with other connections, CPUs or devices
///
/// Prints the model's error on levels that it did not see.
#[derive(Debug, Parser)]
#[command(name = "predict")]
pub struct Predict {
    #[command(flatten)]
    recorded: Recorded,
    /// Changed condition: connections=64 (or threads, `queue_depth`), a measured level of another
    /// factor, cpus=8, device.NAME.latency=0.5x, waits.NAME=0, or rate=2000 (an open loop);
    /// repeatable
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    set: Vec<String>,
    #[command(flatten)]
    form: Form,
}

impl Tool for Predict {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench predict random-insert --set connections=64",
        "steelbench predict random-insert --set cpus=8 --set waits.WAL_SYNC=0",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let (path, recording) = results::read(context, &self.recorded)?;
        let summary = results::summary(context, &recording, &path);
        let predicted = what_if(&summary, &self.set).map_err(Failure::usage)?;
        output::show(
            self.form,
            || object("prediction", &predicted, Value::Null),
            || document::prediction(&recording.run.name, &predicted),
        )
    }
}
