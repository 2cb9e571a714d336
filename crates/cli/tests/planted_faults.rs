//! `steelbench queries` among planted faults and innocent statements: each fault is found with the
//! statement that repairs it, and nothing else is claimed.
//!
//! A fault has tables of its own, statements with `{n}` for the number of the run, and the advice
//! that it wants: kind, subject, and the statement of the advice.

mod mariadb;
mod postgres;
mod sqlite;

use serde_json::Value;

/// A fault, or an innocent.
pub struct Case {
    /// Tables with their rows.
    pub tables: &'static str,
    /// Statements, and how often each runs.
    pub load: &'static [(u32, &'static str)],
    /// The advice that is wanted; empty of an innocent.
    pub advice: &'static [Advice],
}

/// An advice.
pub struct Advice {
    /// The kind.
    pub kind: &'static str,
    /// A part of its subject, or of its statement's text.
    pub about: &'static str,
    /// The statement that repairs it; empty where there is none.
    pub ddl: &'static str,
}

/// A star at the end of what is wanted stands for any end.
fn is_ddl(found: &str, text: &str) -> bool {
    text.strip_suffix('*').map_or(found == text, |begin| found.starts_with(begin))
}

/// The statements of a case in the order in which they run.
pub fn load(cases: &[Case]) -> impl Iterator<Item = String> {
    cases
        .iter()
        .flat_map(|case| case.load)
        .flat_map(|(runs, sql)| (1..=*runs).map(|n| sql.replace("{n}", &n.to_string())))
}

/// The first statement of each case that misses an index, with the statement that creates it.
pub fn missing_indexes(cases: &[Case]) -> impl Iterator<Item = (String, &'static str)> {
    cases.iter().filter_map(|case| {
        let missing_index = case.advice.iter().find(|advice| advice.kind == "missing_index")?;
        Some((case.load.first()?.1.replace("{n}", "1"), missing_index.ddl))
    })
}

/// Asserts that a statement reads less than half of what it read without the advised index.
#[track_caller]
pub fn reads_less(sql: &str, without: u64, with: u64) {
    assert!(with * 2 < without, "{without} without the index, {with} with it: {sql}");
}

/// Compares the advice that was found with the advice that is wanted.
#[track_caller]
pub fn check(found: &Value, cases: &[Case]) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let statements = found["statements"].as_array().unwrap();
    let mut left: Vec<(String, String, String, &Value)> = found["advice"]
        .as_array()
        .unwrap()
        .iter()
        // Those of the test's server.
        .filter(|array| array["kind"] != "setting")
        .map(|array| {
            let of = array["statements"].as_array().unwrap().iter();
            let texts: Vec<String> = of
                .map(|at| text(&statements[at.as_u64().unwrap() as usize]["text"]).replace('`', ""))
                .collect();
            let about = format!("{} {}", text(&array["subject"]), texts.join(" "));
            (text(&array["kind"]), about, text(&array["ddl"]), array)
        })
        .collect();
    let mut missed = Vec::new();
    for expected in cases.iter().flat_map(|case| case.advice) {
        let at = left.iter().position(|(kind, about, ddl, _)| {
            kind == expected.kind && about.contains(expected.about) && is_ddl(ddl, expected.ddl)
        });
        match at {
            Some(at) => drop(left.remove(at)),
            None => missed.push(format!("{} {} {}", expected.kind, expected.about, expected.ddl)),
        }
    }
    let surplus: Vec<&Value> = left.iter().map(|advice| advice.3).collect();
    assert!(
        missed.is_empty() && surplus.is_empty(),
        "not found: {missed:#?}\nfound in addition: {surplus:#?}"
    );
    let shares: Vec<f64> = found["advice"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|array| array["time"]["share"].as_f64())
        .collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
}
