//! EXPLAIN as text.

use super::node::{
    DROPPED, ENGINE, PREDICATES, Run, compiled, degree, finish, kind_of, object, parameters, spill,
};
use plans::{DEPTH_MAX, Operator, Plan, PlanError, Predicate, Statement};

/// A node and its lines.
struct Node<'a> {
    indent: usize,
    heading: &'a str,
    lines: Vec<&'a str>,
}

/// One plan, behind `Query Text:` where `auto_explain` wrote it.
pub fn read(text: &str) -> Result<Statement, PlanError> {
    let (query, body) = split_query(text);
    let (query, values) = query.split_once("\nQuery Parameters: ").unwrap_or((query, ""));
    let mut nodes: Vec<Node> = Vec::new();
    let mut plan = Plan { parameters: parameters(values), ..Plan::default() };
    let mut is_summary = false;
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(heading) = trimmed.strip_prefix("->") {
            nodes.push(Node { indent: indent + 1, heading: heading.trim(), lines: Vec::new() });
        } else if nodes.is_empty() {
            if !has_figures(trimmed) {
                return Err(PlanError::Unknown);
            }
            nodes.push(Node { indent, heading: trimmed.trim_end(), lines: Vec::new() });
        } else if is_summary || indent <= nodes[0].indent {
            // Behind the nodes: lines of the whole plan, with details below them.
            is_summary = true;
            read_summary(trimmed, &mut plan);
        } else if let Some(node) = nodes.last_mut() {
            node.lines.push(trimmed.trim_end());
        }
    }
    let mut nodes = nodes.into_iter().peekable();
    let first = nodes.next().ok_or(PlanError::Unknown)?;
    let root = operator(&first, &mut nodes, 1.0, 0)?;
    plan.elapsed_ms = plan.elapsed_ms.or(root.elapsed_ms);
    plan.cost = root.cost;
    plan.degree = Some(degree(&root));
    let kind = kind_of(&root).to_owned();
    plan.root = Some(root);
    Ok(Statement {
        engine: ENGINE.to_owned(),
        text: query.trim().into(),
        kind,
        query_hash: None,
        plan_hash: None,
        damage: None,
        plan: Some(plan),
    })
}

/// Returns true for the text of a plan, behind its statement or not.
pub fn recognises(text: &str) -> bool {
    let (_, body) = split_query(text);
    body.lines().find(|line| !line.trim().is_empty()).is_some_and(has_figures)
}

/// Returns true for the heading of a node: `Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)`.
fn has_figures(line: &str) -> bool {
    line.contains("(cost=") || line.contains("(actual ") || line.contains("(never executed)")
}

/// The statement's text, which may have several lines, and the plan behind it.
fn split_query(text: &str) -> (&str, &str) {
    let Some(query) = text.trim_start().strip_prefix("Query Text:") else { return ("", text) };
    let mut at = 0;
    for line in query.split_inclusive('\n') {
        if has_figures(line) && at > 0 {
            return query.split_at(at);
        }
        at += line.len();
    }
    (query, "")
}

/// A line behind the nodes.
fn read_summary(line: &str, plan: &mut Plan) {
    let Some((key, value)) = line.split_once(':') else { return };
    let ms = || value.trim().strip_suffix(" ms").and_then(|ms| ms.parse().ok());
    match key {
        "Planning Time" => plan.planning_ms = ms(),
        "Execution Time" | "Total runtime" => plan.elapsed_ms = ms(),
        "Timing" => {
            if let Some((_, total)) = value.rsplit_once("Total ") {
                plan.warnings.push(compiled(total.trim()));
            }
        }
        _ => {}
    }
}

fn operator<'a>(
    node: &Node<'a>,
    rest: &mut std::iter::Peekable<impl Iterator<Item = Node<'a>>>,
    processes: f64,
    depth: usize,
) -> Result<Operator, PlanError> {
    if depth > DEPTH_MAX {
        return Err(PlanError::TooDeep(DEPTH_MAX));
    }
    let named_end =
        node.heading.find("  (").or(node.heading.find(" (never")).unwrap_or(node.heading.len());
    let (name, figures) = node.heading.split_at(named_end);
    let mut operator = named(name.trim());
    let (mut dropped, mut workers) = (0.0, None);
    for line in &node.lines {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let number = || value.split(' ').next().and_then(|number| number.parse::<f64>().ok());
        if let Some((_, role)) = PREDICATES.iter().find(|known| known.0 == key) {
            operator.predicates.push(Predicate { role: *role, text: value.into() });
        }
        match key {
            "Workers Planned" if workers.is_none() => workers = number(),
            "Workers Launched" => workers = number(),
            "Buffers" => operator.pages = pages(value),
            "Sort Method" if value.contains("Disk:") || value.starts_with("external") => {
                operator.warnings.push(spill(value));
            }
            "Batches" if value.contains("Disk Usage: ") => {
                operator
                    .warnings
                    .push(spill(value.split("Disk Usage: ").nth(1).unwrap_or_default()));
            }
            "Buckets" => {
                let batches =
                    value.split("Batches: ").nth(1).and_then(|text| text.split(' ').next());
                if batches.is_some_and(|count| count != "1") {
                    operator
                        .warnings
                        .push(spill(&format!("{} batches", batches.unwrap_or_default())));
                }
            }
            key if DROPPED.contains(&key) => dropped += number().unwrap_or(0.0),
            _ => {}
        }
    }
    let below = workers.map_or(processes, |workers| workers + 1.0);
    if let Some(workers) = workers {
        operator.detail = format!("{workers} workers");
    }
    operator.is_parallel |= processes > 1.0;
    while let Some(input) = rest.next_if(|next| next.indent > node.indent) {
        operator.inputs.push(self::operator(&input, rest, below, depth + 1)?);
    }
    operator.cost = figure(figures, "cost=", "..").and_then(|cost| cost.1);
    let run = run(figures, dropped);
    let plan_rows =
        figures.split("rows=").nth(1).filter(|_| figures.contains("(cost=")).and_then(leading);
    finish(&mut operator, plan_rows, run, processes);
    Ok(operator)
}

/// `Parallel Index Only Scan using i on s.t a`.
fn named(name: &str) -> Operator {
    let (name, is_parallel) =
        name.strip_prefix("Parallel ").map_or((name, false), |name| (name, true));
    let (left, relation) = name.split_once(" on ").unwrap_or((name, ""));
    let (left, index) = left.split_once(" using ").unwrap_or((left, ""));
    let left = left.strip_suffix(" Backward").unwrap_or(left);
    let (part, left) = match left.split_once(' ') {
        Some((part @ ("Partial" | "Finalize"), left)) => (part, left),
        _ => ("", left),
    };
    let (schema, table) = qualified(relation);
    let (_, index) = qualified(index);
    let objects = match left {
        // A bitmap is built from an index; the others below do not read a table.
        "Bitmap Index Scan" => object("", "", &table),
        "CTE Scan" | "Subquery Scan" | "Function Scan" | "Values Scan" | "WorkTable Scan" => {
            Vec::new()
        }
        _ => object(&schema, &table, &index),
    };
    let (left, join) = of_join(left);
    Operator {
        name: left,
        detail: if join.is_empty() { part.into() } else { join.into() },
        objects,
        is_parallel,
        ..Operator::default()
    }
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
fn qualified(text: &str) -> (String, String) {
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

/// `(actual time=0.012..0.345 rows=10 loops=3)`; without timing there is no time.
fn run(figures: &str, dropped: f64) -> Option<Run> {
    if figures.contains("(never executed)") {
        return Some(Run { rows: 0.0, loops: 0.0, ms: None, dropped });
    }
    let actual = figures.split("(actual").nth(1)?;
    Some(Run {
        rows: actual.split("rows=").nth(1).and_then(leading)?,
        loops: actual.split("loops=").nth(1).and_then(leading)?,
        ms: figure(actual, "time=", "..").and_then(|time| time.1),
        dropped,
    })
}

/// Both numbers of `key1.5..2.5`.
fn figure(text: &str, key: &str, between: &str) -> Option<(f64, Option<f64>)> {
    let (first, rest) = text.split(key).nth(1)?.split_once(between)?;
    Some((first.parse().ok()?, leading(rest)))
}

/// The number that a text begins with.
fn leading(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// `shared hit=3 read=1, temp read=5`.
fn pages(value: &str) -> Option<(f64, f64)> {
    let shared = value.split(',').find_map(|part| part.trim().strip_prefix("shared "))?;
    let of =
        |kind: &str| shared.split(' ').find_map(|part| part.strip_prefix(kind)).and_then(leading);
    Some((of("hit=").unwrap_or(0.0), of("read=").unwrap_or(0.0)))
}
