//! Rules about the tree that neither rustfmt nor clippy knows.

use crate::process::{output, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES_MAX: usize = 600;
const LIB_LINES_MAX: usize = 100;
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Libraries of others that reports embed, unchanged; their README says what they are.
const VENDORED: &str = "crates/core/report/assets/vendor/";

/// Which of our crates each crate may use, from the top of the data flow to its bottom: arrows
/// point only downwards. Analysis and reports never touch an engine.
const EDGES: [(&str, &str); 26] = [
    (
        "steelbench",
        "analysis datasets engines experiment models observations observe plans probes profile \
         queries report runner sizing sort_order store",
    ),
    ("runner", "analysis engines experiment observations observe probes store"),
    ("report", "analysis models observations plans queries sizing sort_order"),
    ("sizing", "experiment models"),
    ("analysis", "models observations statistics"),
    ("store", "observations"),
    (
        "probes",
        "conductor datasets disk_io engines experiment observations observe primitives profile \
         sort_order sql",
    ),
    ("datasets", "engines experiment sort_order"),
    ("sort_order", "statistics"),
    ("models", "statistics"),
    ("statistics", ""),
    (
        "engines",
        "disk_io experiment mysqlclient observations observe pgclient plans queries transport sql",
    ),
    ("queries", "observations plans sql"),
    ("plans", ""),
    ("disk_io", "conductor observations observe"),
    ("primitives", "conductor experiment observations observe"),
    ("conductor", "observations"),
    ("profile", "observations observe"),
    ("observe", "observations"),
    ("experiment", "observations"),
    ("observations", "sql"),
    ("mysqlclient", "transport"),
    ("pgclient", "transport"),
    ("sql", ""),
    ("transport", ""),
    ("xtask", ""),
];

/// What may lie in the root.
const ROOT: [&str; 17] = [
    ".cargo",
    ".ci",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "crates",
    "docs",
    "experiments",
    "rustfmt.toml",
    "xtask",
];

/// Documents that name files of the tree.
const GUIDES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Checks the whole tree and names everything that is wrong.
pub fn run() -> Result<(), String> {
    let files = output(Command::new("git").arg("ls-files").current_dir(root()))?;
    let mut wrong: Vec<String> = files.lines().flat_map(check_file).collect();
    let mut all = Command::new("git");
    all.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    wrong.extend(strangers(output(&mut all)?.lines()));
    for (position, (name, allowed)) in EDGES.into_iter().enumerate() {
        let below = |used: &str| EDGES[position + 1..].iter().any(|(lower, _)| *lower == used);
        let upward = allowed.split_whitespace().filter(|used| !below(used));
        wrong.extend(upward.map(|used| format!("the edge from {name} to {used} points upward")));
        wrong.extend(check_edges(name, allowed)?);
    }
    let crates =
        files.lines().filter_map(|file| file.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
    let unlisted = crates.filter(|name| EDGES.iter().all(|(listed, _)| listed != name));
    wrong.extend(unlisted.map(|name| format!("crate {name} is not among the edges")));
    wrong.extend(GUIDES.into_iter().flat_map(check_guide));
    if wrong.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", wrong.join("\n  "))) }
}

/// What of these files lies in the root, or in a folder there, and is not listed.
fn strangers<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let first: BTreeSet<&str> = files.filter_map(|file| file.split('/').next()).collect();
    let unknown = first.into_iter().filter(|name| !ROOT.contains(name));
    unknown.map(|name| format!("{name}: not among what may lie in the root")).collect()
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
    if name.contains("/src/") && !name.ends_with("tests.rs") {
        wrong.extend(check_threads(name, &text));
    }
    wrong
}

/// Threads are started by a `Builder`, whose error says why one could not be: the short forms panic
/// then.
fn check_threads<'a>(name: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let tested = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let short = |line: &str| {
        [concat!("thread::", "spawn("), concat!("scope.", "spawn(")]
            .iter()
            .any(|form| line.contains(form))
    };
    let lines = text[..tested].lines().enumerate().filter(move |(_, line)| short(line));
    lines.map(move |(number, line)| {
        format!("{name}:{}: {} panics without a thread", number + 1, line.trim())
    })
}

fn check_edges(name: &str, allowed: &str) -> Result<Vec<String>, String> {
    let folder = if name == "xtask" { root().join(name) } else { root().join("crates").join(name) };
    let path = folder.join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let ours = |name: &&str| Path::new(&root().join("crates").join(name)).is_dir();
    let used =
        dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).filter(ours);
    Ok(used
        .filter(|used| {
            !used.is_empty() && !allowed.split_whitespace().any(|allowed| allowed == *used)
        })
        .map(|used| format!("crate {name} must not use crate {used}"))
        .collect())
}

/// What a document says of files: those that it names exist, and a line that begins with one and a
/// colon names in backticks what is in it.
fn check_guide(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        // A row of a table: paths without a crate are in that of the first column.
        let folder = quoted.first().filter(|_| line.starts_with("| `"));
        for path in &quoted {
            let is_missing = places(path, folder.copied())
                .is_some_and(|mut places| !places.any(|it| it.exists()));
            if is_missing {
                wrong.push(format!("{name}:{}: {path} does not exist", number + 1));
            }
        }
        let Some((path, what)) = line.strip_prefix("- `").and_then(|line| line.split_once("`: "))
        else {
            continue;
        };
        let Ok(file) = std::fs::read_to_string(root().join(path)) else { continue };
        for part in what
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|part| !part.contains('/') && !file.contains(part))
        {
            wrong.push(format!("{name}:{}: {part} is not in {path}", number + 1));
        }
    }
    wrong
}

/// Where a path may be that a document names: from the root, or from a crate, with or without its
/// `src`. Up to what stands for a name. `None` of what is no path of ours.
fn places(path: &str, folder: Option<&str>) -> Option<impl Iterator<Item = PathBuf>> {
    let path = path.split("NAME").next().unwrap_or_default();
    let (first, rest) = path.split_once('/')?;
    let is_crate = EDGES.iter().any(|(name, _)| *name == first);
    let is_ours = is_crate || ["crates", "docs", "experiments", "src"].contains(&first);
    let of_crate = root().join("crates").join(first);
    let in_folder = root().join(folder.unwrap_or_default()).join(path);
    is_ours.then(|| {
        [root().join(path), of_crate.join("src").join(rest), of_crate.join(rest), in_folder]
            .into_iter()
    })
}

#[cfg(test)]
mod tests {
    use super::{GUIDES, check_guide, check_threads, places, strangers};

    #[test]
    fn what_nobody_has_listed_is_found_in_the_root() {
        let files = ["Cargo.toml", "crates/x/src/lib.rs", "x", "results/a.steelbench"];
        let said =
            ["results", "x"].map(|name| format!("{name}: not among what may lie in the root"));
        assert_eq!(strangers(files.into_iter()), said);
    }

    #[test]
    fn a_thread_that_cannot_be_started_without_a_panic_is_noticed() {
        let short = format!(
            "a\nstd::{}|| ());\n#[cfg(test)]\nmod tests {{ scope.{}",
            "thread::spawn(", "spawn("
        );
        let found: Vec<String> = check_threads("f.rs", &short).collect();
        assert_eq!(found, ["f.rs:2: std::thread::spawn(|| ()); panics without a thread"]);
    }

    #[test]
    fn the_guides_name_what_there_is() {
        let wrong: Vec<String> = GUIDES.into_iter().flat_map(check_guide).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn a_path_that_is_gone_is_noticed() {
        let exists = |path| {
            places(path, Some("crates/store")).map(|mut places| places.any(|it| it.exists()))
        };
        assert_eq!(exists("crates/engines/src/gone.rs"), Some(false));
        assert_eq!(exists("engines/gone.rs"), Some(false));
        for path in [
            "crates/engines/src/NAME/mod.rs",
            "engines/sqlite/vfs.rs",
            "store/tests/",
            "src/lib.rs",
        ] {
            assert_eq!(exists(path), Some(true), "{path}");
        }
        assert_eq!(exists("and/or"), None);
    }
}
