//! The part of a file that is about its design.

use crate::design_runs::Added;
use crate::document::{Content, Node};
use crate::error::{Errors, Fault};
use crate::experiment::{Factor, FactorLevel, Repeats};
use crate::file::{BLOCKS, LEVEL_IF_INSTALLED};
use crate::vocabulary::{Values, Vocabulary, read_as, read_item};
use crate::{Declaration, FromValue, Setting};
use std::ops::Range;

/// Path of the setting that selects the design.
pub const DESIGN_KIND: &str = "design.kind";
/// The kind of the design that runs all combinations.
pub const GRID: &str = "grid";
/// The section of further runs.
pub(crate) const EXTENSION: &str = "extension";

/// The place of an error in the part of a file that is about its design.
#[derive(Debug, Clone, Copy)]
pub enum DesignPlace<'p> {
    /// The whole design.
    Design,
    /// A setting, by its path.
    Setting(&'p str),
    /// The number of blocks.
    Blocks,
    /// The levels of a factor, by its name.
    Factor(&'p str),
    /// The mark of a level of this factor that may be omitted.
    Omission(&'p str),
    /// The first exclusion; without one there is no error.
    Exclusions,
    /// A table of further runs, or a key of it.
    Extension(usize, Option<&'p str>),
}

/// A file as its design reads it, with what was read before.
pub struct DesignFile<'f> {
    pub(crate) root: &'f Node,
    pub(crate) vocabulary: &'f Vocabulary,
    pub(crate) errors: &'f mut Errors,
    pub(crate) values: &'f Values,
    /// The factors, to whose levels a design can add others.
    pub factors: &'f mut Vec<Factor>,
    /// Positions of the hard-to-change factors.
    pub hard: &'f [usize],
    /// The repeats.
    pub repeats: &'f Repeats,
    /// Further runs, which the design adds.
    pub added: Vec<Added>,
}

impl DesignFile<'_> {
    /// The value of a setting of `[design]`.
    pub fn get<T: FromValue>(&self, setting: Setting<T>) -> T {
        setting.value_in(self.values)
    }

    /// Returns whether the file gives a setting.
    pub fn has(&self, path: &str) -> bool {
        self.root.at(path).is_some()
    }

    /// Adds an error.
    pub fn error(&mut self, place: DesignPlace<'_>, fault: impl Into<Fault>) {
        let (span, path) = match place {
            DesignPlace::Design => (self.root.key_span("design"), DESIGN_KIND),
            DesignPlace::Setting(path) => (self.span_of(path), path),
            DesignPlace::Blocks => (self.span_of(BLOCKS.path()), BLOCKS.path()),
            DesignPlace::Factor(name) => (self.factor_span(name), name),
            DesignPlace::Omission(name) => (self.factor_span(name), LEVEL_IF_INSTALLED.path()),
            DesignPlace::Exclusions => match self.root.tables("exclude").first() {
                Some(rule) => (rule.span.clone(), "exclude"),
                None => return,
            },
            DesignPlace::Extension(at, key) => match self.root.tables(EXTENSION).get(at) {
                Some(table) => (table.span.clone(), key.unwrap_or(EXTENSION)),
                None => return,
            },
        };
        self.errors.add(&span, path, fault);
    }

    /// Adds an error of a factor, by its position.
    pub fn error_of_factor(&mut self, factor: usize, fault: impl Into<Fault>) {
        let name = self.factors[factor].name.clone();
        self.error(DesignPlace::Factor(&name), fault);
    }

    /// Makes exclusions of combinations an error.
    pub fn refuse_exclusions(&mut self, design: &str) {
        let message = format!(
            "{design} runs a fixed set of configurations; remove [[exclude]], or use a grid"
        );
        self.error(DesignPlace::Exclusions, message);
    }

    /// Makes further runs an error.
    pub fn refuse_extensions(&mut self) {
        let message = "only a screening design has extensions; remove this table";
        self.error(DesignPlace::Extension(0, None), message);
    }

    /// The values of each table of further runs.
    pub fn extensions(&mut self, declared: &[Declaration]) -> Vec<Values> {
        let nodes = self.root.tables(EXTENSION).iter();
        nodes
            .map(|node| read_item(self.errors, node, EXTENSION, declared, &["kind"], &[]))
            .collect()
    }

    /// Returns whether a factor is one of `[factors]`, and not of linked levels.
    pub fn is_plain(&self, factor: usize) -> bool {
        self.plain_levels(&self.factors[factor].name).is_some()
    }

    /// A level of a factor that the file does not give; `None` after an error.
    pub fn level(&mut self, factor: usize, label: String) -> Option<FactorLevel> {
        let factor = self.factors[factor].name.as_str();
        let written = self.plain_levels(factor)?.elements().first()?;
        let span = self.factor_span(factor);
        let node = Node { span: span.clone(), content: content(&label, written) };
        match read_as(&self.vocabulary.find(factor), &node) {
            Ok(value) => {
                let set = vec![(factor.to_owned(), value)];
                Some(FactorLevel { label, set, if_installed: false })
            }
            Err(Fault { message, help }) => {
                let message = format!("the design needs the level {label}: {message}");
                self.errors.add(&span, factor, Fault { message, help });
                None
            }
        }
    }

    fn span_of(&self, path: &str) -> Range<usize> {
        self.root.at(path).map_or_else(|| self.root.key_span("design"), |node| node.span.clone())
    }

    /// The levels of a factor of `[factors]`.
    fn plain_levels(&self, factor: &str) -> Option<&Node> {
        let leaves = self.root.leaves_of("factors", "").into_iter();
        leaves.filter(|leaf| leaf.path == factor).map(|leaf| leaf.node).next()
    }

    /// The span of the levels of a factor.
    fn factor_span(&self, name: &str) -> Range<usize> {
        let node = self.plain_levels(name).or_else(|| {
            let mut tables = self.root.tables("level").iter();
            tables.find(|node| node.value("factor").and_then(Node::text) == Some(name))
        });
        node.map_or(0..0, |node| node.span.clone())
    }
}

/// A level as the file would give it: a number where its levels are numbers, else text.
fn content(label: &str, written: &Node) -> Content {
    let is_text = written.text().is_some();
    match (label.parse::<i64>(), label.parse::<f64>()) {
        (Ok(whole), _) if !is_text => Content::Integer(whole),
        (Err(_), Ok(number)) if !is_text => Content::Float(number),
        _ => Content::Text(label.to_owned()),
    }
}
