//! Files by themselves: sizes, width of lines, left-over notes, and strangers in the root.

use crate::process::root;
use std::collections::BTreeSet;

const LINES_MAX: usize = 600;
const LIB_LINES_MAX: usize = 80;
const WIDTH_MAX: usize = 100;
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Third-party libraries that reports embed unchanged; their README names them.
const VENDORED: &str = "crates/core/report/assets/vendor/";

/// Files and folders of the root.
const ROOT: [&str; 18] = [
    ".cargo",
    ".ci",
    ".github",
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

/// Files and folders of the root that are not listed.
pub fn strangers<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let first: BTreeSet<&str> = files.filter_map(|file| file.split('/').next()).collect();
    let unknown = first.into_iter().filter(|name| !ROOT.contains(name));
    unknown.map(|name| format!("{name}: not among what may lie in the root")).collect()
}

/// Everything that is wrong with a file.
pub fn check(name: &str) -> Vec<String> {
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
        let width = line.chars().count();
        if width > WIDTH_MAX && !is_address(line) {
            wrong.push(format!("{name}:{}: {width} columns, more than {WIDTH_MAX}", number + 1));
        }
        if notes.iter().any(|note| line.contains(note)) {
            wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
        }
    }
    if name.contains("/src/") && !name.ends_with("tests.rs") && !name.starts_with("crates/testing/")
    {
        wrong.extend(check_threads(name, &text));
    }
    wrong
}

/// A comment that is an address and nothing else: it cannot be broken.
fn is_address(line: &str) -> bool {
    let comment = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    line.trim_start().starts_with("//") && !comment.contains(' ') && comment.contains("://")
}

/// Threads are started by a `Builder`, whose error says why one could not be: the short forms panic
/// then.
fn check_threads<'a>(name: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let tested = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..tested].lines().enumerate().filter(move |(_, line)| {
        [concat!("thread::", "spawn("), concat!("scope.", "spawn(")]
            .iter()
            .any(|form| line.contains(form))
    });
    lines.map(move |(number, line)| {
        format!("{name}:{}: {} panics without a thread", number + 1, line.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::{check_threads, is_address, strangers};

    #[test]
    fn unlisted_files_are_found_in_the_root() {
        let files = ["Cargo.toml", "crates/x/src/lib.rs", "x", "results/a.steelbench"];
        let text =
            ["results", "x"].map(|name| format!("{name}: not among what may lie in the root"));
        assert_eq!(strangers(files.into_iter()), text);
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
    fn a_long_address_is_no_long_line() {
        assert!(is_address("    /// (<https://example.org/a>)."));
        assert!(!is_address("    /// See https://example.org/a"));
        assert!(!is_address("let a = \"https://example.org/a\";"));
    }
}
