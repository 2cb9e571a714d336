//! The lines below a node in text format, as the members that it has as JSON.

use serde_json::{Map, Value, json};

/// The key and the value of a line; `None` of a line that is none. `Worker 0:  Sort Method: ...` is
/// one of `Worker 0`.
pub fn split(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_uppercase() || c == '(')
        && key.len() < 100
        && !key.contains(['=', '\'', '"', '<', '>', ';']);
    (is_key && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim()))
}

/// Brackets and the quote that are open behind a value, or behind its lines so far.
#[derive(Default)]
pub struct Nesting {
    depth: i64,
    quote: Option<char>,
}

impl Nesting {
    /// Reads a value, or one more line of it. Returns true when it continues in the next line.
    pub fn continues(&mut self, line: &str) -> bool {
        for c in line.chars() {
            match (self.quote, c) {
                (None, '\'' | '"') => self.quote = Some(c),
                (Some(open), c) if open == c => self.quote = None,
                (None, '(') => self.depth += 1,
                (None, ')') => self.depth -= 1,
                _ => {}
            }
        }
        self.quote.is_some() || self.depth > 0
    }
}

/// Adds a line to a node.
pub fn add(node: &mut Map<String, Value>, key: &str, value: &str) {
    if let Some(number) = key.strip_prefix("Worker ") {
        let mut worker = Map::from_iter([("Worker Number".to_owned(), number.into())]);
        if let Some(figures) = value.strip_prefix("actual ") {
            for (name, count) in counts(figures) {
                match name {
                    "rows" => drop(worker.insert("Actual Rows".into(), count.into())),
                    "loops" => drop(worker.insert("Actual Loops".into(), count.into())),
                    _ => {}
                }
            }
        } else if let Some((key, value)) = split(value) {
            add(&mut worker, key, value);
        } else {
            return;
        }
        return push(node, "Workers", worker.into());
    }
    match key {
        "Buffers" => buffers(node, value),
        "Heap Blocks" => {
            for (name, count) in counts(value) {
                node.insert(format!("{} Heap Blocks", capitalised(name)), count.into());
            }
        }
        "Sort Method" | "Buckets" | "Batches" | "Planned Partitions" | "Storage" | "Hits"
        | "Full-sort Groups" | "Pre-sorted Groups" => {
            let line = format!("{key}: {value}");
            // Of versions before 9.0 there is one space more.
            for field in line.split("  ").map(str::trim).filter(|field| !field.is_empty()) {
                if let Some((name, value)) = field.split_once(':') {
                    field_of(node, key, name.trim(), value.trim());
                }
            }
        }
        // Text has a line for each of several.
        "Group Key" if node.contains_key(key) => {
            node.insert("Grouping Sets".into(), true.into());
        }
        _ => {
            node.insert(key.to_owned(), number(value).map_or_else(|| value.into(), Into::into));
        }
    }
}

/// Adds an element to a list of a node.
pub fn push(node: &mut Map<String, Value>, list: &str, element: Value) {
    if let Some(all) = node.entry(list).or_insert_with(|| json!([])).as_array_mut() {
        all.push(element);
    }
}

/// A `Name: value` pair in a line that begins with `line`.
fn field_of(node: &mut Map<String, Value>, line: &str, name: &str, value: &str) {
    let figure = number(value.split(['k', ' ']).next().unwrap_or_default());
    match (line, name) {
        ("Sort Method", kind @ ("Disk" | "Memory")) => {
            node.insert("Sort Space Type".into(), kind.into());
            node.insert("Sort Space Used".into(), figure.into());
        }
        ("Buckets", "Buckets") => drop(node.insert("Hash Buckets".into(), figure.into())),
        ("Buckets", "Batches") => drop(node.insert("Hash Batches".into(), figure.into())),
        (_, "Batches") => drop(node.insert("HashAgg Batches".into(), figure.into())),
        (_, "Memory Usage") => drop(node.insert("Peak Memory Usage".into(), figure.into())),
        ("Full-sort Groups" | "Pre-sorted Groups", name) => {
            if let Some(kind @ ("Disk" | "Memory")) = name.strip_prefix("Peak ") {
                let group = node.entry(line).or_insert_with(|| json!({}));
                group[format!("Sort Space {kind}")] = json!({ "Peak Sort Space Used": figure });
            }
        }
        ("Hits", name) => drop(node.insert(format!("Cache {name}"), figure.into())),
        (_, name) => {
            node.insert(name.into(), figure.map_or_else(|| value.into(), Into::into));
        }
    }
}

/// `shared hit=3 read=1, temp read=5`.
fn buffers(node: &mut Map<String, Value>, value: &str) {
    for part in value.split(',') {
        let (kind, list) = part.trim().split_once(' ').unwrap_or_default();
        for name in ["Hit", "Read", "Dirtied", "Written"] {
            let of = counts(list).find(|(key, _)| *key == name.to_ascii_lowercase());
            let count = of.map_or(0.0, |(_, count)| count);
            node.insert(format!("{} {name} Blocks", capitalised(kind)), count.into());
        }
    }
    // In the other formats all kinds are there.
    for kind in ["Shared", "Temp"] {
        for name in ["Hit", "Read", "Written"] {
            node.entry(format!("{kind} {name} Blocks")).or_insert_with(|| 0.0.into());
        }
    }
}

/// `exact=5 lossy=2`.
fn counts(text: &str) -> impl Iterator<Item = (&str, f64)> {
    text.split_whitespace().filter_map(|part| {
        let (key, count) = part.split_once('=')?;
        Some((key, number(count)?))
    })
}

fn capitalised(word: &str) -> String {
    let mut rest = word.chars();
    rest.next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + rest.as_str())
}

fn number(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    text.parse().ok().filter(|number: &f64| is_number && number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Nesting, add, split};
    use serde_json::{Map, Value};

    #[test]
    fn lines_become_members() {
        let mut node = Map::new();
        for line in [
            "Filter: (a = 'x: y'::text)",
            "Sort Method: external merge  Disk: 7512kB",
            "Buckets: 16384 (originally 1024)  Batches: 4 (originally 1)  Memory Usage: 519kB",
            "Buffers: shared hit=3 read=1, temp read=5",
            "Worker 0:  Sort Method: external merge  Disk: 6864kB",
            "Heap Blocks: exact=7 lossy=2",
            "Rows Removed by Filter: 3",
        ] {
            let (key, value) = split(line).unwrap();
            add(&mut node, key, value);
        }
        let node = Value::from(node);
        for (key, value) in [
            ("Sort Space Used", 7512.0),
            ("Hash Batches", 4.0),
            ("Shared Read Blocks", 1.0),
            ("Temp Read Blocks", 5.0),
            ("Shared Written Blocks", 0.0),
            ("Lossy Heap Blocks", 2.0),
            ("Rows Removed by Filter", 3.0),
        ] {
            assert_eq!(node[key], value, "{key}");
        }
        assert_eq!(node["Sort Method"], "external merge");
        assert_eq!(node["Workers"][0]["Sort Space Used"], 6864.0);
        assert_eq!(node["Filter"], "(a = 'x: y'::text)");
    }

    #[test]
    fn a_wrapped_heading_is_no_property() {
        for line in ["width=4) (actual time=0.1..0.2 rows=1 loops=1)", "and so on", "a::text)"] {
            assert_eq!(split(line), None, "{line}");
        }
        let continues = |lines: [&str; 2]| {
            let mut nesting = Nesting::default();
            lines.map(|line| nesting.continues(line))
        };
        assert_eq!(continues(["(a = 'two", "lines')"]), [true, false]);
        assert_eq!(continues(["((a)", "(b"]), [true, true]);
        assert_eq!(continues(["(a = ')')", "and"]), [false, false]);
    }
}
