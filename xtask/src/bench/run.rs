//! The release build of ourselves and of the peer, and running experiments with it.

use crate::process::{cargo, output, succeed, target};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// What the measurements run.
pub struct Bench {
    /// Our program.
    pub steelbench: PathBuf,
    /// The straight insert loop.
    pub straight_insert: PathBuf,
    /// A folder for their files, on the file system of the target folder.
    pub folder: PathBuf,
}

/// One finished trial, as announced by `run --json`.
pub struct Trial {
    pub configuration: String,
    pub block: u64,
    pub wall_s: f64,
    /// The measurement, of probes that have it as a response.
    pub elapsed_s: f64,
    responses: Vec<(String, f64)>,
}

impl Trial {
    /// A response by its name.
    pub fn response(&self, name: &str) -> Result<f64, String> {
        let found = self.responses.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).ok_or_else(|| format!("the trial has no response {name}"))
    }
}

impl Bench {
    /// Builds everything in release mode.
    pub fn build() -> Result<Self, String> {
        succeed(&mut cargo(&["build", "--quiet", "--release", "-p", "steelbench"]))?;
        succeed(&mut cargo(&[
            "build",
            "--quiet",
            "--release",
            "-p",
            "engines",
            "--example",
            "straight_insert",
        ]))?;
        let release = target().join("release");
        let folder = target().join("bench");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self {
            steelbench: release.join("steelbench"),
            straight_insert: release.join("examples/straight_insert"),
            folder,
        })
    }

    /// Runs an experiment from scratch and returns its trials.
    pub fn experiment(&self, name: &str, text: &str) -> Result<Vec<Trial>, String> {
        self.experiment_with(name, text, &[])
    }

    /// The same with flags of `run`.
    pub fn experiment_with(&self, name: &str, text: &str, flags: &[&str]) -> Result<Vec<Trial>, String> {
        let file = self.folder.join(format!("{name}.toml"));
        std::fs::write(&file, format!("[experiment]\nname = \"{name}\"\n{text}"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let mut run = Command::new(&self.steelbench);
        run.current_dir(&self.folder).arg("run").arg(&file).args(["--fresh", "--json"]).args(flags);
        let events = output(&mut run)?;
        Ok(events
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter_map(|v| trial(&v))
            .collect())
    }
}

fn trial(event: &Value) -> Option<Trial> {
    if event["event"] != "trial_finished" {
        return None;
    }
    let response =
        |response: &Value| Some((response["name"].as_str()?.to_owned(), response["value"].as_f64()?));
    let responses: Vec<(String, f64)> = event["responses"].as_array()?.iter().filter_map(response).collect();
    let elapsed = responses.iter().find(|(name, _)| name == "elapsed");
    Some(Trial {
        configuration: event["trial"]["configuration"].as_str()?.to_owned(),
        block: event["trial"]["block"].as_u64()?,
        wall_s: event["wall_s"].as_f64()?,
        elapsed_s: elapsed.map_or(f64::NAN, |(_, value)| *value),
        responses,
    })
}
