//! EXPLAIN as text: its lines become the documents that JSON has.
//!
//! A node begins with `->`; what is below it is deeper. `SubPlan 1`, `InitPlan 1` and `CTE x` stand
//! in a line of their own, as deep as the node's inputs, and their node is deeper by two.

use super::frame::{Content, Row, column};
use super::heading::{self, Figures, has_figures, is_node};
use super::node::inputs_of;
use super::property::{self, Nesting};
use crate::plans::PlanError;
use serde_json::{Map, Value, json};
use work::sql::statement::VERBS;

const FORMAT: &str = "text of EXPLAIN";

/// The sign before each node but the first.
const ARROW: &str = "->";

/// A node of the plan that is being read.
struct Node {
    /// The column, or that of the line with the name of its part.
    column: Option<usize>,
    parent: Option<usize>,
    /// Number of its line.
    line: usize,
    members: Map<String, Value>,
}

/// A name above a node.
struct Part {
    column: usize,
    members: Map<String, Value>,
}

/// The reader of lines.
#[derive(Default)]
struct Reader {
    documents: Vec<Value>,
    /// Lines before a plan: the statement, a comment.
    before: Vec<String>,
    nodes: Vec<Node>,
    /// The figures of the first node.
    figures: Option<Figures>,
    part: Option<Part>,
    /// Key of the value that continues in the next line.
    open: Option<(String, Nesting)>,
    /// Behind the nodes: times, and details below their headings.
    summary: Option<Map<String, Value>>,
    group: String,
    /// A heading says that a plan begins here.
    is_begun: bool,
    /// Behind an empty line.
    is_apart: bool,
}

/// The documents of all plans in a text, in its order.
///
/// # Errors
/// [`PlanError::Damaged`] with the number of the line that is not a whole part of a plan.
pub fn read(rows: &[Row]) -> Result<Vec<Value>, PlanError> {
    let mut reader = Reader::default();
    for row in rows {
        match &row.content {
            Content::Header => {
                reader.finish()?;
                reader.is_begun = true;
            }
            Content::End => reader.finish()?,
            Content::Text(line) if line.trim().is_empty() => reader.is_apart = true,
            Content::Text(line) => {
                reader.line(row.number, line)?;
                reader.is_apart = false;
            }
        }
    }
    reader.finish()?;
    Ok(reader.documents)
}

/// Returns true for rows with the text of a plan, whole or damaged.
pub fn recognises(rows: &[Row]) -> bool {
    let mut rows =
        rows.iter().filter(|row| row.content == Content::Header || !row.text().trim().is_empty());
    let mut is_begun = true;
    while let Some(row) = rows.next() {
        let line = row.text().trim();
        if row.content == Content::Header {
            if rows.next().is_some_and(|next| is_node(next.text().trim())) {
                return true;
            }
        } else if has_figures(line) {
            // MySQL writes one space behind its arrows.
            return line.strip_prefix(ARROW).is_none_or(|rest| rest.starts_with("  "));
        } else if is_begun && is_node(line) {
            let below = rows.next().map(|next| next.text().trim_start());
            return line.contains(" on ")
                || below.is_some_and(|line| line.starts_with(ARROW) || line.contains(": "));
        }
        is_begun = line.ends_with(';');
    }
    false
}

fn damaged(line: usize, cause: &str) -> PlanError {
    PlanError::Damaged { format: FORMAT, cause: format!("line {line}: {cause}") }
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), PlanError> {
        let (at, text) = column(line);
        if self.is_value(line) {
            return Ok(());
        }
        let arrow = text.strip_prefix(ARROW).filter(|rest| rest.starts_with(' '));
        if let Some(heading) = arrow {
            return match (self.nodes.is_empty(), &self.summary) {
                (false, None) => self.node(number, at, heading.trim()),
                (true, _) if has_figures(heading) => self.root(number, heading.trim()),
                _ => Err(damaged(number, "an operator outside of a plan")),
            };
        }
        if has_figures(text) && property::split(text).is_none() {
            let is_new = self.nodes.is_empty() || self.summary.is_some();
            if !is_new && self.first_column().is_some_and(|first| at >= first) {
                return Err(damaged(number, "figures without an operator"));
            }
            self.finish()?;
            return self.root(number, text);
        }
        if self.nodes.is_empty() {
            let is_begun =
                self.is_begun || self.before.last().is_none_or(|line| line.ends_with(';'));
            if is_begun && is_node(text) {
                return self.root(number, text);
            }
            self.before.push(line.to_owned());
            return Ok(());
        }
        self.below(number, at, text)
    }

    /// Adds a line to the value that it continues.
    fn is_value(&mut self, line: &str) -> bool {
        let Some((key, nesting)) = &mut self.open else { return false };
        let node = self.nodes.last_mut().and_then(|node| node.members.get_mut(key.as_str()));
        let Some(Value::String(value)) = node else { return false };
        value.push('\n');
        value.push_str(line);
        if !nesting.continues(line) {
            self.open = None;
        }
        true
    }

    fn root(&mut self, number: usize, text: &str) -> Result<(), PlanError> {
        let (members, figures) = heading::read(text)
            .ok_or_else(|| damaged(number, "the figures of the operator are incomplete"))?;
        self.figures = Some(figures);
        self.nodes.push(Node { column: None, parent: None, line: number, members });
        Ok(())
    }

    fn node(&mut self, number: usize, at: usize, text: &str) -> Result<(), PlanError> {
        let (mut members, figures) = heading::read(text)
            .ok_or_else(|| damaged(number, "the figures of the operator are incomplete"))?;
        if self.figures != Some(figures) && !is_group(text) {
            return Err(damaged(number, "the operator lacks figures that the first one has"));
        }
        let part = self.part.take();
        if part.as_ref().is_some_and(|part| at != part.column + 2) {
            return Err(damaged(number, "the operator is not below the name of its part"));
        }
        let at = part.as_ref().map_or(at, |part| part.column);
        members.extend(part.into_iter().flat_map(|part| part.members));
        let parent = self.parent(number, at)?;
        self.nodes.push(Node { column: Some(at), parent: Some(parent), line: number, members });
        Ok(())
    }

    /// The node that one in this column belongs to: the last that begins left of it. Its other
    /// inputs begin in the same column.
    fn parent(&self, number: usize, at: usize) -> Result<usize, PlanError> {
        let mut next = self.nodes.len().checked_sub(1);
        let mut child = None;
        while let Some(index) = next {
            let node = &self.nodes[index];
            if node.column.is_none_or(|column| column < at) {
                let is_aligned =
                    child.is_none_or(|child: usize| self.nodes[child].column == Some(at));
                if !is_aligned {
                    return Err(damaged(number, "the operator is not aligned with another"));
                }
                return PlanError::check_depth(self.depth(index)).map(|()| index);
            }
            child = Some(index);
            next = node.parent;
        }
        Ok(0)
    }

    fn depth(&self, node: usize) -> usize {
        std::iter::successors(Some(node), |node| self.nodes[*node].parent).count()
    }

    /// The column of what is below the first node.
    fn first_column(&self) -> Option<usize> {
        self.nodes.get(1).and_then(|node| node.column)
    }

    /// A line below a node, or behind all of them.
    fn below(&mut self, number: usize, at: usize, text: &str) -> Result<(), PlanError> {
        if let Some(name) = part_name(text)
            && self.summary.is_none()
        {
            self.part = Some(Part { column: at, members: name });
            return Ok(());
        }
        let split = property::split(text);
        let is_left = self.first_column().is_some_and(|first| at < first);
        if let Some((key, value)) = split {
            if self.summary.is_some() || is_left || is_summary(key) {
                let group = &mut self.group;
                read_summary(self.summary.get_or_insert_default(), group, key, value);
                return Ok(());
            }
            let node = self.nodes.last_mut().expect("not empty");
            property::add(&mut node.members, key, value);
            let mut nesting = Nesting::default();
            self.open = nesting.continues(value).then(|| (key.to_owned(), nesting));
            return Ok(());
        }
        if let Some((verb, target)) = target(text)
            && self.summary.is_none()
        {
            let (schema, table) = heading::qualified(target);
            let node = self.nodes.last_mut().expect("not empty");
            let target = json!({ "Operation": verb, "Schema": schema, "Relation Name": table });
            property::push(&mut node.members, "Target Tables", target);
            return Ok(());
        }
        if self.summary.is_some() || self.is_apart || is_remark(text) {
            // The plan has ended: this may be the next statement.
            self.finish()?;
            self.before.push(text.to_owned());
            return Ok(());
        }
        Err(damaged(number, "not a part of a plan"))
    }

    /// Ends the plan that is being read.
    fn finish(&mut self) -> Result<(), PlanError> {
        let before = std::mem::take(&mut self.before);
        let nodes = std::mem::take(&mut self.nodes);
        let mut document = self.summary.take().unwrap_or_default();
        self.is_begun = false;
        self.open = None;
        self.group.clear();
        let part = self.part.take();
        let Some(last) = nodes.last().map(|node| node.line) else {
            self.before = before;
            return Ok(());
        };
        if part.is_some() {
            return Err(damaged(last, "a part of the statement has no operators"));
        }
        let statement = super::statement::before(&before.join("\n"));
        document.extend(statement);
        document.insert("Plan".into(), assembled(nodes)?);
        self.documents.push(document.into());
        Ok(())
    }
}

/// The nodes as a tree. One that lacks inputs, or has too many, is damaged.
fn assembled(mut nodes: Vec<Node>) -> Result<Value, PlanError> {
    while let Some(mut node) = nodes.pop() {
        let inputs = node.members.get_mut("Plans").and_then(Value::as_array_mut);
        let count = inputs.map_or(0, |inputs| {
            inputs.reverse();
            inputs.iter().filter(|input| input.get("Subplan Name").is_none()).count()
        });
        let name = node.members["Node Type"].as_str().unwrap_or_default();
        let expected = inputs_of(name);
        if !expected.contains(&count) {
            let expected =
                if count < *expected.start() { expected.start() } else { expected.end() };
            return Err(damaged(
                node.line,
                &format!("{name} has {count} inputs instead of {expected}"),
            ));
        }
        let Some(parent) = node.parent else { return Ok(node.members.into()) };
        property::push(&mut nodes[parent].members, "Plans", node.members.into());
    }
    Err(PlanError::Unknown)
}

/// `SubPlan 1`, `InitPlan 2 (returns $1)`, `CTE x`.
fn part_name(text: &str) -> Option<Map<String, Value>> {
    let (kind, name) = text.split_once(' ')?;
    if name.is_empty() || name.contains(':') && kind != "CTE" {
        return None;
    }
    let relationship = match kind {
        "SubPlan" => "SubPlan",
        "InitPlan" | "CTE" => "InitPlan",
        _ => return None,
    };
    Some(Map::from_iter([
        ("Parent Relationship".to_owned(), relationship.into()),
        ("Subplan Name".to_owned(), text.into()),
    ]))
}

/// Headings of groups of nodes, which extensions write without figures.
fn is_group(heading: &str) -> bool {
    ["Task", "MapMergeJob", "Distributed Subplan "].iter().any(|group| heading.starts_with(group))
}

/// A table of several that a statement changes.
fn target(text: &str) -> Option<(&str, &str)> {
    let (verb, table) = text.split_once(" on ")?;
    let verbs = ["Insert", "Update", "Delete", "Merge"];
    verbs.contains(&verb.strip_prefix("Foreign ").unwrap_or(verb)).then_some((verb, table))
}

/// Lines of the whole plan that can have the same indent as those of the first node, where the
/// beginning of the text was cut off.
fn is_summary(key: &str) -> bool {
    let known = [
        "Planning",
        "Planning Time",
        "Planning time",
        "Execution Time",
        "Execution time",
        "Total runtime",
        "JIT",
        "Settings",
        "Query Identifier",
        "Optimizer",
        "Time",
        "Serialization",
    ];
    known.contains(&key) || key.starts_with("Trigger ")
}

/// Lines behind a plan that are not of it.
fn is_remark(text: &str) -> bool {
    text.ends_with(';')
        || text.starts_with(['-', '(', '#', '`'])
        || text.split_whitespace().next().is_some_and(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_uppercase();
            VERBS.contains(&word.as_str()) || word == "EXPLAIN"
        })
        || text.contains("=# ")
        || text.contains("=> ")
}

/// Adds a line of the whole plan.
fn read_summary(summary: &mut Map<String, Value>, group: &mut String, key: &str, value: &str) {
    let ms = |value: &str| value.strip_suffix(" ms").and_then(|ms| ms.parse::<f64>().ok());
    match (key, ms(value)) {
        ("Planning Time" | "Planning time", Some(ms)) => {
            summary.insert("Planning Time".into(), ms.into());
        }
        ("Execution Time" | "Execution time" | "Total runtime", Some(ms)) => {
            summary.insert("Execution Time".into(), ms.into());
        }
        ("Query Identifier", _) => drop(summary.insert(key.into(), value.into())),
        ("Settings", _) => {
            let settings = value.split(", ").filter_map(|part| part.split_once(" = "));
            let settings = settings
                .map(|(name, value)| (name.to_owned(), Value::from(value.trim_matches('\''))));
            summary.insert(key.into(), settings.collect::<Map<_, _>>().into());
        }
        ("Timing", _) if group == "JIT" => {
            if let Some(ms) = value.rsplit_once("Total ").and_then(|(_, total)| ms(total.trim())) {
                summary.insert("JIT".into(), json!({ "Timing": { "Total": ms } }));
            }
        }
        _ if value.is_empty() => key.clone_into(group),
        _ => {}
    }
}
