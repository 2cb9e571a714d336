//! Rules about the tree that neither rustfmt nor clippy knows.

use crate::process::{output, root};
use std::path::Path;
use std::process::Command;

const LINES_MAX: usize = 600;
const LIB_LINES_MAX: usize = 80;
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Libraries of others that reports embed, unchanged; their README says what they are.
const VENDORED: &str = "crates/report/assets/vendor/";

/// Which of our crates each crate may use: the arrows of the data flow, which point only downwards.
/// Analysis and reports never touch an engine.
const EDGES: [(&str, &[&str]); 17] = [
    (
        "steelbench",
        &[
            "analysis",
            "engines",
            "experiment",
            "observations",
            "observe",
            "probes",
            "profile",
            "report",
            "runner",
            "store",
        ],
    ),
    ("runner", &["analysis", "engines", "experiment", "observations", "observe", "probes", "store"]),
    ("report", &["analysis", "observations"]),
    ("analysis", &["observations"]),
    ("store", &["observations"]),
    (
        "probes",
        &[
            "conductor",
            "disk_io",
            "engines",
            "experiment",
            "observations",
            "observe",
            "primitives",
            "profile",
        ],
    ),
    ("engines", &["disk_io", "experiment", "observations", "observe", "pgclient", "transport"]),
    ("disk_io", &["conductor", "observations", "observe"]),
    ("primitives", &["conductor", "experiment", "observations", "observe"]),
    ("conductor", &["observations"]),
    ("profile", &["observations", "observe"]),
    ("observe", &["observations"]),
    ("experiment", &[]),
    ("observations", &[]),
    ("pgclient", &["transport"]),
    ("transport", &[]),
    ("xtask", &[]),
];

/// Checks the whole tree and names everything that is wrong.
pub fn run() -> Result<(), String> {
    let files = output(Command::new("git").arg("ls-files").current_dir(root()))?;
    let mut wrong: Vec<String> = files.lines().flat_map(check_file).collect();
    for (name, allowed) in EDGES {
        wrong.extend(check_edges(name, allowed)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", wrong.join("\n  "))) }
}

fn check_file(name: &str) -> Vec<String> {
    let path = root().join(name);
    let mut wrong = Vec::new();
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    if bytes > FILE_BYTES_MAX && name != "Cargo.lock" && !name.starts_with(VENDORED) {
        wrong.push(format!("{name}: {bytes} bytes, more than {FILE_BYTES_MAX}"));
    }
    if path.extension().is_none_or(|extension| extension != "rs") {
        return wrong;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = text.lines().count();
    let lines_max = if name.ends_with("lib.rs") { LIB_LINES_MAX } else { LINES_MAX };
    if lines > lines_max {
        wrong.push(format!("{name}: {lines} lines, more than {lines_max}"));
    }
    // Written apart, so that this file does not find itself.
    let notes = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    for (number, line) in text.lines().enumerate() {
        if notes.iter().any(|note| line.contains(note)) {
            wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
        }
    }
    wrong
}

fn check_edges(name: &str, allowed: &[&str]) -> Result<Vec<String>, String> {
    let folder = if name == "xtask" { root().join(name) } else { root().join("crates").join(name) };
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let ours = |name: &&str| Path::new(&root().join("crates").join(name)).is_dir();
    let used = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).filter(ours);
    Ok(used
        .filter(|used| !allowed.contains(used) && !used.is_empty())
        .map(|used| format!("crate {name} must not use crate {used}"))
        .collect())
}
