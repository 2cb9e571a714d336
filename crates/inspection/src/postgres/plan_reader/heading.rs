//! The line of a node in text format, as the members that a node has as JSON.

use super::node::kind;
use crate::plans::Kind;
use serde_json::{Map, Value};

/// The figures that a node has. All nodes of a plan have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    pub cost: bool,
    pub run: bool,
}

/// Where the figures of a node begin.
const FIGURES: [&str; 3] = ["(cost=", "(actual ", "(never executed)"];

/// Returns true when a line has figures of a node, whole or not.
pub(crate) fn has_figures(line: &str) -> bool {
    let mut found = FIGURES.iter().flat_map(|part| line.match_indices(part));
    found.any(|(at, part)| {
        let rest = &line[at + part.len()..];
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - number.len()];
        part.ends_with(')')
            || number.contains("..")
            || number.len() == rest.len()
            || ["time=", "rows=", "loops="].iter().any(|key| rest.starts_with(key))
    })
}

/// Returns true when a line without figures is that of a node.
pub(crate) fn is_node(line: &str) -> bool {
    let node = members(line);
    let name = node["Node Type"].as_str().unwrap_or_default();
    !line.contains([':', ';']) && kind(name) != Kind::Other
}

/// The members of a node and which figures it has; `None` where its figures are incomplete.
pub fn read(line: &str) -> Option<(Map<String, Value>, Figures)> {
    let start = FIGURES.iter().filter_map(|part| line.find(part)).min().unwrap_or(line.len());
    let (name, mut rest) = line.split_at(start);
    let mut node = members(name.trim());
    let mut figures = Figures { cost: false, run: false };
    while rest.starts_with('(') {
        let (group, after) = rest[1..].split_once(')')?;
        if group == "never executed" {
            figures.run = true;
            node.insert("Actual Rows".into(), 0.0.into());
            node.insert("Actual Loops".into(), 0.0.into());
        } else if let Some(run) = group.strip_prefix("actual ") {
            figures.run = true;
            figure(&mut node, run, &["Actual Startup Time", "Actual Total Time"], "Actual")?;
            node.get("Actual Loops")?;
        } else {
            figures.cost = true;
            figure(&mut node, group, &["Startup Cost", "Total Cost"], "Plan")?;
            node.get("Plan Rows").and(node.get("Total Cost"))?;
        }
        rest = after.trim_start();
    }
    // Of a line that was cut off, a number or a bracket is left.
    let is_cut = rest.starts_with(|c: char| c.is_ascii_digit() || c == ')' || c == '=');
    (!is_cut && !node["Node Type"].as_str().unwrap_or_default().is_empty())
        .then_some((node, figures))
}

/// `cost=0.00..35.50 rows=2550 width=4`; `None` where a figure is not a number.
fn figure(node: &mut Map<String, Value>, group: &str, pair: &[&str; 2], of: &str) -> Option<()> {
    for part in group.split_whitespace() {
        let (key, value) = part.split_once('=')?;
        if let Some((first, second)) = value.split_once("..") {
            node.insert(pair[0].into(), first.parse::<f64>().ok()?.into());
            node.insert(pair[1].into(), second.parse::<f64>().ok()?.into());
        } else {
            let name = match key {
                "rows" => "Rows",
                "loops" => "Loops",
                "width" => "Width",
                _ => return None,
            };
            let number = value.parse::<f64>().ok()?;
            node.insert(format!("{of} {name}"), number.into());
        }
    }
    Some(())
}

/// `Parallel Index Only Scan using i on s.t a`.
fn members(name: &str) -> Map<String, Value> {
    let mut node = Map::new();
    let mut set = |key: &str, value: &str| {
        if !value.is_empty() {
            node.insert(key.into(), value.into());
        }
    };
    let (name, is_parallel) =
        name.strip_prefix("Parallel ").map_or((name, false), |name| (name, true));
    let name = name.strip_prefix("Async ").unwrap_or(name);
    let (left, relation) = name.split_once(" on ").unwrap_or((name, ""));
    let (left, index) = left.split_once(" using ").unwrap_or((left, ""));
    let left = left.strip_suffix(" Backward").unwrap_or(left);
    let (part, left) = match left.split_once(' ') {
        Some((part @ ("Partial" | "Finalize"), left)) => (part, left),
        _ => ("", left),
    };
    set("Partial Mode", part);
    let (schema, table) = qualified(relation);
    match left {
        "Bitmap Index Scan" => set("Index Name", &table),
        "CTE Scan" => set("CTE Name", &table),
        "Subquery Scan"
        | "Function Scan"
        | "Values Scan"
        | "WorkTable Scan"
        | "Table Function Scan"
        | "Named Tuplestore Scan" => {}
        _ => {
            set("Schema", &schema);
            set("Relation Name", &table);
            set("Index Name", &qualified(index).1);
        }
    }
    match left.split_once(' ') {
        Some((setop @ ("SetOp" | "HashSetOp"), command)) => {
            set("Node Type", setop);
            set("Command", command);
        }
        Some(("Custom", provider)) => {
            set("Node Type", "Custom Scan");
            let provider = provider.split_once('(').map_or("", |(_, name)| name);
            set("Custom Plan Provider", provider.strip_suffix(')').unwrap_or(provider));
        }
        _ => {
            let (method, join) = of_join(left);
            set("Node Type", &method);
            set("Join Type", join);
        }
    }
    node.entry("Node Type").or_insert_with(|| "".into());
    if is_parallel {
        node.insert("Parallel Aware".into(), true.into());
    }
    node
}

/// `Hash Left Join`: the kind of join is within the name.
fn of_join(name: &str) -> (String, &'static str) {
    for join in ["Right Semi", "Right Anti", "Left", "Right", "Full", "Semi", "Anti"] {
        let Some(method) = name.strip_suffix(" Join").and_then(|rest| rest.strip_suffix(join))
        else {
            continue;
        };
        return match method.trim_end() {
            "Nested Loop" => ("Nested Loop".into(), join),
            method => (format!("{method} Join"), join),
        };
    }
    (name.to_owned(), "")
}

/// Schema and name of `s."a table" alias`, without their quotes.
pub fn qualified(text: &str) -> (String, String) {
    let (mut parts, mut is_quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => parts.push(String::new()),
            ' ' if !is_quoted => break,
            _ => parts.last_mut().expect("one at least").push(c),
        }
    }
    let name = parts.pop().unwrap_or_default();
    (parts.pop().unwrap_or_default(), name)
}
