//! Errors as they are shown: their places, all at once, without control characters.

use super::errors;
use crate::common::DESIGN;

#[test]
fn syntax_errors_have_places() {
    let source = "[experiment]\nname = \"a\nquestion = 1\n";
    let found = errors(source);
    assert_eq!((found.errors.len(), found.errors[0].line), (1, 2));
    assert_eq!(errors("").errors[0].line, 1);
    assert_eq!(errors("[a]\n[a]\n").errors[0].line, 2);
    // Deeply nested input is refused, not followed until the stack ends.
    assert_eq!(errors(&format!("a = {}", "[".repeat(100_000))).errors.len(), 1);
    assert_eq!(
        errors(&format!("{}1{}", "a={".repeat(100_000), "}".repeat(100_000))).errors.len(),
        1
    );
}

/// All errors of a file come at once, in its order, and one mistake is not reported where other
/// parts of the file refer to it.
#[test]
fn all_errors_come_at_once() {
    let source = "
[experiment]
name = \"Bad Name\"
[target]
engine = \"sqlite\"
opne = \"separate\"
[workload]
probe = \"insert\"
rows = 0
[factors]
\"target.data_files\" = [1, 0, 4]
\"target.cache\" = [\"cold\", \"warm\"]
[[exclude]]
\"target.data_files\" = 0
\"target.cache\" = \"cold\"
[[exclude]]
\"target.data_files\" = 5
[order]
hard_to_change = [\"target.cache\", \"target.volume\"]
[repeats]
blocks = 0
[report]
baseline = { \"target.data_files\" = 1, \"target.cache\" = \"hot\" }
";
    let found = errors(source);
    let places: Vec<(usize, usize, &str)> =
        found.errors.iter().map(|error| (error.line, error.column, error.path.as_str())).collect();
    assert_eq!(
        places,
        [
            (3, 8, "experiment.name"),
            (6, 1, "target.opne"),
            (9, 8, "workload.rows"),
            (11, 27, "target.data_files"),
            (12, 1, "target.cache"),
            (17, 23, "exclude"),
            (19, 35, "order.hard_to_change"),
            (21, 10, "repeats.blocks"),
            (23, 56, "report.baseline"),
        ],
        "{}",
        found.render("test.toml", source)
    );
}

#[test]
fn errors_are_shown_as_a_compiler_shows_them() {
    let source = "[experiment]\nname = \"größe\"\n[target]\nengine = \"sqlit\"\n[workload]\nprobe \
                  = \"scan\"\n";
    let found = errors(source);
    assert_eq!(
        found.render("my.toml", source),
        "error: experiment.name: `größe` cannot be a file name; use lower-case letters, digits, \
         `-`, `_` and `.`, starting with a letter, digit or `_`, at most 100
 --> my.toml:2:8
  \
         |
2 | name = \"größe\"
  |        ^^^^^^^
error: target.engine: unknown engine `sqlit`
 \
         --> my.toml:4:10
  |
4 | engine = \"sqlit\"
  |          ^^^^^^^
  = help: did you mean \
         `sqlite`? (known: sqlite, server)
"
    );
    assert_eq!(
        found.to_string().lines().last(),
        Some(
            "line 4, column 10: target.engine: unknown engine `sqlit`; did you mean `sqlite`? \
             (known: sqlite, server)"
        )
    );
}

#[test]
fn behind_an_unknown_engine_or_probe_other_errors_are_found() {
    let all = |from: &str, to: &str, parts: &[&str]| {
        let source = DESIGN
            .replace(from, to)
            .replace("[factors]\n", "[factors]\n\"target.data_fils\" = [1, 2]\n");
        let source = source
            .replace("connections = 16", "conections = 16")
            .replace("rows = \"320k\"", "rows = \"many\"");
        let found = errors(&source).to_string();
        for part in parts.iter().chain(&[
            "target.data_fils: unknown setting",
            "workload.conections: unknown setting",
            "workload.rows: ",
        ]) {
            assert!(found.contains(part), "{part} is not in\n{found}");
        }
    };
    all("engine = \"sqlite\"", "engine = \"oracle\"", &["unknown engine `oracle`"]);
    all("probe = \"insert\"", "probe = \"tpcc\"", &["unknown probe `tpcc`"]);
    all("engine = \"sqlite\"", "engine = 7", &["target.engine: "]);
    all("probe = \"insert\"", "", &["workload.probe: missing"]);
}

/// A file must not be able to command the reader's terminal.
#[test]
fn control_characters_are_not_shown() {
    let source = DESIGN.replace("\"random-insert-data-files\"", "\"a\\u001b[2J\u{202e}\\nb\"");
    let found = errors(&source);
    for shown in [found.render("a\u{1b}b.toml", &source), found.to_string()] {
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
    }
}
