//! From factors to configurations: the product of the levels, less what is excluded.

use super::factors::Condition;
use super::{FileReader, spans};
use crate::catalog::{Catalog, owned};
use crate::common::{ENGINE, PROBE};
use crate::design_runs::{Added, DesignRuns, Runs, STAGE};
use crate::document::Node;
use crate::durability::DURABILITY;
use crate::error::Fault;
use crate::experiment::Factor;
use crate::vocabulary::{Values, Vocabulary};
use crate::{Configuration, Kind, Level, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// More configurations than this are a mistake: at a second each, five blocks take half a day.
const CONFIGURATIONS_MAX: u128 = 10_000;

impl FileReader<'_> {
    /// All configurations of a grid or of a design that are not excluded; empty where the design
    /// has errors.
    pub fn configurations(
        &mut self,
        base: &Values,
        factors: &[Factor],
        runs: &Runs,
        extensions: &[Added],
    ) -> Vec<Configuration> {
        let rules = self.root.tables("exclude").iter().filter(|rule| rule.is_table());
        let mut rules: Vec<(&Node, Option<Condition>, bool)> =
            rules.map(|rule| (rule, self.exclusion(rule, factors), false)).collect();
        let design = match runs {
            Runs::Unknown => return Vec::new(),
            Runs::Product => None,
            Runs::Design(design) => Some(design),
        };
        let Some(combinations) = self.combinations(factors, design) else { return Vec::new() };
        let names = stage_names(extensions);
        let added = extensions.iter().zip(&names).flat_map(|(extension, name)| {
            extension.runs.iter().map(move |run| (run.clone(), Some(name)))
        });
        let own_runs = combinations.into_iter().map(|levels| (levels, None));
        let mut settings = OwnerSettings {
            catalog: self.catalog,
            by_owners: HashMap::new(),
            misfits: BTreeMap::new(),
        };
        let mut kept = Vec::new();
        for (levels, stage) in own_runs.chain(added) {
            let mut keep = true;
            for (_, condition, used) in &mut rules {
                if condition.as_ref().is_some_and(|condition| matches(condition, &levels)) {
                    (*used, keep) = (true, false);
                }
            }
            if keep {
                let mut configuration = configuration(base, factors, &levels, &mut settings);
                if let Some(label) = stage {
                    let (factor, label) = (STAGE.to_owned(), label.clone());
                    configuration.levels.push(Level { factor, label });
                }
                let same =
                    || kept.iter().filter(|earlier| starts_with(earlier, &configuration)).count();
                let is_numbered = design.is_some_and(|design| (design.is_numbered)(&levels));
                let same = if is_numbered { same() } else { 0 };
                if same > 0 {
                    let label = (same + 1).to_string();
                    configuration.levels.push(Level { factor: REPEAT.to_owned(), label });
                }
                kept.push(configuration);
            }
        }
        for (rule, ..) in rules.iter().filter(|(.., used)| *used && kept.is_empty()) {
            self.errors.add(&rule.span, "exclude", "every configuration is excluded");
        }
        self.check_owners(&kept);
        if !settings.misfits.is_empty() {
            let spans = spans(self.root, self.catalog);
            for (path, fault) in settings.misfits {
                self.errors.add(spans.get(&path).unwrap_or(&(0..0)), &path, fault);
            }
        }
        kept
    }

    /// The levels of each configuration, as positions.
    fn combinations(
        &mut self,
        factors: &[Factor],
        design: Option<&DesignRuns>,
    ) -> Option<Vec<Vec<usize>>> {
        if let Some(levels) = design.and_then(|design| design.levels.clone()) {
            return Some(levels);
        }
        let number = self.number_of_configurations(factors)?;
        Some((0..number).map(|number| levels_of(number, factors)).collect())
    }

    /// The product of the numbers of levels, counted before anything is made; `None` if it is too
    /// large.
    fn number_of_configurations(&mut self, factors: &[Factor]) -> Option<usize> {
        let levels = || factors.iter().map(|factor| factor.levels.len() as u128);
        // A factor without levels is an error of its own.
        let product = levels().try_fold(1_u128, u128::checked_mul);
        if let Some(product) = product.filter(|product| *product <= CONFIGURATIONS_MAX) {
            return Some(product as usize);
        }
        let number =
            product.map_or_else(|| "more than 10^38".into(), |product| product.to_string());
        let counts: Vec<String> = levels().map(|levels| levels.to_string()).collect();
        let message = format!(
            "{} = {number} configurations; the maximum is {CONFIGURATIONS_MAX}: use fewer \
             factors or levels",
            counts.join(" x ")
        );
        self.errors.add(&self.section_or_levels("factors"), "factors", message);
        None
    }

    /// Returns the begin of a section; without it, where the linked levels do.
    fn section_or_levels(&self, section: &str) -> Range<usize> {
        let section = self.root.get(section).map(|entry| entry.key_span.clone());
        section.unwrap_or_else(|| self.root.span_at("level"))
    }

    fn exclusion(&mut self, rule: &Node, factors: &[Factor]) -> Option<Condition> {
        let condition = self.condition(rule, "exclude", factors)?;
        if condition.is_empty() {
            let message = "no factor given; name the levels whose combination is omitted";
            self.errors.add(&rule.span, "exclude", message);
            return None;
        }
        Some(condition)
    }

    /// Linked levels can leave a configuration without an engine or a probe.
    fn check_owners(&mut self, configurations: &[Configuration]) {
        for path in OWNERS {
            let missing =
                configurations.iter().find(|configuration| configuration.value(path).is_none());
            // Where nothing gives it, that is an error already.
            let is_set = configurations.iter().any(|some| some.value(path).is_some());
            let Some(missing) = missing.filter(|_| is_set) else { continue };
            let message = format!(
                "missing in configuration {}: give it in its levels or in the section",
                missing.label()
            );
            let section = path.split('.').next().unwrap_or_default();
            self.errors.add(&self.section_or_levels(section), path, message);
        }
    }

    /// The configuration that `report.baseline` names: of factors that it does not name, the first
    /// level. Without a baseline: the first configuration, when there is anything to compare.
    pub fn baseline(
        &mut self,
        factors: &[Factor],
        configurations: &[Configuration],
    ) -> Option<usize> {
        let path = "report.baseline";
        let Some(node) = self.root.at(path) else {
            return (configurations.len() > 1).then_some(0);
        };
        let condition = self.condition(node, path, factors)?;
        if let Some((factor, _)) = condition.iter().find(|(_, levels)| levels.len() != 1) {
            let message =
                format!("give one level of {} as the baseline, not several", factors[*factor].name);
            self.errors.add(&node.span, path, message);
            return None;
        }
        let labels: Vec<String> = factors
            .iter()
            .enumerate()
            .map(|(position, factor)| {
                let named = condition
                    .get(&position)
                    .and_then(|levels| levels.first())
                    .copied()
                    .unwrap_or(0);
                factor.levels.get(named).map(|level| level.label.clone())
            })
            .collect::<Option<_>>()?;
        let position = configurations.iter().position(|configuration| {
            configuration.levels.iter().map(|level| &level.label).eq(&labels)
        });
        // Where there are no configurations, that is an error already.
        if position.is_none() && !configurations.is_empty() {
            let message = if self.root.tables("exclude").is_empty() {
                "this configuration is not a run of the design; name one that `check` lists \
                 without a baseline"
            } else {
                "this configuration is excluded"
            };
            self.errors.add(&node.span, path, message);
        }
        position
    }
}

/// The position of each factor's level in configuration `number`, the last factor fastest.
fn levels_of(mut number: usize, factors: &[Factor]) -> Vec<usize> {
    let mut levels = vec![0; factors.len()];
    for (position, factor) in factors.iter().enumerate().rev() {
        levels[position] = number % factor.levels.len();
        number /= factor.levels.len();
    }
    levels
}

/// Names of the extensions: those after the first of a kind have a number.
fn stage_names(extensions: &[Added]) -> Vec<String> {
    let kinds: Vec<&str> = extensions.iter().map(|extension| extension.kind.as_str()).collect();
    let names = kinds.iter().enumerate().map(|(at, kind)| {
        let earlier = kinds[..at].iter().filter(|other| *other == kind).count();
        if earlier == 0 { (*kind).to_owned() } else { format!("{kind}-{}", earlier + 1) }
    });
    names.collect()
}

/// Names the further runs of the same levels in a design: centre points.
const REPEAT: &str = "run";

/// Returns whether a configuration has the levels of another, whatever run of them it is.
fn starts_with(configuration: &Configuration, other: &Configuration) -> bool {
    configuration.levels.starts_with(&other.levels)
}

fn matches(condition: &Condition, levels: &[usize]) -> bool {
    condition.iter().all(|(factor, excluded)| excluded.contains(&levels[*factor]))
}

fn configuration(
    base: &Values,
    factors: &[Factor],
    levels: &[usize],
    overrides: &mut OwnerSettings<'_>,
) -> Configuration {
    let mut settings = base.clone();
    let chosen = factors.iter().zip(levels).map(|(factor, level)| (factor, &factor.levels[*level]));
    let mut labels = Vec::with_capacity(factors.len());
    for (factor, level) in chosen {
        settings.extend(level.set.iter().cloned());
        labels.push(Level { factor: factor.name.clone(), label: level.label.clone() });
    }
    let Owned { vocabulary: known, defaults, shared } = overrides.for_owners(&settings);
    settings.retain(|path, _| OWNERS.contains(&path.as_str()) || known.has(path));
    let mut misfits = Vec::new();
    for (path, kind) in shared {
        let Some(value) = settings.get_mut(*path) else { continue };
        match kind.read_again(value) {
            Ok(message) => *value = message,
            Err(fault) => misfits.push((*path, fault)),
        }
    }
    for (path, default) in defaults {
        settings.entry(path.clone()).or_insert_with(|| default.clone());
    }
    let rules = overrides.catalog.durability_rules(&ENGINE.value_in(&settings));
    let contradictions = rules.iter().filter_map(|rule| rule.apply(&mut settings).err());
    misfits.extend(contradictions.map(|fault| (DURABILITY.path(), fault)));
    let configuration = Configuration { levels: labels, settings, files: Vec::new() };
    for (path, Fault { message, help }) in misfits {
        let message = format!("in configuration {}: {message}", configuration.label());
        overrides.misfits.entry(path.into()).or_insert(Fault { message, help });
    }
    configuration
}

/// The settings that say whose settings the others are.
const OWNERS: [&str; 2] = [ENGINE.path(), PROBE.path()];

/// The settings, with defaults, of each engine together with each probe.
struct OwnerSettings<'a> {
    catalog: &'a Catalog,
    by_owners: HashMap<[String; 2], Owned>,
    /// Values that another engine or probe takes and this one does not, the first of each path.
    misfits: BTreeMap<String, Fault>,
}

struct Owned {
    vocabulary: Vocabulary,
    defaults: Vec<(String, Value)>,
    /// Settings that another engine or probe reads in another way.
    shared: Vec<(&'static str, Kind)>,
}

impl OwnerSettings<'_> {
    fn for_owners(&mut self, settings: &BTreeMap<String, Value>) -> &Owned {
        let names =
            OWNERS.map(|path| settings.get(path).map(ToString::to_string).unwrap_or_default());
        let catalog = self.catalog;
        self.by_owners.entry(names).or_insert_with_key(|[engine, probe]| {
            let mut known = catalog.shared_settings();
            let mut shared = Vec::new();
            for (name, all) in [(engine, &catalog.engines), (probe, &catalog.probes)] {
                let mine = owned(all, name);
                known.add(mine);
                shared.extend(
                    mine.iter()
                        .filter(|mine| {
                            let mut others = all.iter().flat_map(|(_, settings)| *settings);
                            others.any(|other| other.path == mine.path && other.kind != mine.kind)
                        })
                        .map(|setting| (setting.path, setting.kind)),
                );
            }
            let defaults = known
                .with_default()
                .filter_map(|setting| {
                    Some((setting.path.to_owned(), setting.kind.read_text(setting.default?).ok()?))
                })
                .collect();
            Owned { vocabulary: known, defaults, shared }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::levels_of;
    use crate::experiment::{Factor, FactorLevel};

    #[test]
    fn the_last_factor_is_the_fastest() {
        let factor = |count: usize| Factor {
            name: count.to_string(),
            levels: vec![
                FactorLevel { label: String::new(), set: Vec::new(), if_installed: false };
                count
            ],
            hard_to_change: false,
            manual: None,
        };
        let factors = [factor(2), factor(3)];
        let all: Vec<Vec<usize>> = (0..6).map(|number| levels_of(number, &factors)).collect();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }
}
