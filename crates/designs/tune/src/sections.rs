//! The search that `[[knob]]` and `[tune]` of a file declare.

use crate::knob::{Knob, Search};
use crate::optimiser::Domain;
use crate::relation::Relation;
use experiment::common::ENGINE;
use experiment::durability::DURABILITY;
use experiment::{
    Budget, Catalog, CommonSection, Experiment, Fault, GuestFile, GuestSearch, GuestSections, Kind,
    Leaf, Node, SectionReader, Setting, Value, read_as, read_sections, settings,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Range;

settings! {
    const TUNE_SETTINGS = [];
    /// Time or trials that the search and its confirmation may take: "3 h", "60 trials".
    BUDGET: String = "tune.budget", Kind::Text, "60 trials", Shown "\"3 h\"";
    /// Relative improvement below which a search is not worth continuing, and a setting not worth
    /// changing.
    WORTH: f64 = "tune.worth", Kind::Share, "2%";
    /// Limits on responses that a configuration must keep: "`latency_p99` <= 20 ms".
    SUBJECT_TO: Vec<String> =
        "tune.subject_to", Kind::TextList, Shown "[\"latency_p99 <= 20 ms\"]";
    /// Relations between knobs, numeric settings, `memory` and `cpus` of the machine that a
    /// configuration must keep. Sizes are in bytes.
    CONSTRAINTS: Vec<String> =
        "tune.constraints", Kind::TextList,
        Shown "[\"shared_buffers + connections * work_mem <= 0.7 * memory\"]";
    /// Knobs that may take values with which a crash loses data.
    ALLOW_DATA_LOSS: Vec<String> =
        "tune.allow_data_loss", Kind::TextList, Shown "[\"synchronous_commit\"]";
}

settings! {
    /// Keys of one `[[knob]]`, in addition to `when`.
    const KNOB_SETTINGS = [];
    /// Dotted path of the setting.
    KNOB_SETTING: String = "knob.setting", Kind::Text;
    /// Lower and upper bound of its numbers: [1, 100].
    KNOB_RANGE: Option<Value> = "knob.range", Kind::ScalarList;
    /// All its values, instead of a range.
    KNOB_VALUES: Option<Value> = "knob.values", Kind::ScalarList;
    /// Further values with a meaning of their own, such as -1 and 0.
    KNOB_SPECIAL: Option<Value> = "knob.special", Kind::ScalarList;
    /// Unit in which the range is written and the setting is given: MB, ms.
    KNOB_UNIT: Option<String> = "knob.unit", Kind::Text;
    /// Scale on which values of the range are drawn.
    KNOB_SCALE: String = "knob.scale", Kind::Choice(SCALES), "linear";
}

/// Scales of knobs.
const SCALES: &[&str] = &["linear", "log"];

const TUNE: CommonSection = CommonSection {
    name: "tune",
    doc: "The search over the knobs: its budget, limits and constraints.",
    settings: TUNE_SETTINGS,
};
const KNOB: CommonSection = CommonSection {
    name: "knob",
    doc: "A setting that `steelbench tune` searches within a range.",
    settings: KNOB_SETTINGS,
};

const USAGE: &str = "has knobs: `steelbench tune {file}` searches them, and `steelbench tune \
                     --check {file}` validates them";

/// The sections of a search.
pub const SECTIONS: GuestSections = GuestSections {
    section: TUNE,
    list: KNOB,
    about: "setting",
    schema: complete,
    read: |file, reader| {
        let budget = read(file, reader)?.budget;
        Some(GuestSearch { budget, usage: USAGE })
    },
};

/// Names that constraints know beside knobs and settings.
const OF_THE_MACHINE: [&str; 2] = ["memory", "cpus"];
/// Keys of a knob with values of the setting's kind.
const VALUES: [&str; 4] = ["range", "values", "special", "when"];

/// The search of an experiment; `None` for a file without knobs.
pub fn search(experiment: &Experiment, catalog: &Catalog) -> Option<Search> {
    read_sections(experiment, catalog, read)
}

/// Completes the schema of a knob.
fn complete(schema: &mut serde_json::Value) {
    for key in ["range", "values", "special"] {
        schema["properties"][key]["type"] = json!("array");
        schema["properties"][key]["items"] = json!({ "type": ["boolean", "number", "string"] });
    }
    schema["properties"]["when"] = json!({
        "type": "object",
        "minProperties": 1,
        "description": "Values of earlier knobs with which this one has an effect.",
    });
}

/// Reads the sections, and adds their errors to those of the file.
fn read(file: &GuestFile<'_>, reader: &mut dyn SectionReader) -> Option<Search> {
    let values = reader.read_section(&TUNE);
    Sections { root: file.root, settings: file.settings, values, reader }.search()
}

/// Values by path.
type Values = BTreeMap<String, Value>;

/// The sections of a search in a file that is being read.
struct Sections<'f> {
    root: &'f Node,
    /// The present settings.
    settings: &'f Values,
    /// The values of `[tune]`.
    values: Values,
    reader: &'f mut dyn SectionReader,
}

impl Sections<'_> {
    fn error(&mut self, span: &Range<usize>, path: &str, fault: impl Into<Fault>) {
        self.reader.add_error(span, path, fault.into());
    }

    /// Adds an error where a setting of `[tune]` stands.
    fn error_at(&mut self, path: &str, fault: impl Into<Fault>) {
        self.error(&self.root.span_at(path), path, fault);
    }

    fn search(&mut self) -> Option<Search> {
        let nodes = self.root.tables("knob");
        if nodes.is_empty() {
            if self.root.value("tune").is_some() {
                let message = "there is no [[knob]] to tune";
                self.error(&self.root.key_span("tune"), "tune", message);
            }
            return None;
        }
        for section in ["factors", "level", "exclude", "design"] {
            if self.root.value(section).is_some() {
                let message = "a file with knobs has no factors or design; its settings are the \
                               present ones";
                self.error(&self.root.key_span(section), section, message);
            }
        }
        let mut knobs: Vec<Knob> = Vec::new();
        for node in nodes {
            if let Some(knob) = self.knob(node, &knobs) {
                knobs.push(knob);
            }
        }
        self.check_data_loss(&knobs);
        let constraints = self.relations(CONSTRAINTS);
        self.check_names(&constraints, &knobs);
        Some(Search {
            knobs,
            constraints,
            subject_to: self.limits(),
            budget: self.budget(),
            worth: WORTH.value_in(&self.values),
        })
    }

    fn knob(&mut self, node: &Node, earlier: &[Knob]) -> Option<Knob> {
        let values = self.reader.read_item(node, &KNOB, &["setting"], &VALUES);
        let setting = KNOB_SETTING.value_in(&values);
        if setting.is_empty() {
            return None;
        }
        let place = node.value("setting").unwrap_or(node);
        if earlier.iter().any(|knob| knob.setting == setting) {
            self.error(&place.span, &setting, "two knobs have this setting");
            return None;
        }
        let leaf = Leaf { path: setting.clone(), key_span: place.span.clone(), node: place };
        let declared = self.reader.lookup(&leaf);
        if declared.is_empty() {
            return None;
        }
        let unit = KNOB_UNIT.value_in(&values);
        let is_log = KNOB_SCALE.value_in(&values) == "log";
        let read = |key: &str| -> Result<Option<Vec<Value>>, Fault> {
            let Some(list) = node.value(key) else { return Ok(None) };
            let values = list.elements().iter().map(|element| match (&unit, key) {
                (Some(_), "range" | "special") => Kind::Scalar.read(element),
                _ => read_as(&declared, element),
            });
            values.collect::<Result<_, _>>().map(Some)
        };
        let (range, listed, special) = match (read("range"), read("values"), read("special")) {
            (Ok(range), Ok(listed), Ok(special)) => (range, listed, special),
            (Err(fault), ..) | (_, Err(fault), _) | (.., Err(fault)) => {
                self.error(&node.span, &setting, fault);
                return None;
            }
        };
        let values = match (range, listed) {
            (Some(range), None) => {
                let domain = range_of(&range, &special.unwrap_or_default(), is_log);
                domain.map(|domain| (domain, Vec::new()))
            }
            (None, Some(_)) if special.is_some() || is_log || unit.is_some() => {
                Err("special, scale and unit belong to a range; list all values instead".into())
            }
            (None, Some(listed)) if listed.len() < 2 => Err("list two values at least".into()),
            (None, Some(listed)) => Ok((Domain::Choice(listed.len()), listed)),
            _ => Err("give either a range, such as [1, 100], or a list of values".into()),
        };
        let values = values.map_err(|fault: Fault| self.error(&node.span, &setting, fault));
        let when = self.when(node, &setting, earlier);
        let kind = declared[0].kind;
        let (domain, listed) = values.ok()?;
        Some(Knob { setting, domain, listed, kind, unit, when: when? })
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
                self.error(&leaf.key_span, setting, fault);
                when = None;
                continue;
            };
            let elements = leaf.node.elements().iter();
            let values: Vec<Value> =
                elements.filter_map(|element| Kind::Scalar.read(element).ok()).collect();
            let all_known = values.iter().all(|value| earlier[at].number(value).is_some());
            if values.is_empty() || !all_known {
                let message = format!("not a value of {}", earlier[at].name());
                self.error(&leaf.node.span, setting, message);
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
    fn check_data_loss(&mut self, knobs: &[Knob]) {
        let allowed = ALLOW_DATA_LOSS.value_in(&self.values);
        let names: Vec<&str> = knobs.iter().map(Knob::name).collect();
        let unknown = allowed.iter().filter(|name| {
            !knobs.iter().any(|knob| *name == knob.name() || **name == knob.setting)
        });
        for name in unknown {
            self.error_at(ALLOW_DATA_LOSS.path(), Fault::unknown("knob", name, &names));
        }
        let rules = self.reader.durability_rules(&ENGINE.value_in(self.settings));
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
                self.error(&node.span, &knob.setting, Fault::with_help(message, help));
            }
        }
    }

    fn relations(&mut self, setting: Setting<Vec<String>>) -> Vec<Relation> {
        let mut relations = Vec::new();
        for text in setting.value_in(&self.values) {
            match Relation::parse(&text) {
                Ok(relation) => relations.push(relation),
                Err(error) => self.error_at(setting.path(), format!("`{text}`: {error}")),
            }
        }
        relations
    }

    /// Constraints name knobs, numeric settings and the machine.
    fn check_names(&mut self, constraints: &[Relation], knobs: &[Knob]) {
        let settings = self.settings.iter().filter(|(_, value)| value.as_f64().is_some());
        let settings = settings.map(|(path, _)| path.rsplit('.').next().unwrap_or(path));
        let known: Vec<&str> =
            knobs.iter().map(Knob::name).chain(settings).chain(OF_THE_MACHINE).collect();
        for name in constraints.iter().flat_map(Relation::names) {
            if !known.contains(&name) {
                self.error_at(CONSTRAINTS.path(), Fault::unknown("knob or setting", name, &known));
            }
        }
    }

    /// Limits on responses, each of which names one.
    fn limits(&mut self) -> Vec<Relation> {
        let limits = self.relations(SUBJECT_TO);
        for limit in limits.iter().filter(|limit| limit.names().len() != 1) {
            let message = format!("`{limit}`: name one response, as in \"latency_p99 <= 20 ms\"");
            self.error_at(SUBJECT_TO.path(), message);
        }
        limits
    }

    /// `"60 trials"` or a time.
    fn budget(&mut self) -> Budget {
        let text = BUDGET.value_in(&self.values);
        let trials = text.strip_suffix("trials").or_else(|| text.strip_suffix("trial"));
        let budget = if let Some(number) = trials {
            number.trim().parse().ok().filter(|number| *number > 0).map(Budget::Trials)
        } else {
            let time = Kind::PositiveDuration.read_text(&text).ok();
            time.and_then(|time| time.as_f64()).map(Budget::Time)
        };
        budget.unwrap_or_else(|| {
            let message = format!("`{text}` is neither a time, such as \"3 h\", nor \"60 trials\"");
            self.error_at(BUDGET.path(), message);
            Budget::Trials(1)
        })
    }
}

/// A range of two numbers, with special values outside it.
fn range_of(range: &[Value], special: &[Value], is_log: bool) -> Result<Domain, Fault> {
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
    let whole = range.iter().all(|range| matches!(range, Value::Integer(_)));
    Ok(Domain::Numbers { low, high, is_log, whole, special: all })
}

#[cfg(test)]
mod tests {
    use super::{KNOB_SETTING, KNOB_SETTINGS, TUNE_SETTINGS};
    use std::collections::HashSet;

    #[test]
    fn every_setting_is_declared_once_and_its_type_holds_its_default() {
        let mut paths = HashSet::new();
        for setting in TUNE_SETTINGS.iter().chain(KNOB_SETTINGS) {
            // The reader insists on the setting of a knob.
            let holds = setting.is_consistent() || setting.path == KNOB_SETTING.path();
            assert!(holds, "{}: {:?}", setting.path, setting.default);
            assert!(paths.insert(setting.path), "{} twice", setting.path);
        }
    }
}
