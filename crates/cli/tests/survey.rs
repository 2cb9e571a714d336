//! `steelbench survey`: inventories of this machine and of real servers, and many side by side.

use crate::common;
use testing::installed as servers;

use crate::common::{Lab, on_screen};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SECRET: &str = "Geh3imnis-never-to-be-seen";

/// An inventory file of a machine with a server, as another machine would have written it.
fn file(host: &str, cores: u32, nodes: u32, swappiness: &str, per_gather: &str) -> Value {
    let nodes: Vec<Value> = (0..nodes)
        .map(|node| json!({"node": node, "cpus": "", "cpu_count": 0, "distances": []}))
        .collect();
    let setting = |name: &str, value: &str| json!({"name": name, "value": value});
    let mut of_server = setting("max_parallel_workers_per_gather", per_gather);
    for (field, value) in [
        ("source", json!("default")),
        ("is_changed", json!(per_gather != "2")),
        ("pending_restart", json!(false)),
    ] {
        of_server[field] = value;
    }
    json!({
        "schema": "steelbench/1", "kind": "survey", "taken_ms": 1, "steelbench": "0.1.0",
        "advice": [],
        "machine": {"host": host, "nodes": nodes,
                    "processors": {"cores": cores, "logical": 2 * cores, "caches": []}},
        "settings": [setting("vm.swappiness", swappiness)],
        "servers": [{"engine": "postgres", "version": "PostgreSQL 16.1", "is_local": true,
                     "settings": [of_server],
                     "address": format!("host={host}"), "extensions": [], "databases": []}],
    })
}

/// Files of 40 machines in a lab, and their names.
fn forty(lab: &Lab) -> Vec<String> {
    let write = |number: u32| {
        let (cores, nodes) = if number < 25 { (16, 2) } else { (64, 4) };
        let swappiness = if number < 2 { "60" } else { "1" };
        let per_gather = if number.is_multiple_of(5) { "8" } else { "2" };
        let name = format!("prod{number}.json");
        lab.write(
            &name,
            &file(&format!("prod{number}"), cores, nodes, swappiness, per_gather).to_string(),
        );
        name
    };
    (0..40).map(write).collect()
}

fn merge(lab: &Lab, files: &[String], options: &[&str]) -> common::Exit {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    lab.steelbench(&[&["survey", "merge"], options, &files].concat())
}

#[test]
fn this_machine_has_an_inventory_that_can_be_merged() {
    let lab = Lab::new();
    assert!(on_screen(&lab, &["survey"]).contains("Topology: "));
    let ended = lab.steelbench(&["survey", "--full", "--output", "here.json"]).expect(0);
    assert!(
        ended.stdout.contains("Topology: ") && ended.stdout.contains("vm.swappiness = "),
        "{}",
        ended.stdout
    );
    let written: Value = serde_json::from_str(&lab.read("here.json")).unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert_eq!(written["machine"]["limits"]["allowed_cpus"], cpus);
    assert_eq!(lab.json(&["survey"])[0]["machine"]["processors"], written["machine"]["processors"]);
    let silent =
        lab.steelbench(&["survey", "--json", "--output", "again.json", "--volume", "."]).expect(0);
    assert_eq!(silent.stdout, "");
    let again: Value = serde_json::from_str(&lab.read("again.json")).unwrap();
    assert_eq!(again["volumes"].as_array().unwrap().len(), 1);
    let merged = merge(&lab, &["here.json".into(), "again.json".into()], &["--json"]).expect(0);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(merged["machines"].as_array().unwrap().len(), 2);
    assert_eq!(merged["odd"], json!([]));
}

#[test]
fn what_is_typed_wrong_ends_it_before_anything_is_asked() {
    let lab = Lab::new();
    let ended = lab.steelbench(&["survey", "--volume", "nowhere", "--output", "x.json"]).expect(2);
    assert!(ended.stderr.contains("nowhere") && ended.stdout.is_empty(), "{}", ended.stderr);
    lab.steelbench(&["survey", "--server", "postgres://h:notaport/"]).expect(2);
    lab.steelbench(&["survey", "--server", "mongodb://h/d"])
        .expect(2)
        .says("expected one of postgres://");
    lab.steelbench(&["survey", "merge"]).expect(2);
    assert!(!lab.path("x.json").exists());
    let ended = lab.steelbench(&["survey", "--output", "no/such/folder.json"]).expect(1);
    assert!(ended.stderr.contains("cannot write no/such/folder.json"), "{}", ended.stderr);
}

#[test]
fn a_server_that_does_not_answer_leaves_the_rest() {
    let lab = Lab::new();
    let url = format!("postgres://me:{SECRET}@127.0.0.1:1/shop");
    let ended =
        lab.steelbench(&["survey", "--full", "--server", &url, "--output", "here.json"]).expect(1);
    assert!(
        ended.stderr.contains("port=1") && ended.stderr.contains("Is the server running"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("Unreadable") && ended.stdout.contains("Topology: "));
    let file = lab.read("here.json");
    assert!(file.contains("127.0.0.1"));
    assert!(![&file, &ended.stdout, &ended.stderr].iter().any(|text| text.contains(SECRET)));
}

#[test]
fn servers_are_asked_what_they_are() {
    for installation in servers::installations() {
        let lab = Lab::new();
        let folder = servers::folder();
        let cluster = servers::running(servers::options(&installation, folder.path()));
        cluster.connect().unwrap().batch("ALTER SYSTEM SET work_mem = '7MB'").unwrap();
        cluster.connect().unwrap().batch("SELECT pg_reload_conf()").unwrap();
        assert!(servers::until(|| servers::ask(&cluster, "SHOW work_mem") == "7MB"));
        let url = cluster.config().to_string();
        let ended =
            lab.steelbench(&["survey", "--full", "--server", &url, "--output", "s.json"]).expect(0);
        let heading = format!("PostgreSQL {}", installation.version);
        assert!(
            ended.stdout.contains(&heading) && ended.stdout.contains("7.00 MiB"),
            "{}",
            ended.stdout
        );
        let written: Value = serde_json::from_str(&lab.read("s.json")).unwrap();
        let server = &written["servers"][0];
        assert_eq!((&server["is_local"], &server["is_replica"]), (&json!(true), &json!(false)));
        let changed: Vec<&Value> = server["settings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|array| array["is_changed"] == true)
            .collect();
        let work_mem = changed.iter().find(|setting| setting["name"] == "work_mem").unwrap();
        assert_eq!(
            (&work_mem["value"], &work_mem["file"]),
            (&json!("7168"), &json!("postgresql.auto.conf"))
        );
        documented(&written);

        let merged = merge(&lab, &["s.json".into()], &["--json"]).expect(0);
        let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
        assert_eq!(merged["parallelism"]["servers"], 1);
        documented(&merged);
    }
}

/// Every field that is written is a row of a table of `docs/survey.md`.
fn documented(value: &Value) {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/survey.md"))
            .unwrap();
    let rows: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => waiting.extend(fields.iter().map(|(name, value)| {
                assert!(rows.contains(name.as_str()), "docs/survey.md does not have `{name}`");
                value
            })),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
}

#[test]
fn forty_machines_side_by_side() {
    let lab = Lab::new();
    let files = forty(&lab);
    let page = merge(&lab, &files, &[]).expect(0).stdout;
    assert!(page.starts_with("40 machines, 40 servers"), "{page}");
    assert!(page.contains("2 of 40 have vm.swappiness 60; 38 have 1."), "{page}");
    assert!(
        page.contains(
            "max_parallel_workers_per_gather has its default on 32 of 40 servers (80 %)."
        ),
        "{page}"
    );
    let merged: Value =
        serde_json::from_str(&merge(&lab, &files, &["--json"]).expect(0).stdout).unwrap();
    let groups = &merged["parallelism"]["groups"];
    assert_eq!(groups[0], json!({"cores": 16, "numa_nodes": 2, "values": [[2, 20], [8, 5]]}));
    assert_eq!(groups[1], json!({"cores": 64, "numa_nodes": 4, "values": [[2, 12], [8, 3]]}));
    assert!(merge(&lab, &files, &["--md"]).expect(0).stdout.contains("| prod39 |"));

    for options in [&["--anonymous"][..], &["--anonymous", "--json"], &["--anonymous", "--md"]] {
        let text = merge(&lab, &files, options).expect(0).stdout;
        assert!(text.contains("machine 40") && !text.contains("prod"), "{text}");
    }
}

#[test]
fn files_that_are_no_inventories_are_named_and_left_out() {
    let lab = Lab::new();
    let mut files = forty(&lab)[..3].to_vec();
    lab.write("empty.json", "");
    lab.write("other.json", r#"{"schema":"steelbench/1","kind":"summary"}"#);
    lab.write("half.json", &lab.read("prod0.json")[..100]);
    std::fs::write(lab.path("bytes.json"), [0xff, 0xfe, 0]).unwrap();
    std::fs::create_dir(lab.path("folder.json")).unwrap();
    std::fs::File::create(lab.path("huge.json")).unwrap().set_len(1 << 40).unwrap();
    let bad = ["empty", "other", "half", "bytes", "folder", "huge", "absent"]
        .map(|name| format!("{name}.json"));
    files.extend(bad.clone());
    let ended = merge(&lab, &files, &[]).expect(1);
    assert!(ended.stdout.starts_with("3 machines, 3 servers"), "{}", ended.stdout);
    for name in &bad {
        assert!(ended.stderr.contains(&format!("error: {name}: ")), "{name}: {}", ended.stderr);
    }
    let ended = merge(&lab, &bad, &[]).expect(2);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("no file is an inventory"),
        "{}",
        ended.stderr
    );

    lab.write("evil.json", &file("x\u{1b}[2J\u{202e}", 1, 1, "\u{7}", "2").to_string());
    let ended = merge(&lab, &["evil.json".into(), "prod0.json".into(), "no\u{1b}file".into()], &[])
        .expect(1);
    let text = ended.stdout + &ended.stderr;
    assert!(
        text.contains("\\u{1b}") && text.chars().all(|sign| sign == '\n' || !sign.is_control()),
        "{text:?}"
    );
}
