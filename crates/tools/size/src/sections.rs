//! A file of sections with known keys, read with the units and the errors of experiment files.

use experiment::{Errors, Fault, FileErrors, Kind, Node, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// A key of a section and what its value may be.
pub type Field = (&'static str, Kind);

/// A file that is being read. Errors are collected until [`Sections::end`], which reports them all.
#[derive(Debug)]
pub struct Sections<'a> {
    source: &'a str,
    root: Node,
    errors: Errors,
}

/// The values of a section.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// Dotted path of the section; its name where it has one.
    pub path: String,
    values: BTreeMap<&'static str, (Value, Range<usize>)>,
    span: Range<usize>,
}

impl<'a> Sections<'a> {
    /// Reads a file that has these sections: `demand` of one table, `parts.*` of tables with names,
    /// `alternative[]` of a list of tables.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn parse(source: &'a str, sections: &[&str]) -> Result<Self, FileErrors> {
        let (root, mut errors) = (Node::parse(source)?, Errors::default());
        for entry in root.entries().iter().filter(|entry| !sections.contains(&entry.key.as_str())) {
            errors.add(&entry.key_span, "", Fault::unknown("section", &entry.key, sections));
        }
        Ok(Self { source, root, errors })
    }

    /// The section of this name; one without values where there is none.
    pub fn section(&mut self, name: &str, fields: &[Field]) -> Fields {
        let node = self.root.value(name).cloned();
        node.map(|node| self.read(&node, name, fields)).unwrap_or_default()
    }

    /// The tables below a section, each with its name as its path.
    pub fn named(&mut self, section: &str, fields: &[Field]) -> Vec<Fields> {
        let entries =
            self.root.value(section).map(|node| node.entries().to_vec()).unwrap_or_default();
        entries.iter().map(|entry| self.read(&entry.node, &entry.key, fields)).collect()
    }

    /// The tables of a list of tables, each with those of the list below it.
    pub fn list(
        &mut self,
        section: &str,
        fields: &[Field],
        below: &'static str,
        of_those: &[Field],
    ) -> Vec<(Fields, Vec<Fields>)> {
        let tables = self.root.tables(section).to_vec();
        tables
            .iter()
            .map(|table| {
                let with_list: Vec<Field> = [fields, &[(below, Kind::Bool)]].concat();
                let children = table.tables(below).to_vec();
                let children = children
                    .iter()
                    .map(|child| self.read(child, &format!("{section}.{below}"), of_those))
                    .collect();
                (self.read_except(table, section, &with_list, below), children)
            })
            .collect()
    }

    fn read(&mut self, node: &Node, path: &str, fields: &[Field]) -> Fields {
        self.read_except(node, path, fields, "")
    }

    fn read_except(&mut self, node: &Node, path: &str, fields: &[Field], except: &str) -> Fields {
        let mut read = Fields { path: path.into(), span: node.span.clone(), ..Fields::default() };
        if !node.is_table() {
            self.errors.add(&node.span, path, format!("expected a table, found {}", node.kind()));
        }
        let known: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        for entry in node.entries().iter().filter(|entry| entry.key != except) {
            let path = format!("{path}.{}", entry.key);
            let Some((name, kind)) = fields.iter().find(|(name, _)| *name == entry.key) else {
                self.errors.add(&entry.key_span, &path, Fault::unknown("key", &entry.key, &known));
                continue;
            };
            match kind.read(&entry.node) {
                Ok(value) => drop(read.values.insert(name, (value, entry.node.span.clone()))),
                Err(fault) => self.errors.add(&entry.node.span, &path, fault),
            }
        }
        read
    }

    /// Something is wrong with a value, or with its section where it is not given.
    pub fn wrong(&mut self, fields: &Fields, key: &str, message: impl Into<String>) {
        let span = fields.values.get(key).map_or(&fields.span, |(_, span)| span);
        let path =
            if key.is_empty() { fields.path.clone() } else { format!("{}.{key}", fields.path) };
        self.errors.add(span, &path, message.into());
    }

    /// Adds the error of an unknown name, with the nearest known one.
    pub fn unknown(&mut self, fields: &Fields, key: &str, name: &str, known: &[&str]) {
        let span = fields.values.get(key).map_or(&fields.span, |(_, span)| span);
        self.errors.add(span, &format!("{}.{key}", fields.path), Fault::unknown(key, name, known));
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Everything that is wrong in the file.
    pub fn end(self) -> Result<(), FileErrors> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors.into_file_errors(self.source)) }
    }
}

impl Fields {
    /// A number, if it is given.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.values.get(key)?.0.as_f64()
    }

    /// A text, if it is given.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.values.get(key)?.0 {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
