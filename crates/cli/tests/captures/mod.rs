//! A captured server against the live one.

use crate::common::Lab;
use serde_json::Value;
use std::collections::BTreeMap;

fn capture(lab: &Lab, url: &str, file: &str, more: &[&str]) {
    lab.steelbench(&[&["capture", url, "-o", file, "--seconds", "0.2"], more].concat()).expect(0);
}

fn read(lab: &Lab, arguments: &[&str]) -> Value {
    let ended = lab.steelbench(&[&["queries", "--json"], arguments].concat()).expect(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Returns the findings without their time.
fn timeless(found: &Value) -> Value {
    let mut found = found.clone();
    found["span"] = Value::Null;
    for advice in found["advice"].as_array_mut().unwrap() {
        // "not once in 37 seconds"
        if ["unused_index", "dead_rows", "held_up"].contains(&advice["kind"].as_str().unwrap()) {
            advice["evidence"] = Value::Null;
        }
    }
    // The sample of columns reads rows, too.
    for table in found["tables"].as_array_mut().unwrap() {
        table["scanned_rows"] = Value::Null;
        // A capture also has what a workbook wants.
        table.as_object_mut().unwrap().remove("statistics");
    }
    // To plan, the server itself looks at the ends of indexes.
    let tables = found["tables"].as_array_mut().unwrap().iter_mut();
    for index in tables.flat_map(|table| table["indexes"].as_array_mut().unwrap()) {
        index["blocks"] = Value::Null;
        // MariaDB executes a lookup by a whole key when it explains it.
        index["scans"] = Value::Null;
    }
    found
}

/// A capture says what the server has just said: all of it with texts, and all but texts without.
pub fn say_the_same(lab: &Lab, url: &str, hidden: &[&str]) {
    let live = timeless(&read(lab, &[url]));
    capture(lab, url, "with.json", &["--statements"]);
    let captured = timeless(&read(lab, &["with.json"]));
    for (key, expected) in live.as_object().unwrap() {
        assert_eq!(&captured[key], expected, "{key}");
    }
    capture(lab, url, "without.json", &[]);
    let text = lab.read("without.json");
    for hidden in hidden {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let without = timeless(&read(lab, &["without.json"]));
    for key in ["advice", "uses", "tables"] {
        assert_eq!(without[key], live[key], "{key}");
    }
    let counted = |found: &Value| -> Vec<(Value, Value, Value)> {
        let all = found["statements"].as_array().unwrap().iter();
        all.map(|statement| {
            (statement["counters"].clone(), statement["plans"].clone(), statement["digest"].clone())
        })
        .collect()
    };
    assert_eq!(counted(&without), counted(&live));
    lab.steelbench(&["waits", "with.json"]).expect(0);
    let captured: Value = serde_json::from_str(&lab.read("with.json")).unwrap();
    let operations = captured["observation"]["activity"]["operations"].as_array().unwrap().iter();
    let counted = operations
        .map(|operation| (owned(&operation["name"]), operation["count"].as_u64().unwrap()));
    let counted: BTreeMap<String, u64> = counted.filter(|(_, count)| *count > 0).collect();
    assert_eq!(rises(&captured, &["name", "count"]), counted);
}

/// Returns the increases of a counter between the two readings of a capture with such columns.
pub fn rises(captured: &Value, [name, counter]: &[&str; 2]) -> BTreeMap<String, u64> {
    let readings = captured["readings"].as_array().unwrap();
    let column = |reading: &Value, text: &str| {
        reading["columns"].as_array().unwrap().iter().position(|column| column == text)
    };
    let (reading, [name, counter]) = readings
        .iter()
        .find_map(|reading| Some((reading, [column(reading, name)?, column(reading, counter)?])))
        .unwrap_or_else(|| panic!("{readings:#?}"));
    let counts = |rows: &Value| -> BTreeMap<String, u64> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| (owned(&row[name]), owned(&row[counter]).parse().unwrap())).collect()
    };
    let (began, ended) = (counts(&reading["began"]), counts(&reading["ended"]));
    let rise = |(name, count): (String, u64)| {
        let rise = count - began.get(&name).copied().unwrap_or(0);
        (rise > 0).then_some((name, rise))
    };
    ended.into_iter().filter_map(rise).collect()
}

fn owned(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Two captures say what ran between them: `runs` runs of the statement that begins with `text`,
/// and nothing else.
pub fn tell_of_the_time_between(lab: &Lab, url: &str, text: &str, runs: u64, run: impl FnOnce()) {
    capture(lab, url, "first.json", &["--statements"]);
    run();
    capture(lab, url, "second.json", &["--statements"]);
    let between = read(lab, &["first.json", "second.json"]);
    let statements = between["statements"].as_array().unwrap();
    let ran: Vec<(&str, u64)> = statements
        .iter()
        .map(|statement| {
            (statement["text"].as_str().unwrap(), statement["counters"]["calls"].as_u64().unwrap())
        })
        // By which tests wait for sessions to end.
        .filter(|(text, _)| !text.contains("pg_stat_activity"))
        .collect();
    assert_eq!(ran.len(), 1, "{ran:?}");
    assert!(ran[0].0.starts_with(text) && ran[0].1 == runs, "{ran:?}");
    assert!(between["span"]["is_interval"] == true);
    let interval = read(lab, &["second.json", "--interval"]);
    assert!(
        interval["span"]["is_interval"] == true
            && !interval["statements"].to_string().contains(text)
    );
    lab.steelbench(&["queries", "second.json", "first.json"])
        .expect(2)
        .says("name the earlier capture first");
    lab.steelbench(&["queries", "second.json", "--seconds", "1"])
        .expect(2)
        .says("--interval shows what ran");
    let older = lab.read("first.json").replacen("\"queries\":", "\"other\":", 1);
    lab.write("older.json", &older);
    lab.steelbench(&["queries", "older.json"]).expect(2).says("no statements in this capture");
    lab.steelbench(&["waits", "older.json"]).expect(0);
}
