//! hyperfine's JSON (`--export-json`): a time for each run of each command
//! (<https://github.com/sharkdp/hyperfine>).

use super::trial::{FormatError, Trial, check_rows, observed};
use observations::{LevelRecord, Response};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The runs of a command.
#[derive(Deserialize)]
pub struct Command {
    #[serde(default)]
    command: Value,
    #[serde(default)]
    parameters: Map<String, Value>,
    times: Vec<f64>,
}

/// A trial for each run.
pub fn read(commands: &[Command]) -> Result<Vec<Trial>, FormatError> {
    check_rows(commands.iter().map(|command| command.times.len()).sum(), "trials")?;
    let mut all = Vec::new();
    for command in commands {
        let levels = levels(command);
        for (block, seconds) in (1..).zip(&command.times) {
            let elapsed = Response::lower("elapsed", "s", *seconds);
            all.push(Trial {
                levels: levels.clone(),
                block: Some(block),
                observations: observed(*seconds, 1.0, vec![elapsed])?,
                ..Trial::default()
            });
        }
    }
    Ok(all)
}

/// The parameters of a scan, else the command.
fn levels(command: &Command) -> Vec<LevelRecord> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parameters = command.parameters.iter();
    let levels: Vec<LevelRecord> = parameters
        .map(|(name, value)| LevelRecord { factor: name.clone(), level: text(value) })
        .collect();
    if !levels.is_empty() {
        return levels;
    }
    vec![LevelRecord { factor: "command".into(), level: text(&command.command) }]
}
