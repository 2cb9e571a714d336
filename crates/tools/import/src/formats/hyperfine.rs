//! hyperfine's JSON (`--export-json`): a time for each run of each command
//! (<https://github.com/sharkdp/hyperfine>).

use super::trial::{FormatError, Trial, observed};
use observations::{LevelRecord, Response};
use serde_json::Value;

/// A trial for each run; `None` of another document.
pub fn read(document: &Value) -> Option<Result<Vec<Trial>, FormatError>> {
    let results = document["results"].as_array()?;
    results.first()?.get("times")?;
    let mut all = Vec::new();
    for result in results {
        let levels = levels(result);
        let times: Option<Vec<f64>> =
            result["times"].as_array()?.iter().map(Value::as_f64).collect();
        let Some(times) = times else {
            return Some(Err(FormatError::Damaged("a time is not a number".into())));
        };
        all.extend((1..).zip(times).map(|(block, seconds)| Trial {
            levels: levels.clone(),
            block: Some(block),
            observations: observed(seconds, 1, vec![Response::lower("elapsed", "s", seconds)]),
            ..Trial::default()
        }));
    }
    Some(Ok(all))
}

/// The parameters of a scan, else the command.
fn levels(result: &Value) -> Vec<LevelRecord> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parameters = result["parameters"].as_object().into_iter().flatten();
    let levels: Vec<LevelRecord> = parameters
        .map(|(name, value)| LevelRecord { factor: name.clone(), level: text(value) })
        .collect();
    if !levels.is_empty() {
        return levels;
    }
    vec![LevelRecord { factor: "command".into(), level: text(&result["command"]) }]
}
