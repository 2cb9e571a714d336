//! The JSON Schema, judged by an independent validator where there is one.

use crate::common::{DESIGN, EVERYTHING, catalog, parse};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn every_setting_is_in_it() {
    let schema = experiment::schema(&catalog());
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let at = |path: &str| {
        let place = format!("/properties/{}", path.replace('.', "/properties/"));
        schema.pointer(&place).cloned().unwrap_or_default()
    };
    assert_eq!(at("target.engine")["enum"], json!(["sqlite", "server"]));
    assert_eq!(at("workload.probe")["enum"], json!(["insert", "scan"]));
    assert_eq!(
        at("target.settings")["additionalProperties"]["type"],
        json!(["boolean", "number", "string"])
    );
    assert_eq!(at("workload.key")["enum"], json!(["random", "sequential"]));
    assert_eq!(at("workload.key")["default"], "random");
    assert_eq!(at("observe.waits")["default"], true);
    // Every setting of every engine and probe can be given and varied, and is explained.
    let catalog = catalog();
    for setting in catalog.engines.iter().chain(&catalog.probes).flat_map(|(_, settings)| *settings)
    {
        let factors = &schema["properties"]["factors"];
        if setting.path.ends_with('*') {
            assert!(factors["patternProperties"]["^target\\.settings\\..+$"].is_object());
            continue;
        }
        assert!(at(setting.path).is_object(), "{}", setting.path);
        assert_eq!(factors["properties"][setting.path]["description"], setting.doc);
    }
    // Two engines accept different values for this one.
    assert_eq!(at("target.file_growth")["anyOf"].as_array().map(Vec::len), Some(2));
    assert_eq!(at("target.data_files")["x-used-by"], json!(["sqlite", "server"]));
    assert_eq!(at("target.file_growth")["anyOf"][1]["x-used-by"], json!(["server"]));
    assert_eq!(at("repeats.blocks")["anyOf"][1]["required"], json!(["min", "max", "until"]));
}

/// Files that parse must be valid, and what the schema can know to be wrong must not be.
#[test]
fn an_independent_validator_agrees() {
    let good = [
        DESIGN.to_owned(),
        EVERYTHING.to_owned(),
        experiment::example(&catalog(), "sqlite", "insert"),
    ];
    let replaced = |old: &str, new: &str| {
        assert!(DESIGN.contains(old), "{old}");
        DESIGN.replacen(old, new, 1)
    };
    let bad = [
        replaced("connections = 16", "conections = 16"),
        replaced("[repeats]", "[repeat]"),
        replaced("blocks = 5", "blocks = 0"),
        replaced("blocks = 5", "blocks = { min = 3 }"),
        replaced("rows = \"320k\"", "rows = 0"),
        replaced("rows = \"320k\"", "rows = \"many\""),
        replaced("rows = \"320k\"", "rows = true"),
        replaced("rows = \"320k\"", "duration = \"5 parsecs\""),
        replaced("rows = \"320k\"", "duration = -1"),
        replaced("key = \"random\"", "key = \"randon\""),
        replaced("\"sqlite\"", "\"sqlit\""),
        replaced("\"target.data_files\" = [1, 2, 4, 8, 16]", "\"target.datafiles\" = [1]"),
        replaced("\"target.data_files\" = [1, 2, 4, 8, 16]", "\"target.data_files\" = []"),
        replaced("\"target.data_files\" = [1, 2, 4, 8, 16]", "\"target.data_files\" = [1, 0]"),
        replaced("[repeats]", "[[exclude]]\n[repeats]"),
        replaced("[repeats]", "[[volume]]\nname = \"x\"\n[repeats]"),
        replaced("[repeats]", "[[volume]]\nname = \"x\"\npath = \"x\"\nthrottle = {}\n[repeats]"),
        replaced(
            "[repeats]",
            "[[volume]]\nname = \"x\"\npath = \"x\"\nthrottle = { bandwidth = \"5 MB\" \
             }\n[repeats]",
        ),
        replaced("name = \"random-insert-data-files\"", ""),
    ];
    for source in &good {
        assert!(parse(source).is_ok());
    }
    for source in &bad {
        assert!(parse(source).is_err(), "{source}");
    }
    let files = [good.as_slice(), &bad].concat();
    let input = json!({ "schema": experiment::schema(&catalog()), "files": files });
    let Some(verdicts) = judge(&input) else {
        println!("SKIPPED: needs python3 (3.11 or later) with jsonschema");
        return;
    };
    let expected: Vec<Value> =
        good.iter().map(|_| json!(true)).chain(bad.iter().map(|_| json!(false))).collect();
    for (position, (verdict, expected)) in verdicts.iter().zip(&expected).enumerate() {
        assert_eq!(verdict, expected, "{}", input["files"][position].as_str().unwrap());
    }
    assert_eq!(verdicts.len(), expected.len());
}

/// Python's judgement of each file, after a check of the schema against its metaschema; `None`
/// without Python or its validator.
fn judge(input: &Value) -> Option<Vec<Value>> {
    const SCRIPT: &str = "
import json, sys, tomllib
from jsonschema import Draft202012Validator
given = json.load(sys.stdin)
Draft202012Validator.check_schema(given['schema'])
validator = Draft202012Validator(given['schema'])
print(json.dumps([validator.is_valid(tomllib.loads(file)) for file in given['files']]))
";
    let found = Command::new("python3")
        .args(["-c", "import tomllib, jsonschema"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        return None;
    }
    let mut python = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 has just been started");
    let mut stdin = python.stdin.take().expect("it is piped");
    stdin.write_all(input.to_string().as_bytes()).expect("it reads all");
    drop(stdin);
    let output = python.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the schema is not valid, or a file is not TOML");
    Some(serde_json::from_slice(&output.stdout).expect("a list"))
}
