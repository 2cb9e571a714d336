//! Sections of the file that are neither core's nor of an engine or a probe.

use crate::document::{Leaf, Node};
use crate::error::Fault;
use crate::{Declaration, DesignFile, DurabilityRule, GuestSearch, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// A section of the file with settings that do not depend on engine and probe. Without a default
/// they are absent from files that do not give them.
#[derive(Debug, Clone, Copy)]
pub struct CommonSection {
    /// The name; paths of its settings begin with it.
    pub name: &'static str,
    /// The meaning, a sentence.
    pub doc: &'static str,
    /// The settings.
    pub settings: &'static [Declaration],
}

/// A section with settings that no configuration has.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisSection {
    /// The section.
    pub section: CommonSection,
    /// Adds the errors of its values to those of the file.
    pub check: fn(&mut DesignFile<'_>),
}

/// Sections of the file that a guest reads by itself; no factor varies them.
#[derive(Debug, Clone, Copy)]
pub struct GuestSections {
    /// A section with one value a key.
    pub section: CommonSection,
    /// A list of tables, `[[name]]`.
    pub list: CommonSection,
    /// The key that each table of the list must have: the path of the setting that it is about.
    pub about: &'static str,
    /// Completes the JSON Schema of the tables of the list.
    pub schema: fn(&mut serde_json::Value),
    /// Reads them and adds their errors to those of the file. `None`: the file has no search.
    pub read: fn(&GuestFile<'_>, &mut dyn SectionReader) -> Option<GuestSearch>,
}

/// A file as a guest reads it.
#[derive(Debug, Clone, Copy)]
pub struct GuestFile<'f> {
    /// The file as a tree.
    pub root: &'f Node,
    /// The settings of the first configuration.
    pub settings: &'f BTreeMap<String, Value>,
}

/// The reader of a file, for the sections that guests read.
pub trait SectionReader {
    /// Adds an error.
    fn add_error(&mut self, span: &Range<usize>, path: &str, fault: Fault);

    /// The values of a section with one value a key; none where the file does not have it.
    fn read_section(&mut self, section: &CommonSection) -> BTreeMap<String, Value>;

    /// The values of one table of a `[[section]]`, of which some must be given. Keys in `also` are
    /// read elsewhere.
    fn read_item(
        &mut self,
        node: &Node,
        section: &CommonSection,
        needed: &[&str],
        also: &[&str],
    ) -> BTreeMap<String, Value>;

    /// The settings that a key may mean, of different engines; if there is none, an error.
    fn lookup(&mut self, leaf: &Leaf<'_>) -> Vec<&'static Declaration>;

    /// The settings of an engine that weaken durability.
    fn durability_rules(&self, engine: &str) -> &'static [DurabilityRule];
}
