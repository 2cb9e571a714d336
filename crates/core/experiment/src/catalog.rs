//! The settings that experiment files may give: those of engines and probes by name.

use crate::common::{ENGINE, PROBE};
use crate::design_file::EXTENSION;
use crate::error::Fault;
use crate::file::{NETWORK, OBSERVE, SECTIONS, SETTINGS, VOLUME};
use crate::sections::{AnalysisSection, CommonSection, GuestSections};
use crate::vocabulary::Vocabulary;
use crate::{Configuration, Declaration, Designs, DurabilityRule, Reach, Value};
use observations::Roles;
use std::collections::BTreeMap;

/// The levels of a setting that the example file varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExampleLevels {
    /// Path of the setting.
    pub path: &'static str,
    /// The levels.
    pub levels: [i64; 3],
}

/// The settings of one experiment's sections `[target]`, `[workload]` and `[observe]`:
/// those that every engine and probe share and those of the engines and probes by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Engine name and its `target.*` settings.
    pub engines: Vec<(&'static str, &'static [Declaration])>,
    /// Probe name and its `workload.*` settings.
    pub probes: Vec<(&'static str, &'static [Declaration])>,
    /// Engine name and its settings that weaken durability.
    pub durability: Vec<(&'static str, &'static [DurabilityRule])>,
    /// Levels in example files by the name of the probe or engine, probes first: of those for which
    /// the first setting that can be doubled says little.
    pub examples: Vec<(&'static str, ExampleLevels)>,
    /// Other names of engines, as in URLs, each with the engine's own.
    pub aliases: Vec<(&'static str, &'static str)>,
    /// Names of settings in other programs.
    pub other_names: Vec<OtherName>,
    /// Sections that hold for all engines and probes, and whose settings can be factors.
    pub sections: Vec<CommonSection>,
    /// Sections that say how results are analysed.
    pub analysis_sections: &'static [AnalysisSection],
    /// Sections of searches, which guests read by themselves.
    pub searches: &'static [GuestSections],
    /// Designs other than the grid.
    pub designs: Designs,
}

/// A setting of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherName {
    /// The program.
    pub program: &'static str,
    /// The setting's name there; one that begins with `_` has a word before it: `_count_ware`.
    pub name: &'static str,
    /// The counterpart: `use workload.warehouses`.
    pub help: &'static str,
}

impl OtherName {
    /// Returns whether a name is that of the setting.
    fn is(&self, name: &str) -> bool {
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        name == self.name
            || self.name.starts_with('_') && name.strip_suffix(self.name).is_some_and(is_word)
    }
}

/// The part of a list that is of an engine or a probe; empty if it is not known.
pub(crate) fn owned<T>(owners: &[(&'static str, &'static [T])], name: &str) -> &'static [T] {
    owners.iter().find(|(owner, _)| *owner == name).map_or(&[], |(_, part)| part)
}

impl Catalog {
    /// All sections with their meaning, in the order in which they are explained.
    pub(crate) fn all_sections(&self) -> Vec<(&'static str, &'static str)> {
        let after_design = SECTIONS.iter().position(|(name, _)| *name == EXTENSION);
        let (first, rest) = SECTIONS.split_at(after_design.map_or(0, |at| at + 1));
        let searches = self.searches.iter().flat_map(|search| [&search.list, &search.section]);
        let with_doc = |section: &CommonSection| (section.name, section.doc);
        let searches: Vec<_> = searches.map(with_doc).collect();
        let others: Vec<_> = self.guest_sections().map(with_doc).collect();
        [first, &searches, rest, &others].concat()
    }

    /// The sections of guests with one value a key.
    pub(crate) fn guest_sections(&self) -> impl Iterator<Item = &CommonSection> {
        self.sections.iter().chain(self.analysis_sections.iter().map(|analysis| &analysis.section))
    }

    /// Sections whose settings can be factors.
    pub(crate) fn factor_sections(&self) -> impl Iterator<Item = &'static str> {
        let common = self.sections.iter().map(|section| section.name);
        ["target", "workload", "network", "observe"].into_iter().chain(common)
    }

    /// The settings that files have whatever their engines and probes.
    pub(crate) fn shared_settings(&self) -> Vocabulary {
        let common = self.sections.iter().flat_map(|section| section.settings);
        Vocabulary { settings: NETWORK.iter().chain(OBSERVE).chain(common).collect() }
    }

    /// The error of a name of an engine or a probe that is not known.
    pub(crate) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> Fault {
        match self.own_name(name).filter(|name| known.contains(name)) {
            Some(similar) => Fault::with_help(
                format!("unknown {what} `{name}`"),
                format!("{what} `{similar}` covers {name}"),
            ),
            None => Fault::unknown(what, name, known),
        }
    }

    /// A sentence for the name of a setting in another program, in any section.
    pub fn other_name(&self, name: &str) -> Option<String> {
        let key = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let OtherName { program, help, .. } =
            self.other_names.iter().find(|alias| alias.is(&key))?;
        Some(format!("{key} is a setting of {program}; {help}"))
    }

    /// A sentence for such a name.
    pub fn unknown_name(&self, what: &str, name: &str, known: &[&str]) -> String {
        let Fault { message, help } = self.unknown(what, name, known);
        help.map_or(message.clone(), |help| format!("{message}; {help}"))
    }

    /// The engine's own name for another one.
    fn own_name(&self, name: &str) -> Option<&'static str> {
        let known = self.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        known.map(|(_, known_path)| *known_path)
    }

    /// The settings of an engine that weaken durability.
    pub fn durability_rules(&self, engine: &str) -> &'static [DurabilityRule] {
        owned(&self.durability, engine)
    }

    /// The settings of a configuration by path, with the part of a machine that each can reach.
    /// A setting without a declaration can reach anything.
    pub fn reaches<'a>(
        &self,
        configuration: &'a Configuration,
    ) -> impl Iterator<Item = (&'a str, Reach, &'a Value)> {
        let mut known = self.shared_settings();
        known.add(SETTINGS);
        known.add(owned(&self.engines, &configuration.get(ENGINE)));
        known.add(owned(&self.probes, &configuration.get(PROBE)));
        configuration.settings.iter().map(move |(path, value)| {
            let declared = known.find(path).into_iter().map(|setting| setting.reach).max();
            let reach = match declared.unwrap_or(Reach::Machine) {
                Reach::TrialIf(names) => {
                    let name = path.rsplit('.').next().unwrap_or_default();
                    if names.contains(&name) { Reach::Trial } else { Reach::Machine }
                }
                reach => reach,
            };
            (path.as_str(), reach, value)
        })
    }

    /// Paths of all settings that hold command lines.
    pub(crate) fn commands(&self) -> Vec<&'static str> {
        let owned = self.engines.iter().chain(&self.probes).flat_map(|(_, settings)| *settings);
        let common = self.sections.iter().flat_map(|section| section.settings);
        let all = owned.chain(common).chain(SETTINGS).chain(VOLUME);
        all.filter(|setting| setting.reach == Reach::Command).map(|setting| setting.path).collect()
    }

    /// Roles of all settings.
    pub fn all_roles(&self) -> Roles {
        let all = self.engines.iter().chain(&self.probes).flat_map(|(_, settings)| *settings);
        all.filter_map(|setting| Some((setting.path, setting.role?))).collect()
    }

    /// Roles of the settings that configurations with these settings can have: those that their
    /// engines and probes declare. What this version does not know has none.
    pub fn roles<'a>(
        &self,
        configurations: impl IntoIterator<Item = &'a BTreeMap<String, Value>>,
    ) -> Roles {
        configurations
            .into_iter()
            .flat_map(|settings| {
                let engine = owned(&self.engines, &ENGINE.value_in(settings));
                let probe = owned(&self.probes, &PROBE.value_in(settings));
                engine.iter().chain(probe)
            })
            .chain([&ENGINE.declaration])
            .filter_map(|setting| Some((setting.path, setting.role?)))
            .collect()
    }
}
