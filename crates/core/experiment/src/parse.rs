//! From the text of a file to an [`Experiment`]: sections, then factors, then configurations.
//!
//! An error does not stop the reading: a level or factor that cannot be read keeps its
//! position and name, so that what refers to it is judged as if it were right, and all errors come
//! at once.

mod design;
mod expand;
mod factors;
mod run;

use crate::catalog::Catalog;
use crate::design_runs::{Runs, Stage};
use crate::document::{Content, Entry, Leaf, Node};
use crate::error::{Errors, Fault, FileErrors};
use crate::experiment::Experiment;
use crate::file::{EQUIVALENCE_MARGIN, NAME, SETTINGS};
use crate::sections::{AnalysisSection, CommonSection, GuestFile, SectionReader};
use crate::vocabulary::{Values, Vocabulary, read_as, read_item, read_table};
use crate::{Declaration, DurabilityRule, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Longest name of an experiment: with an ending it has to be the name of a file.
const NAME_LENGTH_MAX: usize = 100;

/// A name that cannot be the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot be a file name; use lower-case letters, digits, `-`, `_` and `.`, starting with \
     a letter, digit or `_`, at most {NAME_LENGTH_MAX}"
)]
pub struct NoFileName(String);

/// Returns the name of an experiment, which is also that of its files.
///
/// # Errors
/// When it cannot be the name of a file.
pub fn file_name(name: &str) -> Result<String, NoFileName> {
    // No capitals: there are file systems that do not tell them from small letters.
    let is_fit = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
        && !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.len() <= NAME_LENGTH_MAX;
    if is_fit { Ok(name.to_owned()) } else { Err(NoFileName(name.to_owned())) }
}

/// A file that is being read.
struct FileReader<'a> {
    root: &'a Node,
    catalog: &'a Catalog,
    /// The settings that this file may use.
    vocabulary: Vocabulary,
    errors: Errors,
}

/// Reads an experiment file.
///
/// # Errors
/// Everything that is wrong in the file, each with its position; a syntax error alone.
pub fn parse(source: &str, catalog: &Catalog) -> Result<Experiment, FileErrors> {
    let root = Node::parse(source)?;
    let mut reader = FileReader::new(&root, catalog);
    reader.check_sections();
    reader.know_settings();
    let base = reader.base_settings();
    let core = reader.core_settings();
    let mut factors = reader.factors();
    let volumes = reader.volumes();
    let hard_to_change = reader.hard_to_change(&mut factors, &volumes);
    let repeats = reader.repeats(&core);
    let predict = reader.predictions();
    reader.check_setups(&repeats, &hard_to_change);
    reader.check_machines(&core, &repeats, &factors);
    let (runs, extensions) = reader.design(&core, &mut factors, &hard_to_change, &repeats);
    let configurations = reader.configurations(&base, &factors, &runs, &extensions);
    let design = if let Runs::Design(design) = runs { Some(design) } else { None };
    let added: usize = extensions.iter().map(|extension| extension.runs.len()).sum();
    let main_runs = configurations.len().saturating_sub(added);
    reader.check_design(design.as_ref(), configurations.len());
    let baseline = reader.baseline(&factors, &configurations[..main_runs]);
    let (first, none) = (configurations.first(), Values::new());
    let settings = first.map_or(&none, |configuration| &configuration.settings);
    let file = GuestFile { root: &root, settings };
    let searches = catalog.searches.iter().filter_map(|search| (search.read)(&file, &mut reader));
    let mut searches: Vec<_> = searches.collect();
    reader.check_number_of_trials(repeats.blocks.max(), configurations.len());
    let counts = [repeats.blocks.max(), repeats.setups];
    let stages = Stage::in_plan(extensions, main_runs, counts, !hard_to_change.is_empty());
    let experiment = Experiment {
        name: reader.name(&core),
        configurations,
        design,
        stages,
        baseline,
        left_out: Vec::new(),
        predict,
        volumes,
        repeats,
        search: searches.pop(),
        hard_to_change,
        source: source.into(),
        recorded: None,
        folder: PathBuf::new(),
        files: Vec::new(),
        spans: spans(&root, catalog),
        settings: core,
        factors,
    };
    if reader.errors.is_empty() {
        Ok(experiment)
    } else {
        Err(reader.errors.into_file_errors(source))
    }
}

/// Reads the sections of a guest again, of a file without errors.
pub fn read_sections<T>(
    experiment: &Experiment,
    catalog: &Catalog,
    read: impl FnOnce(&GuestFile<'_>, &mut dyn SectionReader) -> Option<T>,
) -> Option<T> {
    let root = Node::parse(&experiment.source).ok()?;
    let mut reader = FileReader::new(&root, catalog);
    reader.know_settings();
    let settings = &experiment.configurations.first()?.settings;
    read(&GuestFile { root: &root, settings }, &mut reader)
}

impl<'a> FileReader<'a> {
    fn new(root: &'a Node, catalog: &'a Catalog) -> Self {
        Self { root, catalog, vocabulary: catalog.shared_settings(), errors: Errors::default() }
    }

    /// Adds an error where a setting stands.
    fn error_at(&mut self, path: &str, fault: impl Into<Fault>) {
        self.errors.add(&self.root.span_at(path), path, fault);
    }

    fn check_sections(&mut self) {
        let known = self.catalog.all_sections();
        let known: Vec<&str> = known.into_iter().map(|(name, _)| name).collect();
        for entry in self.root.entries() {
            let name = entry.key.as_str();
            if !known.contains(&name) {
                let fault = self.of_other_program("section", name);
                let fault = fault.unwrap_or_else(|| Fault::unknown("section", name, &known));
                self.errors.add(&entry.key_span, "", fault);
                continue;
            }
            let several = ["level", "exclude", "volume", "manual", "predict", "extension"]
                .contains(&name)
                || self.catalog.searches.iter().any(|search| search.list.name == name);
            let brackets = if several { format!("[[{name}]]") } else { format!("[{name}]") };
            match (&entry.node.content, several) {
                (Content::Table(_), false) => {}
                (Content::List(nodes), true) => {
                    for node in nodes.iter().filter(|node| !node.is_table()) {
                        let message =
                            format!("expected a table, found {}; write {brackets}", node.kind());
                        self.errors.add(&node.span, name, message);
                    }
                }
                _ => {
                    self.errors.add(
                        &entry.key_span,
                        name,
                        format!("this is a section: write {brackets}"),
                    );
                }
            }
        }
    }

    /// Finds the settings that this file may use: those of its engines and probes.
    fn know_settings(&mut self) {
        let sections = [
            ("target", "engine", &self.catalog.engines),
            ("workload", "probe", &self.catalog.probes),
        ];
        for (section, key, all) in sections {
            let path = format!("{section}.{key}");
            let owners = owners(self.root, section, &path);
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            if owners.is_empty() {
                let span = self.root.key_span(section);
                self.errors.add(
                    &span,
                    &path,
                    Fault::with_help("missing", format!("known: {}", names.join(", "))),
                );
            }
            let mut is_known = !owners.is_empty();
            for node in owners {
                // A value that is not text is an error where the setting is read.
                let text = node.text();
                if let Some((_, settings)) = all.iter().find(|(owner, _)| Some(*owner) == text) {
                    self.vocabulary.add(settings);
                    continue;
                }
                is_known = false;
                if let Some(name) = text {
                    self.errors.add(&node.span, &path, self.catalog.unknown(key, name, &names));
                }
            }
            // The owner is unknown: accept the settings of each, and report only the others.
            for (_, settings) in all.iter().filter(|_| !is_known) {
                self.vocabulary.add(settings);
            }
            let setting = SETTINGS.iter().find(|setting| setting.path == path);
            self.vocabulary.add(setting.map_or(&[], std::slice::from_ref));
        }
    }

    /// The values that `[target]`, `[workload]`, `[observe]` and sections of the catalog give.
    fn base_settings(&mut self) -> Values {
        let mut values = Values::new();
        let sections = self.catalog.factor_sections();
        for leaf in sections.flat_map(|section| self.root.leaves_of(section, section)) {
            if leaf.node.is_table() && self.vocabulary.is_table(&leaf.path) {
                continue;
            }
            if let Some(value) = self.value(&leaf)
                && values.insert(leaf.path.clone(), value).is_some()
            {
                self.errors.add(&leaf.key_span, &leaf.path, "this setting is given twice");
            }
        }
        values
    }

    /// The values that all other sections with one value a key give.
    fn core_settings(&mut self) -> Values {
        let mut values = self.read_section("design", self.catalog.designs.settings);
        for section in ["experiment", "hooks", "order", "repeats", "machines", "limits"] {
            values.extend(self.read_section(section, SETTINGS));
        }
        for AnalysisSection { section, .. } in self.catalog.analysis_sections {
            values.extend(self.read_section(section.name, section.settings));
        }
        if let Some(node) = self.root.value("report") {
            // What the baseline names are paths of factors, with dots in them.
            let others = node.entries().iter().filter(|entry| {
                EQUIVALENCE_MARGIN.path().strip_prefix("report.") != Some(&entry.key)
            });
            for entry in others.clone().filter(|entry| entry.key != "baseline") {
                let fault =
                    Fault::unknown("setting", &entry.key, &["baseline", "equivalence_margin"]);
                self.errors.add(&entry.key_span, "report", fault);
            }
            let also: Vec<&str> = others.map(|entry| entry.key.as_str()).collect();
            read_table(&mut self.errors, node, "report", SETTINGS, &also, &mut values);
        }
        values
    }

    /// The values of a section with one value a key; none where the file does not have it.
    fn read_section(&mut self, section: &str, settings: &[Declaration]) -> Values {
        let mut values = Values::default();
        if let Some(node) = self.root.value(section) {
            read_table(&mut self.errors, node, section, settings, &[], &mut values);
        }
        values
    }

    /// The name of the experiment, which is also the name of a file.
    fn name(&mut self, core: &Values) -> String {
        if self.root.at(NAME.path()).is_none() {
            let span = self.root.key_span("experiment");
            self.errors.add(&span, NAME.path(), "missing; give the experiment a name");
            return String::new();
        }
        let name = NAME.value_in(core);
        // That it is empty was said of its value.
        if let Err(error) = file_name(&name)
            && !name.is_empty()
        {
            self.error_at(NAME.path(), error.to_string());
        }
        name
    }

    /// The error of a setting of another program.
    fn of_other_program(&self, what: &str, path: &str) -> Option<Fault> {
        let help = self.catalog.other_name(path)?;
        Some(Fault::with_help(format!("unknown {what} `{path}`"), help))
    }

    /// The error of a setting that engines or probes other than those of this file have.
    fn of_another(&self, path: &str) -> Option<Fault> {
        let sections = [
            ("target", "engine", &self.catalog.engines),
            ("workload", "probe", &self.catalog.probes),
        ];
        sections.into_iter().find_map(|(section, key, all)| {
            let others = all
                .iter()
                .filter(|(_, named_files)| named_files.iter().any(|file| file.path == path));
            let others: Vec<&str> = others.map(|(name, _)| *name).collect();
            let owners = owners(self.root, section, &format!("{section}.{key}"));
            let text: Vec<&str> = owners.into_iter().filter_map(Node::text).collect();
            (!others.is_empty() && !text.is_empty()).then(|| {
                Fault::with_help(
                    format!("`{path}` is not a setting of {key} {}", text.join(", ")),
                    format!("it is a setting of {key} {}", others.join(", ")),
                )
            })
        })
    }

    /// The value that a key gives; `None` after an error.
    fn value(&mut self, leaf: &Leaf<'_>) -> Option<Value> {
        let settings = self.lookup(leaf);
        read_as(&settings, leaf.node)
            .map_err(|fault| self.errors.add(&leaf.node.span, &leaf.path, fault))
            .ok()
    }
}

impl SectionReader for FileReader<'_> {
    fn add_error(&mut self, span: &Range<usize>, path: &str, fault: Fault) {
        self.errors.add(span, path, fault);
    }

    fn read_section(&mut self, section: &CommonSection) -> Values {
        self.read_section(section.name, section.settings)
    }

    fn read_item(
        &mut self,
        node: &Node,
        section: &CommonSection,
        needed: &[&str],
        also: &[&str],
    ) -> Values {
        read_item(&mut self.errors, node, section.name, section.settings, needed, also)
    }

    fn lookup(&mut self, leaf: &Leaf<'_>) -> Vec<&'static Declaration> {
        let path = leaf.path.as_str();
        let found = self.vocabulary.find(path);
        if found.is_empty() {
            if self.vocabulary.is_table(path) {
                self.errors.add(&leaf.node.span, path, "this is a table: write { name = value }");
            } else {
                let fault = self
                    .of_other_program("setting", path)
                    .or_else(|| self.of_another(path))
                    .unwrap_or_else(|| {
                        Fault::unknown("setting", path, &self.vocabulary.paths(path))
                    });
                self.errors.add(&leaf.key_span, path, fault);
            }
        }
        found
    }

    fn durability_rules(&self, engine: &str) -> &'static [DurabilityRule] {
        self.catalog.durability_rules(engine)
    }
}

/// The values that `target.engine` or `workload.probe` takes in any configuration.
fn owners<'a>(root: &'a Node, section: &str, path: &str) -> Vec<&'a Node> {
    let of_path = |leaves: Vec<Leaf<'a>>| {
        leaves.into_iter().filter(|leaf| leaf.path == path).map(|leaf| leaf.node)
    };
    let varied = of_path(root.leaves_of("factors", "")).flat_map(Node::elements);
    let linked = root.tables("level").iter().flat_map(|level| of_path(level.leaves_of("set", "")));
    of_path(root.leaves_of(section, section)).chain(varied).chain(linked).collect()
}

/// Where each setting stands, for objections of engines and probes; of a table, where it begins.
fn spans(root: &Node, catalog: &Catalog) -> BTreeMap<String, Range<usize>> {
    let mut spans = BTreeMap::new();
    let searches = catalog.searches.iter().map(|search| search.section.name);
    for section in catalog.factor_sections().chain(searches) {
        if let Some(entry) = root.get(section) {
            insert_spans(&mut spans, section, entry);
        }
    }
    for search in catalog.searches {
        let settings =
            root.tables(search.list.name).iter().filter_map(|table| table.value(search.about));
        spans
            .extend(settings.filter_map(|node| Some((node.text()?.to_owned(), node.span.clone()))));
    }
    // A setting that is varied is discussed where its levels stand.
    let varied = root.leaves_of("factors", "");
    let linked = root.tables("level").iter().rev().flat_map(|level| level.leaves_of("set", ""));
    spans.extend(varied.into_iter().chain(linked).map(|leaf| (leaf.path, leaf.node.span.clone())));
    spans
}

/// Adds the places of a value, or of a table and of all in it.
fn insert_spans(spans: &mut BTreeMap<String, Range<usize>>, path: &str, entry: &Entry) {
    let is_table = matches!(entry.node.content, Content::Table(_));
    let span = if is_table { &entry.key_span } else { &entry.node.span };
    spans.insert(path.to_owned(), span.clone());
    for entry in entry.node.entries() {
        insert_spans(spans, &format!("{path}.{}", entry.key), entry);
    }
}
