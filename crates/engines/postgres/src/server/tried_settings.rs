//! Settings tried before a server is started: its own program reads them as it would read its file.

use super::installation::Installation;
use super::settings::{lines, objection};
use experiment::Invalid;
use observe::child::answer;
use servers::account::command;
use servers::settings::path;
use std::collections::BTreeMap;

/// Returns a version's objections to these settings. Objections of a running server only are not
/// found here.
pub fn objections(
    installation: &Installation,
    settings: &BTreeMap<String, String>,
) -> Vec<Invalid> {
    // Without a place to try them the first trial reports it.
    let Ok(folder) = tempfile::tempdir() else { return Vec::new() };
    if settings.is_empty()
        || std::fs::write(folder.path().join("postgresql.conf"), lines(settings)).is_err()
    {
        return Vec::new();
    }
    // To show a value, `postgres` reads the file and does nothing else, also as root.
    let mut postgres = command(&installation.program("postgres"));
    postgres.args(["-C", "shared_buffers", "-D"]).arg(folder.path());
    let Ok(output) = answer(&mut postgres) else { return Vec::new() };
    if output.status.success() {
        return Vec::new();
    }
    let log = String::from_utf8_lossy(&output.stderr);
    let wrong = settings.keys().filter_map(|name| {
        let text = objection(&log, name)?;
        let message = if text.starts_with("unrecognized configuration parameter") {
            let known = names(installation);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let what = format!("setting of PostgreSQL {}", installation.version.major);
            experiment::unknown_name(&what, name, &known)
        } else {
            text.split(" in file \"").next().unwrap_or_default().to_owned()
        };
        Some(Invalid::new(path(name), message))
    });
    wrong.collect()
}

/// Names of settings that files usually have.
fn names(installation: &Installation) -> Vec<String> {
    let mut postgres = command(&installation.program("postgres"));
    let text = answer(postgres.arg("--describe-config"))
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    text.lines().filter_map(|line| Some(line.split_once('\t')?.0.to_lowercase())).collect()
}
