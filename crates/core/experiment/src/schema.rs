//! A JSON Schema of the experiment file, for editors.

use crate::common::{ENGINE, PROBE};
use crate::file::{LEVEL, MANUAL, NETWORK, OBSERVE, PREDICT, SETTINGS, VOLUME};
use crate::human::{BANDWIDTH_MAX, BANDWIDTH_MIN, DURATION_S_MAX, RATE_MAX, RATE_MIN};
use crate::{Catalog, Declaration, Kind};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of an experiment file with these engines and probes.
pub fn schema(catalog: &Catalog) -> Value {
    let mut properties = Map::new();
    for (section, doc) in catalog.all_sections() {
        let mut schema = match section {
            // With the setting that selects the engine or the probe.
            "target" | "workload" => {
                let owners = if section == "target" { &catalog.engines } else { &catalog.probes };
                let owned = owners.iter().flat_map(|(owner, settings)| {
                    settings.iter().map(move |setting| Entry::owned(owner, setting))
                });
                table(section, SETTINGS.iter().map(Entry::common).chain(owned))
            }
            "network" => common_table("network", NETWORK),
            "observe" => common_table("observe", OBSERVE),
            "factors" => factors(catalog),
            "level" => list(&level()),
            "exclude" => list(&json!({ "type": "object", "minProperties": 1 })),
            "volume" => list(&required(common_table("volume", VOLUME), &["name", "path"])),
            "predict" => list(&required(
                common_table("predict", PREDICT),
                &["name", "rows", "rows_per_page"],
            )),
            "manual" => list(&required(common_table("manual", MANUAL), &["factor", "text"])),
            "design" => common_table("design", catalog.designs.settings),
            "extension" => {
                let table = common_table("extension", catalog.designs.extension);
                list(&required(table, &["kind"]))
            }
            "report" => report(),
            other => other_table(other, catalog),
        };
        schema["description"] = json!(doc);
        properties.insert(section.into(), schema);
    }
    let engines: Vec<&str> = catalog.engines.iter().map(|(name, _)| *name).collect();
    let probes: Vec<&str> = catalog.probes.iter().map(|(name, _)| *name).collect();
    properties["target"]["properties"]["engine"]["enum"] = json!(engines);
    properties["workload"]["properties"]["probe"]["enum"] = json!(probes);
    properties["volume"]["items"]["properties"]["throttle"]["minProperties"] = json!(1);
    properties["experiment"]["required"] = json!(["name"]);
    // The second form of repeats.blocks is the adaptive one.
    properties["repeats"]["properties"]["blocks"]["anyOf"][1]["required"] =
        json!(["min", "max", "until"]);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Steelbench experiment",
        "type": "object",
        "additionalProperties": false,
        "required": ["experiment"],
        "properties": properties,
    })
}

/// Key of the engines or probes that have a setting: an annotation, which validators ignore.
const OWNERS: &str = "x-used-by";

/// A setting's path and the schema of its values.
struct Entry {
    path: &'static str,
    schema: Value,
}

impl Entry {
    fn common(setting: &Declaration) -> Self {
        Self { path: setting.path, schema: value_schema(setting) }
    }

    /// The entry of a setting that some engines or probes have.
    fn owned(owner: &str, setting: &Declaration) -> Self {
        let mut entry = Self::common(setting);
        entry.schema[OWNERS] = json!([owner]);
        entry
    }
}

fn common_table(section: &str, settings: &[Declaration]) -> Value {
    table(section, settings.iter().map(Entry::common))
}

fn table(section: &str, settings: impl Iterator<Item = Entry>) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    for Entry { path, schema: values } in settings {
        if let Some(path) = path.strip_prefix(section).and_then(|path| path.strip_prefix('.')) {
            insert(&mut schema, path, values);
        }
    }
    schema
}

/// Puts a setting at its place below a table; `a.b` lies in a table `a`, `a.*` allows any key
/// there, `a.*.b` any key with a table that has `b`.
fn insert(table: &mut Value, path: &str, values: Value) {
    match path.split_once('.') {
        None if path == "*" => {
            let place = &mut table["additionalProperties"];
            if *place == json!(false) {
                *place = Value::Null;
            }
            allow(place, values);
        }
        None => allow(&mut table["properties"][path], values),
        Some((first, rest)) => {
            let place = match first {
                "*" => &mut table["additionalProperties"],
                _ => &mut table["properties"][first],
            };
            if *place == json!(false) {
                *place = Value::Null;
            }
            let is_table = |schema: &Value| schema["type"] == "object";
            let schemas = place["anyOf"].as_array();
            if !is_table(place) && !schemas.is_some_and(|schemas| schemas.iter().any(is_table)) {
                allow(
                    place,
                    json!({ "type": "object", "additionalProperties": false, "properties": {} }),
                );
            }
            let nested = match place.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(schemas) => schemas.iter_mut().find(|schema| is_table(schema)),
                None => Some(place),
            };
            if let Some(nested) = nested {
                insert(nested, rest, values);
            }
        }
    }
}

/// Allows more values: those of a setting that is one value or a table, as `repeats.blocks` is, or
/// of which two engines accept different values.
fn allow(place: &mut Value, schema: Value) {
    if place.is_null() {
        *place = schema;
    } else if let Some(schemas) = place.get_mut("anyOf").and_then(Value::as_array_mut) {
        if !schemas.iter_mut().any(|known| joins(known, &schema)) {
            schemas.push(schema);
        }
    } else if !joins(place, &schema) {
        *place = json!({ "anyOf": [place.take(), schema] });
    }
}

/// Adds the owners of an equal schema; false if the schemas differ.
fn joins(value: &mut Value, other: &Value) -> bool {
    let without_owners = |schema: &Value| {
        let mut schema = schema.clone();
        if let Some(keys) = schema.as_object_mut() {
            keys.remove(OWNERS);
        }
        schema
    };
    let is_equal = without_owners(value) == without_owners(other);
    if is_equal && let Some(more) = other[OWNERS].as_array() {
        let owners = value[OWNERS].as_array().into_iter().flatten();
        let all: Vec<&Value> = owners.chain(more).collect();
        value[OWNERS] = json!(all);
    }
    is_equal
}

fn value_schema(setting: &Declaration) -> Value {
    let whole = |min, max| json!({ "type": ["integer", "string"], "minimum": min, "maximum": max });
    let number = json!(["number", "string"]);
    let real =
        |lowest: &str, min: f64, max: f64| json!({ "type": number, lowest: min, "maximum": max });
    let mut schema = match setting.kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Count { min, max } | Kind::Size { min, max } => whole(min, max),
        Kind::Bandwidth => whole(BANDWIDTH_MIN, BANDWIDTH_MAX),
        Kind::Duration => real("minimum", 0.0, DURATION_S_MAX),
        Kind::PositiveDuration => real("exclusiveMinimum", 0.0, DURATION_S_MAX),
        Kind::Rate => real("minimum", RATE_MIN, RATE_MAX),
        Kind::Share => real("minimum", 0.0, 1.0),
        Kind::Number { min, max } => real("minimum", min, max),
        Kind::MaybeEmptyText => json!({ "type": "string" }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::TextList => {
            json!({ "type": ["string", "array"], "items": { "type": "string" }, "minItems": 1 })
        }
        Kind::ScalarList => json!({
            "type": ["string", "array"],
            "items": { "type": ["number", "string"] },
            "minItems": 1
        }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Scalar => json!({ "type": ["boolean", "number", "string"] }),
    };
    if !setting.kind.units().is_empty() {
        schema["pattern"] = json!(pattern(setting.kind.units()));
    }
    schema["description"] = json!(setting.doc);
    if let Some(default) = setting.default {
        schema["default"] =
            if setting.kind == Kind::Bool { json!(default == "true") } else { json!(default) };
    }
    schema
}

/// A pattern of texts with one of these units, in small letters or capitals.
fn pattern(units: &[(&str, f64)]) -> String {
    let units: Vec<String> = units
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, _)| {
            name.chars()
                .map(|c| match c {
                    c if c.is_ascii_alphabetic() => format!("[{c}{}]", c.to_ascii_uppercase()),
                    c => format!("{c}"),
                })
                .collect::<String>()
                .replace('/', "\\s*/\\s*")
        })
        .collect();
    format!("^\\s*[-+]?[0-9_]*\\.?[0-9_]+\\s*({})?\\s*$", units.join("|"))
}

fn factors(catalog: &Catalog) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": {},
        "patternProperties": {} });
    let owned = catalog.engines.iter().chain(&catalog.probes).flat_map(|(_, settings)| *settings);
    let selecting =
        SETTINGS.iter().filter(|setting| [ENGINE.path(), PROBE.path()].contains(&setting.path));
    let sections = catalog.sections.iter().flat_map(|section| section.settings);
    for setting in owned.chain(NETWORK).chain(OBSERVE).chain(sections).chain(selecting) {
        let place = if setting.path.contains('*') {
            let pattern = setting.path.replace('.', "\\.").replace('*', ".+");
            &mut schema["patternProperties"][format!("^{pattern}$")]
        } else {
            &mut schema["properties"][setting.path]
        };
        if place.is_null() {
            *place = json!({ "type": "array", "minItems": 1, "description": setting.doc });
        }
        allow(&mut place["items"], value_schema(setting));
    }
    schema
}

fn level() -> Value {
    let mut schema = required(common_table("level", LEVEL), &["factor", "name"]);
    schema["properties"]["set"] =
        json!({ "type": "object", "description": "The settings of the level, by dotted path." });
    schema
}

/// A section of a guest, or one of core's.
fn other_table(name: &str, catalog: &Catalog) -> Value {
    if let Some(search) = catalog.searches.iter().find(|search| search.list.name == name) {
        let mut schema = required(common_table(name, search.list.settings), &[search.about]);
        (search.schema)(&mut schema);
        return list(&schema);
    }
    let searches = catalog.searches.iter().map(|search| &search.section);
    let found = searches.chain(catalog.guest_sections()).find(|section| section.name == name);
    common_table(name, found.map_or(SETTINGS, |section| section.settings))
}

fn report() -> Value {
    let mut schema = common_table("report", SETTINGS);
    schema["properties"]["baseline"] = json!({
        "type": "object",
        "description": "The configuration to compare the others with: a level for each factor; \
                        default: the first level.",
    });
    schema
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn required(mut schema: Value, keys: &[&str]) -> Value {
    schema["required"] = json!(keys);
    schema
}
