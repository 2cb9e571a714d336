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
    /// The measured part.
    pub elapsed_s: f64,
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
        let file = self.folder.join(format!("{name}.toml"));
        std::fs::write(&file, format!("[experiment]\nname = \"{name}\"\n{text}"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let mut run = Command::new(&self.steelbench);
        run.current_dir(&self.folder).arg("run").arg(&file).args(["--fresh", "--json"]);
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
    let elapsed = event["responses"].as_array()?.iter().find(|response| response["name"] == "elapsed")?;
    Some(Trial {
        configuration: event["trial"]["configuration"].as_str()?.to_owned(),
        block: event["trial"]["block"].as_u64()?,
        wall_s: event["wall_s"].as_f64()?,
        elapsed_s: elapsed["value"].as_f64()?,
    })
}
