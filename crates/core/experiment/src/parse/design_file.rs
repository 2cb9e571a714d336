//! The part of a file that is about its design.

use super::{FileReader, Values, read_as};
use crate::design::{DESIGN_KIND, DesignFile, DesignPlace, DesignReader, EXTENSION, GRID};
use crate::design_runs::{Added, DesignRuns, Runs};
use crate::document::{Content, Node};
use crate::error::Fault;
use crate::file::{BLOCKS, LEVEL_IF_INSTALLED};
use crate::{Declaration, Factor, FactorLevel, Repeats};
use std::ops::Range;

impl FileReader<'_> {
    /// The runs of the design that `[design]` selects, and those that extend it.
    pub fn design(
        &mut self,
        values: &Values,
        factors: &mut Vec<Factor>,
        hard: &[usize],
        repeats: &Repeats,
    ) -> (Runs, Vec<Added>) {
        let kind = kind(values);
        let design = self.catalog.designs.find(&kind);
        self.check_settings_of(&kind);
        let added = Vec::new();
        let mut file = DesignFile { reader: self, values, factors, hard, repeats, added };
        let Some(design) = design else {
            file.refuse_extensions();
            return (Runs::Product, Vec::new());
        };
        match design.read(&mut file) {
            Some(runs) => (Runs::Design(runs), file.added),
            None => (Runs::Unknown, Vec::new()),
        }
    }

    /// Lets the sections that say how results are analysed check their values.
    pub fn check_analyses(
        &mut self,
        values: &Values,
        factors: &mut Vec<Factor>,
        hard: &[usize],
        repeats: &Repeats,
    ) {
        let (sections, added) = (self.catalog.analysis_sections, Vec::new());
        let mut file = DesignFile { reader: self, values, factors, hard, repeats, added };
        for section in sections {
            (section.check)(&mut file);
        }
    }

    /// Settings of other kinds of designs are errors.
    fn check_settings_of(&mut self, kind: &str) {
        let all = self.catalog.designs.all;
        let owners = |path: &str| {
            let with = all.iter().filter(move |design| design.settings().contains(&path));
            with.map(|design| design.kind()).collect::<Vec<_>>()
        };
        let settings = self.catalog.designs.settings.iter().map(|setting| setting.path);
        let present = settings
            .filter(|path| *path != DESIGN_KIND && self.root.at(path).is_some())
            .map(|path| (path, owners(path)));
        let misfits: Vec<(&str, Vec<&str>)> =
            present.filter(|(_, owners)| !owners.contains(&kind)).collect();
        let owner = misfits.iter().find_map(|(_, owners)| owners.last().copied());
        let names: Vec<&str> =
            misfits.iter().map(|(path, _)| path.trim_start_matches("design.")).collect();
        let Some(owner) = owner else { return };
        let names = names.join(" or ");
        let message =
            format!("a {kind} design has no {names}; remove it, or add kind = \"{owner}\"");
        self.errors.add(&self.root.key_span("design"), DESIGN_KIND, message);
    }

    /// Some designs need several configurations.
    pub fn check_design(&mut self, runs: Option<&DesignRuns>, configurations: usize) {
        if let Some(message) = runs.and_then(|runs| runs.objection(configurations)) {
            self.errors.add(&self.root.key_span("design"), DESIGN_KIND, message);
        }
    }

    fn span_of(&self, path: &str) -> Range<usize> {
        self.root.at(path).map_or_else(|| self.root.key_span("design"), |node| node.span.clone())
    }

    /// Where the levels of a factor stand.
    fn factor_span(&self, name: &str) -> Range<usize> {
        let plain = self.root.leaves_of("factors", "").into_iter().find(|leaf| leaf.path == name);
        let node = plain.map(|leaf| leaf.node).or_else(|| {
            let mut tables = self.root.tables("level").iter();
            tables.find(|node| node.value("factor").and_then(Node::text) == Some(name))
        });
        node.map_or(0..0, |node| node.span.clone())
    }
}

/// The kind of the design.
pub fn kind(values: &Values) -> String {
    values.get(DESIGN_KIND).map_or_else(|| GRID.to_owned(), ToString::to_string)
}

impl DesignReader for FileReader<'_> {
    fn has(&self, path: &str) -> bool {
        self.root.at(path).is_some()
    }

    fn is_plain(&self, factor: &str) -> bool {
        self.root.leaves_of("factors", "").iter().any(|leaf| leaf.path == factor)
    }

    fn level(&mut self, factor: &str, label: String) -> Option<FactorLevel> {
        let settings = self.vocabulary.find(factor);
        let written = self.root.leaves_of("factors", "");
        let written = written.iter().find(|leaf| leaf.path == factor)?.node.elements().first()?;
        let span = self.factor_span(factor);
        let node = Node { span: span.clone(), content: content(&label, written) };
        match read_as(&settings, &node) {
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

    fn extensions(&mut self, declared: &[Declaration]) -> Vec<Values> {
        let nodes = self.root.tables(EXTENSION).iter();
        nodes.map(|node| self.read_item(node, EXTENSION, declared, &["kind"], &[])).collect()
    }

    fn add_error(&mut self, place: DesignPlace<'_>, fault: Fault) {
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
