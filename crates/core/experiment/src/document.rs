//! A TOML file as a tree in which everything knows where it stands.

use crate::error::{Errors, Fault, FileErrors};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, Value as TomlValue};

/// A value of the file, with the bytes that it covers.
#[derive(Debug, Clone)]
pub struct Node {
    /// The bytes.
    pub span: Range<usize>,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// A date or time, which no setting takes.
    Time(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table, with its position and value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node,
}

/// Quotation marks that word processors and chats make of `"` and `'`.
const TYPOGRAPHIC: [char; 8] =
    ['\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}', '\u{2018}', '\u{2019}', '\u{ab}', '\u{bb}'];

/// The error of a line that has such a mark where it cannot be read.
fn typographic_quote(source: &str, span: &Range<usize>) -> Option<Fault> {
    let start = source.get(..span.start)?.rfind('\n').map_or(0, |end| end + 1);
    let mark = source[start..].lines().next()?.chars().find(|c| TYPOGRAPHIC.contains(c))?;
    Some(Fault::with_help(
        format!("{mark} is a typographic quotation mark"),
        "write straight quotes: \"text\"",
    ))
}

impl Node {
    /// Parses a file.
    ///
    /// # Errors
    /// When it is not TOML.
    pub fn parse(source: &str) -> Result<Self, FileErrors> {
        let document = Document::parse(source).map_err(|error| {
            let (span, mut errors) = (error.span().unwrap_or(0..0), Errors::default());
            let fault = typographic_quote(source, &span);
            let message = || error.message().trim().replace('\n', "; ").into();
            errors.add(&span, "", fault.unwrap_or_else(message));
            errors.into_file_errors(source)
        })?;
        Ok(Self { span: 0..0, content: Content::Table(entries(document.as_table())) })
    }

    /// The text of one.
    pub fn text(&self) -> Option<&str> {
        if let Content::Text(text) = &self.content { Some(text) } else { None }
    }

    /// The entries of a table; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        if let Content::Table(entries) = &self.content { entries } else { &[] }
    }

    /// The entry of a table with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a table that has this key.
    pub fn value(&self, key: &str) -> Option<&Node> {
        self.get(key).map(|entry| &entry.node)
    }

    /// The value at a dotted path of tables.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, key| node.value(key))
    }

    /// Where the value at a dotted path stands; the beginning of the file where there is none.
    pub fn span_at(&self, path: &str) -> Range<usize> {
        self.at(path).map_or(0..0, |node| node.span.clone())
    }

    /// Where a key stands; the beginning of the file where there is none.
    pub fn key_span(&self, key: &str) -> Range<usize> {
        self.get(key).map_or(0..0, |entry| entry.key_span.clone())
    }

    /// The tables of a `[[section]]`.
    pub fn tables(&self, section: &str) -> &[Self] {
        match self.value(section).map(|node| &node.content) {
            Some(Content::List(nodes)) => nodes,
            _ => &[],
        }
    }

    /// Returns whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.content, Content::Table(_))
    }

    /// How a level is labelled: as it is written, without quotes.
    pub fn label(&self) -> String {
        match &self.content {
            Content::Bool(value) => value.to_string(),
            Content::Integer(value) => value.to_string(),
            Content::Float(value) => value.to_string(),
            Content::Text(value) | Content::Time(value) => value.clone(),
            Content::List(nodes) => nodes.iter().map(Node::label).collect::<Vec<_>>().join("+"),
            Content::Table(_) => "table".into(),
        }
    }

    /// Returns its kind, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Bool(_) => "true or false",
            Content::Integer(_) | Content::Float(_) => "a number",
            Content::Text(_) => "text",
            Content::Time(_) => "a date or time",
            Content::List(_) => "a list",
            Content::Table(_) => "a table",
        }
    }

    /// All values below a table by dotted path, each with the position of its key. The table has
    /// the path `table`, which is empty when its keys are whole paths. A table that has nothing in
    /// it is a value, so that it does not go unnoticed.
    pub fn leaves(&self, table: &str) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        for entry in self.entries() {
            let path =
                if table.is_empty() { entry.key.clone() } else { format!("{table}.{}", entry.key) };
            if entry.node.entries().is_empty() {
                leaves.push(Leaf { path, key_span: entry.key_span.clone(), node: &entry.node });
            } else {
                leaves.extend(entry.node.leaves(&path));
            }
        }
        leaves
    }

    /// All values of a table by dotted path; empty if the table does not exist.
    pub fn leaves_of(&self, table: &str, path: &str) -> Vec<Leaf<'_>> {
        self.value(table).map(|node| node.leaves(path)).unwrap_or_default()
    }

    /// The elements of a list; anything else is its own only element.
    pub fn elements(&self) -> &[Node] {
        if let Content::List(nodes) = &self.content { nodes } else { std::slice::from_ref(self) }
    }
}

/// A value with its dotted path.
#[derive(Debug)]
pub struct Leaf<'a> {
    /// The path.
    pub path: String,
    /// Where its key stands.
    pub key_span: Range<usize>,
    /// The value.
    pub node: &'a Node,
}

fn entries(table: &dyn TableLike) -> Vec<Entry> {
    let entries = table.iter().filter_map(|(name, item)| {
        let key = table.key(name)?;
        let node = node(item)?;
        let key_span = key.span().unwrap_or_else(|| node.span.clone());
        Some(Entry { key: name.to_owned(), key_span, node })
    });
    entries.collect()
}

fn node(item: &Item) -> Option<Node> {
    let content = match item {
        Item::None => return None,
        Item::Value(value) => content(value),
        Item::Table(table) => Content::Table(entries(table)),
        Item::ArrayOfTables(tables) => Content::List(
            tables
                .iter()
                .map(|table| Node {
                    span: table.span().unwrap_or(0..0),
                    content: Content::Table(entries(table)),
                })
                .collect(),
        ),
    };
    Some(Node { span: item.span().unwrap_or(0..0), content })
}

fn content(value: &TomlValue) -> Content {
    match value {
        TomlValue::String(text) => Content::Text(text.value().clone()),
        TomlValue::Integer(integer) => Content::Integer(*integer.value()),
        TomlValue::Float(float) => Content::Float(*float.value()),
        TomlValue::Boolean(boolean) => Content::Bool(*boolean.value()),
        TomlValue::Datetime(time) => Content::Time(time.value().to_string()),
        TomlValue::Array(values) => Content::List(
            values
                .iter()
                .map(|value| Node { span: value.span().unwrap_or(0..0), content: content(value) })
                .collect(),
        ),
        TomlValue::InlineTable(table) => Content::Table(entries(table)),
    }
}
