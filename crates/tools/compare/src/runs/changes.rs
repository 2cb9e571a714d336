//! Pairs of the same configurations of two runs, and what differs around them.

use analysis::response::distinct;
use experiment::file::SEED;
use observations::{ConfigurationRecord, Environment, Recording, order};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A configuration of one run and the same one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Position in the first run.
    pub from: usize,
    /// Position in the second run.
    pub to: usize,
    /// The criterion of the match.
    pub by: MatchedBy,
}

/// Criterion by which configurations of different runs match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// All settings, defaults included.
    Settings,
    /// The levels of all factors; another setting differs.
    Levels,
}

/// Something that differs; `None` where a run does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The name: `kernel`, `engines.sqlite.version`.
    pub what: String,
    /// In the first run.
    pub from: Option<String>,
    /// In the second run.
    pub to: Option<String>,
}

/// A setting that differs in matched configurations; values are JSON text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// The setting and its values.
    #[serde(flatten)]
    pub change: Change,
    /// Labels of the configurations, in the first run; empty when it differs in all of them.
    pub configurations: Vec<String>,
}

/// A factor that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactorChange {
    /// Name of the factor.
    pub factor: String,
    /// The levels in the first run; `None` when it is not a factor there.
    pub from: Option<Vec<String>>,
    /// The levels in the second run.
    pub to: Option<Vec<String>>,
}

/// Returns the differences between two machines, by the names of the recorded environment.
pub fn environment(from: Option<&Environment>, to: Option<&Environment>) -> Vec<Change> {
    let (from, to) = (facts(from), facts(to));
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| match (from.get(name), to.get(name)) {
            (from, to) if from == to => None,
            (from, to) => Some(Change { what: name.clone(), from: from.cloned(), to: to.cloned() }),
        })
        .collect()
}

/// Every fact with its dotted name.
fn facts(environment: Option<&Environment>) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    // An environment is plain data and can always be written.
    let value = environment.and_then(|environment| serde_json::to_value(environment).ok());
    flatten("", &value.unwrap_or_default(), &mut facts);
    facts
}

fn flatten(name: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    let below =
        |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Null => {}
        Value::Object(object) => {
            // Free space is different in any two runs and says little.
            let all =
                object.iter().filter(|(part, _)| part.as_str() != "free_bytes" && *part != "name");
            all.for_each(|(part, value)| flatten(&below(part), value, facts));
        }
        // Volumes have names; options are facts by themselves.
        Value::Array(items) => items.iter().for_each(|item| match (item.get("name"), item) {
            (Some(Value::String(text)), _) => flatten(&below(text), item, facts),
            (_, Value::String(option)) => flatten(&below(option), &Value::Bool(true), facts),
            (_, other) => flatten(&below(&other.to_string()), &Value::Bool(true), facts),
        }),
        Value::String(text) => drop(facts.insert(name.to_owned(), text.clone())),
        other => drop(facts.insert(name.to_owned(), other.to_string())),
    }
}

/// Returns the differences in settings of matched configurations, and in the seed.
pub fn settings(from: &Recording, to: &Recording, matches: &[Match]) -> Vec<SettingChange> {
    let mut found: Vec<SettingChange> = Vec::new();
    for row in matches {
        let (a, b) = (&from.configurations[row.from], &to.configurations[row.to]);
        for change in differing(a, b) {
            match found.iter_mut().find(|other| other.change == change) {
                Some(other) => other.configurations.push(a.label.clone()),
                None => found.push(SettingChange { change, configurations: vec![a.label.clone()] }),
            }
        }
    }
    for change in &mut found {
        if change.configurations.len() == matches.len() {
            change.configurations.clear();
        }
    }
    order::sort(&mut found, &|a, b| a.change.what.cmp(&b.change.what));
    let [seed_from, seed_to] = [from, to].map(|recorded| recorded.run.seed);
    if seed_from != seed_to {
        let [from, to] = [seed_from, seed_to].map(|seed| Some(seed.to_string()));
        let change = Change { what: SEED.path().to_owned(), from, to };
        found.push(SettingChange { change, configurations: Vec::new() });
    }
    found
}

fn differing(from: &ConfigurationRecord, to: &ConfigurationRecord) -> Vec<Change> {
    let value = |configuration_record: &ConfigurationRecord, path: &str| {
        configuration_record.settings.get(path).map(ToString::to_string)
    };
    let paths: BTreeSet<&String> = from.settings.keys().chain(to.settings.keys()).collect();
    let differ =
        paths.into_iter().filter(|path| from.settings.get(*path) != to.settings.get(*path));
    let changes = differ.map(|path| Change {
        what: path.clone(),
        from: value(from, path),
        to: value(to, path),
    });
    changes.filter(|change| change.from != change.to).collect()
}

/// Factors that only one run has, or with other levels.
pub fn factors(from: &Recording, to: &Recording) -> Vec<FactorChange> {
    let levels = |recording: &Recording, name: &str| {
        let factor = recording.factors.iter().find(|factor| factor.name == name);
        factor.map(|factor| factor.levels.clone())
    };
    let names = from.factors.iter().chain(&to.factors).map(|factor| factor.name.as_str());
    let change = |name: &str| FactorChange {
        factor: name.to_owned(),
        from: levels(from, name),
        to: levels(to, name),
    };
    distinct(names).into_iter().map(change).filter(|change| change.from != change.to).collect()
}

/// For each configuration of the first run its position in the second, if it is there.
pub fn positions(from: &Recording, to: &Recording) -> Vec<Option<usize>> {
    let mut positions = vec![None; from.configurations.len()];
    for pair in &matching(from, to) {
        positions[pair.from] = Some(pair.to);
    }
    positions
}

/// Each configuration of the first run with the one of the second that has the same settings, else
/// the same levels. Each belongs to one match at most.
pub fn matching(from: &Recording, to: &Recording) -> Vec<Match> {
    type Identity = fn(&ConfigurationRecord) -> String;
    let mut matches: Vec<Match> = Vec::new();
    let (mut from_free, mut to_free) =
        (vec![true; from.configurations.len()], vec![true; to.configurations.len()]);
    // In any order: a file may name its factors in another one.
    let levels = |configuration_record: &ConfigurationRecord| {
        let mut levels: Vec<_> =
            configuration_record.levels.iter().map(|level| (&level.factor, &level.level)).collect();
        levels.sort_unstable();
        format!("{levels:?}")
    };
    let identities: [(MatchedBy, Identity); 2] = [
        (MatchedBy::Settings, |configuration| configuration.key.clone()),
        (MatchedBy::Levels, levels),
    ];
    for (by, identity) in identities {
        let mut others: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (other, record) in
            to.configurations.iter().enumerate().filter(|(other, _)| to_free[*other])
        {
            others.entry(identity(record)).or_default().push_back(other);
        }
        for (at, configuration) in from.configurations.iter().enumerate() {
            let Some(same) = others.get_mut(&identity(configuration)).filter(|_| from_free[at])
            else {
                continue;
            };
            let Some(other) = same.pop_front() else { continue };
            (from_free[at], to_free[other]) = (false, false);
            matches.push(Match { from: at, to: other, by });
        }
    }
    order::by_key(&mut matches, &|pair| pair.from);
    matches
}
