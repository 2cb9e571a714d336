//! A JSON Schema of the experiment file, for editors.

use crate::file_settings::{LEVEL, MANUAL, OBSERVE, SECTIONS, SETTINGS, VOLUME};
use crate::{Catalog, Kind, Setting};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of an experiment file with these engines and probes.
pub fn schema(catalog: &Catalog) -> Value {
    let mut properties = Map::new();
    for (section, doc) in SECTIONS {
        let mut schema = match *section {
            "target" => varied("target", catalog.engines.iter().flat_map(|(_, settings)| *settings)),
            "workload" => varied("workload", catalog.probes.iter().flat_map(|(_, settings)| *settings)),
            "observe" => table("observe", OBSERVE.iter()),
            "factors" => factors(catalog),
            "level" => list(&level()),
            "exclude" => list(&json!({ "type": "object" })),
            "volume" => list(&required(table("volume", VOLUME.iter()), &["name", "path"])),
            "manual" => list(&required(table("manual", MANUAL.iter()), &["factor", "text"])),
            "report" => report(),
            other => table(other, SETTINGS.iter()),
        };
        schema["description"] = json!(doc);
        properties.insert((*section).into(), schema);
    }
    let engines: Vec<&str> = catalog.engines.iter().map(|(name, _)| *name).collect();
    let probes: Vec<&str> = catalog.probes.iter().map(|(name, _)| *name).collect();
    properties["target"]["properties"]["engine"]["enum"] = json!(engines);
    properties["workload"]["properties"]["probe"]["enum"] = json!(probes);
    properties["experiment"]["required"] = json!(["name"]);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Steelbench experiment",
        "type": "object",
        "additionalProperties": false,
        "required": ["experiment"],
        "properties": properties,
    })
}

/// The schema of a section with the settings of its engines or probes and the one that selects them.
fn varied<'a>(section: &str, settings: impl Iterator<Item = &'a Setting>) -> Value {
    table(section, SETTINGS.iter().chain(settings))
}

fn table<'a>(section: &str, settings: impl Iterator<Item = &'a Setting>) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    for setting in settings {
        let Some(path) = setting.path.strip_prefix(section).and_then(|path| path.strip_prefix('.')) else {
            continue;
        };
        insert(&mut schema, path, setting);
    }
    schema
}

/// Puts a setting at its place below a table; `a.b` lies in a table `a`, `a.*` allows any key there.
fn insert(table: &mut Value, path: &str, setting: &Setting) {
    match path.split_once('.') {
        None if path == "*" => table["additionalProperties"] = of(setting),
        None => table["properties"][path] = of(setting),
        Some((first, rest)) => {
            let place = &mut table["properties"][first];
            let nested = json!({ "type": "object", "additionalProperties": false, "properties": {} });
            if place.is_null() {
                *place = nested;
            } else if place["type"] != "object" && place["anyOf"].is_null() {
                // A setting that is one value or a table, as repeats.blocks is.
                *place = json!({ "anyOf": [place.clone(), nested] });
            }
            if place["anyOf"].is_null() {
                insert(place, rest, setting);
            } else {
                insert(&mut place["anyOf"][1], rest, setting);
            }
        }
    }
}

fn of(setting: &Setting) -> Value {
    let mut schema = match setting.kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Count { min, max } | Kind::Size { min, max } => {
            json!({ "type": ["integer", "string"], "minimum": min, "maximum": max })
        }
        Kind::Duration => json!({ "type": ["number", "string"], "minimum": 0 }),
        Kind::Rate => json!({ "type": ["number", "string"], "exclusiveMinimum": 0 }),
        Kind::Share => json!({ "type": ["number", "string"], "minimum": 0, "maximum": 1 }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::TextList => {
            json!({ "type": ["string", "array"], "items": { "type": "string" }, "minItems": 1 })
        }
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Scalar => json!({ "type": ["boolean", "number", "string"] }),
    };
    schema["description"] = json!(setting.doc);
    if let Some(default) = setting.default {
        schema["default"] =
            if setting.kind == Kind::Bool { json!(default == "true") } else { json!(default) };
    }
    schema
}

fn factors(catalog: &Catalog) -> Value {
    let mut schema =
        json!({ "type": "object", "additionalProperties": false, "properties": {}, "patternProperties": {} });
    let owned = catalog.engines.iter().chain(&catalog.probes).flat_map(|(_, settings)| *settings);
    let selecting =
        SETTINGS.iter().filter(|setting| ["target.engine", "workload.probe"].contains(&setting.path));
    for setting in owned.chain(OBSERVE).chain(selecting) {
        let levels =
            json!({ "type": "array", "minItems": 1, "items": of(setting), "description": setting.doc });
        match setting.path.strip_suffix('*') {
            None => schema["properties"][setting.path] = levels,
            Some(prefix) => {
                schema["patternProperties"][format!("^{}.+$", prefix.replace('.', "\\."))] = levels;
            }
        }
    }
    schema
}

fn level() -> Value {
    let mut schema = required(table("level", LEVEL.iter()), &["factor", "name"]);
    schema["properties"]["set"] =
        json!({ "type": "object", "description": "The settings that the level stands for, by dotted path." });
    schema
}

fn report() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": { "baseline": {
            "type": "object",
            "description": "The configuration that the others are compared with: a level for each factor; the first one where none is given.",
        } },
    })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn required(mut schema: Value, keys: &[&str]) -> Value {
    schema["required"] = json!(keys);
    schema
}
