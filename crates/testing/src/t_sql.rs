//! Transact-SQL, judged by a grammar that others wrote: what no stand-in can run is at least read.

use std::process::{Command, Output};

/// Parses statements, each a batch of its own, with sqlfluff; gives the errors, or nothing where
/// there are none. Without sqlfluff it prints that the check is skipped and gives `None`.
pub fn parse_errors(statements: &[String]) -> Option<String> {
    let python = |arguments: &[&str]| -> Output {
        Command::new("python3").args(arguments).output().unwrap()
    };
    if !python(&["-c", "import sqlfluff"]).status.success() {
        println!("SKIPPED: python3 with sqlfluff is not installed");
        return None;
    }
    let file = tempfile::Builder::new().suffix(".sql").tempfile().unwrap();
    std::fs::write(file.path(), statements.join("\nGO\n") + "\n").unwrap();
    let path = file.path().to_str().unwrap();
    let parsed = python(&["-m", "sqlfluff", "parse", "--dialect", "tsql", path]);
    // A parser that fails without output has failed too.
    Some(if parsed.status.success() { String::new() } else { format!("{parsed:?}") })
}
