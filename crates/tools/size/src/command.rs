//! `steelbench size`

use crate::{Plan, document};
use analysis::grid::Grid;
use analysis::latency::response_s;
use clap::Parser;
use command_line::files::{Replace, write_html};
use command_line::output::{self, Form};
use command_line::{Context, ExitCode, Failure, Tool, results, select};
use observations::{DeviceUse, Observations, Recording};
use report::json::object;
use serde_json::json;
use std::path::PathBuf;
use store::Store;

/// Size storage for a demand: disks, links, CPUs and price
///
/// Names the bottleneck of each alternative.
#[derive(Debug, Parser)]
#[command(name = "size")]
pub struct Size {
    /// The plan: a demand, parts, and chains of parts to compare
    #[arg(required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print a commented plan as a starting point
    #[arg(long, exclusive = true)]
    example: bool,
    /// Also write the page with figures to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

impl Tool for Size {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench size --example > storage.toml", "steelbench size storage.toml"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let Some(file) = self.file.as_ref().filter(|_| !self.example) else {
            return output::print_as_it_is(crate::EXAMPLE);
        };
        let name = file.display().to_string();
        let source = experiment::read_text(file, experiment::SOURCE_BYTES_MAX)
            .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let plan = Plan::read(&source, &|from| recorded(context, from));
        let plan = plan.map_err(|errors| Failure::usage(errors.render(&name, &source)))?;
        let sized = crate::size(&plan);
        if let Some(page) = &self.html {
            let html = report::web::page(&document::sizing(&plan, &sized));
            write_html(&html, page, Replace::Ours)?;
        }
        output::show(
            self.form,
            || object("sizing", &sized, json!({ "plan": plan })),
            || document::sizing(&plan, &sized),
        )
    }
}

/// Returns the demands of a recorded configuration: `NAME data_files=16`, the name of an experiment
/// or results file and levels.
fn recorded(context: &Context, from: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    let (name, levels) = from.trim().split_once(' ').unwrap_or((from.trim(), ""));
    let recording =
        results::read_run(&results::open(context, Some(name))?, None, Store::read_figures)?;
    let configuration = select::configuration(&recording, levels)?;
    demands(&recording, configuration).ok_or_else(|| {
        Failure::usage(format!(
            "{from}: no transactions recorded, so demand per transaction is unknown"
        ))
    })
}

/// Returns a transaction's demands as sizing plans take them (seconds, I/Os, bytes); `None` without
/// completed transactions.
fn demands(recording: &Recording, configuration: usize) -> Option<Vec<(&'static str, f64)>> {
    let grid = Grid::new(recording);
    let trials = grid.trials(configuration);
    let sum = |of: &dyn Fn(&Observations) -> f64| trials.iter().map(|trial| of(trial)).sum::<f64>();
    let transactions = sum(&|observations| observations.work.transactions as f64);
    let elapsed_s = sum(&|observations| observations.elapsed_s);
    if transactions <= 0.0 || elapsed_s <= 0.0 {
        return None;
    }
    let mut needs = vec![("transactions", transactions / elapsed_s)];
    needs.extend(response_s(&trials).map(|seconds| ("response_time", seconds)));
    let cpu_s = sum(&|observations| observations.machine.own_s.max(observations.time.cpu_s));
    needs.extend((cpu_s > 0.0).then_some(("cpu_per_transaction", cpu_s / transactions)));
    let on_devices = |of: &dyn Fn(&DeviceUse) -> u64| {
        sum(&|observations| observations.devices.iter().map(|device| of(device) as f64).sum())
            / transactions
    };
    let [reads, writes] = [on_devices(&|device| device.reads), on_devices(&|device| device.writes)];
    let bytes = on_devices(&|device| device.read_bytes) + on_devices(&|device| device.write_bytes);
    if reads + writes > 0.0 {
        needs.extend([("reads_per_transaction", reads), ("writes_per_transaction", writes)]);
        needs.push(("io_size", bytes / (reads + writes)));
    }
    Some(needs)
}
