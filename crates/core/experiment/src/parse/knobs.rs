//! The search that `[[knob]]` and `[tune]` declare.

use super::{Reader, Values, read_as};
use crate::common::ENGINE;
use crate::document::{Leaf, Node};
use crate::durability::DURABILITY;
use crate::error::Fault;
use crate::file::{
    ALLOW_DATA_LOSS, BUDGET, CONSTRAINTS, KNOB, KNOB_SCALE, KNOB_SETTING, KNOB_UNIT, SUBJECT_TO,
    WORTH,
};
use crate::knobs::{Budget, Knob, KnobValues, Search};
use crate::{Configuration, Kind, Relation, Value, human};
use std::collections::BTreeMap;

/// Names that constraints know beside knobs and settings.
const OF_THE_MACHINE: [&str; 2] = ["memory", "cpus"];
/// Keys of a knob with values of the setting's kind.
const VALUES: [&str; 4] = ["range", "values", "special", "when"];

impl Reader<'_> {
    /// The search; `None` for a file without knobs.
    pub fn search(&mut self, core: &Values, configurations: &[Configuration]) -> Option<Search> {
        let nodes = self.root.tables("knob");
        if nodes.is_empty() {
            if self.root.get("tune").is_some() {
                let span = self.root.key_span("tune");
                self.errors.add(&span, "tune", "there is no [[knob]] to tune");
            }
            return None;
        }
        for section in ["factors", "level", "exclude", "design"] {
            if self.root.get(section).is_some() {
                let message = "a file with knobs has no factors or design; its settings are the \
                               present ones";
                self.errors.add(&self.root.key_span(section), section, message);
            }
        }
        let mut knobs: Vec<Knob> = Vec::new();
        for node in nodes {
            if let Some(knob) = self.knob(node, &knobs) {
                knobs.push(knob);
            }
        }
        let settings = configurations.first().map(|configuration| &configuration.settings);
        let empty = BTreeMap::new();
        let settings = settings.unwrap_or(&empty);
        self.check_data_loss(core, &knobs, settings);
        let constraints = self.relations(CONSTRAINTS.path(), CONSTRAINTS.value_in(core));
        self.check_names(&constraints, &knobs, settings);
        Some(Search {
            knobs,
            constraints,
            subject_to: self.limits(core),
            budget: self.budget(core),
            worth: WORTH.value_in(core),
        })
    }

    fn knob(&mut self, node: &Node, earlier: &[Knob]) -> Option<Knob> {
        let values = self.read_item(node, "knob", KNOB, &["setting"], &VALUES);
        let setting = KNOB_SETTING.value_in(&values);
        if setting.is_empty() {
            return None;
        }
        let place = node.value("setting").unwrap_or(node);
        if earlier.iter().any(|knob| knob.setting == setting) {
            self.errors.add(&place.span, &setting, "two knobs have this setting");
            return None;
        }
        let leaf = Leaf { path: setting.clone(), key_span: place.span.clone(), node: place };
        let declared = self.lookup(&leaf);
        if declared.is_empty() {
            return None;
        }
        let unit = KNOB_UNIT.value_in(&values);
        let is_log = KNOB_SCALE.value_in(&values) == "log";
        let read = |key: &str| -> Result<Option<Vec<Value>>, Fault> {
            let Some(list) = node.value(key) else { return Ok(None) };
            let scalar = Kind::Scalar;
            let values = list.elements().iter().map(|element| match (&unit, key) {
                (Some(_), "range" | "special") => human::read(scalar, element),
                _ => read_as(&declared, element),
            });
            values.collect::<Result<_, _>>().map(Some)
        };
        let (range, listed, special) = match (read("range"), read("values"), read("special")) {
            (Ok(range), Ok(listed), Ok(special)) => (range, listed, special),
            (Err(fault), ..) | (_, Err(fault), _) | (.., Err(fault)) => {
                self.errors.add(&node.span, &setting, fault);
                return None;
            }
        };
        let values = match (range, listed) {
            (Some(range), None) => range_of(&range, &special.unwrap_or_default(), is_log),
            (None, Some(_)) if special.is_some() || is_log || unit.is_some() => {
                Err("special, scale and unit belong to a range; list all values instead".into())
            }
            (None, Some(listed)) if listed.len() < 2 => Err("list two values at least".into()),
            (None, Some(listed)) => Ok(KnobValues::Listed(listed)),
            _ => Err("give either a range, such as [1, 100], or a list of values".into()),
        };
        let values = values.map_err(|fault: Fault| {
            self.errors.add(&node.span, &setting, fault);
        });
        let when = self.when(node, &setting, earlier);
        let kind = declared[0].kind;
        Some(Knob { setting, values: values.ok()?, kind, unit, when: when? })
    }

    /// `when = { journal_mode = "wal" }`: values of earlier knobs.
    fn when(
        &mut self,
        node: &Node,
        setting: &str,
        earlier: &[Knob],
    ) -> Option<Vec<(usize, Vec<Value>)>> {
        let mut when = Some(Vec::new());
        for leaf in node.leaves_of("when", "") {
            let at = earlier
                .iter()
                .position(|knob| knob.name() == leaf.path || knob.setting == leaf.path);
            let Some(at) = at else {
                let known: Vec<&str> = earlier.iter().map(Knob::name).collect();
                let fault = Fault::unknown("earlier knob", &leaf.path, &known);
                self.errors.add(&leaf.key_span, setting, fault);
                when = None;
                continue;
            };
            let elements = leaf.node.elements().iter();
            let values: Vec<Value> =
                elements.filter_map(|element| human::read(Kind::Scalar, element).ok()).collect();
            let all_known = values.iter().all(|value| match &earlier[at].values {
                KnobValues::Listed(listed) => listed.contains(value),
                KnobValues::Range { .. } => earlier[at].number(value).is_some(),
            });
            if values.is_empty() || !all_known {
                let message = format!("not a value of {}", earlier[at].name());
                self.errors.add(&leaf.node.span, setting, message);
                when = None;
            }
            when = when.map(|mut all| {
                all.push((at, values));
                all
            });
        }
        when
    }

    /// Knobs with values that can lose commits are locked.
    fn check_data_loss(&mut self, core: &Values, knobs: &[Knob], values: &Values) {
        let allowed = ALLOW_DATA_LOSS.value_in(core);
        let names: Vec<&str> = knobs.iter().map(Knob::name).collect();
        let unknown = allowed.iter().filter(|name| {
            !knobs.iter().any(|knob| *name == knob.name() || **name == knob.setting)
        });
        let span = self.root.at(ALLOW_DATA_LOSS.path()).map_or(0..0, |node| node.span.clone());
        for name in unknown {
            self.errors.add(&span, ALLOW_DATA_LOSS.path(), Fault::unknown("knob", name, &names));
        }
        let rules = self.catalog.durability_rules(&ENGINE.value_in(values));
        for (knob, node) in knobs.iter().zip(self.root.tables("knob")) {
            let extremes = knob.extremes();
            let weakening = extremes.iter().find(|value| {
                let levels = BTreeMap::from([(knob.setting.clone(), (*value).clone())]);
                rules.iter().any(|rule| rule.weakened(&levels).is_some())
                    || (knob.setting == DURABILITY.path() && value.to_string() != "full")
            });
            let Some(value) = weakening else { continue };
            if !allowed.iter().any(|name| name == knob.name() || *name == knob.setting) {
                let message = format!("a crash can lose data with {value}");
                let help = format!(
                    "name it in tune.allow_data_loss = [\"{}\"], or leave out such values",
                    knob.name()
                );
                self.errors.add(&node.span, &knob.setting, Fault::with_help(message, help));
            }
        }
    }

    fn relations(&mut self, path: &str, texts: Vec<String>) -> Vec<Relation> {
        let span = self.root.at(path).map_or(0..0, |node| node.span.clone());
        let mut relations = Vec::new();
        for text in texts {
            match Relation::parse(&text) {
                Ok(relation) => relations.push(relation),
                Err(error) => self.errors.add(&span, path, format!("`{text}`: {error}")),
            }
        }
        relations
    }

    /// Constraints name knobs, numeric settings and the machine.
    fn check_names(&mut self, constraints: &[Relation], knobs: &[Knob], values: &Values) {
        let settings = values.iter().filter(|(_, value)| value.as_f64().is_some());
        let settings = settings.map(|(path, _)| path.rsplit('.').next().unwrap_or(path));
        let known: Vec<&str> =
            knobs.iter().map(Knob::name).chain(settings).chain(OF_THE_MACHINE).collect();
        let span = self.root.at(CONSTRAINTS.path()).map_or(0..0, |node| node.span.clone());
        for name in constraints.iter().flat_map(Relation::names) {
            if !known.contains(&name) {
                let fault = Fault::unknown("knob or setting", name, &known);
                self.errors.add(&span, CONSTRAINTS.path(), fault);
            }
        }
    }

    /// Limits on responses, each of which names one.
    fn limits(&mut self, core: &Values) -> Vec<Relation> {
        let limits = self.relations(SUBJECT_TO.path(), SUBJECT_TO.value_in(core));
        let span = self.root.at(SUBJECT_TO.path()).map_or(0..0, |node| node.span.clone());
        for limit in limits.iter().filter(|limit| limit.names().len() != 1) {
            let message = format!("`{limit}`: name one response, as in \"latency_p99 <= 20 ms\"");
            self.errors.add(&span, SUBJECT_TO.path(), message);
        }
        limits
    }

    /// `"60 trials"` or a time.
    fn budget(&mut self, core: &Values) -> Budget {
        let text = BUDGET.value_in(core);
        let trials = text.strip_suffix("trials").or_else(|| text.strip_suffix("trial"));
        let budget = match trials {
            Some(number) => {
                number.trim().parse().ok().filter(|number| *number > 0).map(Budget::Trials)
            }
            None => human::read_text(Kind::PositiveDuration, &text)
                .ok()
                .and_then(|time| time.as_f64())
                .map(Budget::Time),
        };
        budget.unwrap_or_else(|| {
            let span = self.root.at(BUDGET.path()).map_or(0..0, |node| node.span.clone());
            let message = format!("`{text}` is neither a time, such as \"3 h\", nor \"60 trials\"");
            self.errors.add(&span, BUDGET.path(), message);
            Budget::Trials(1)
        })
    }
}

/// A range of two numbers, with special values outside it.
fn range_of(range: &[Value], special: &[Value], is_log: bool) -> Result<KnobValues, Fault> {
    let numbers: Vec<f64> = range.iter().filter_map(Value::as_f64).collect();
    let [low, high] = numbers[..] else {
        return Err("a range has two numbers: range = [1, 100]".into());
    };
    let all: Vec<f64> = special.iter().filter_map(Value::as_f64).collect();
    if low >= high {
        return Err(format!("the range begins at {low}, which is not below {high}").into());
    }
    if is_log && low * high <= 0.0 {
        let help = "begin the range above 0 and list 0 or -1 as special";
        return Err(Fault::with_help("a log scale cannot contain 0", help));
    }
    if all.len() != special.len() {
        return Err("special values are numbers".into());
    }
    if let Some(inside) = all.iter().find(|value| (low..=high).contains(*value)) {
        return Err(format!("the special value {inside} is in the range").into());
    }
    let is_whole = range.iter().all(|range| matches!(range, Value::Integer(_)));
    Ok(KnobValues::Range { low, high, is_log, is_whole, special: all })
}
