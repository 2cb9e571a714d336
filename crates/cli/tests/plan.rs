//! `steelbench plan`, as a user types it.

use crate::common::{Lab, on_screen};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

const SHOWPLAN: &str = include_str!("../../inspection/tests/sqlserver/plans/own.sqlplan");
const POSTGRES: &str = include_str!("../../inspection/tests/postgres/plans/pg-sort.txt");
const MARIADB: &str = include_str!("../../inspection/tests/mariadb/plans/ma-update.txt");

#[test]
fn a_folder_of_plans_is_explained_without_the_constants_of_its_statements() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("plans")).unwrap();
    for (name, text) in
        [("a.sqlplan", SHOWPLAN), ("pg.txt", POSTGRES), ("ma.txt", MARIADB), ("x.md", "# notes")]
    {
        lab.write(&format!("plans/{name}"), text);
    }
    on_screen(&lab, &["plan", "plans"]);
    let ended = lab.steelbench(&["plan", "plans", "--md"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("skipped 1 file without a plan"), "{}", ended.stderr);
    for part in [
        "SELECT b FROM dbo.t WHERE a = ? AND s = N?",
        "Index Seek of t (IX_a): 1.50 rows estimated, 30,000 actual.",
        "30,000 rows fetched one at a time from the table",
        "QuantumOptimizer",
        "Sort: engine warning Spill (14376 kB)",
        "o (PRIMARY)",
        "2 statements without a plan",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    let json = lab.steelbench(&["plan", "plans", "--json"]);
    for form in [&ended.stdout, &json.stdout] {
        assert!(
            !form.contains("secret") && !form.contains("= 42") && !form.contains("(42)"),
            "{form}"
        );
    }
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["kind"], "plans");
    let first = &json["plans"][0]["statement"]["plan"];
    assert_eq!(
        (&first["cost"], &first["missing_indexes"][0]["equality"][0]),
        (&1234.5.into(), &"a".into())
    );
    let literal = lab.steelbench(&["plan", "plans/a.sqlplan", "--literals"]);
    assert!(literal.stdout.contains("a = 42 AND s = N'secret'"), "{}", literal.stdout);
}

#[test]
fn a_damaged_file_is_told_and_the_others_are_shown() {
    let lab = Lab::new();
    lab.write("good.sqlplan", SHOWPLAN);
    lab.write("cut.sqlplan", &SHOWPLAN[..900]);
    let ended = lab.steelbench(&["plan", "cut.sqlplan", "good.sqlplan", "gone.sqlplan"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("cut.sqlplan: the ShowPlan XML is damaged or cut off"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("gone.sqlplan: "), "{}", ended.stderr);
    assert!(ended.stdout.contains("Key Lookup"), "{}", ended.stdout);
    let nothing = lab.steelbench(&["plan", "cut.sqlplan"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

#[test]
fn a_plan_is_read_from_standard_input_and_shown_in_80_columns() {
    let lab = Lab::new();
    let mut command = lab.command(&["plan", "-"]);
    command.env("COLUMNS", "80").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(SHOWPLAN.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("Index Seek"), "{text}");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
}

/// No escape sequence of a plan reaches the terminal.
#[test]
fn what_a_plan_says_does_not_command_the_terminal() {
    let lab = Lab::new();
    lab.write("a.sqlplan", &SHOWPLAN.replace("[IX_a]", "[IX\u{9b}31m\u{202e}a]"));
    lab.write(
        "b.json",
        "[{\"Plan\": {\"Node Type\": \"\\u001b]0;owned\\u0007\", \"Total Cost\": 1}}]",
    );
    let ended = lab.steelbench(&["plan", "a.sqlplan", "b.json", "--full"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let is_active = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ended.stdout.contains(is_active), "{:?}", ended.stdout);
    assert!(ended.stdout.contains("owned"));
}

#[test]
fn costs_are_explained_by_published_formulas_on_request() {
    let lab = Lab::new();
    lab.write(
        "plan.txt",
        "Gather  (cost=1000.00..4140.00 rows=5000 width=4)\n  Workers Planned: 2\n  ->  Parallel \
         Seq Scan on t  (cost=0.00..2640.00 rows=100000 width=4)\n",
    );
    let plain = lab.steelbench(&["plan", "plan.txt"]).expect(0);
    assert!(!plain.stdout.contains("by formula"), "{}", plain.stdout);
    let explained = lab.steelbench(&["plan", "plan.txt", "--costs", "--md"]).expect(0);
    for part in [
        "PostgreSQL's costsize.c",
        "1,640 pages x 1 (seq_page_cost) + 100,000 rows x 0.01 (cpu_tuple_cost)",
        "Agreeing with a formula: 1 of 2 operators",
    ] {
        assert!(explained.stdout.contains(part), "{part}: {}", explained.stdout);
    }
}
